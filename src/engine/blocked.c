/* blocked.c - see blocked.h.  Also the public list of blocked calls. */
#include "engine/blocked.h"

#include "base/error.h"
#include "engine/engine.h"
#include "pawl/runner.h"
#include "value/value.h"

void pw_blocked_add(struct pw_blocked *blocked, struct pw_blocked_call *call)
{
    pthread_mutex_lock(&blocked->lock);
    call->number = ++blocked->found;
    blocked->found_in_code += !call->in_body;
    call->next = blocked->newest;
    blocked->newest = call;
    blocked->count++;
    pthread_mutex_unlock(&blocked->lock);
}

void pw_blocked_remove(struct pw_blocked *blocked, struct pw_blocked_call *call)
{
    pthread_mutex_lock(&blocked->lock);
    struct pw_blocked_call **link = &blocked->newest;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
    call->number = 0;
    blocked->count--;
    pthread_mutex_unlock(&blocked->lock);
}

void pw_blocked_let_in(struct pw_blocked *blocked, int64_t instance, int64_t run)
{
    pthread_mutex_lock(&blocked->lock);
    for (struct pw_blocked_call *call = blocked->newest; call != NULL; call = call->next) {
        if (call->instance == instance && call->run <= run)
            call->keeps_out = false;
    }
    pthread_mutex_unlock(&blocked->lock);
}

bool pw_blocked_keeps_out(struct pw_blocked *blocked, int64_t instance, int64_t run)
{
    bool keeps_out = false;
    pthread_mutex_lock(&blocked->lock);
    for (const struct pw_blocked_call *call = blocked->newest; call != NULL && !keeps_out; call = call->next)
        keeps_out = call->keeps_out && call->instance == instance && call->run == run;
    pthread_mutex_unlock(&blocked->lock);
    return keeps_out;
}

bool pw_blocked_instances(struct pw_blocked *blocked, struct pw_arena *arena, int64_t **out_instances,
                          size_t *out_count)
{
    size_t count = 0;
    pthread_mutex_lock(&blocked->lock);
    int64_t *instances = pw_arena_take(arena, (blocked->count + 1) * sizeof *instances);
    for (const struct pw_blocked_call *call = blocked->newest; instances != NULL && call != NULL; call = call->next) {
        if (call->keeps_out)
            instances[count++] = call->instance;
    }
    pthread_mutex_unlock(&blocked->lock);
    *out_instances = instances;
    *out_count = count;
    return instances != NULL;
}

/* ---- For hosts ------------------------------------------------------------------------------------------------- */

/* Copies a call into the scope.  False when memory runs out. */
static bool keep_call(pawl_scope *scope, const struct pw_blocked_call *call, struct pawl_blocked_call *out_call)
{
    struct pw_text workflow, id, step;
    if (!pw_scope_text(scope, call->workflow, &workflow) || !pw_scope_text(scope, call->id, &id) ||
        !pw_scope_text(scope, call->step, &step))
        return false;
    *out_call = (struct pawl_blocked_call){ .number = call->number,
                                            .workflow = workflow.data,
                                            .instance_id = id.data,
                                            .run_number = call->run,
                                            .step = step.data,
                                            .in_body = call->in_body,
                                            .began_at_ms = call->began_at_ms };
    return true;
}

pawl_status pawl_list_blocked(pawl_engine *engine, pawl_scope *scope, const struct pawl_blocked_call **out_calls,
                              size_t *out_count, struct pawl_error *error)
{
    if (engine == NULL || scope == NULL || out_calls == NULL || out_count == NULL)
        return pw_error(error, PAWL_INVALID, "pawl_list_blocked needs an engine, a scope, and where to put the list");
    struct pw_blocked *blocked = &engine->blocked;
    pthread_mutex_lock(&blocked->lock);
    size_t count = blocked->count;
    struct pawl_blocked_call *calls = pw_scope_take(scope, (count + 1) * sizeof *calls);
    bool complete = calls != NULL;
    size_t at = count; /* the newest comes last */
    for (const struct pw_blocked_call *call = blocked->newest; complete && call != NULL; call = call->next)
        complete = keep_call(scope, call, &calls[--at]);
    pthread_mutex_unlock(&blocked->lock);
    if (!complete)
        return pw_error_plain(error, PAWL_NOMEM);
    *out_calls = calls;
    *out_count = count;
    return PAWL_OK;
}
