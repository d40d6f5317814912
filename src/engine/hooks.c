/* hooks.c - see hooks.h. */
#include "engine/hooks.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"
#include "engine/functions.h"

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

static void hooks_free(void *user)
{
    struct pw_hooks *hooks = user;
    pthread_cond_destroy(&hooks->changed);
    pthread_mutex_destroy(&hooks->lock);
    free(hooks);
}

static struct pw_hooks *hooks_new(void)
{
    struct pw_hooks *hooks = calloc(1, sizeof *hooks);
    if (hooks == NULL)
        return NULL;
    if (pthread_mutex_init(&hooks->lock, NULL) != 0)
        goto no_lock;
    if (!pw_cond_init(&hooks->changed))
        goto no_cond;
    return hooks;
no_cond:
    pthread_mutex_destroy(&hooks->lock);
no_lock:
    free(hooks);
    return NULL;
}

/* Where two threads make it at once, one of both is kept aside until the engine is closed. */
struct pw_hooks *pw_hooks_of(pawl_engine *engine)
{
    struct pw_hooks *hooks = atomic_load(&engine->hooks), *none = NULL;
    if (hooks != NULL)
        return hooks;
    hooks = hooks_new();
    if (hooks == NULL)
        return NULL;
    if (pawl_at_close(engine, hooks_free, hooks) != PAWL_OK) {
        hooks_free(hooks);
        return NULL;
    }
    return atomic_compare_exchange_strong(&engine->hooks, &none, hooks) ? hooks : none;
}

struct pw_hook *pw_hooks_find(const struct pw_hooks *hooks, struct pw_text name)
{
    struct pw_hook *hook = atomic_load(&hooks->first);
    while (hook != NULL && !pw_text_equal(hook->name, name))
        hook = atomic_load(&hook->next);
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
static pawl_status add_hook(pawl_engine *engine, struct pw_hooks *hooks, const struct pawl_hook *given,
                            struct pawl_error *error)
{
    if (engine->sealed)
        return pw_error(error, PAWL_INVALID, "hook \"%s\" must be registered before a runner starts", given->name);
    if (pw_hooks_find(hooks, pw_text_of(given->name)) != NULL)
        return pw_error(error, PAWL_INVALID, "a hook named \"%s\" is registered already", given->name);
    struct pw_hook *hook = pw_arena_zero(&engine->arena, sizeof *hook);
    if (hook == NULL || !pw_arena_text(&engine->arena, pw_text_of(given->name), &hook->name))
        return pw_error_plain(error, PAWL_NOMEM);
    hook->events = given->events;
    hook->deliver = given->deliver;
    hook->user = given->user;
    hook->attempts_max = given->attempts_max != 0 ? given->attempts_max : ATTEMPTS_MAX_DEFAULT;
    hook->delay_ms = given->delay_ms != 0 ? given->delay_ms : DELAY_MS_DEFAULT;
    hook->lease_ms = given->lease_ms != 0 ? given->lease_ms : HOOK_LEASE_MS_DEFAULT;

    struct pw_hook *_Atomic *last = &hooks->first;
    while (atomic_load(last) != NULL)
        last = &atomic_load(last)->next;
    atomic_store(last, hook);
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
    struct pw_hooks *hooks = pw_hooks_of(engine);
    if (hooks == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pthread_mutex_lock(&engine->lock);
    pawl_status status = add_hook(engine, hooks, &known, error);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

/* ---- What is to be told -------------------------------------------------------------------------------------- */

/* What one op means to hooks.  No event: nothing. */
struct notice {
    enum pawl_hook_event event; /* 0: none */
    enum pw_hook_reason reason;
};

static int64_t instance_woken(const struct pw_op *op)
{
    if (op->kind == PW_OP_HOLD)
        return op->as.hold.instance;
    return op->kind == PW_OP_PARK ? op->as.park.instance : 0;
}

/* Is there an event to the instance before this op?  And: was the instance woken before it already? */
static void look_before(const struct pw_unit *unit, const struct pw_op *end, bool *out_event, bool *out_woken)
{
    int64_t instance = instance_woken(end);
    for (const struct pw_op *op = unit->first; op != end; op = op->next) {
        *out_event = *out_event || (op->kind == PW_OP_EVENT && op->as.event.instance == instance);
        *out_woken = *out_woken || instance_woken(op) == instance;
    }
}

static enum pw_hook_reason reason_of_park(const struct pw_op_park *park)
{
    switch (park->kind) {
    case PW_TASK_WAKE:
        return PW_REASON_WAKE;
    case PW_TASK_RETRY:
        return PW_REASON_RETRY;
    case PW_TASK_RESUME:
    case PW_TASK_RUN:
    case PW_TASK_REPAIR: /* unless it is paused */
        return PW_REASON_RESUME;
    }
    return PW_REASON_RESUME;
}

/* Two events to one instance in one unit wake it once.  A park that pauses for certain makes nothing due; whether one
 * that only may pause does, or one for repair of a run that is to stop, the store sees. */
static struct notice notice_of_waking(const struct pw_unit *unit, const struct pw_op *op)
{
    bool by_event = false, again = false;
    const struct pw_op_park *park = op->kind == PW_OP_PARK ? &op->as.park : NULL;
    bool may_go_on = park != NULL && (park->if_requested || park->kind == PW_TASK_REPAIR);
    if (park != NULL && (park->is_job || (park->status == PW_TASK_PAUSED && !may_go_on)))
        return (struct notice){ 0 };
    look_before(unit, op, &by_event, &again);
    if (again)
        return (struct notice){ 0 };
    enum pw_hook_reason otherwise = op->kind == PW_OP_PARK ? reason_of_park(&op->as.park) : PW_REASON_RESUME;
    return (struct notice){ PAWL_HOOK_ENQUEUED, by_event ? PW_REASON_EVENT : otherwise };
}

/* Jobs are no runs, and nobody is told of them; of the run that one wakes, everybody. */
static struct notice notice_of(const struct pw_unit *unit, const struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_CREATE:
        if (op->as.create.link.relation == PW_RELATION_JOB)
            return (struct notice){ 0 };
        return (struct notice){ PAWL_HOOK_ENQUEUED, PW_REASON_CREATE };
    case PW_OP_RESTART:
        return (struct notice){ PAWL_HOOK_ENQUEUED, PW_REASON_CREATE };
    case PW_OP_HOLD:
    case PW_OP_PARK:
        return notice_of_waking(unit, op);
    case PW_OP_EVENT: /* whether it wakes anybody, the store sees */
        return op->as.event.is_answer ? (struct notice){ PAWL_HOOK_ENQUEUED, PW_REASON_EVENT } : (struct notice){ 0 };
    case PW_OP_REACH: /* how many it wakes, the same; its jobs it only ends */
        return op->as.reach.demand != PW_DEMAND_NONE ? (struct notice){ PAWL_HOOK_ENQUEUED, PW_REASON_RESUME }
                                                     : (struct notice){ 0 };
    case PW_OP_FINISH:
        return pw_unit_ends_job(unit) ? (struct notice){ 0 } : (struct notice){ .event = PAWL_HOOK_FINISHED };
    case PW_OP_FENCE:
    case PW_OP_STEP:
    case PW_OP_CONSUME:
    case PW_OP_LOG:
    case PW_OP_PAUSE:
    case PW_OP_DEMAND:
    case PW_OP_END:
    case PW_OP_CLAIM:
    case PW_OP_RENEW:
    case PW_OP_REAP:
    case PW_OP_SQL:
    case PW_OP_MUTATE:
    case PW_OP_HOOK:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        break;
    }
    return (struct notice){ 0 };
}

static pawl_status add_notice(pawl_engine *engine, struct pw_unit *unit, const struct pw_hook *hook,
                              const struct pw_op *cause, struct notice notice)
{
    char *id = pw_arena_take(&unit->arena, PW_ID_SIZE);
    struct pw_op *op = id != NULL ? pw_unit_add(unit, PW_OP_HOOK) : NULL;
    if (op == NULL)
        return PAWL_NOMEM;
    pw_engine_make_id(engine, id);
    op->as.hook = (struct pw_op_hook){ .cause = cause,
                                       .id = pw_text_of(id),
                                       .hook = hook->name,
                                       .event = notice.event,
                                       .reason = notice.reason,
                                       .attempts_max = hook->attempts_max };
    return PAWL_OK;
}

pawl_status pw_hooks_annotate(pawl_engine *engine, struct pw_unit *unit)
{
    struct pw_hooks *hooks = atomic_load(&engine->hooks);
    const struct pw_hook *first = hooks != NULL ? atomic_load(&hooks->first) : NULL;
    if (first == NULL)
        return PAWL_OK;
    const struct pw_op *last = unit->last; /* what is added comes behind it */
    for (const struct pw_op *op = unit->first; op != NULL; op = op != last ? op->next : NULL) {
        struct notice notice = notice_of(unit, op);
        for (const struct pw_hook *hook = first; notice.event != 0 && hook != NULL; hook = atomic_load(&hook->next)) {
            if ((hook->events & (unsigned)notice.event) == 0)
                continue;
            if (add_notice(engine, unit, hook, op, notice) != PAWL_OK)
                return PAWL_NOMEM;
        }
    }
    return PAWL_OK;
}

/* ---- Who delivers -------------------------------------------------------------------------------------------- */

bool pw_hooks_concerns(const struct pw_unit *unit)
{
    return unit->status == PAWL_OK && unit->last != NULL && unit->last->kind == PW_OP_HOOK;
}

void pw_hooks_kick(pawl_engine *engine)
{
    struct pw_hooks *hooks = atomic_load(&engine->hooks);
    if (hooks == NULL)
        return;
    pthread_mutex_lock(&hooks->lock);
    hooks->kicks++;
    pthread_cond_broadcast(&hooks->changed);
    pthread_mutex_unlock(&hooks->lock);
}
