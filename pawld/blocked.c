/* blocked.c - see blocked.h. */
#include "blocked.h"

static void tell_call(const struct log *log, const struct pawl_blocked_call *call, int64_t now_ms)
{
    const struct log_field fields[] = { { "workflow", call->workflow },
                                        { "instance", call->instance_id },
                                        { call->in_body ? "step" : "afterStep", call->step } };
    log_fields(log, PAWL_LOG_WARN, fields, sizeof fields / sizeof fields[0], "%s for %lld ms%s",
               call->in_body ? "a step's body is past its timeout and has not returned"
                             : "workflow code outside a step has blocked its thread",
               (long long)(now_ms - call->began_at_ms),
               call->in_body ? "" : "; this process takes the run again when the code returns");
}

static void tell_calls(struct blocked *blocked, const struct log *log, pawl_engine *engine)
{
    const struct pawl_blocked_call *calls;
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new();
    if (scope == NULL || pawl_list_blocked(engine, scope, &calls, &count, NULL) != PAWL_OK)
        count = 0; /* try again at the next look */
    for (size_t i = 0; i < count; i++) {
        if (calls[i].number <= blocked->told)
            continue;
        tell_call(log, &calls[i], pawl_now_ms(engine));
        blocked->told = calls[i].number;
    }
    pawl_scope_free(scope);
}

void blocked_look(struct blocked *blocked, const struct log *log, pawl_engine *engine, pawl_runner *runner)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(runner, &stats);
    if (stats.code_blocked + stats.bodies_blocked > blocked->told)
        tell_calls(blocked, log, engine);
    if (stats.is_full && !blocked->is_full)
        log_line(log, PAWL_LOG_ERROR, "%lld threads are blocked by code that does not return: no new runs are taken",
                 (long long)stats.threads_blocked);
    else if (!stats.is_full && blocked->is_full)
        log_line(log, PAWL_LOG_INFO, "%lld threads are still blocked: runs are taken again",
                 (long long)stats.threads_blocked);
    blocked->is_full = stats.is_full;
}
