/* forward.c - see forward.h.  One function per entry of the table, each the same call on the inner store. */
#include "testing/forward.h"

static struct pw_store *inner_of(struct pw_store *store)
{
    return ((struct pw_forward *)store)->inner;
}

static void forward_close(struct pw_store *store)
{
    struct pw_store *inner = inner_of(store);
    inner->ops->close(inner);
}

static int64_t forward_now_ms(struct pw_store *store)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->now_ms(inner);
}

static pawl_status forward_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->apply(inner, units, count, error);
}

static pawl_status forward_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                         struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_instance(inner, arena, workflow, id, out_instance, error);
}

static pawl_status forward_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                        struct pw_text id, struct pw_instance *out_instance,
                                        struct pw_step_row *out_step, bool *out_has_step, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_current(inner, arena, workflow, id, out_instance, out_step, out_has_step, error);
}

static pawl_status forward_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                                struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_instance_by_key(inner, arena, key, out_instance, error);
}

static pawl_status forward_list_instances(struct pw_store *store, struct pw_arena *arena,
                                          const struct pw_instance_query *query, struct pw_instance **out_rows,
                                          size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->list_instances(inner, arena, query, out_rows, out_count, error);
}

static pawl_status forward_read_steps(struct pw_store *store, struct pw_arena *arena,
                                      const struct pw_history_query *query, struct pw_step_row **out_rows,
                                      size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_steps(inner, arena, query, out_rows, out_count, error);
}

static pawl_status forward_read_events(struct pw_store *store, struct pw_arena *arena,
                                       const struct pw_history_query *query, struct pw_event_row **out_rows,
                                       size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_events(inner, arena, query, out_rows, out_count, error);
}

static pawl_status forward_read_logs(struct pw_store *store, struct pw_arena *arena,
                                     const struct pw_history_query *query, struct pw_log_row **out_rows,
                                     size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_logs(inner, arena, query, out_rows, out_count, error);
}

static pawl_status forward_read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                                      struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_event(inner, arena, instance, run, id, out_event, out_found, error);
}

static pawl_status forward_read_instances(struct pw_store *store, struct pw_arena *arena,
                                          const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                          struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_instances(inner, arena, wanted, out_rows, error);
}

static pawl_status forward_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance,
                                           int64_t run, int64_t after_seq, struct pw_event_row **out_rows,
                                           size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_new_events(inner, arena, instance, run, after_seq, out_rows, out_count, error);
}

static pawl_status forward_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance,
                                              int64_t run, struct pw_step_row **out_rows, size_t *out_count,
                                              struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->read_waiting_steps(inner, arena, instance, run, out_rows, out_count, error);
}

static pawl_status forward_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                    const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                                    struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->next_due(inner, workflows, count, share, after_ms, out_at_ms, error);
}

static pawl_status forward_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                                       struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->count_tasks(inner, now_ms, out_counts, error);
}

static pawl_status forward_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                          int64_t max, struct pw_status_counts *out_counts, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->count_statuses(inner, workflows, count, max, out_counts, error);
}

static pawl_status forward_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                                      struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->list_hooks(inner, arena, query, out_rows, out_count, error);
}

static pawl_status forward_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count,
                                     int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->next_hook(inner, hooks, count, out_at_ms, error);
}

static pawl_status forward_announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->announce(inner, owner, error);
}

static bool forward_is_heard(struct pw_store *store, int64_t owner, int64_t since_ms)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->is_heard == NULL || inner->ops->is_heard(inner, owner, since_ms);
}

static void forward_withdraw(struct pw_store *store, int64_t owner)
{
    struct pw_store *inner = inner_of(store);
    inner->ops->withdraw(inner, owner);
}

static pawl_status forward_describe(struct pw_store *store, const struct pw_runner_row *runner,
                                    struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->describe(inner, runner, error);
}

static pawl_status forward_list_runners(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                        size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = inner_of(store);
    return inner->ops->list_runners(inner, arena, out_rows, out_count, error);
}

void pw_forward_init(struct pw_forward *forward, struct pw_store *inner)
{
    forward->inner = inner;
    forward->ops = (struct pw_store_ops){
        .name = inner->ops->name,
        .close = forward_close,
        .now_ms = forward_now_ms,
        .apply = forward_apply,
        .read_instance = forward_read_instance,
        .read_instance_by_key = forward_read_instance_by_key,
        .read_instances = forward_read_instances,
        .read_current = forward_read_current,
        .list_instances = forward_list_instances,
        .read_steps = forward_read_steps,
        .read_events = forward_read_events,
        .read_logs = forward_read_logs,
        .read_event = forward_read_event,
        .read_new_events = forward_read_new_events,
        .read_waiting_steps = forward_read_waiting_steps,
        .next_due = forward_next_due,
        .count_tasks = forward_count_tasks,
        .count_statuses = forward_count_statuses,
        .list_hooks = forward_list_hooks,
        .next_hook = forward_next_hook,
        .announce = forward_announce,
        .withdraw = forward_withdraw,
        .is_heard = forward_is_heard,
        .describe = forward_describe,
        .list_runners = forward_list_runners,
    };
    forward->store.ops = &forward->ops;
}
