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
        out_found->rows = found.rows;                                                                                  \
        out_found->count = found.count;                                                                                \
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

static void read_current(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                         struct pw_found *out_found)
{
    *out_found = (struct pw_found){ .count = 0 };
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *instance = &model->rows.instances[i];
        if (!pw_text_equal(instance->workflow, asked->name.workflow) || !pw_text_equal(instance->id, asked->name.id))
            continue;
        const struct pw_step_row *step = NULL;
        if (instance->has_task)
            step = newest_step(model, instance->key, instance->run, true);
        if (step == NULL)
            step = newest_step(model, instance->key, instance->run, false);
        out_found->current = pw_arena_zero(arena, sizeof *out_found->current);
        assert_non_null(out_found->current);
        out_found->count = 1;
        out_found->current->instance = told(model, instance);
        out_found->current->has_step = step != NULL;
        if (step != NULL)
            out_found->current->step = *step;
        return;
    }
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
    bool is_of_workflow = pw_text_equal(instance->workflow, query->workflow);
    switch (query->by) {
    case PW_BY_WORKFLOW:
        return is_of_workflow;
    case PW_BY_PARENT:
        return instance->link.parent == query->number;
    case PW_BY_STATUS:
        return is_of_workflow && instance->has_task && instance->task.status == (enum pw_task_status)query->number;
    case PW_BY_OUTCOME:
        return is_of_workflow && !instance->has_task && instance->outcome == (enum pw_outcome)query->number;
    case PW_BY_VERSION:
        return is_of_workflow && instance->terms.version.data != NULL &&
               pw_text_equal(instance->terms.version, query->text);
    case PW_FILTER_COUNT:
        break;
    }
    fail_msg("there is no filter %d", query->by);
    return false;
}

static void list_instances(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                           struct pw_found *out_found)
{
    const struct pw_instance_query *query = &asked->list;
    COPY_ROWS(const struct pw_instance *kept, instance, struct pw_instance, is_asked_for(kept, query),
              told(model, kept), !query->oldest_first, query->max);
}

static void read_earlier_runs(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                              struct pw_found *out_found)
{
    const struct pw_history_query *query = &asked->history;
    COPY_ROWS(const struct model_earlier *kept, earlier, struct pw_earlier_run, kept->instance == query->instance,
              kept->row, query->newest_first, query->max);
}

static void read_steps(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                       struct pw_found *out_found)
{
    const struct pw_history_query *query = &asked->history;
    COPY_ROWS(const struct model_step *kept, step, struct pw_step_row,
              kept->instance == query->instance && kept->run == query->run, kept->row, query->newest_first, query->max);
}

static void read_events(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                        struct pw_found *out_found)
{
    const struct pw_history_query *query = &asked->history;
    COPY_ROWS(const struct model_event *kept, event, struct pw_event_row,
              kept->instance == query->instance && kept->run == query->run, kept->row, query->newest_first, query->max);
}

static void read_logs(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                      struct pw_found *out_found)
{
    const struct pw_history_query *query = &asked->history;
    COPY_ROWS(const struct model_log *kept, log, struct pw_log_row,
              kept->instance == query->instance && kept->run == query->run, kept->row, query->newest_first, query->max);
}

static void read_new_events(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                            struct pw_found *out_found)
{
    const struct pw_run_query *query = &asked->run;
    COPY_ROWS(const struct model_event *kept, event, struct pw_event_row,
              kept->instance == query->instance && kept->run == query->run && kept->row.seq > query->after_seq &&
                  kept->row.delivered_at_ms == 0,
              kept->row, false, SIZE_MAX);
}

static void read_waiting_steps(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                               struct pw_found *out_found)
{
    const struct pw_history_query *query = &asked->history;
    COPY_ROWS(const struct model_step *kept, step, struct pw_step_row,
              kept->instance == query->instance && kept->run == query->run && kept->row.status == PAWL_STEP_WAITING,
              kept->row, query->newest_first, query->max);
}

static void list_hooks(struct model *model, const struct pw_read *asked, struct pw_arena *arena,
                       struct pw_found *out_found)
{
    const struct pw_hook_query *query = &asked->hooks;
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

static int64_t next_due(const struct model *model, const struct pw_due_query *query)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        int64_t at_ms = store_model_due_for(&model->rows.instances[i], query->workflows, query->count, query->share);
        if (at_ms > query->after_ms)
            next_ms = sooner_of(next_ms, at_ms);
    }
    return next_ms;
}

static int64_t next_hook(const struct model *model, const struct pw_names_query *query)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < model->rows.hook_count; i++) {
        const struct pw_hook_row *hook = &model->rows.hooks[i];
        if (hook->next_at_ms != 0 && store_model_is_named(query->names, query->count, hook->hook))
            next_ms = sooner_of(next_ms, hook->next_at_ms);
    }
    return next_ms;
}

static struct pw_task_counts count_tasks(const struct model *model, int64_t now_ms)
{
    struct pw_task_counts counts = { .oldest_due_at_ms = 0 };
    int64_t oldest_ms = INT64_MAX;
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
    return counts;
}

static struct pw_status_counts count_statuses(const struct model *model, const struct pw_names_query *query)
{
    struct pw_status_counts counts = { .of = { 0 } };
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *instance = &model->rows.instances[i];
        int64_t *of = &counts.of[status_of(instance)];
        *of += store_model_is_named(query->names, query->count, instance->workflow) && *of < query->max;
    }
    return counts;
}

pawl_status store_model_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    static void (*const lists[PW_READ_KIND_COUNT])(struct model * model, const struct pw_read *asked,
                                                   struct pw_arena *arena, struct pw_found *out_found) = {
        [PW_READ_CURRENT] = read_current,
        [PW_READ_LIST] = list_instances,
        [PW_READ_EARLIER_RUNS] = read_earlier_runs,
        [PW_READ_STEPS] = read_steps,
        [PW_READ_EVENTS] = read_events,
        [PW_READ_LOGS] = read_logs,
        [PW_READ_NEW_EVENTS] = read_new_events,
        [PW_READ_WAITING_STEPS] = read_waiting_steps,
        [PW_READ_HOOKS] = list_hooks,
    };
    struct model *model = (struct model *)store;
    (void)error;
    if (lists[asked->kind] != NULL)
        lists[asked->kind](model, asked, arena, out_found);
    else if (asked->kind == PW_READ_NEXT_DUE)
        out_found->at_ms = next_due(model, &asked->due);
    else if (asked->kind == PW_READ_NEXT_HOOK)
        out_found->at_ms = next_hook(model, &asked->names);
    else if (asked->kind == PW_READ_TASK_COUNTS)
        out_found->tasks = count_tasks(model, asked->now_ms);
    else if (asked->kind == PW_READ_STATUS_COUNTS)
        out_found->statuses = count_statuses(model, &asked->names);
    else
        fail_msg("the model does not answer read %d", asked->kind);
    return PAWL_OK;
}
