/* hooks.c - see hooks.h. */
#include "engine/hooks.h"

#include "base/error.h"
#include "base/limits.h"
#include "engine/engine.h"

enum { ATTEMPTS_MAX_DEFAULT = 5, DELAY_MS_DEFAULT = 1000, HOOK_LEASE_MS_DEFAULT = 60000 };

const char *pawl_hook_event_name(enum pawl_hook_event event)
{
    switch (event) {
    case PAWL_HOOK_ENQUEUED:
        return "onWorkflowEnqueued";
    case PAWL_HOOK_FINISHED:
        return "onInstanceFinished";
    }
    return "unknown";
}

/* ---- The registry -------------------------------------------------------------------------------------------- */

struct pw_hook *pw_hooks_find(const struct pw_hooks *hooks, struct pw_text name)
{
    struct pw_hook *hook = pw_hooks_first(hooks);
    while (hook != NULL && !pw_text_equal(hook->asks.hook, name))
        hook = pw_hook_next(hook);
    return hook;
}

static const char *hook_wrong(const struct pawl_hook *hook)
{
    if (hook->name == NULL || !pw_text_is_identifier(pw_text_of(hook->name), PW_WORKFLOW_NAME_MAX, true))
        return "a hook's name is 1 to 64 of [a-zA-Z0-9_-], not starting with -";
    if (hook->events == 0 || (hook->events & ~(unsigned)(PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED)) != 0)
        return "the events are PAWL_HOOK_ENQUEUED, PAWL_HOOK_FINISHED, or both";
    if (hook->attempts_max < 0)
        return "the attempts are 1 or more, or 0 for the default";
    if (hook->delay_ms < 0 || hook->delay_ms > PW_DELAY_MS_MAX)
        return "the delay is 1 ms to 365 days, or 0 for the default";
    if (hook->lease_ms != 0 && (hook->lease_ms < PW_LEASE_MS_MIN || hook->lease_ms > PW_DELAY_MS_MAX))
        return "the lease is 100 ms to 365 days, or 0 for the default";
    return NULL;
}

/* With the engine's lock held. */
static pawl_status add_hook(pawl_engine *engine, const struct pawl_hook *given, struct pawl_error *error)
{
    if (engine->sealed)
        return pw_error(error, PAWL_INVALID, "hook \"%s\" must be registered before a runner starts", given->name);
    if (pw_hooks_find(&engine->hooks, pw_text_of(given->name)) != NULL)
        return pw_error(error, PAWL_INVALID, "a hook named \"%s\" is registered already", given->name);
    struct pw_hook *hook = pw_arena_zero(&engine->arena, sizeof *hook);
    if (hook == NULL || !pw_arena_text(&engine->arena, pw_text_of(given->name), &hook->asks.hook))
        return pw_error_plain(error, PAWL_NOMEM);
    hook->asks.events = given->events;
    hook->deliver = given->deliver;
    hook->user = given->user;
    hook->asks.attempts_max = given->attempts_max != 0 ? given->attempts_max : ATTEMPTS_MAX_DEFAULT;
    hook->delay_ms = given->delay_ms != 0 ? given->delay_ms : DELAY_MS_DEFAULT;
    hook->lease_ms = given->lease_ms != 0 ? given->lease_ms : HOOK_LEASE_MS_DEFAULT;

    struct pw_subscription *_Atomic *last = &engine->hooks.first;
    while (atomic_load(last) != NULL)
        last = &atomic_load(last)->next;
    atomic_store(last, &hook->asks);
    return PAWL_OK;
}

pawl_status pawl_hook_register(pawl_engine *engine, const struct pawl_hook *hook, struct pawl_error *error)
{
    struct pawl_hook known = PAWL_HOOK_INIT;
    if (engine == NULL || hook == NULL || !pw_options_copy(&known, sizeof known, hook))
        return pw_error(error, PAWL_INVALID, "pawl_hook_register needs an engine, and a hook made by PAWL_HOOK_INIT");
    const char *wrong = hook_wrong(&known);
    if (wrong != NULL)
        return pw_error(error, PAWL_INVALID, "hook \"%.80s\": %s", known.name != NULL ? known.name : "", wrong);
    pthread_mutex_lock(&engine->lock);
    pawl_status status = add_hook(engine, &known, error);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

void pw_hooks_attach(pawl_engine *engine, struct pw_unit *unit)
{
    unit->subscriptions = atomic_load(&engine->hooks.first);
    if (unit->subscriptions != NULL)
        pw_engine_make_id(engine, unit->delivery_id);
}

void pw_hooks_kick(pawl_engine *engine)
{
    struct pw_hooks *hooks = &engine->hooks;
    pthread_mutex_lock(&hooks->lock);
    hooks->kicks++;
    pthread_cond_broadcast(&hooks->changed);
    pthread_mutex_unlock(&hooks->lock);
}
