/* read.c - reading rows.  Each call is one statement on a connection of its own, so it sees one state of the database,
 * and every unit that was answered before it began. */
#include "base/error.h"
#include "store/sqlite/read.h"
#include "base/rows.h"
#include "store/page.h"
#include "store/sqlite/sqlite.h"

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

void pw_read_task(struct pw_query *query, struct pw_task *task)
{
    task->epoch = pw_column_count(query);
    task->status = (enum pw_task_status)pw_column_choice(query, PW_TASK_PAUSED);
    task->kind = (enum pw_task_kind)pw_column_choice(query, PW_TASK_REPAIR);
    task->due_at_ms = pw_column_time(query);
    task->processing = pw_column_integer(query) != 0;
    task->owner = pw_column_integer(query);
    task->locked_until_ms = pw_column_time(query);
    task->pause_requested = pw_column_integer(query) != 0;
    task->demand = (enum pw_demand)pw_column_choice(query, PW_DEMAND_TERMINATE);
    task->started_at_ms = pw_column_time(query);
    task->updated_at_ms = pw_column_time(query);
    task->event_seq = pw_column_count(query);
}

void pw_read_link(struct pw_query *query, struct pw_link *out_link)
{
    out_link->parent = pw_column_count(query);
    out_link->run = pw_column_count(query);
    out_link->relation = (enum pw_relation)pw_column_choice(query, PW_RELATION_JOB);
}

static void read_instance_row(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_instance *instance = row;
    instance->key = pw_column_place(query);
    instance->workflow = pw_column_text(query, arena);
    instance->id = pw_column_text(query, arena);
    instance->run = pw_column_count(query);
    instance->outcome = (enum pw_outcome)pw_column_choice(query, PW_OUTCOME_ERRORED);
    instance->params = pw_column_text(query, arena);
    instance->output = pw_column_text(query, arena);
    instance->error_name = pw_column_text(query, arena);
    instance->error_message = pw_column_text(query, arena);
    instance->created_at_ms = pw_column_time(query);
    instance->updated_at_ms = pw_column_time(query);
    instance->started_at_ms = pw_column_time(query);
    instance->completed_at_ms = pw_column_time(query);
    pw_read_link(query, &instance->link);
    instance->has_task = pw_column_integer(query) != 0; /* its key, which is never 0 */
    pw_read_task(query, &instance->task);
}

static void read_step_row(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_step_row *step = row;
    step->seq = pw_column_place(query);
    step->name = pw_column_text(query, arena);
    step->kind = (enum pawl_step_kind)pw_column_choice(query, PAWL_STEP_DEFERRED);
    step->status = (enum pawl_step_status)pw_column_choice(query, PAWL_STEP_ERRORED);
    step->attempts = pw_column_count(query);
    step->attempts_max = pw_column_count(query);
    step->timeout_ms = pw_column_count(query);
    step->next_retry_at_ms = pw_column_time(query);
    step->wake_at_ms = pw_column_time(query);
    step->event_at_ms = pw_column_time(query);
    step->wait_event_type = pw_column_text(query, arena);
    step->result = pw_column_text(query, arena);
    step->error_name = pw_column_text(query, arena);
    step->error_message = pw_column_text(query, arena);
    step->created_at_ms = pw_column_time(query);
    step->updated_at_ms = pw_column_time(query);
    step->description = pw_column_text(query, arena);
}

static void read_event_row(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_event_row *event = row;
    event->seq = pw_column_place(query);
    event->id = pw_column_text(query, arena);
    event->type = pw_column_text(query, arena);
    event->payload = pw_column_text(query, arena);
    event->created_at_ms = pw_column_time(query);
    event->delivered_at_ms = pw_column_time(query);
    event->consumed_by = pw_column_text(query, arena);
}

static void read_log_row(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_log_row *log = row;
    log->seq = pw_column_place(query);
    log->step = pw_column_text(query, arena);
    log->attempt = pw_column_count(query);
    log->level = (enum pawl_log_level)pw_column_choice(query, PAWL_LOG_ERROR);
    log->category = pw_column_text(query, arena);
    log->message = pw_column_text(query, arena);
    log->data = pw_column_text(query, arena);
    log->is_replay = pw_column_integer(query) != 0;
    log->created_at_ms = pw_column_time(query);
}

void pw_read_hook_row(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct pw_hook_row *hook = row;
    hook->key = pw_column_place(query);
    hook->id = pw_column_text(query, arena);
    hook->hook = pw_column_text(query, arena);
    hook->event = (enum pawl_hook_event)pw_column_choice(query, PAWL_HOOK_FINISHED);
    hook->reason = (enum pw_hook_reason)pw_column_choice(query, PW_REASON_WAKE);
    hook->due_at_ms = pw_column_time(query);
    hook->outcome = (enum pw_outcome)pw_column_choice(query, PW_OUTCOME_ERRORED);
    hook->error_name = pw_column_text(query, arena);
    hook->error_message = pw_column_text(query, arena);
    hook->workflow = pw_column_text(query, arena);
    hook->instance_id = pw_column_text(query, arena);
    hook->run = pw_column_count(query);
    hook->created_at_ms = pw_column_time(query);
    hook->attempts = pw_column_count(query);
    hook->attempts_max = pw_column_count(query);
    hook->next_at_ms = pw_column_time(query);
    hook->locked_until_ms = pw_column_time(query);
    hook->epoch = pw_column_count(query);
    hook->last_error = pw_column_text(query, arena);
}

/* ---- Reading as such ----------------------------------------------------------------------------------------- */

typedef void read_row_fn(struct pw_query *query, struct pw_arena *arena, void *row);

/* A query on a reader; begin, bind, then finish, which gives the reader back. */
struct reading {
    struct pw_sqlite *sqlite;
    struct pw_query query;
    pw_row_bytes_fn *bytes_of; /* of a list that is bounded by these; else NULL */
    size_t bytes_max;
};

static pawl_status begin(struct reading *reading, struct pw_store *store, enum pw_query_name name,
                         struct pawl_error *error)
{
    struct pw_sqlite_connection *connection = NULL;
    *reading = (struct reading){ .sqlite = (struct pw_sqlite *)store };
    pawl_status status = pw_sqlite_take_reader(reading->sqlite, &connection, error);
    if (status == PAWL_OK)
        pw_query_start(&reading->query, connection, name);
    return status;
}

static pawl_status finish(struct reading *reading, struct pw_rows *rows, read_row_fn *read_row,
                          struct pawl_error *error)
{
    struct pw_query *query = &reading->query;
    size_t bytes = 0;
    while (!pw_page_is_full(rows->count, bytes, reading->bytes_max) && pw_query_step(query)) {
        void *row = pw_rows_add(rows);
        if (row == NULL) {
            query->code = SQLITE_NOMEM;
            break;
        }
        read_row(query, rows->arena, row);
        if (reading->bytes_of != NULL)
            bytes += reading->bytes_of(row);
    }
    pawl_status status = pw_query_end(query, error);
    pw_sqlite_give_reader(reading->sqlite, query->connection);
    return status;
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

static pawl_status finish_instance(struct reading *reading, struct pw_arena *arena, struct pw_instance *out_instance,
                                   struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof *out_instance };
    pawl_status status = finish(reading, &rows, read_instance_row, error);
    if (status == PAWL_OK && rows.count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status == PAWL_OK)
        *out_instance = *(struct pw_instance *)rows.rows;
    return status;
}

pawl_status pw_sqlite_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                    struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error)
{
    struct reading reading;
    pawl_status status = begin(&reading, store, PW_QUERY_INSTANCE_BY_ID, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_text(&reading.query, workflow);
    pw_bind_text(&reading.query, id);
    return finish_instance(&reading, arena, out_instance, error);
}

pawl_status pw_sqlite_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                           struct pw_instance *out_instance, struct pawl_error *error)
{
    struct reading reading;
    pawl_status status = begin(&reading, store, PW_QUERY_INSTANCE_BY_KEY, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_integer(&reading.query, key);
    return finish_instance(&reading, arena, out_instance, error);
}

/* A statement for each: nothing is sent anywhere, and each is found by its index. */
pawl_status pw_sqlite_read_instances(struct pw_store *store, struct pw_arena *arena,
                                     const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                     struct pawl_error *error)
{
    struct pw_instance *instances = pw_arena_zero(arena, wanted->count * sizeof *instances + 1); /* not NULL for none */
    pawl_status status = instances != NULL ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
    for (size_t i = 0; i < wanted->count && status == PAWL_OK; i++) {
        status =
            wanted->keys != NULL
                ? pw_sqlite_read_instance_by_key(store, arena, wanted->keys[i], &instances[i], error)
                : pw_sqlite_read_instance(store, arena, wanted->workflows[i], wanted->ids[i], &instances[i], error);
        if (status == PAWL_INSTANCE_NOT_FOUND)
            status = PAWL_OK;
    }
    *out_rows = instances;
    return status;
}

/* An instance and the step that it is at. */
struct current {
    struct pw_instance instance;
    bool has_step;
    struct pw_step_row step;
};

static void read_current_row(struct pw_query *query, struct pw_arena *arena, void *row)
{
    struct current *current = row;
    read_instance_row(query, arena, &current->instance);
    current->has_step = pw_column_integer(query) != 0;
    if (current->has_step)
        read_step_row(query, arena, &current->step);
}

pawl_status pw_sqlite_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                   struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                   bool *out_has_step, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof(struct current) };
    struct reading reading;
    pawl_status status = begin(&reading, store, PW_QUERY_INSTANCE_CURRENT, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_text(&reading.query, workflow);
    pw_bind_text(&reading.query, id);
    status = finish(&reading, &rows, read_current_row, error);
    if (status == PAWL_OK && rows.count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status != PAWL_OK)
        return status;
    const struct current *current = rows.rows;
    *out_instance = current->instance;
    *out_step = current->step;
    *out_has_step = current->has_step;
    return PAWL_OK;
}

/* Which rows are asked for: of a parent all; of a status by the task while the run is open, by the outcome afterwards. */
static enum pw_query_name list_query(const struct pw_instance_query *query, int64_t *out_value)
{
    bool oldest = query->oldest_first;
    *out_value = -1;
    if (query->parent != 0)
        return oldest ? PW_QUERY_LIST_CHILDREN_OLDEST : PW_QUERY_LIST_CHILDREN_NEWEST;
    if (!query->has_status)
        return oldest ? PW_QUERY_LIST_OLDEST : PW_QUERY_LIST_NEWEST;
    switch (query->status) {
    case PAWL_ACTIVE:
        *out_value = PW_TASK_ACTIVE;
        break;
    case PAWL_WAITING:
        *out_value = PW_TASK_WAITING;
        break;
    case PAWL_PAUSED:
        *out_value = PW_TASK_PAUSED;
        break;
    case PAWL_COMPLETE:
        *out_value = PW_OUTCOME_COMPLETE;
        return oldest ? PW_QUERY_LIST_ENDED_OLDEST : PW_QUERY_LIST_ENDED_NEWEST;
    case PAWL_TERMINATED:
        *out_value = PW_OUTCOME_TERMINATED;
        return oldest ? PW_QUERY_LIST_ENDED_OLDEST : PW_QUERY_LIST_ENDED_NEWEST;
    case PAWL_ERRORED:
        *out_value = PW_OUTCOME_ERRORED;
        return oldest ? PW_QUERY_LIST_ENDED_OLDEST : PW_QUERY_LIST_ENDED_NEWEST;
    }
    return oldest ? PW_QUERY_LIST_OPEN_OLDEST : PW_QUERY_LIST_OPEN_NEWEST;
}

/* Where a page begins: after 0 means from the start, which lies at either end. */
static int64_t page_start(int64_t after, bool ascending)
{
    return after == 0 && !ascending ? INT64_MAX : after;
}

pawl_status pw_sqlite_list_instances(struct pw_store *store, struct pw_arena *arena,
                                     const struct pw_instance_query *query, struct pw_instance **out_rows,
                                     size_t *out_count, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    int64_t value = 0;
    pawl_status status = begin(&reading, store, list_query(query, &value), error);
    if (status != PAWL_OK)
        return status;
    if (query->parent != 0)
        pw_bind_integer(&reading.query, query->parent);
    else
        pw_bind_text(&reading.query, query->workflow);
    pw_bind_integer(&reading.query, page_start(query->after_key, query->oldest_first));
    pw_bind_size(&reading.query, query->max);
    if (query->parent == 0 && query->has_status)
        pw_bind_integer(&reading.query, value);
    reading.bytes_of = pw_instance_bytes;
    reading.bytes_max = query->bytes_max;
    status = finish(&reading, &rows, read_instance_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

/* ---- History ------------------------------------------------------------------------------------------------- */

static pawl_status begin_history(struct reading *reading, struct pw_store *store, const struct pw_history_query *query,
                                 enum pw_query_name oldest, enum pw_query_name newest, pw_row_bytes_fn *bytes_of,
                                 struct pawl_error *error)
{
    pawl_status status = begin(reading, store, query->newest_first ? newest : oldest, error);
    if (status != PAWL_OK)
        return status;
    reading->bytes_of = bytes_of;
    reading->bytes_max = query->bytes_max;
    pw_bind_integer(&reading->query, query->instance);
    pw_bind_integer(&reading->query, query->run);
    pw_bind_integer(&reading->query, page_start(query->after_seq, !query->newest_first));
    pw_bind_size(&reading->query, query->max);
    return PAWL_OK;
}

pawl_status pw_sqlite_read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                 struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    pawl_status status =
        begin_history(&reading, store, query, PW_QUERY_STEPS_OLDEST, PW_QUERY_STEPS_NEWEST, pw_step_bytes, error);
    if (status == PAWL_OK)
        status = finish(&reading, &rows, read_step_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

pawl_status pw_sqlite_read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                  struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    pawl_status status =
        begin_history(&reading, store, query, PW_QUERY_EVENTS_OLDEST, PW_QUERY_EVENTS_NEWEST, pw_event_bytes, error);
    if (status == PAWL_OK)
        status = finish(&reading, &rows, read_event_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

pawl_status pw_sqlite_read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    pawl_status status =
        begin_history(&reading, store, query, PW_QUERY_LOGS_OLDEST, PW_QUERY_LOGS_NEWEST, pw_log_bytes, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_integer(&reading.query, query->has_level ? (int64_t)query->level : -1);
    pw_bind_text(&reading.query, query->category);
    status = finish(&reading, &rows, read_log_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

pawl_status pw_sqlite_read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                 struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                                 struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof *out_event };
    struct reading reading;
    pawl_status status = begin(&reading, store, PW_QUERY_EVENT_BY_ID, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_integer(&reading.query, instance);
    pw_bind_integer(&reading.query, run);
    pw_bind_text(&reading.query, id);
    status = finish(&reading, &rows, read_event_row, error);
    *out_found = status == PAWL_OK && rows.count > 0;
    if (*out_found)
        *out_event = *(struct pw_event_row *)rows.rows;
    return status;
}

pawl_status pw_sqlite_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                      struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    pawl_status status = begin(&reading, store, PW_QUERY_EVENTS_NEW, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_integer(&reading.query, instance);
    pw_bind_integer(&reading.query, run);
    pw_bind_integer(&reading.query, after_seq);
    status = finish(&reading, &rows, read_event_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

pawl_status pw_sqlite_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                         struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    pawl_status status = begin(&reading, store, PW_QUERY_STEPS_WAITING, error);
    if (status != PAWL_OK)
        return status;
    pw_bind_integer(&reading.query, instance);
    pw_bind_integer(&reading.query, run);
    status = finish(&reading, &rows, read_step_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

/* ---- Hooks ----------------------------------------------------------------------------------------------------- */

static enum pw_query_name hooks_query(const struct pw_hook_query *query)
{
    bool of_one = query->hook.data != NULL;
    if (!query->has_status)
        return of_one ? PW_QUERY_HOOKS_OF : PW_QUERY_HOOKS;
    if (query->status == PAWL_DELIVERY_FAILED)
        return of_one ? PW_QUERY_HOOKS_OF_FAILED : PW_QUERY_HOOKS_FAILED;
    return of_one ? PW_QUERY_HOOKS_OF_PENDING : PW_QUERY_HOOKS_PENDING;
}

pawl_status pw_sqlite_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                                 struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_rows rows = { .arena = arena, .row_size = sizeof **out_rows };
    struct reading reading;
    pawl_status status =
        pw_sqlite_file_check(&((struct pw_sqlite *)store)->file, error); /* the ready check reads here */
    if (status == PAWL_OK)
        status = begin(&reading, store, hooks_query(query), error);
    if (status != PAWL_OK)
        return status;
    pw_bind_integer(&reading.query, query->after_key);
    pw_bind_size(&reading.query, query->max);
    if (query->hook.data != NULL)
        pw_bind_text(&reading.query, query->hook);
    status = finish(&reading, &rows, pw_read_hook_row, error);
    if (status == PAWL_OK) {
        *out_rows = rows.rows;
        *out_count = rows.count;
    }
    return status;
}

/* ---- When next ----------------------------------------------------------------------------------------------- */

static int64_t earliest_column(struct pw_query *query, int64_t earliest_ms)
{
    bool is_null = pw_column_is_null(query);
    int64_t at_ms = pw_column_integer(query);
    return !is_null && at_ms < earliest_ms ? at_ms : earliest_ms;
}

/* The earliest of the times in the columns of the query's one row, and of *earliest_ms. */
static pawl_status take_earliest(struct pw_query *query, int64_t *earliest_ms, struct pawl_error *error)
{
    if (pw_query_step(query))
        for (int column = 0; column < sqlite3_column_count(query->statement); column++)
            *earliest_ms = earliest_column(query, *earliest_ms);
    return pw_query_end(query, error);
}

static pawl_status earliest_hook(struct pw_sqlite_connection *connection, struct pw_text hook, int64_t *earliest_ms,
                                 struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_HOOK_NEXT);
    pw_bind_text(&query, hook);
    pw_bind_integer(&query, PW_EVER);
    return take_earliest(&query, earliest_ms, error);
}

/* What is looked for: of one workflow, past a time, as things are now. */
struct due_question {
    struct pw_sqlite *sqlite;
    struct pw_sqlite_connection *connection;
    const struct pw_share *share;   /* NULL: of all */
    struct pw_text excepted;        /* that it leaves out, as the queries look for them */
    struct pw_text workflow, owned; /* owned absent: all is ours */
    int64_t after_ms, now_ms;
};

/* ",1,2,": where the queries look for a key; nothing when none is left out.  False when memory is out. */
static bool write_excepted(struct pw_arena *arena, const struct pw_share *share, struct pw_text *out_list)
{
    enum { DIGITS_MAX = 20 };
    *out_list = (struct pw_text){ "", 0 };
    if (share == NULL || share->except_count == 0)
        return true;
    size_t size = share->except_count * (DIGITS_MAX + 1) + 1;
    char *list = pw_arena_take(arena, size);
    if (list == NULL)
        return false;
    char *end = list + size, *at = end;
    for (size_t i = 0; i < share->except_count; i++) { /* from the last digit to the first; a key is positive */
        *--at = ',';
        for (int64_t rest = share->except[i]; rest > 0; rest /= 10)
            *--at = (char)('0' + rest % 10);
    }
    *--at = ',';
    *out_list = (struct pw_text){ at, (size_t)(end - at) };
    return true;
}

/* Tasks that are nobody's, and leases that have not expired. */
static pawl_status earliest_due(const struct due_question *question, int64_t *earliest_ms, struct pawl_error *error)
{
    struct pw_query query;
    bool is_shared = question->owned.data != NULL;
    pw_query_start(&query, question->connection, is_shared ? PW_QUERY_NEXT_DUE_SHARED : PW_QUERY_NEXT_DUE);
    pw_bind_text(&query, question->workflow);
    if (is_shared) {
        pw_bind_text(&query, question->owned);
        pw_bind_integer(&query, question->share->grace_ms);
    }
    pw_bind_integer(&query, question->after_ms);
    pw_bind_integer(&query, question->after_ms > question->now_ms ? question->after_ms : question->now_ms);
    pw_bind_text(&query, question->excepted);
    return take_earliest(&query, earliest_ms, error);
}

void pw_read_held(struct pw_query *query, struct pw_held *held)
{
    held->instance = pw_column_integer(query);
    held->owner = pw_column_integer(query);
    held->run = pw_column_count(query);
    held->epoch = pw_column_count(query);
    held->locked_until_ms = pw_column_integer(query);
}

/* An expired lease is due when it may be taken, which of a runner that lives is later (sightings.h). */
static pawl_status earliest_expired(const struct due_question *question, int64_t *earliest_ms, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = question->sqlite;
    struct pw_query query;
    bool is_shared = question->owned.data != NULL;
    pw_query_start(&query, question->connection, is_shared ? PW_QUERY_NEXT_EXPIRED_SHARED : PW_QUERY_NEXT_EXPIRED);
    pw_bind_text(&query, question->workflow);
    pw_bind_integer(&query, question->now_ms);
    if (is_shared) {
        pw_bind_text(&query, question->owned);
        pw_bind_integer(&query, question->share->grace_ms);
    }
    while (pw_query_step(&query)) {
        struct pw_held held;
        pw_read_held(&query, &held);
        int64_t at_ms = held.locked_until_ms + pw_column_integer(&query);
        int64_t wait_ms = 0;
        if (question->share != NULL && pw_share_excepts(question->share, held.instance))
            continue;
        if (pw_sqlite_may_live(sqlite, held.owner))
            wait_ms = pw_sightings_wait_ms(&sqlite->sightings, &held, pw_sqlite_monotonic_ms(sqlite));
        if (wait_ms > 0 && question->now_ms + wait_ms > at_ms)
            at_ms = question->now_ms + wait_ms;
        if (at_ms > question->after_ms && at_ms < *earliest_ms)
            *earliest_ms = at_ms;
    }
    return pw_query_end(&query, error);
}

pawl_status pw_sqlite_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                               const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                               struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    struct due_question question = {
        .sqlite = (struct pw_sqlite *)store, .share = share, .after_ms = after_ms, .now_ms = store->ops->now_ms(store)
    };
    int64_t earliest_ms = INT64_MAX;
    if (!write_excepted(&arena, share, &question.excepted))
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = pw_sqlite_take_reader(question.sqlite, &question.connection, error);
    for (size_t position = 0; position < count && status == PAWL_OK; position++) {
        question.workflow = workflows[position];
        question.owned = share != NULL && share->owned != NULL ? share->owned[position] : (struct pw_text){ NULL, 0 };
        status = earliest_due(&question, &earliest_ms, error);
        if (status == PAWL_OK)
            status = earliest_expired(&question, &earliest_ms, error);
    }
    if (question.connection != NULL)
        pw_sqlite_give_reader(question.sqlite, question.connection);
    pw_arena_clear(&arena);
    if (status == PAWL_OK)
        *out_at_ms = earliest_ms;
    return status;
}

pawl_status pw_sqlite_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                                struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_sqlite_connection *connection = NULL;
    int64_t earliest_ms = INT64_MAX;
    pawl_status status = pw_sqlite_take_reader(sqlite, &connection, error);
    if (status != PAWL_OK)
        return status;
    for (size_t position = 0; position < count && status == PAWL_OK; position++)
        status = earliest_hook(connection, hooks[position], &earliest_ms, error);
    pw_sqlite_give_reader(sqlite, connection);
    if (status == PAWL_OK)
        *out_at_ms = earliest_ms;
    return status;
}

/* ---- How many ------------------------------------------------------------------------------------------------- */

static bool is_behind(struct pw_text text, struct pw_text other)
{
    size_t common = text.size < other.size ? text.size : other.size;
    int order = memcmp(text.data, other.data, common);
    return order != 0 ? order > 0 : text.size > other.size;
}

/* Absent behind the last.  There is no index that begins with anything else, so workflows are hopped over one by one;
 * in a damaged index that might go in a circle. */
static pawl_status workflow_after(struct pw_sqlite_connection *connection, struct pw_arena *arena,
                                  struct pw_text *workflow, struct pawl_error *error)
{
    struct pw_query query;
    struct pw_text next = { NULL, 0 };
    pw_query_start(&query, connection, PW_QUERY_TASK_WORKFLOW_AFTER);
    pw_bind_text(&query, *workflow);
    if (pw_query_step(&query))
        next = pw_column_text(&query, arena);
    pawl_status status = pw_query_end(&query, error);
    *workflow = next.data != NULL && is_behind(next, *workflow) ? next : (struct pw_text){ NULL, 0 };
    return status;
}

static pawl_status oldest_due(struct pw_sqlite_connection *connection, struct pw_text workflow, int64_t *oldest_ms,
                              struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_NEXT_DUE);
    pw_bind_text(&query, workflow);
    pw_bind_integer(&query, PW_EVER);
    pw_bind_integer(&query, PW_EVER);
    pw_bind_text(&query, (struct pw_text){ "", 0 });
    return take_earliest(&query, oldest_ms, error);
}

static pawl_status count_tasks_of(struct pw_sqlite_connection *connection, struct pw_text workflow, int64_t now_ms,
                                  struct pw_task_counts *counts, struct pawl_error *error)
{
    struct pw_query query;
    int64_t due = 0;
    pw_query_start(&query, connection, PW_QUERY_TASK_COUNTS);
    pw_bind_text(&query, workflow);
    pw_bind_integer(&query, now_ms);
    if (pw_query_step(&query)) {
        counts->active += pw_column_count(&query);
        counts->waiting += pw_column_count(&query);
        counts->paused += pw_column_count(&query);
        for (int column = 0; column < 3; column++)
            due += pw_column_count(&query);
    }
    counts->due += due;
    pawl_status status = pw_query_end(&query, error);
    if (status == PAWL_OK && due > 0)
        status = oldest_due(connection, workflow, &counts->oldest_due_at_ms, error);
    return status;
}

static pawl_status count_hooks(struct pw_sqlite_connection *connection, struct pw_task_counts *counts,
                               struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_HOOK_COUNTS);
    if (pw_query_step(&query)) {
        counts->hooks_pending = pw_column_count(&query);
        counts->hooks_failed = pw_column_count(&query);
    }
    return pw_query_end(&query, error);
}

pawl_status pw_sqlite_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                                  struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_sqlite_connection *connection = NULL;
    struct pw_arena arena = { 0 };
    struct pw_task_counts counts = { .oldest_due_at_ms = INT64_MAX };
    struct pw_text workflow = { "", 0 }; /* before them all */
    pawl_status status = pw_sqlite_file_check(&sqlite->file, error);
    if (status == PAWL_OK)
        status = pw_sqlite_take_reader(sqlite, &connection, error);
    if (status != PAWL_OK)
        return status;
    status = workflow_after(connection, &arena, &workflow, error);
    while (status == PAWL_OK && workflow.data != NULL) {
        status = count_tasks_of(connection, workflow, now_ms, &counts, error);
        if (status == PAWL_OK)
            status = workflow_after(connection, &arena, &workflow, error);
    }
    if (status == PAWL_OK)
        status = count_hooks(connection, &counts, error);
    pw_sqlite_give_reader(sqlite, connection);
    pw_arena_clear(&arena);
    if (counts.due == 0)
        counts.oldest_due_at_ms = 0;
    if (status == PAWL_OK)
        *out_counts = counts;
    return status;
}

/* What is counted of a workflow is no more than what is left to be counted. */
static pawl_status count_statuses_of(struct pw_sqlite_connection *connection, struct pw_text workflow, int64_t max,
                                     struct pw_status_counts *counts, struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_STATUS_COUNTS);
    pw_bind_text(&query, workflow);
    for (size_t status = 0; status < PW_STATUS_COUNT; status++)
        pw_bind_integer(&query, max - counts->of[status]);
    if (pw_query_step(&query))
        for (size_t status = 0; status < PW_STATUS_COUNT; status++)
            counts->of[status] += pw_column_count(&query);
    return pw_query_end(&query, error);
}

pawl_status pw_sqlite_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                                     struct pw_status_counts *out_counts, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_sqlite_connection *connection = NULL;
    struct pw_status_counts counts = { .of = { 0 } };
    pawl_status status = pw_sqlite_take_reader(sqlite, &connection, error);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = count_statuses_of(connection, workflows[i], max, &counts, error);
    pw_sqlite_give_reader(sqlite, connection);
    if (status == PAWL_OK)
        *out_counts = counts;
    return status;
}
