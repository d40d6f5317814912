/* read.c - reading rows (store/read.h).  A read that finds rows is one round trip on a connection of its own, so it sees every
 * unit that was answered before it began; where it is one statement, it sees one state of the database. */
#include "store/postgres/read.h"

#include <stdlib.h>

#include "base/error.h"
#include "store/page.h"
#include "store/postgres/postgres.h"
#include "store/postgres/schema.h"

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

static void read_instance_row(struct pw_fields *fields, void *row)
{
    struct pw_instance *instance = row;
    pw_field_row(fields, &pw_instance_type, instance);
    instance->has_task = pw_field_integer(fields) != 0; /* its key, which is never 0 */
    pw_field_row(fields, &pw_task_type, &instance->task);
    pw_instance_merge(instance, pw_field_time(fields));
}

static void read_step_row(struct pw_fields *fields, void *row)
{
    pw_field_row(fields, &pw_step_type, row);
}

static void read_earlier_run_row(struct pw_fields *fields, void *row)
{
    pw_field_row(fields, &pw_earlier_run_type, row);
}

static void read_event_row(struct pw_fields *fields, void *row)
{
    pw_field_row(fields, &pw_event_type, row);
}

static void read_log_row(struct pw_fields *fields, void *row)
{
    pw_field_row(fields, &pw_log_type, row);
}

void pw_pg_read_hook_row(struct pw_fields *fields, void *row)
{
    struct pw_hook_row *hook = row;
    pw_field_row(fields, &pw_delivery_type, hook);
    pw_field_row(fields, &pw_hook_type, hook);
    hook->workflow = pw_field_text(fields);
    hook->instance_id = pw_field_text(fields);
}

static void read_runner_row(struct pw_fields *fields, void *row)
{
    struct pw_runner_row *runner = row;
    pw_field_row(fields, &pw_runner_type, runner);
    runner->seen_at_ms = pw_field_time(fields);
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

/* A read. */
struct reading {
    struct pw_postgres *postgres;
    const struct pw_read *asked;
    struct pw_arena *arena;
    struct pw_found *found;
    struct pawl_error *error;
};

/* Where the rows of an answer go. */
struct row_list {
    struct pw_rows rows;
    pw_pg_read_row_fn *read_row;
};

static pawl_status take_rows(void *user, void *of, const PGresult *result)
{
    struct row_list *list = user;
    (void)of;
    return pw_pg_read_rows(result, &list->rows, list->read_row);
}

static pawl_status ask(struct reading *reading, const struct pw_call *call, pw_pg_take_fn *take, void *user)
{
    return pw_pg_read(reading->postgres, call, take, user, reading->error);
}

/* The rows of the answer are what is found. */
static pawl_status find(struct reading *reading, const struct pw_call *call, size_t row_size,
                        pw_pg_read_row_fn *read_row)
{
    struct row_list list = { .rows = { .arena = reading->arena, .row_size = row_size }, .read_row = read_row };
    pawl_status status = ask(reading, call, take_rows, &list);
    reading->found->rows = list.rows.rows;
    reading->found->count = list.rows.count;
    return status;
}

/* The parameter of a list that also ends by its payloads. */
static void end_list(struct pw_call *call, size_t bytes_max)
{
    pw_call_integer(call, bytes_max > 0 && bytes_max < INT64_MAX ? (int64_t)bytes_max : INT64_MAX);
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

static pawl_status find_named(struct reading *reading, enum pw_pg_query name, size_t row_size,
                              pw_pg_read_row_fn *read_row)
{
    struct pw_call call;
    pw_call_init(&call, name);
    pw_call_text(&call, reading->asked->name.workflow);
    pw_call_text(&call, reading->asked->name.id);
    return find(reading, &call, row_size, read_row);
}

static pawl_status read_instance(struct reading *reading)
{
    return find_named(reading, PW_PG_INSTANCE_BY_ID, sizeof(struct pw_instance), read_instance_row);
}

static pawl_status read_instance_by_key(struct reading *reading)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_INSTANCE_BY_KEY);
    pw_call_integer(&call, reading->asked->key);
    return find(reading, &call, sizeof(struct pw_instance), read_instance_row);
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

static pawl_status read_instances(struct reading *reading)
{
    const struct pw_instances_wanted *wanted = &reading->asked->wanted;
    struct pw_instance *instances =
        pw_arena_zero(reading->arena, wanted->count * sizeof *instances + 1); /* not NULL for none */
    struct pw_columns columns;
    struct pw_call call;
    pawl_status status = PAWL_OK;
    if (instances == NULL)
        return pw_error_plain(reading->error, PAWL_NOMEM);
    pw_columns_init(&columns, reading->arena);
    call_for_instances(&call, &columns, wanted);
    if (wanted->count > 0)
        status = find(reading, &call, sizeof(struct placed), read_placed_row);
    for (size_t i = 0; wanted->count > 0 && status == PAWL_OK && i < reading->found->count; i++) {
        const struct placed *placed = (const struct placed *)reading->found->rows + i;
        instances[placed->place - 1] = placed->instance;
    }
    reading->found->instances = instances;
    reading->found->count = wanted->count;
    return status;
}

static void read_current_row(struct pw_fields *fields, void *row)
{
    struct pw_current *current = row;
    read_instance_row(fields, &current->instance);
    current->has_step = !pw_field_is_null(fields);
    if (current->has_step)
        read_step_row(fields, &current->step);
}

static pawl_status read_current(struct reading *reading)
{
    return find_named(reading, PW_PG_INSTANCE_CURRENT, sizeof(struct pw_current), read_current_row);
}

static void add_value(struct pw_call *call, const struct pw_instance_query *query)
{
    if (pw_filters[query->by].is_text)
        pw_call_text(call, query->text);
    else
        pw_call_integer(call, query->number);
}

static pawl_status list_instances(struct reading *reading)
{
    static const struct {
        enum pw_pg_query oldest, newest;
    } lists[] = {
#define LIST(with, name, shape, column, type, index)                                                                   \
    [PW_BY_##name] = { PW_PG_LIST_BY_##name##_OLDEST, PW_PG_LIST_BY_##name##_NEWEST },
        PW_INSTANCE_FILTERS(LIST, )
#undef LIST
    };
    const struct pw_instance_query *query = &reading->asked->list;
    const struct pw_filter *filter = &pw_filters[query->by];
    struct pw_call call;
    pw_call_init(&call, query->oldest_first ? lists[query->by].oldest : lists[query->by].newest);
    if (filter->has_workflow)
        pw_call_text(&call, query->workflow);
    else
        add_value(&call, query);
    pw_call_integer(&call, pw_page_start(query->after_key, query->oldest_first));
    pw_call_size(&call, query->max);
    end_list(&call, query->bytes_max);
    if (filter->has_workflow && filter->has_value)
        add_value(&call, query);
    return find(reading, &call, sizeof(struct pw_instance), read_instance_row);
}

/* ---- History ------------------------------------------------------------------------------------------------- */

static void begin_history(struct pw_call *call, const struct pw_history_query *query, enum pw_pg_query oldest,
                          enum pw_pg_query newest)
{
    pw_call_init(call, query->newest_first ? newest : oldest);
    pw_call_integer(call, query->instance);
    pw_call_integer(call, query->run);
    pw_call_integer(call, pw_page_start(query->after_seq, !query->newest_first));
    pw_call_size(call, query->max);
}

static pawl_status read_earlier_runs(struct reading *reading)
{
    const struct pw_history_query *query = &reading->asked->history;
    struct pw_call call;
    pw_call_init(&call, query->newest_first ? PW_PG_EARLIER_RUNS_NEWEST : PW_PG_EARLIER_RUNS_OLDEST);
    pw_call_integer(&call, query->instance);
    pw_call_integer(&call, pw_page_start(query->after_seq, !query->newest_first));
    pw_call_size(&call, query->max);
    end_list(&call, query->bytes_max);
    return find(reading, &call, sizeof(struct pw_earlier_run), read_earlier_run_row);
}

static pawl_status read_steps(struct reading *reading)
{
    struct pw_call call;
    begin_history(&call, &reading->asked->history, PW_PG_STEPS_OLDEST, PW_PG_STEPS_NEWEST);
    end_list(&call, reading->asked->history.bytes_max);
    return find(reading, &call, sizeof(struct pw_step_row), read_step_row);
}

static pawl_status read_events(struct reading *reading)
{
    struct pw_call call;
    begin_history(&call, &reading->asked->history, PW_PG_EVENTS_OLDEST, PW_PG_EVENTS_NEWEST);
    end_list(&call, reading->asked->history.bytes_max);
    return find(reading, &call, sizeof(struct pw_event_row), read_event_row);
}

static pawl_status read_logs(struct reading *reading)
{
    const struct pw_history_query *query = &reading->asked->history;
    struct pw_call call;
    begin_history(&call, query, PW_PG_LOGS_OLDEST, PW_PG_LOGS_NEWEST);
    pw_call_integer(&call, query->has_level ? (int64_t)query->level : -1);
    pw_call_text(&call, query->category);
    end_list(&call, query->bytes_max);
    return find(reading, &call, sizeof(struct pw_log_row), read_log_row);
}

static void begin_of_run(struct pw_call *call, enum pw_pg_query name, const struct pw_run_query *query)
{
    pw_call_init(call, name);
    pw_call_integer(call, query->instance);
    pw_call_integer(call, query->run);
}

static pawl_status read_event(struct reading *reading)
{
    struct pw_call call;
    begin_of_run(&call, PW_PG_EVENT_BY_ID, &reading->asked->run);
    pw_call_text(&call, reading->asked->run.id);
    return find(reading, &call, sizeof(struct pw_event_row), read_event_row);
}

/* No more is fetched than the arena may take: it says that it is over with what comes next. */
static void begin_new_events(struct pw_call *call, const struct reading *reading)
{
    begin_of_run(call, PW_PG_EVENTS_NEW, &reading->asked->run);
    pw_call_integer(call, reading->asked->run.after_seq);
    end_list(call, reading->arena->limit);
}

static pawl_status read_new_events(struct reading *reading)
{
    struct pw_call call;
    begin_new_events(&call, reading);
    return find(reading, &call, sizeof(struct pw_event_row), read_event_row);
}

static pawl_status read_waiting_steps(struct reading *reading)
{
    struct pw_call call;
    begin_of_run(&call, PW_PG_STEPS_WAITING, &reading->asked->run);
    return find(reading, &call, sizeof(struct pw_step_row), read_step_row);
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
static pawl_status read_run(struct reading *reading)
{
    const struct pw_run_query *asked = &reading->asked->run;
    const struct pw_history_query query = { .instance = asked->instance, .run = asked->run, .max = SIZE_MAX };
    struct pw_arena *arena = reading->arena;
    struct row_list beginnings = { { .arena = arena, .row_size = sizeof(struct beginning) }, read_beginning_row };
    struct row_list steps = { { .arena = arena, .row_size = sizeof(struct pw_step_row) }, read_step_row };
    struct row_list events = { { .arena = arena, .row_size = sizeof(struct pw_event_row) }, read_event_row };
    struct pw_call calls[3];
    pw_call_init(&calls[0], PW_PG_INSTANCE_BEGINNING);
    pw_call_integer(&calls[0], asked->instance);
    begin_history(&calls[1], &query, PW_PG_STEPS_OLDEST, PW_PG_STEPS_NEWEST);
    end_list(&calls[1], arena->limit);
    begin_new_events(&calls[2], reading);
    const struct pw_pg_question questions[] = { { &calls[0], take_rows, &beginnings },
                                                { &calls[1], take_rows, &steps },
                                                { &calls[2], take_rows, &events } };
    pawl_status status = pw_pg_read_all(reading->postgres, questions, asked->with_events ? 3 : 2, reading->error);
    const struct beginning *beginning = beginnings.rows.rows;
    if (status == PAWL_OK && beginnings.rows.count == 0)
        return pw_error_plain(reading->error, PAWL_INSTANCE_NOT_FOUND);
    if (status == PAWL_OK)
        reading->found->run = (struct pw_run_rows){ .params = beginning->params,
                                                    .created_at_ms = beginning->created_at_ms,
                                                    .link = beginning->link,
                                                    .steps = steps.rows.rows,
                                                    .step_count = steps.rows.count,
                                                    .events = events.rows.rows,
                                                    .event_count = events.rows.count };
    return status;
}

/* ---- Hooks and runners ------------------------------------------------------------------------------------------ */

static enum pw_pg_query hooks_query(const struct pw_hook_query *query)
{
    bool of_one = query->hook.data != NULL;
    if (!query->has_status)
        return of_one ? PW_PG_HOOKS_OF : PW_PG_HOOKS;
    if (query->status == PAWL_DELIVERY_FAILED)
        return of_one ? PW_PG_HOOKS_OF_FAILED : PW_PG_HOOKS_FAILED;
    return of_one ? PW_PG_HOOKS_OF_PENDING : PW_PG_HOOKS_PENDING;
}

static pawl_status list_hooks(struct reading *reading)
{
    const struct pw_hook_query *query = &reading->asked->hooks;
    struct pw_call call;
    pw_call_init(&call, hooks_query(query));
    pw_call_integer(&call, query->after_key);
    pw_call_size(&call, query->max);
    if (query->hook.data != NULL)
        pw_call_text(&call, query->hook);
    return find(reading, &call, sizeof(struct pw_hook_row), pw_pg_read_hook_row);
}

static int compare_owners(const void *left, const void *right)
{
    const struct pw_runner_row *one = left, *other = right;
    return (one->owner > other->owner) - (one->owner < other->owner);
}

static pawl_status list_runners(struct reading *reading)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_RUNNERS);
    pw_call_integer(&call, pw_pg_clock_now_ms(&reading->postgres->clock));
    pawl_status status = find(reading, &call, sizeof(struct pw_runner_row), read_runner_row);
    if (status == PAWL_OK && reading->found->count > 1)
        qsort(reading->found->runners, reading->found->count, sizeof(struct pw_runner_row), compare_owners);
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

static pawl_status next_due(struct reading *reading)
{
    static const struct pw_share all = { .owned = NULL };
    const struct pw_due_query *query = &reading->asked->due;
    const struct pw_share *share = query->share != NULL ? query->share : &all;
    struct pw_arena arena = { 0 };
    struct pw_columns columns, except;
    struct pw_call call;
    pawl_status status = PAWL_OK;
    reading->found->at_ms = INT64_MAX;
    pw_columns_init(&columns, &arena);
    pw_columns_init(&except, &arena);
    put_names(&columns, query->workflows, share->owned, query->count);
    pw_call_init(&call, share->owned != NULL ? PW_PG_NEXT_DUE_SHARED : PW_PG_NEXT_DUE);
    pw_call_columns(&call, &columns);
    if (share->owned != NULL)
        pw_call_integer(&call, share->grace_ms);
    pw_call_integer(&call, query->after_ms);
    pw_put_excepted(&except, share);
    pw_call_columns(&call, &except);
    if (query->count > 0)
        status = ask(reading, &call, take_earliest, &reading->found->at_ms);
    pw_arena_clear(&arena);
    return status;
}

static pawl_status next_hook(struct reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    struct pw_arena arena = { 0 };
    struct pw_columns columns;
    struct pw_call call;
    pawl_status status = PAWL_OK;
    reading->found->at_ms = INT64_MAX;
    pw_columns_init(&columns, &arena);
    put_names(&columns, query->names, NULL, query->count);
    pw_call_init(&call, PW_PG_HOOK_NEXT);
    pw_call_columns(&call, &columns);
    pw_call_integer(&call, PW_EVER);
    if (query->count > 0)
        status = ask(reading, &call, take_earliest, &reading->found->at_ms);
    pw_arena_clear(&arena);
    return status;
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

static pawl_status count_tasks(struct reading *reading)
{
    struct pw_call call;
    reading->found->tasks = (struct pw_task_counts){ .active = 0 };
    pw_call_init(&call, PW_PG_TASK_COUNTS);
    pawl_status status = ask(reading, &call, take_counts, &reading->found->tasks);
    pw_call_init(&call, PW_PG_DUE_COUNTS);
    pw_call_integer(&call, reading->asked->now_ms);
    if (status == PAWL_OK)
        status = ask(reading, &call, take_due_counts, &reading->found->tasks);
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

static pawl_status count_statuses(struct reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    struct pw_arena arena = { 0 };
    struct pw_columns columns;
    struct pw_call call;
    pawl_status status = PAWL_OK;
    reading->found->statuses = (struct pw_status_counts){ .of = { 0 } };
    pw_columns_init(&columns, &arena);
    put_names(&columns, query->names, NULL, query->count);
    pw_call_init(&call, PW_PG_STATUS_COUNTS);
    pw_call_columns(&call, &columns);
    pw_call_integer(&call, query->max);
    if (query->count > 0)
        status = ask(reading, &call, take_status_counts, &reading->found->statuses);
    pw_arena_clear(&arena);
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

static pawl_status read_part(struct reading *reading)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_PART_READ);
    return ask(reading, &call, take_part, &reading->found->part);
}

static pawl_status take_version(void *user, void *of, const PGresult *result)
{
    struct pw_schema_found *found = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    if (pw_fields_next(&fields))
        found->version = pw_field_integer(&fields);
    return pw_fields_end(&fields);
}

static pawl_status read_schema(struct reading *reading)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_SCHEMA_VERSION);
    reading->found->schema = (struct pw_schema_found){ .known = pw_postgres_newest_version() };
    return ask(reading, &call, take_version, &reading->found->schema);
}

/* ---- The store's function ---------------------------------------------------------------------------------------- */

pawl_status pw_postgres_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    static pawl_status (*const functions[])(struct reading * reading) = {
#define FUNCTION(kind, function) [PW_READ_##kind] = function,
        PW_READS(FUNCTION)
#undef FUNCTION
    };
    struct reading reading = {
        .postgres = (struct pw_postgres *)store, .asked = asked, .arena = arena, .found = out_found, .error = error
    };
    return functions[asked->kind](&reading);
}
