/* read.c - the entry to a store's reads, and typed functions for reads that several callers need.  A new read needs
 * nothing here. */
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

pawl_status pw_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                    struct pw_found *out_found, struct pawl_error *error)
{
    return pw_ops(store)->read(store, asked, arena, out_found, error);
}

/* For reads that find one row or none. */
static pawl_status read_one(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                            struct pw_found *out_found, struct pawl_error *error)
{
    pawl_status status = pw_read(store, asked, arena, out_found, error);
    return status == PAWL_OK && out_found->count == 0 ? pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND) : status;
}

pawl_status pw_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                             struct pw_instance *out_instance, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_INSTANCE, .name = { workflow, id } };
    struct pw_found found;
    pawl_status status = read_one(store, &asked, arena, &found, error);
    if (status == PAWL_OK)
        *out_instance = *found.instances;
    return status;
}

pawl_status pw_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                    struct pw_instance *out_instance, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_INSTANCE_BY_KEY, .key = key };
    struct pw_found found;
    pawl_status status = read_one(store, &asked, arena, &found, error);
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
    pawl_status status = read_one(store, &asked, arena, &found, error);
    if (status != PAWL_OK)
        return status;
    *out_instance = found.current->instance;
    *out_step = found.current->step;
    *out_has_step = found.current->has_step;
    return PAWL_OK;
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
