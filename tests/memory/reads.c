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

static pawl_status answer_instance(const struct memory_store *store, struct pw_arena *arena,
                                   const struct memory_instance *instance, struct pw_instance *out_row,
                                   struct pawl_error *error)
{
    struct pw_instance row;
    if (instance == NULL)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (!copy_merged(store, arena, instance, &row))
        return pw_error_plain(error, PAWL_NOMEM);
    *out_row = row;
    return PAWL_OK;
}

static pawl_status read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                 struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    (void)pthread_mutex_lock(&memory->lock);
    pawl_status status =
        answer_instance(memory, arena, memory_instance_named(memory, workflow, id), out_instance, error);
    (void)pthread_mutex_unlock(&memory->lock);
    return status;
}

static pawl_status read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                        struct pw_instance *out_instance, struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    (void)pthread_mutex_lock(&memory->lock);
    pawl_status status = answer_instance(memory, arena, memory_instance_at(memory, key), out_instance, error);
    (void)pthread_mutex_unlock(&memory->lock);
    return status;
}

static pawl_status read_instances(struct pw_store *store, struct pw_arena *arena,
                                  const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                  struct pawl_error *error)
{
    struct pw_instance *rows = pw_arena_zero(arena, wanted->count * sizeof *rows + 1); /* not NULL for none */
    pawl_status status = rows != NULL ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
    for (size_t i = 0; i < wanted->count && status == PAWL_OK; i++) {
        status = wanted->keys != NULL
                     ? read_instance_by_key(store, arena, wanted->keys[i], &rows[i], error)
                     : read_instance(store, arena, wanted->workflows[i], wanted->ids[i], &rows[i], error);
        if (status == PAWL_INSTANCE_NOT_FOUND)
            status = PAWL_OK;
    }
    *out_rows = rows;
    return status;
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

static pawl_status read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                bool *out_has_step, struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    (void)pthread_mutex_lock(&memory->lock);
    const struct memory_instance *instance = memory_instance_named(memory, workflow, id);
    pawl_status status = answer_instance(memory, arena, instance, out_instance, error);
    const struct pw_step_row *step = status == PAWL_OK ? current_step(memory, &instance->row) : NULL;
    if (step != NULL && !memory_copy_step(arena, step, out_step))
        status = pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK)
        *out_has_step = step != NULL;
    (void)pthread_mutex_unlock(&memory->lock);
    return status;
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

static bool is_listed(const struct memory_instance *instance, const struct pw_instance_query *query)
{
    if (instance == NULL || !is_past(instance->row.key, query->after_key, query->oldest_first))
        return false;
    if (query->parent != 0)
        return instance->row.link.parent == query->parent;
    return pw_text_equal(instance->row.workflow, query->workflow) &&
           (!query->has_status || memory_status_of(&instance->row) == query->status);
}

static pawl_status list_instances(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                                  struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    struct page page = { .rows = { .arena = arena, .row_size = sizeof **out_rows },
                         .max = query->max,
                         .bytes_max = query->bytes_max,
                         .bytes_of = pw_instance_bytes };
    (void)pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->instances.count && !is_full(&page); i++) {
        size_t at = query->oldest_first ? i : memory->instances.count - 1 - i;
        const struct memory_instance *instance = ((struct memory_instance **)memory->instances.rows)[at];
        if (!is_listed(instance, query))
            continue;
        struct pw_instance *row = pw_rows_add(&page.rows);
        note_row(&page, row, row != NULL && copy_merged(memory, arena, instance, row));
    }
    (void)pthread_mutex_unlock(&memory->lock);
    if (page.no_memory)
        return pw_error_plain(error, PAWL_NOMEM);
    *out_rows = page.rows.rows;
    *out_count = page.rows.count;
    return PAWL_OK;
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

static pawl_status read_rows(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                             const struct kind *kind, void *out_rows, size_t *out_count, struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    struct page page = { .rows = { .arena = arena, .row_size = kind->row_size },
                         .max = query->max,
                         .bytes_max = query->bytes_max,
                         .bytes_of = kind->bytes_of };
    (void)pthread_mutex_lock(&memory->lock);
    const struct memory_history *history = memory_history_of(memory, query->instance, query->run);
    const struct pw_rows *rows = (const struct pw_rows *)((const char *)history + kind->offset);
    for (size_t i = 0; i < rows->count && !is_full(&page); i++) {
        size_t at = query->newest_first ? rows->count - 1 - i : i;
        const char *row = (const char *)rows->rows + at * kind->row_size;
        if (!is_past(*(const int64_t *)row, query->after_seq, !query->newest_first) ||
            (kind->is_wanted != NULL && !kind->is_wanted(row, query)))
            continue;
        void *copy = pw_rows_add(&page.rows);
        note_row(&page, copy, copy != NULL && kind->copy(arena, row, copy));
    }
    (void)pthread_mutex_unlock(&memory->lock);
    if (page.no_memory)
        return pw_error_plain(error, PAWL_NOMEM);
    memcpy(out_rows, &page.rows.rows, sizeof page.rows.rows);
    *out_count = page.rows.count;
    return PAWL_OK;
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

static pawl_status read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                              struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    return read_rows(store, arena, query, KIND(steps, struct pw_step_row, memory_copy_step, pw_step_bytes, NULL),
                     out_rows, out_count, error);
}

static pawl_status read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    const struct pw_history_query query = { .instance = instance, .run = run, .max = SIZE_MAX };
    return read_rows(store, arena, &query, KIND(steps, struct pw_step_row, memory_copy_step, pw_step_bytes, waits),
                     out_rows, out_count, error);
}

static pawl_status read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                               struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    return read_rows(store, arena, query, KIND(events, struct pw_event_row, memory_copy_event, pw_event_bytes, NULL),
                     out_rows, out_count, error);
}

static pawl_status read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                   int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                   struct pawl_error *error)
{
    const struct pw_history_query query = { .instance = instance, .run = run, .after_seq = after_seq, .max = SIZE_MAX };
    return read_rows(store, arena, &query, KIND(events, struct pw_event_row, memory_copy_event, pw_event_bytes, is_new),
                     out_rows, out_count, error);
}

static pawl_status read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                             struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    return read_rows(store, arena, query, KIND(logs, struct pw_log_row, memory_copy_log, pw_log_bytes, is_of_level),
                     out_rows, out_count, error);
}

static pawl_status read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                              struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                              struct pawl_error *error)
{
    struct memory_store *memory = memory_of(store);
    (void)pthread_mutex_lock(&memory->lock);
    const struct pw_event_row *event = memory_event_of_id(memory_history_of(memory, instance, run), id);
    bool is_copied = event == NULL || memory_copy_event(arena, event, out_event);
    (void)pthread_mutex_unlock(&memory->lock);
    if (!is_copied)
        return pw_error_plain(error, PAWL_NOMEM);
    *out_found = event != NULL;
    return PAWL_OK;
}

void memory_fill_reads(struct pw_store_ops *ops)
{
    ops->read_instance = read_instance;
    ops->read_instance_by_key = read_instance_by_key;
    ops->read_instances = read_instances;
    ops->read_current = read_current;
    ops->list_instances = list_instances;
    ops->read_steps = read_steps;
    ops->read_waiting_steps = read_waiting_steps;
    ops->read_events = read_events;
    ops->read_new_events = read_new_events;
    ops->read_logs = read_logs;
    ops->read_event = read_event;
}
