/* reads.c - instances and histories, read back.  Every row is a copy in the caller's arena. */
#include "base/error.h"
#include "memory/rows.h"
#include "store/page.h"

/* ---- Instances -------------------------------------------------------------------------------------------------------------- */

enum pawl_instance_status memory_status_of(const struct pw_instance *row)
{
    static const enum pawl_instance_status ended[] = { [PW_OUTCOME_COMPLETE] = PAWL_COMPLETE,
                                                       [PW_OUTCOME_TERMINATED] = PAWL_TERMINATED,
                                                       [PW_OUTCOME_ERRORED] = PAWL_ERRORED };
    static const enum pawl_instance_status open[] = {
        [PW_TASK_ACTIVE] = PAWL_ACTIVE, [PW_TASK_WAITING] = PAWL_WAITING, [PW_TASK_PAUSED] = PAWL_PAUSED
    };
    return row->has_task ? open[row->task.status] : ended[row->outcome];
}

/* The task and the newest step say how new an open run is. */
static bool copy_merged(const struct memory_store *store, struct pw_arena *arena,
                        const struct memory_instance *instance, struct pw_instance *out_row)
{
    const struct pw_step_row *step =
        memory_newest(&memory_history_of(store, instance->row.key, instance->row.run)->steps);
    if (!memory_copy_instance(arena, &instance->row, out_row))
        return false;
    if (!out_row->has_task)
        return true;
    out_row->updated_at_ms = pw_not_before(out_row->updated_at_ms, out_row->task.updated_at_ms);
    out_row->updated_at_ms = pw_not_before(out_row->updated_at_ms, step != NULL ? step->updated_at_ms : 0);
    out_row->started_at_ms = out_row->task.started_at_ms;
    return true;
}

static pawl_status answer_rows(const struct memory_reading *reading, const struct pw_rows *rows, bool no_memory)
{
    if (no_memory)
        return pw_error_plain(reading->error, PAWL_NOMEM);
    reading->found->rows = rows->rows;
    reading->found->count = rows->count;
    return PAWL_OK;
}

/* None or one. */
static pawl_status answer_instance(const struct memory_reading *reading, const struct memory_instance *instance)
{
    struct pw_rows rows = { .arena = reading->arena, .row_size = sizeof(struct pw_instance) };
    struct pw_instance *row = instance != NULL ? pw_rows_add(&rows) : NULL;
    bool is_fine = instance == NULL || (row != NULL && copy_merged(reading->store, reading->arena, instance, row));
    return answer_rows(reading, &rows, !is_fine);
}

pawl_status memory_read_instance(const struct memory_reading *reading)
{
    const struct pw_instance_name *name = &reading->asked->name;
    return answer_instance(reading, memory_instance_named(reading->store, name->workflow, name->id));
}

pawl_status memory_read_instance_by_key(const struct memory_reading *reading)
{
    return answer_instance(reading, memory_instance_at(reading->store, reading->asked->key));
}

pawl_status memory_read_instances(const struct memory_reading *reading)
{
    const struct pw_instances_wanted *wanted = &reading->asked->wanted;
    struct pw_rows rows = { .arena = reading->arena, .row_size = sizeof(struct pw_instance) };
    bool is_fine = true;
    for (size_t i = 0; i < wanted->count && is_fine; i++) {
        const struct memory_instance *instance =
            wanted->keys != NULL ? memory_instance_at(reading->store, wanted->keys[i])
                                 : memory_instance_named(reading->store, wanted->workflows[i], wanted->ids[i]);
        struct pw_instance *row = pw_rows_add(&rows);
        is_fine = row != NULL && (instance == NULL || copy_merged(reading->store, reading->arena, instance, row));
    }
    return answer_rows(reading, &rows, !is_fine);
}

/* The newest step that waits or, when none does or the run has ended, the newest of all; NULL: none yet. */
static const struct pw_step_row *current_step(const struct memory_store *store, const struct pw_instance *row)
{
    const struct memory_history *history = memory_history_of(store, row->key, row->run);
    const struct pw_step_row *steps = history->steps.rows;
    for (size_t i = history->steps.count; i > 0 && row->has_task; i--)
        if (steps[i - 1].status == PAWL_STEP_WAITING)
            return &steps[i - 1];
    return memory_newest(&history->steps);
}

pawl_status memory_read_current(const struct memory_reading *reading)
{
    const struct pw_instance_name *name = &reading->asked->name;
    const struct memory_instance *instance = memory_instance_named(reading->store, name->workflow, name->id);
    struct pw_rows rows = { .arena = reading->arena, .row_size = sizeof(struct pw_current) };
    if (instance == NULL)
        return answer_rows(reading, &rows, false);
    struct pw_current *row = pw_rows_add(&rows);
    const struct pw_step_row *step = current_step(reading->store, &instance->row);
    bool is_fine = row != NULL && copy_merged(reading->store, reading->arena, instance, &row->instance) &&
                   (step == NULL || memory_copy_step(reading->arena, step, &row->step));
    if (is_fine)
        row->has_step = step != NULL;
    return answer_rows(reading, &rows, !is_fine);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------------------- */

/* Rows that are being read, up to the bounds of a page. */
struct page {
    struct pw_rows rows;
    size_t max, bytes_max, bytes;
    pw_row_bytes_fn *bytes_of;
    bool no_memory;
};

static bool is_full(const struct page *page)
{
    return page->no_memory || page->rows.count >= page->max ||
           pw_page_is_full(page->rows.count, page->bytes, page->bytes_max);
}

static void note_row(struct page *page, const void *row, bool is_copied)
{
    page->no_memory = !is_copied;
    page->bytes += is_copied ? page->bytes_of(row) : 0;
}

/* Is a row past the one where the page begins? */
static bool is_past(int64_t place, int64_t after, bool ascending)
{
    return after == 0 || (ascending ? place > after : place < after);
}

#define OF_WORKFLOW &pw_instance_type
#define OF_ALONE &pw_instance_type
#define OF_INSTANCE &pw_instance_type
#define OF_TASK &pw_task_type

/* Has the column that the list is filtered by the value that is asked for? */
static bool has_value(const struct pw_instance *row, const struct pw_instance_query *query)
{
    static const struct {
        const struct pw_row_type *type;
        const char *column;
    } columns[] = {
#define COLUMN(with, name, shape, column, type, index) [PW_BY_##name] = { OF_##shape, #column },
        PW_INSTANCE_FILTERS(COLUMN, )
#undef COLUMN
    };
    const struct pw_row_type *type = columns[query->by].type;
    const struct pw_field *field = type->fields;
    const void *values = type == &pw_task_type ? (const void *)&row->task : row;
    if (type == &pw_task_type && !row->has_task)
        return false;
    while (strcmp(field->column, columns[query->by].column) != 0)
        field++;
    return pw_filters[query->by].is_text ? pw_text_equal(pw_member_text_of(field, values), query->text)
                                         : pw_member_get(field, values) == query->number;
}

static bool is_listed(const struct memory_instance *instance, const struct pw_instance_query *query)
{
    const struct pw_filter *filter = &pw_filters[query->by];
    if (instance == NULL || !is_past(instance->row.key, query->after_key, query->oldest_first))
        return false;
    return (!filter->has_workflow || pw_text_equal(instance->row.workflow, query->workflow)) &&
           (!filter->has_value || has_value(&instance->row, query));
}

pawl_status memory_list_instances(const struct memory_reading *reading)
{
    const struct pw_instance_query *query = &reading->asked->list;
    const struct pw_rows *instances = &reading->store->instances;
    struct page page = { .rows = { .arena = reading->arena, .row_size = sizeof(struct pw_instance) },
                         .max = query->max,
                         .bytes_max = query->bytes_max,
                         .bytes_of = pw_instance_bytes };
    for (size_t i = 0; i < instances->count && !is_full(&page); i++) {
        size_t at = query->oldest_first ? i : instances->count - 1 - i;
        const struct memory_instance *instance = ((struct memory_instance **)instances->rows)[at];
        if (!is_listed(instance, query))
            continue;
        struct pw_instance *row = pw_rows_add(&page.rows);
        note_row(&page, row, row != NULL && copy_merged(reading->store, reading->arena, instance, row));
    }
    return answer_rows(reading, &page.rows, page.no_memory);
}

/* ---- Histories ------------------------------------------------------------------------------------------------------------------ */

/* A kind of rows in a history. */
struct kind {
    size_t offset; /* of the rows in struct memory_history */
    size_t row_size;
    memory_copy_fn *copy;
    pw_row_bytes_fn *bytes_of;
    bool (*is_wanted)(const void *row, const struct pw_history_query *query); /* NULL: all are */
};

static pawl_status read_rows_of(const struct memory_reading *reading, const struct pw_history_query *query,
                                const struct kind *kind, const struct pw_rows *rows)
{
    struct page page = { .rows = { .arena = reading->arena, .row_size = kind->row_size },
                         .max = query->max,
                         .bytes_max = query->bytes_max,
                         .bytes_of = kind->bytes_of };
    for (size_t i = 0; i < rows->count && !is_full(&page); i++) {
        size_t at = query->newest_first ? rows->count - 1 - i : i;
        const char *row = (const char *)rows->rows + at * kind->row_size;
        if (!is_past(*(const int64_t *)row, query->after_seq, !query->newest_first) ||
            (kind->is_wanted != NULL && !kind->is_wanted(row, query)))
            continue;
        void *copy = pw_rows_add(&page.rows);
        note_row(&page, copy, copy != NULL && kind->copy(reading->arena, row, copy));
    }
    return answer_rows(reading, &page.rows, page.no_memory);
}

static pawl_status read_rows(const struct memory_reading *reading, const struct pw_history_query *query,
                             const struct kind *kind)
{
    const struct memory_history *history = memory_history_of(reading->store, query->instance, query->run);
    return read_rows_of(reading, query, kind, (const struct pw_rows *)((const char *)history + kind->offset));
}

/* All of a run past after_seq. */
static struct pw_history_query all_of_run(const struct pw_run_query *run)
{
    return (struct pw_history_query){
        .instance = run->instance, .run = run->run, .after_seq = run->after_seq, .max = SIZE_MAX
    };
}

#define KIND(member, type, copy_fn, bytes_fn, wanted)                                                                  \
    (&(const struct kind){ offsetof(struct memory_history, member), sizeof(type), copy_fn, bytes_fn, wanted })

static bool waits(const void *row, const struct pw_history_query *query)
{
    (void)query;
    return ((const struct pw_step_row *)row)->status == PAWL_STEP_WAITING;
}

static bool is_new(const void *row, const struct pw_history_query *query)
{
    (void)query;
    return ((const struct pw_event_row *)row)->delivered_at_ms == 0;
}

static bool is_of_level(const void *row, const struct pw_history_query *query)
{
    const struct pw_log_row *log = row;
    return (!query->has_level || log->level == query->level) &&
           (query->category.data == NULL || pw_text_equal(log->category, query->category));
}

pawl_status memory_read_earlier_runs(const struct memory_reading *reading)
{
    static const struct pw_rows none = { .count = 0 };
    const struct pw_history_query *query = &reading->asked->history;
    const struct memory_instance *instance = memory_instance_at(reading->store, query->instance);
    const struct kind kind = { .row_size = sizeof(struct pw_earlier_run),
                               .copy = memory_copy_earlier_run,
                               .bytes_of = pw_earlier_run_bytes };
    return read_rows_of(reading, query, &kind, instance != NULL ? &instance->earlier : &none);
}

pawl_status memory_read_steps(const struct memory_reading *reading)
{
    return read_rows(reading, &reading->asked->history,
                     KIND(steps, struct pw_step_row, memory_copy_step, pw_step_bytes, NULL));
}

pawl_status memory_read_waiting_steps(const struct memory_reading *reading)
{
    return read_rows(reading, &reading->asked->history,
                     KIND(steps, struct pw_step_row, memory_copy_step, pw_step_bytes, waits));
}

pawl_status memory_count_waiting_steps(const struct memory_reading *reading)
{
    const struct pw_run_query *run = &reading->asked->run;
    const struct memory_history *history = memory_history_of(reading->store, run->instance, run->run);
    const struct pw_step_row *steps = history->steps.rows;
    reading->found->total = 0;
    for (size_t i = 0; i < history->steps.count; i++)
        reading->found->total += steps[i].status == PAWL_STEP_WAITING;
    return PAWL_OK;
}

pawl_status memory_read_events(const struct memory_reading *reading)
{
    return read_rows(reading, &reading->asked->history,
                     KIND(events, struct pw_event_row, memory_copy_event, pw_event_bytes, NULL));
}

pawl_status memory_read_new_events(const struct memory_reading *reading)
{
    const struct pw_history_query query = all_of_run(&reading->asked->run);
    return read_rows(reading, &query, KIND(events, struct pw_event_row, memory_copy_event, pw_event_bytes, is_new));
}

pawl_status memory_read_logs(const struct memory_reading *reading)
{
    return read_rows(reading, &reading->asked->history,
                     KIND(logs, struct pw_log_row, memory_copy_log, pw_log_bytes, is_of_level));
}

pawl_status memory_read_event(const struct memory_reading *reading)
{
    const struct pw_run_query *run = &reading->asked->run;
    struct pw_rows rows = { .arena = reading->arena, .row_size = sizeof(struct pw_event_row) };
    const struct pw_event_row *event =
        memory_event_of_id(memory_history_of(reading->store, run->instance, run->run), run->id);
    struct pw_event_row *row = event != NULL ? pw_rows_add(&rows) : NULL;
    bool is_fine = event == NULL || (row != NULL && memory_copy_event(reading->arena, event, row));
    return answer_rows(reading, &rows, !is_fine);
}

/* Never asked for: the store does not say reads_runs. */
pawl_status memory_read_run(const struct memory_reading *reading)
{
    return pw_error(reading->error, PAWL_INVALID, "the memory store reads no runs at once");
}

pawl_status memory_read_part(const struct memory_reading *reading)
{
    reading->found->part = (struct pw_part){ .count = 0 };
    return PAWL_OK;
}

/* It has no schema to migrate. */
pawl_status memory_read_schema(const struct memory_reading *reading)
{
    reading->found->schema = (struct pw_schema_found){ .version = 1, .known = 1 };
    return PAWL_OK;
}
