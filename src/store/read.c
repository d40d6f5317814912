/* read.c - the typed reads: each asks by a struct pw_read, and takes its answer out of what was found. */
#include "store/read.h"

#include "store/store.h"

#define FILTER_WORKFLOW .has_workflow = true
#define FILTER_ALONE .has_value = true
#define FILTER_INSTANCE .has_workflow = true, .has_value = true
#define FILTER_TASK .has_workflow = true, .has_value = true
#define IS_TEXT true
#define IS_COUNT false
#define IS_CHOICE false
#define FILTER(with, name, shape, column, type, index) [PW_BY_##name] = { FILTER_##shape, .is_text = IS_##type },
const struct pw_filter pw_filters[PW_FILTER_COUNT] = { PW_INSTANCE_FILTERS(FILTER, ) };

pawl_status pw_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                             struct pw_instance *out_instance, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_INSTANCE, .name = { workflow, id } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK && found.count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status == PAWL_OK)
        *out_instance = *found.instances;
    return status;
}

pawl_status pw_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                    struct pw_instance *out_instance, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_INSTANCE_BY_KEY, .key = key };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK && found.count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status == PAWL_OK)
        *out_instance = *found.instances;
    return status;
}

pawl_status pw_read_instances(struct pw_store *store, struct pw_arena *arena, const struct pw_instances_wanted *wanted,
                              struct pw_instance **out_rows, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_INSTANCES, .wanted = *wanted };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK)
        *out_rows = found.instances;
    return status;
}

pawl_status pw_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                            struct pw_instance *out_instance, struct pw_step_row *out_step, bool *out_has_step,
                            struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_CURRENT, .name = { workflow, id } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK && found.count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status != PAWL_OK)
        return status;
    *out_instance = found.current->instance;
    *out_step = found.current->step;
    *out_has_step = found.current->has_step;
    return PAWL_OK;
}

void pw_list_by_status(struct pw_instance_query *query, enum pawl_instance_status status)
{
    static const struct {
        enum pw_filter_name by;
        int64_t number;
    } numbers[] = {
        [PAWL_ACTIVE] = { PW_BY_STATUS, PW_TASK_ACTIVE },
        [PAWL_WAITING] = { PW_BY_STATUS, PW_TASK_WAITING },
        [PAWL_PAUSED] = { PW_BY_STATUS, PW_TASK_PAUSED },
        [PAWL_COMPLETE] = { PW_BY_OUTCOME, PW_OUTCOME_COMPLETE },
        [PAWL_TERMINATED] = { PW_BY_OUTCOME, PW_OUTCOME_TERMINATED },
        [PAWL_ERRORED] = { PW_BY_OUTCOME, PW_OUTCOME_ERRORED },
    };
    query->by = numbers[status].by;
    query->number = numbers[status].number;
}

pawl_status pw_list_instances(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                              struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_LIST, .list = *query };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.instances;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_earlier_runs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                 struct pw_earlier_run **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_EARLIER_RUNS, .history = *query };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.earlier_runs;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                          struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_STEPS, .history = *query };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.steps;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                           struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_EVENTS, .history = *query };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.events;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                         struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_LOGS, .history = *query };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.logs;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                          struct pw_text id, struct pw_event_row *out_event, bool *out_found, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_EVENT, .run = { .instance = instance, .run = run, .id = id } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    *out_found = status == PAWL_OK && found.count > 0;
    if (*out_found)
        *out_event = *found.events;
    return status;
}

pawl_status pw_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                               int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                               struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_NEW_EVENTS,
                                   .run = { .instance = instance, .run = run, .after_seq = after_seq } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.events;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                  struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_WAITING_STEPS, .run = { .instance = instance, .run = run } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.steps;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_run(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run, bool with_events,
                        struct pw_run_rows *out_rows, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_RUN,
                                   .run = { .instance = instance, .run = run, .with_events = with_events } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK)
        *out_rows = found.run;
    return status;
}

pawl_status pw_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                        const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_NEXT_DUE, .due = { workflows, count, share, after_ms } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, NULL, &found, error);
    if (status == PAWL_OK)
        *out_at_ms = found.at_ms;
    return status;
}

pawl_status pw_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                         struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_NEXT_HOOK, .names = { .names = hooks, .count = count } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, NULL, &found, error);
    if (status == PAWL_OK)
        *out_at_ms = found.at_ms;
    return status;
}

pawl_status pw_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                           struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_TASK_COUNTS, .now_ms = now_ms };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, NULL, &found, error);
    if (status == PAWL_OK)
        *out_counts = found.tasks;
    return status;
}

pawl_status pw_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                              struct pw_status_counts *out_counts, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_STATUS_COUNTS, .names = { workflows, count, max } };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, NULL, &found, error);
    if (status == PAWL_OK)
        *out_counts = found.statuses;
    return status;
}

pawl_status pw_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                          struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_HOOKS, .hooks = *query };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.hooks;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_list_runners(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                            size_t *out_count, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_RUNNERS };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, arena, &found, error);
    if (status == PAWL_OK) {
        *out_rows = found.runners;
        *out_count = found.count;
    }
    return status;
}

pawl_status pw_read_part(struct pw_store *store, struct pw_part *out_part, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_PART };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, NULL, &found, error);
    if (status == PAWL_OK)
        *out_part = found.part;
    return status;
}

pawl_status pw_read_schema(struct pw_store *store, struct pw_schema_found *out_schema, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_SCHEMA };
    struct pw_found found;
    pawl_status status = pw_read(store, &asked, NULL, &found, error);
    if (status == PAWL_OK)
        *out_schema = found.schema;
    return status;
}
