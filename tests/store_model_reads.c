/* store_model_reads.c - what the model answers when it is read; see store_model.h. */
#include "store_model_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rows.h"

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

/* Copies the rows that `when` holds for, in the order of the array or against it, up to max. */
#define COPY_ROWS(kept, from, type, when, field, backward, most)                                                       \
    do {                                                                                                               \
        struct pw_rows found = { .arena = arena, .row_size = sizeof(type) };                                           \
        for (size_t n = 0; n < model->rows.from##_count && found.count < (most); n++) {                                \
            const size_t at = (backward) ? model->rows.from##_count - 1 - n : n;                                       \
            kept = &model->rows.from##s[at];                                                                           \
            if (!(when))                                                                                               \
                continue;                                                                                              \
            type *row = pw_rows_add(&found);                                                                           \
            assert_non_null(row);                                                                                      \
            *row = field;                                                                                              \
        }                                                                                                              \
        *out_rows = found.rows;                                                                                        \
        *out_count = found.count;                                                                                      \
        return PAWL_OK;                                                                                                \
    } while (0)

static const struct pw_step_row *newest_step(struct model *model, int64_t instance, int64_t run, bool that_waits)
{
    const struct pw_step_row *newest = NULL;
    for (size_t i = 0; i < model->rows.step_count; i++) {
        const struct model_step *step = &model->rows.steps[i];
        if (step->instance == instance && step->run == run && (!that_waits || step->row.status == PAWL_STEP_WAITING) &&
            (newest == NULL || step->row.seq > newest->seq))
            newest = &step->row;
    }
    return newest;
}

static int64_t later_of(int64_t left, int64_t right)
{
    return left > right ? left : right;
}

/* As it is told: with the live times of the task and the newest step. */
static struct pw_instance told(struct model *model, const struct pw_instance *instance)
{
    struct pw_instance row = *instance;
    const struct pw_step_row *step = newest_step(model, row.key, row.run, false);
    if (!row.has_task) {
        row.task = (struct pw_task){ .epoch = 0 };
        return row;
    }
    row.updated_at_ms = later_of(row.updated_at_ms, row.task.updated_at_ms);
    row.updated_at_ms = later_of(row.updated_at_ms, step != NULL ? step->updated_at_ms : 0);
    row.started_at_ms = row.task.started_at_ms;
    return row;
}

static pawl_status read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                bool *out_has_step, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)arena;
    (void)error;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *instance = &model->rows.instances[i];
        if (!pw_text_equal(instance->workflow, workflow) || !pw_text_equal(instance->id, id))
            continue;
        const struct pw_step_row *step = NULL;
        if (instance->has_task)
            step = newest_step(model, instance->key, instance->run, true);
        if (step == NULL)
            step = newest_step(model, instance->key, instance->run, false);
        *out_instance = told(model, instance);
        *out_has_step = step != NULL;
        if (step != NULL)
            *out_step = *step;
        return PAWL_OK;
    }
    return PAWL_INSTANCE_NOT_FOUND;
}

static enum pawl_instance_status status_of(const struct pw_instance *instance)
{
    static const enum pawl_instance_status ended[] = { [PW_OUTCOME_COMPLETE] = PAWL_COMPLETE,
                                                       [PW_OUTCOME_TERMINATED] = PAWL_TERMINATED,
                                                       [PW_OUTCOME_ERRORED] = PAWL_ERRORED };
    static const enum pawl_instance_status live[] = {
        [PW_TASK_ACTIVE] = PAWL_ACTIVE, [PW_TASK_WAITING] = PAWL_WAITING, [PW_TASK_PAUSED] = PAWL_PAUSED
    };
    return instance->has_task ? live[instance->task.status] : ended[instance->outcome];
}

static bool is_asked_for(const struct pw_instance *instance, const struct pw_instance_query *query)
{
    if (query->parent != 0)
        return instance->link.parent == query->parent;
    return pw_text_equal(instance->workflow, query->workflow) &&
           (!query->has_status || status_of(instance) == query->status);
}

static pawl_status list_instances(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                                  struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct pw_instance *kept, instance, struct pw_instance, is_asked_for(kept, query),
              told(model, kept), !query->oldest_first, query->max);
}

static pawl_status read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                              struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct model_step *kept, step, struct pw_step_row,
              kept->instance == query->instance && kept->run == query->run, kept->row, query->newest_first, query->max);
}

static pawl_status read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                               struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct model_event *kept, event, struct pw_event_row,
              kept->instance == query->instance && kept->run == query->run, kept->row, query->newest_first, query->max);
}

static pawl_status read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                             struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct model_log *kept, log, struct pw_log_row,
              kept->instance == query->instance && kept->run == query->run, kept->row, query->newest_first, query->max);
}

static pawl_status read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                   int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                   struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct model_event *kept, event, struct pw_event_row,
              kept->instance == instance && kept->run == run && kept->row.seq > after_seq &&
                  kept->row.delivered_at_ms == 0,
              kept->row, false, SIZE_MAX);
}

static pawl_status read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct model_step *kept, step, struct pw_step_row,
              kept->instance == instance && kept->run == run && kept->row.status == PAWL_STEP_WAITING, kept->row, false,
              SIZE_MAX);
}

static pawl_status list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                              struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    COPY_ROWS(const struct pw_hook_row *kept, hook, struct pw_hook_row,
              (query->hook.data == NULL || pw_text_equal(kept->hook, query->hook)) &&
                  (!query->has_status || (kept->next_at_ms == 0) == (query->status == PAWL_DELIVERY_FAILED)),
              *kept, false, query->max);
}

/* ---- Times and totals ------------------------------------------------------------------------------------------------ */

static int64_t sooner_of(int64_t left, int64_t right)
{
    return left < right ? left : right;
}

static pawl_status next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                            const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                            struct pawl_error *error)
{
    const struct model *model = (const struct model *)store;
    (void)error;
    *out_at_ms = INT64_MAX;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        int64_t at_ms = store_model_due_for(&model->rows.instances[i], workflows, count, share);
        if (at_ms > after_ms)
            *out_at_ms = sooner_of(*out_at_ms, at_ms);
    }
    return PAWL_OK;
}

static pawl_status next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                             struct pawl_error *error)
{
    const struct model *model = (const struct model *)store;
    (void)error;
    *out_at_ms = INT64_MAX;
    for (size_t i = 0; i < model->rows.hook_count; i++)
        if (model->rows.hooks[i].next_at_ms != 0 && store_model_is_named(hooks, count, model->rows.hooks[i].hook))
            *out_at_ms = sooner_of(*out_at_ms, model->rows.hooks[i].next_at_ms);
    return PAWL_OK;
}

static pawl_status count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                               struct pawl_error *error)
{
    const struct model *model = (const struct model *)store;
    struct pw_task_counts counts = { .oldest_due_at_ms = 0 };
    int64_t oldest_ms = INT64_MAX;
    (void)error;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *instance = &model->rows.instances[i];
        counts.active += instance->has_task && instance->task.status == PW_TASK_ACTIVE;
        counts.waiting += instance->has_task && instance->task.status == PW_TASK_WAITING;
        counts.paused += instance->has_task && instance->task.status == PW_TASK_PAUSED;
        counts.due += store_model_due_since(instance) <= now_ms;
        oldest_ms = sooner_of(oldest_ms, store_model_due_since(instance));
    }
    for (size_t i = 0; i < model->rows.hook_count; i++) {
        counts.hooks_pending += model->rows.hooks[i].next_at_ms != 0;
        counts.hooks_failed += model->rows.hooks[i].next_at_ms == 0;
    }
    counts.oldest_due_at_ms = counts.due > 0 ? oldest_ms : 0;
    *out_counts = counts;
    return PAWL_OK;
}

static pawl_status count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                                  struct pw_status_counts *out_counts, struct pawl_error *error)
{
    const struct model *model = (const struct model *)store;
    struct pw_status_counts counts = { .of = { 0 } };
    (void)error;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *instance = &model->rows.instances[i];
        int64_t *of = &counts.of[status_of(instance)];
        *of += store_model_is_named(workflows, count, instance->workflow) && *of < max;
    }
    *out_counts = counts;
    return PAWL_OK;
}

const struct pw_store_ops store_model_reads = {
    .name = "model",
    .read_current = read_current,
    .list_instances = list_instances,
    .read_steps = read_steps,
    .read_events = read_events,
    .read_logs = read_logs,
    .read_new_events = read_new_events,
    .read_waiting_steps = read_waiting_steps,
    .next_due = next_due,
    .count_tasks = count_tasks,
    .count_statuses = count_statuses,
    .list_hooks = list_hooks,
    .next_hook = next_hook,
};
