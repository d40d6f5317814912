/* read.c - reading rows.  Each call is one statement and one round trip on a connection of its own, so it sees one state
 * of the database, and every unit that was answered before it began. */
#include "store/postgres/read.h"

#include "base/error.h"
#include "store/postgres/postgres.h"

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static void read_task(struct pw_fields *fields, struct pw_task *task)
{
    task->epoch = pw_field_count(fields);
    task->status = (enum pw_task_status)pw_field_choice(fields, PW_TASK_PAUSED);
    task->kind = (enum pw_task_kind)pw_field_choice(fields, PW_TASK_REPAIR);
    task->due_at_ms = pw_field_time(fields);
    task->processing = pw_field_integer(fields) != 0;
    task->owner = pw_field_integer(fields);
    task->locked_until_ms = pw_field_time(fields);
    task->pause_requested = pw_field_integer(fields) != 0;
    task->demand = (enum pw_demand)pw_field_choice(fields, PW_DEMAND_TERMINATE);
    task->started_at_ms = pw_field_time(fields);
    task->updated_at_ms = pw_field_time(fields);
    task->event_seq = pw_field_count(fields);
}

static void read_instance_row(struct pw_fields *fields, void *row)
{
    struct pw_instance *instance = row;
    instance->key = pw_field_place(fields);
    instance->workflow = pw_field_text(fields);
    instance->id = pw_field_text(fields);
    instance->run = pw_field_count(fields);
    instance->outcome = (enum pw_outcome)pw_field_choice(fields, PW_OUTCOME_ERRORED);
    instance->params = pw_field_text(fields);
    instance->output = pw_field_text(fields);
    instance->error_name = pw_field_text(fields);
    instance->error_message = pw_field_text(fields);
    instance->created_at_ms = pw_field_time(fields);
    instance->updated_at_ms = pw_field_time(fields);
    instance->started_at_ms = pw_field_time(fields);
    instance->completed_at_ms = pw_field_time(fields);
    instance->link = pw_field_link(fields);
    instance->has_task = pw_field_integer(fields) != 0; /* its key, which is never 0 */
    read_task(fields, &instance->task);
}

static void read_step_row(struct pw_fields *fields, void *row)
{
    struct pw_step_row *step = row;
    step->seq = pw_field_place(fields);
    step->name = pw_field_text(fields);
    step->kind = (enum pawl_step_kind)pw_field_choice(fields, PAWL_STEP_DEFERRED);
    step->status = (enum pawl_step_status)pw_field_choice(fields, PAWL_STEP_ERRORED);
    step->attempts = pw_field_count(fields);
    step->attempts_max = pw_field_count(fields);
    step->timeout_ms = pw_field_count(fields);
    step->next_retry_at_ms = pw_field_time(fields);
    step->wake_at_ms = pw_field_time(fields);
    step->event_at_ms = pw_field_time(fields);
    step->wait_event_type = pw_field_text(fields);
    step->result = pw_field_text(fields);
    step->error_name = pw_field_text(fields);
    step->error_message = pw_field_text(fields);
    step->created_at_ms = pw_field_time(fields);
    step->updated_at_ms = pw_field_time(fields);
    step->description = pw_field_text(fields);
}

static void read_event_row(struct pw_fields *fields, void *row)
{
    struct pw_event_row *event = row;
    event->seq = pw_field_place(fields);
    event->id = pw_field_text(fields);
    event->type = pw_field_text(fields);
    event->payload = pw_field_text(fields);
    event->created_at_ms = pw_field_time(fields);
    event->delivered_at_ms = pw_field_time(fields);
    event->consumed_by = pw_field_text(fields);
}

static void read_log_row(struct pw_fields *fields, void *row)
{
    struct pw_log_row *log = row;
    log->seq = pw_field_place(fields);
    log->step = pw_field_text(fields);
    log->attempt = pw_field_count(fields);
    log->level = (enum pawl_log_level)pw_field_choice(fields, PAWL_LOG_ERROR);
    log->category = pw_field_text(fields);
    log->message = pw_field_text(fields);
    log->data = pw_field_text(fields);
    log->is_replay = pw_field_integer(fields) != 0;
    log->created_at_ms = pw_field_time(fields);
}

void pw_pg_read_hook_row(struct pw_fields *fields, void *row)
{
    struct pw_hook_row *hook = row;
    hook->key = pw_field_place(fields);
    hook->id = pw_field_text(fields);
    hook->hook = pw_field_text(fields);
    hook->event = (enum pawl_hook_event)pw_field_choice(fields, PAWL_HOOK_FINISHED);
    hook->reason = (enum pw_hook_reason)pw_field_choice(fields, PW_REASON_WAKE);
    hook->due_at_ms = pw_field_time(fields);
    hook->outcome = (enum pw_outcome)pw_field_choice(fields, PW_OUTCOME_ERRORED);
    hook->error_name = pw_field_text(fields);
    hook->error_message = pw_field_text(fields);
    hook->workflow = pw_field_text(fields);
    hook->instance_id = pw_field_text(fields);
    hook->run = pw_field_count(fields);
    hook->created_at_ms = pw_field_time(fields);
    hook->attempts = pw_field_count(fields);
    hook->attempts_max = pw_field_count(fields);
    hook->next_at_ms = pw_field_time(fields);
    hook->locked_until_ms = pw_field_time(fields);
    hook->epoch = pw_field_count(fields);
    hook->last_error = pw_field_text(fields);
}

/* ---- Reading as such ----------------------------------------------------------------------------------------- */

pawl_status pw_pg_read_rows(const PGresult *result, struct pw_rows *rows, pw_pg_read_row_fn *read_row)
{
    struct pw_fields fields;
    pw_fields_init(&fields, result, rows->arena);
    rows->count = 0;
    while (pw_fields_next(&fields)) {
        void *row = pw_rows_add(rows);
        if (row == NULL)
            return PAWL_NOMEM;
        read_row(&fields, row);
    }
    return pw_fields_end(&fields);
}

struct reading {
    struct pw_rows rows;
    pw_pg_read_row_fn *read_row;
};

static pawl_status take_rows(void *user, void *of, const PGresult *result)
{
    struct reading *reading = user;
    (void)of;
    return pw_pg_read_rows(result, &reading->rows, reading->read_row);
}

static pawl_status read_list(struct pw_store *store, const struct pw_call *call, struct pw_arena *arena,
                             size_t row_size, pw_pg_read_row_fn *read_row, void **out_rows, size_t *out_count,
                             struct pawl_error *error)
{
    struct reading reading = { .rows = { .arena = arena, .row_size = row_size }, .read_row = read_row };
    pawl_status status = pw_pg_read((struct pw_postgres *)store, call, take_rows, &reading, error);
    if (status == PAWL_OK) {
        *out_rows = reading.rows.rows;
        *out_count = reading.rows.count;
    }
    return status;
}

/* The last parameter of a list that also ends by its payloads. */
static void end_list(struct pw_call *call, size_t bytes_max)
{
    pw_call_integer(call, bytes_max > 0 && bytes_max < INT64_MAX ? (int64_t)bytes_max : INT64_MAX);
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

static pawl_status read_one(struct pw_store *store, const struct pw_call *call, struct pw_arena *arena,
                            struct pw_instance *out_instance, struct pawl_error *error)
{
    void *rows = NULL;
    size_t count = 0;
    pawl_status status = read_list(store, call, arena, sizeof *out_instance, read_instance_row, &rows, &count, error);
    if (status == PAWL_OK && count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status == PAWL_OK)
        *out_instance = *(struct pw_instance *)rows;
    return status;
}

pawl_status pw_postgres_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                      struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_INSTANCE_BY_ID);
    pw_call_text(&call, workflow);
    pw_call_text(&call, id);
    return read_one(store, &call, arena, out_instance, error);
}

pawl_status pw_postgres_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                             struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_INSTANCE_BY_KEY);
    pw_call_integer(&call, key);
    return read_one(store, &call, arena, out_instance, error);
}

/* An instance and which of those wanted it is, from 1. */
struct placed {
    int64_t place;
    struct pw_instance instance;
};

static void read_placed_row(struct pw_fields *fields, void *row)
{
    struct placed *placed = row;
    placed->place = pw_field_integer(fields);
    read_instance_row(fields, &placed->instance);
}

static void call_for_instances(struct pw_call *call, struct pw_columns *columns,
                               const struct pw_instances_wanted *wanted)
{
    pw_call_init(call, wanted->keys != NULL ? PW_PG_INSTANCES_BY_KEY : PW_PG_INSTANCES_BY_ID);
    for (size_t i = 0; i < wanted->count; i++) {
        pw_columns_row(columns);
        if (wanted->keys != NULL) {
            pw_put_integer(columns, wanted->keys[i]);
        } else {
            pw_put_text(columns, wanted->workflows[i]);
            pw_put_text(columns, wanted->ids[i]);
        }
    }
    pw_call_columns(call, columns);
}

pawl_status pw_postgres_read_instances(struct pw_store *store, struct pw_arena *arena,
                                       const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                       struct pawl_error *error)
{
    struct pw_instance *instances = pw_arena_zero(arena, wanted->count * sizeof *instances + 1); /* not NULL for none */
    struct pw_columns columns;
    struct pw_call call;
    void *rows = NULL;
    size_t count = 0;
    if (instances == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *out_rows = instances;
    if (wanted->count == 0)
        return PAWL_OK;
    pw_columns_init(&columns, arena);
    call_for_instances(&call, &columns, wanted);
    pawl_status status = read_list(store, &call, arena, sizeof(struct placed), read_placed_row, &rows, &count, error);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        const struct placed *placed = (const struct placed *)rows + i;
        instances[placed->place - 1] = placed->instance;
    }
    return status;
}

/* An instance and the step that it is at. */
struct current {
    struct pw_instance instance;
    bool has_step;
    struct pw_step_row step;
};

static void read_current_row(struct pw_fields *fields, void *row)
{
    struct current *current = row;
    read_instance_row(fields, &current->instance);
    current->has_step = !pw_field_is_null(fields);
    if (current->has_step)
        read_step_row(fields, &current->step);
}

pawl_status pw_postgres_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                     struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                     bool *out_has_step, struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    size_t count = 0;
    pw_call_init(&call, PW_PG_INSTANCE_CURRENT);
    pw_call_text(&call, workflow);
    pw_call_text(&call, id);
    pawl_status status = read_list(store, &call, arena, sizeof(struct current), read_current_row, &rows, &count, error);
    if (status == PAWL_OK && count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status != PAWL_OK)
        return status;
    const struct current *current = rows;
    *out_instance = current->instance;
    *out_step = current->step;
    *out_has_step = current->has_step;
    return PAWL_OK;
}

/* Which rows a status stands for: by the task while the run is open, by the outcome afterwards. */
static enum pw_pg_query list_query(const struct pw_instance_query *query, int64_t *out_value)
{
    bool oldest = query->oldest_first;
    *out_value = -1;
    if (query->parent != 0)
        return oldest ? PW_PG_LIST_CHILDREN_OLDEST : PW_PG_LIST_CHILDREN_NEWEST;
    if (!query->has_status)
        return oldest ? PW_PG_LIST_OLDEST : PW_PG_LIST_NEWEST;
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
        return oldest ? PW_PG_LIST_ENDED_OLDEST : PW_PG_LIST_ENDED_NEWEST;
    case PAWL_TERMINATED:
        *out_value = PW_OUTCOME_TERMINATED;
        return oldest ? PW_PG_LIST_ENDED_OLDEST : PW_PG_LIST_ENDED_NEWEST;
    case PAWL_ERRORED:
        *out_value = PW_OUTCOME_ERRORED;
        return oldest ? PW_PG_LIST_ENDED_OLDEST : PW_PG_LIST_ENDED_NEWEST;
    }
    return oldest ? PW_PG_LIST_OPEN_OLDEST : PW_PG_LIST_OPEN_NEWEST;
}

/* Where a page begins: after 0 means from the start, which lies at either end. */
static int64_t page_start(int64_t after, bool ascending)
{
    return after == 0 && !ascending ? INT64_MAX : after;
}

pawl_status pw_postgres_list_instances(struct pw_store *store, struct pw_arena *arena,
                                       const struct pw_instance_query *query, struct pw_instance **out_rows,
                                       size_t *out_count, struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    int64_t value = 0;
    pw_call_init(&call, list_query(query, &value));
    if (query->parent != 0)
        pw_call_integer(&call, query->parent);
    else
        pw_call_text(&call, query->workflow);
    pw_call_integer(&call, page_start(query->after_key, query->oldest_first));
    pw_call_size(&call, query->max);
    if (query->parent == 0 && query->has_status)
        pw_call_integer(&call, value);
    end_list(&call, query->bytes_max);
    pawl_status status = read_list(store, &call, arena, sizeof **out_rows, read_instance_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

/* ---- History ------------------------------------------------------------------------------------------------- */

static void begin_history(struct pw_call *call, const struct pw_history_query *query, enum pw_pg_query oldest,
                          enum pw_pg_query newest)
{
    pw_call_init(call, query->newest_first ? newest : oldest);
    pw_call_integer(call, query->instance);
    pw_call_integer(call, query->run);
    pw_call_integer(call, page_start(query->after_seq, !query->newest_first));
    pw_call_size(call, query->max);
}

pawl_status pw_postgres_read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                   struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    begin_history(&call, query, PW_PG_STEPS_OLDEST, PW_PG_STEPS_NEWEST);
    end_list(&call, query->bytes_max);
    pawl_status status = read_list(store, &call, arena, sizeof **out_rows, read_step_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

pawl_status pw_postgres_read_events(struct pw_store *store, struct pw_arena *arena,
                                    const struct pw_history_query *query, struct pw_event_row **out_rows,
                                    size_t *out_count, struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    begin_history(&call, query, PW_PG_EVENTS_OLDEST, PW_PG_EVENTS_NEWEST);
    end_list(&call, query->bytes_max);
    pawl_status status = read_list(store, &call, arena, sizeof **out_rows, read_event_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

pawl_status pw_postgres_read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                  struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    begin_history(&call, query, PW_PG_LOGS_OLDEST, PW_PG_LOGS_NEWEST);
    pw_call_integer(&call, query->has_level ? (int64_t)query->level : -1);
    pw_call_text(&call, query->category);
    end_list(&call, query->bytes_max);
    pawl_status status = read_list(store, &call, arena, sizeof **out_rows, read_log_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

pawl_status pw_postgres_read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                   struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                                   struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    size_t count = 0;
    pw_call_init(&call, PW_PG_EVENT_BY_ID);
    pw_call_integer(&call, instance);
    pw_call_integer(&call, run);
    pw_call_text(&call, id);
    pawl_status status = read_list(store, &call, arena, sizeof *out_event, read_event_row, &rows, &count, error);
    *out_found = status == PAWL_OK && count > 0;
    if (*out_found)
        *out_event = *(struct pw_event_row *)rows;
    return status;
}

/* No more is fetched than the arena may take: it says that it is over with what comes next. */
static void begin_new_events(struct pw_call *call, int64_t instance, int64_t run, int64_t after_seq,
                             const struct pw_arena *arena)
{
    pw_call_init(call, PW_PG_EVENTS_NEW);
    pw_call_integer(call, instance);
    pw_call_integer(call, run);
    pw_call_integer(call, after_seq);
    end_list(call, arena->limit);
}

pawl_status pw_postgres_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                        int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                        struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    begin_new_events(&call, instance, run, after_seq, arena);
    pawl_status status = read_list(store, &call, arena, sizeof **out_rows, read_event_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

pawl_status pw_postgres_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance,
                                           int64_t run, struct pw_step_row **out_rows, size_t *out_count,
                                           struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    pw_call_init(&call, PW_PG_STEPS_WAITING);
    pw_call_integer(&call, instance);
    pw_call_integer(&call, run);
    pawl_status status = read_list(store, &call, arena, sizeof **out_rows, read_step_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

/* What an instance was created with. */
struct beginning {
    int64_t created_at_ms;
    struct pw_text params;
    struct pw_link link;
};

static void read_beginning_row(struct pw_fields *fields, void *row)
{
    struct beginning *beginning = row;
    beginning->created_at_ms = pw_field_integer(fields);
    beginning->params = pw_field_text(fields);
    beginning->link = pw_field_link(fields);
}

/* One round trip instead of three: who wakes a run waits for this. */
pawl_status pw_postgres_read_run(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                 bool with_events, struct pw_run_rows *out_rows, struct pawl_error *error)
{
    const struct pw_history_query query = { .instance = instance, .run = run, .max = SIZE_MAX };
    struct reading beginnings = { { .arena = arena, .row_size = sizeof(struct beginning) }, read_beginning_row };
    struct reading steps = { { .arena = arena, .row_size = sizeof *out_rows->steps }, read_step_row };
    struct reading events = { { .arena = arena, .row_size = sizeof *out_rows->events }, read_event_row };
    struct pw_call calls[3];
    pw_call_init(&calls[0], PW_PG_INSTANCE_BEGINNING);
    pw_call_integer(&calls[0], instance);
    begin_history(&calls[1], &query, PW_PG_STEPS_OLDEST, PW_PG_STEPS_NEWEST);
    end_list(&calls[1], arena->limit);
    begin_new_events(&calls[2], instance, run, 0, arena);
    const struct pw_pg_question questions[] = { { &calls[0], take_rows, &beginnings },
                                                { &calls[1], take_rows, &steps },
                                                { &calls[2], take_rows, &events } };
    pawl_status status = pw_pg_read_all((struct pw_postgres *)store, questions, with_events ? 3 : 2, error);
    const struct beginning *beginning = beginnings.rows.rows;
    if (status == PAWL_OK && beginnings.rows.count == 0)
        return pw_error_plain(error, PAWL_INSTANCE_NOT_FOUND);
    if (status == PAWL_OK)
        *out_rows = (struct pw_run_rows){ .params = beginning->params,
                                          .created_at_ms = beginning->created_at_ms,
                                          .link = beginning->link,
                                          .steps = steps.rows.rows,
                                          .step_count = steps.rows.count,
                                          .events = events.rows.rows,
                                          .event_count = events.rows.count };
    return status;
}

/* ---- Hooks ----------------------------------------------------------------------------------------------------- */

static enum pw_pg_query hooks_query(const struct pw_hook_query *query)
{
    bool of_one = query->hook.data != NULL;
    if (!query->has_status)
        return of_one ? PW_PG_HOOKS_OF : PW_PG_HOOKS;
    if (query->status == PAWL_DELIVERY_FAILED)
        return of_one ? PW_PG_HOOKS_OF_FAILED : PW_PG_HOOKS_FAILED;
    return of_one ? PW_PG_HOOKS_OF_PENDING : PW_PG_HOOKS_PENDING;
}

pawl_status pw_postgres_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                                   struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_call call;
    void *rows = NULL;
    pw_call_init(&call, hooks_query(query));
    pw_call_integer(&call, query->after_key);
    pw_call_size(&call, query->max);
    if (query->hook.data != NULL)
        pw_call_text(&call, query->hook);
    pawl_status status =
        read_list(store, &call, arena, sizeof **out_rows, pw_pg_read_hook_row, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

/* ---- When next ----------------------------------------------------------------------------------------------- */

static pawl_status take_earliest(void *user, void *of, const PGresult *result)
{
    int64_t *at_ms = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    bool found = pw_fields_next(&fields) && !pw_field_is_null(&fields);
    *at_ms = found ? pw_field_integer(&fields) : INT64_MAX;
    return pw_fields_end(&fields);
}

static void put_names(struct pw_columns *columns, const struct pw_text *names, const struct pw_text *owned,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pw_columns_row(columns);
        pw_put_text(columns, names[i]);
        if (owned != NULL)
            pw_put_text(columns, owned[i]);
    }
}

/* share NULL: of hooks. */
static pawl_status read_earliest(struct pw_store *store, enum pw_pg_query name, const struct pw_text *names,
                                 size_t count, const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                                 struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    struct pw_columns columns, except;
    struct pw_call call;
    pawl_status status = PAWL_OK;
    int64_t at_ms = INT64_MAX;
    pw_columns_init(&columns, &arena);
    pw_columns_init(&except, &arena);
    put_names(&columns, names, share != NULL ? share->owned : NULL, count);
    pw_call_init(&call, name);
    pw_call_columns(&call, &columns);
    if (share != NULL && share->owned != NULL)
        pw_call_integer(&call, share->grace_ms);
    pw_call_integer(&call, after_ms);
    if (share != NULL) {
        pw_put_excepted(&except, share);
        pw_call_columns(&call, &except);
    }
    if (count > 0)
        status = pw_pg_read((struct pw_postgres *)store, &call, take_earliest, &at_ms, error);
    pw_arena_clear(&arena);
    if (status == PAWL_OK)
        *out_at_ms = at_ms;
    return status;
}

pawl_status pw_postgres_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                 const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                                 struct pawl_error *error)
{
    static const struct pw_share all = { .owned = NULL };
    if (share == NULL)
        share = &all;
    enum pw_pg_query name = share->owned != NULL ? PW_PG_NEXT_DUE_SHARED : PW_PG_NEXT_DUE;
    return read_earliest(store, name, workflows, count, share, after_ms, out_at_ms, error);
}

pawl_status pw_postgres_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                                  struct pawl_error *error)
{
    return read_earliest(store, PW_PG_HOOK_NEXT, hooks, count, NULL, PW_EVER, out_at_ms, error);
}

/* ---- How many ------------------------------------------------------------------------------------------------- */

static pawl_status take_counts(void *user, void *of, const PGresult *result)
{
    struct pw_task_counts *counts = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    if (pw_fields_next(&fields)) {
        counts->active = pw_field_count(&fields);
        counts->waiting = pw_field_count(&fields);
        counts->paused = pw_field_count(&fields);
        counts->hooks_pending = pw_field_count(&fields);
        counts->hooks_failed = pw_field_count(&fields);
    }
    return pw_fields_end(&fields);
}

static pawl_status take_due_counts(void *user, void *of, const PGresult *result)
{
    struct pw_task_counts *counts = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    if (pw_fields_next(&fields)) {
        counts->due = pw_field_count(&fields);
        counts->oldest_due_at_ms = pw_field_time(&fields);
    }
    return pw_fields_end(&fields);
}

pawl_status pw_postgres_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                                    struct pawl_error *error)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    struct pw_task_counts counts = { .active = 0 };
    struct pw_call call;
    pw_call_init(&call, PW_PG_TASK_COUNTS);
    pawl_status status = pw_pg_read(postgres, &call, take_counts, &counts, error);
    pw_call_init(&call, PW_PG_DUE_COUNTS);
    pw_call_integer(&call, now_ms);
    if (status == PAWL_OK)
        status = pw_pg_read(postgres, &call, take_due_counts, &counts, error);
    if (status == PAWL_OK)
        *out_counts = counts;
    return status;
}

static pawl_status take_status_counts(void *user, void *of, const PGresult *result)
{
    struct pw_status_counts *counts = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    if (pw_fields_next(&fields))
        for (size_t status = 0; status < PW_STATUS_COUNT; status++)
            counts->of[status] = pw_field_count(&fields);
    return pw_fields_end(&fields);
}

pawl_status pw_postgres_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                       int64_t max, struct pw_status_counts *out_counts, struct pawl_error *error)
{
    struct pw_status_counts counts = { .of = { 0 } };
    struct pw_arena arena = { 0 };
    struct pw_columns columns;
    struct pw_call call;
    pawl_status status = PAWL_OK;
    pw_columns_init(&columns, &arena);
    put_names(&columns, workflows, NULL, count);
    pw_call_init(&call, PW_PG_STATUS_COUNTS);
    pw_call_columns(&call, &columns);
    pw_call_integer(&call, max);
    if (count > 0)
        status = pw_pg_read((struct pw_postgres *)store, &call, take_status_counts, &counts, error);
    pw_arena_clear(&arena);
    if (status == PAWL_OK)
        *out_counts = counts;
    return status;
}

/* ---- What the database was ----------------------------------------------------------------------------------- */

static pawl_status take_part(void *user, void *of, const PGresult *result)
{
    struct pw_part *part = user;
    struct pw_fields fields;
    (void)of;
    *part = (struct pw_part){ 0, 0 };
    pw_fields_init(&fields, result, NULL);
    if (pw_fields_next(&fields)) {
        part->number = pw_field_integer(&fields);
        part->count = pw_field_integer(&fields);
    }
    return pw_fields_end(&fields);
}

pawl_status pw_postgres_read_part(struct pw_store *store, struct pw_part *out_part, struct pawl_error *error)
{
    struct pw_part part;
    struct pw_call call;
    pw_call_init(&call, PW_PG_PART_READ);
    pawl_status status = pw_pg_read((struct pw_postgres *)store, &call, take_part, &part, error);
    if (status == PAWL_OK)
        *out_part = part;
    return status;
}
