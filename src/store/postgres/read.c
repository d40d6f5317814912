/* read.c - reads that find rows (store/read.h).  A read is one round trip on a connection of its own, so it sees
 * every unit that was answered before it began.  If it is one statement, it sees one state of the database. */
#include "store/postgres/read.h"

#include <stdlib.h>

#include "base/error.h"
#include "store/page.h"
#include "store/postgres/schema.h"

/* ---- Statements ---------------------------------------------------------------------------------------------- */

/* clang-format off */

/* The instance, its task, and when its newest step changed; see pw_instance_merge(). */
#define INSTANCE_COLUMNS                                                                                               \
    PW_COLUMNS(PW_INSTANCE_FIELDS, "i.") ", t.instance, " PW_COLUMNS(PW_TASK_FIELDS, "t.")                             \
    ", (SELECT s.updated_at FROM workflow_step s WHERE s.instance = t.instance AND s.run = t.run"                      \
    "  ORDER BY s.seq DESC LIMIT 1)"
#define INSTANCE_NAMED                                                                                                 \
    " FROM (SELECT * FROM workflow_instance WHERE (workflow, id) >= ($1::text, $2::text)"                              \
    "  ORDER BY workflow, id LIMIT 1) i"
#define IS_NAMED " WHERE i.workflow = $1::text AND i.id = $2::text"

/* A list that also ends when its payloads exceed $4 bytes (read.h).  For each row it computes how many rows come
 * before it and how many bytes these have.  The rows keep the order of the inner query, because the planner keeps a
 * sorted subquery as it is.  Sizes are read without the payloads, so only payloads of rows that are returned are
 * fetched. */
#define BOUNDED(bytes, query)                                                                                          \
    "SELECT * FROM (SELECT p.*, count(*) OVER before AS rows_before, sum(" bytes ") OVER before AS bytes_before"       \
    " FROM (" query ") p WINDOW before AS (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) b"                       \
    " WHERE rows_before < 2 OR bytes_before <= $4::bigint"
#define BYTES_OF(column) "coalesce(octet_length(" column "), 0)"

/* The pages of PW_INSTANCE_FILTERS.  $1 is the workflow, or the value of a filter that stands alone; $2 is where the
 * page begins, $3 how many rows, $5 the value.  Rows are compared as a whole, so that the index gives their order. */
#define INSTANCE_PAGES(QUERY, name, shape, column, type, index)                                                        \
    QUERY(LIST_BY_##name##_OLDEST, LIST(LIST_##shape(#column, AS_##type, " > ", " <= ", "")))                          \
    QUERY(LIST_BY_##name##_NEWEST, LIST(LIST_##shape(#column, AS_##type, " < ", " >= ", " DESC")))
#define LIST(rows)                                                                                                     \
    BOUNDED(BYTES_OF("p.params") " + " BYTES_OF("p.output"), "SELECT " INSTANCE_COLUMNS rows " LIMIT $3::bigint")
#define AS_TEXT "::text"
#define AS_COUNT "::bigint"
#define AS_CHOICE "::bigint::smallint"
#define LIST_WORKFLOW(column, as, past, within, order) LIST_ALONE(column, as, past, within, order)
#define LIST_ALONE(column, as, past, within, order)                                                                    \
    " FROM workflow_instance i" PG_TASK_OF_INSTANCE                                                                    \
    " WHERE (i." column ", i.key + 0)" past "($1" as ", $2::bigint) AND i." column within "$1" as                      \
    " ORDER BY i." column order ", i.key + 0" order
#define LIST_INSTANCE(column, as, past, within, order)                                                                 \
    " FROM workflow_instance i" PG_TASK_OF_INSTANCE                                                                    \
    " WHERE (i.workflow, i." column ", i.key)" past "($1::text, $5" as ", $2::bigint)"                                 \
    " AND (i.workflow, i." column ")" within "($1::text, $5" as ") AND i." column " IS NOT NULL"                       \
    " ORDER BY i.workflow" order ", i." column order ", i.key" order
#define LIST_TASK(column, as, past, within, order)                                                                     \
    " FROM workflow_task t" PG_INSTANCE_OF("t.instance")                                                               \
    " WHERE (t.workflow, t." column ", t.instance + 0)" past "($1::text, $5" as ", $2::bigint)"                        \
    " AND (t.workflow, t." column ")" within "($1::text, $5" as ")"                                                    \
    " ORDER BY t.workflow" order ", t." column order ", t.instance + 0" order

/* The pages of a history: $1 is the instance, $2 where the page begins, $3 how many rows, $5 the run. */
#define PAGES(QUERY, name, columns, table, payload, number, filter)                                                    \
    QUERY(name##_OLDEST, BOUNDED(BYTES_OF(payload),                                                                    \
        "SELECT " columns " FROM " table " WHERE instance = $1::bigint AND " number " > $2::bigint" filter             \
        " ORDER BY " number " LIMIT $3::bigint"))                                                                      \
    QUERY(name##_NEWEST, BOUNDED(BYTES_OF(payload),                                                                    \
        "SELECT " columns " FROM " table " WHERE instance = $1::bigint AND " number " < $2::bigint" filter             \
        " ORDER BY " number " DESC LIMIT $3::bigint"))
#define OF_RUN " AND run = $5::bigint"
#define STEP_COLUMNS PW_COLUMNS(PW_STEP_FIELDS, "s.")

#define HOOKS "SELECT " PG_HOOK_COLUMNS " FROM workflow_hook h" PG_INSTANCE_OF("h.instance")
#define HOOKS_THAT(failed)                                                                                             \
    HOOKS " WHERE (h.next_at IS NULL, h.key + 0) > (" failed ", $1::bigint) AND (h.next_at IS NULL) <= " failed        \
    " ORDER BY h.next_at IS NULL, h.key + 0 LIMIT $2::bigint"
#define HOOKS_OF_THAT(failed)                                                                                          \
    HOOKS " WHERE (h.hook, h.next_at IS NULL, h.key + 0) > ($3::text, " failed ", $1::bigint)"                         \
    " AND (h.hook, h.next_at IS NULL) <= ($3::text, " failed ")"                                                       \
    " ORDER BY h.hook, h.next_at IS NULL, h.key + 0 LIMIT $2::bigint"

#define QUERIES(QUERY)                                                                                                 \
    QUERY(INSTANCE_BY_ID, "SELECT " INSTANCE_COLUMNS INSTANCE_NAMED PG_TASK_OF_INSTANCE IS_NAMED)                      \
    QUERY(INSTANCE_CURRENT,                                                                                            \
        "SELECT " INSTANCE_COLUMNS ", " STEP_COLUMNS INSTANCE_NAMED PG_TASK_OF_INSTANCE                                \
        " LEFT JOIN LATERAL (SELECT * FROM workflow_step WHERE instance = i.key AND run = i.run AND seq = coalesce("   \
        "  (SELECT w.seq FROM workflow_step w"                                                                         \
        "   WHERE w.instance = t.instance AND w.run = t.run AND w.status = 0 ORDER BY w.seq DESC LIMIT 1),"            \
        "  (SELECT n.seq FROM workflow_step n WHERE n.instance = i.key AND n.run = i.run"                              \
        "   ORDER BY n.seq DESC LIMIT 1))"                                                                             \
        "  LIMIT 1) s ON true" IS_NAMED)                                                                               \
    QUERY(INSTANCE_BY_KEY,                                                                                             \
        "SELECT " INSTANCE_COLUMNS " FROM workflow_instance i" PG_TASK_OF_INSTANCE " WHERE i.key = $1::bigint")        \
    QUERY(INSTANCES_BY_KEY,                                                                                            \
        "SELECT u.place, " INSTANCE_COLUMNS " FROM unnest($1::bigint[]) WITH ORDINALITY AS u (key, place)"             \
        PG_INSTANCE_OF("u.key") PG_TASK_OF_INSTANCE)                                                                   \
    QUERY(INSTANCES_BY_ID,                                                                                             \
        "SELECT u.place, " INSTANCE_COLUMNS                                                                            \
        " FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (workflow, id, place)"                              \
        " JOIN LATERAL (SELECT * FROM workflow_instance WHERE (workflow, id) >= (u.workflow, u.id)"                    \
        "  ORDER BY workflow, id LIMIT 1) i ON true" PG_TASK_OF_INSTANCE                                               \
        " WHERE i.workflow = u.workflow AND i.id = u.id")                                                              \
    QUERY(INSTANCE_BEGINNING,                                                                                          \
        "SELECT created_at, params, parent, parent_run, relation FROM workflow_instance WHERE key = $1::bigint")       \
    PW_INSTANCE_FILTERS(INSTANCE_PAGES, QUERY)                                                                         \
    PAGES(QUERY, EARLIER_RUNS, PG_EARLIER_RUN_COLUMNS, "workflow_run", "p.output", "run", "")                          \
    PAGES(QUERY, STEPS, STEP_COLUMNS, "workflow_step s", "p.result", "seq", OF_RUN)                                    \
    PAGES(QUERY, EVENTS, PG_EVENT_COLUMNS, "workflow_event", "p.payload", "seq", OF_RUN)                               \
    PAGES(QUERY, LOGS, PG_LOG_COLUMNS, "workflow_log", "p.data", "seq",                                                \
        OF_RUN " AND ($6::bigint < 0 OR level = $6::bigint) AND ($7::text IS NULL OR category = $7::text)")            \
    PAGES(QUERY, STEPS_WAITING, STEP_COLUMNS, "workflow_step s", "p.result", "seq", OF_RUN " AND status = 0")          \
    QUERY(EVENT_BY_ID,                                                                                                 \
        "SELECT " PG_EVENT_COLUMNS " FROM (SELECT * FROM workflow_event"                                               \
        "  WHERE (instance, run, id) >= ($1::bigint, $2::bigint, $3::text) ORDER BY instance, run, id LIMIT 1) e"      \
        " WHERE instance = $1::bigint AND run = $2::bigint AND id = $3::text")                                         \
    QUERY(EVENTS_NEW, BOUNDED(BYTES_OF("p.payload"),                                                                   \
        "SELECT " PG_EVENT_COLUMNS " FROM workflow_event WHERE instance = $1::bigint AND run = $2::bigint"             \
        " AND seq > $3::bigint AND delivered_at IS NULL ORDER BY seq"))                                                \
    QUERY(HOOKS, HOOKS " WHERE h.key > $1::bigint ORDER BY h.key LIMIT $2::bigint")                                    \
    QUERY(HOOKS_PENDING, HOOKS_THAT("false"))                                                                          \
    QUERY(HOOKS_FAILED, HOOKS_THAT("true"))                                                                            \
    QUERY(HOOKS_OF,                                                                                                    \
        "(" HOOKS_OF_THAT("false") ") UNION ALL (" HOOKS_OF_THAT("true") ") ORDER BY 1 LIMIT $2::bigint")              \
    QUERY(HOOKS_OF_PENDING, HOOKS_OF_THAT("false"))                                                                    \
    QUERY(HOOKS_OF_FAILED, HOOKS_OF_THAT("true"))                                                                      \
    QUERY(RUNNERS,                                                                                                     \
        "SELECT " PW_COLUMNS(PW_RUNNER_FIELDS, "") ", heartbeat_at FROM workflow_runner"                               \
        " WHERE heartbeat_at >= $1::bigint - " PG_DEAD_MS " AND name IS NOT NULL")

/* clang-format on */

enum { BEFORE_FIRST = PW_PG_QUERIES_OF_READ - 1, QUERIES(PW_STATEMENT_NUMBER) };

const struct pw_statement pw_pg_queries_of_read[PW_STATEMENTS_MAX] = { QUERIES(PG_STATEMENT) };
static_assert(QUERY_LIST_BY_WORKFLOW_OLDEST + 2 * (int)PW_FILTER_COUNT == QUERY_EARLIER_RUNS_OLDEST, "see page.h");
static_assert(QUERY_HOOKS_PENDING == QUERY_HOOKS + 1 && QUERY_HOOKS_OF == QUERY_HOOKS + 3 &&
                  QUERY_HOOKS_OF_FAILED == QUERY_HOOKS + 5,
              "see page.h");

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

pawl_status pw_pg_read_rows(const PGresult *result, struct pw_rows *rows, const struct pw_row_type *type,
                            pw_pg_read_row_fn *read)
{
    struct pw_fields fields;
    pw_fields_init(&fields, result, rows->arena);
    rows->count = 0;
    while (pw_fields_next(&fields)) {
        void *row = pw_rows_add(rows);
        if (row == NULL)
            return PAWL_NOMEM;
        if (type != NULL)
            pw_field_row(&fields, type, row);
        else
            read(&fields, row);
    }
    return pw_fields_end(&fields);
}

void pw_pg_read_hook_row(struct pw_fields *fields, void *row)
{
    struct pw_hook_row *hook = row;
    pw_field_row(fields, &pw_delivery_type, hook);
    pw_field_row(fields, &pw_hook_type, hook);
    hook->workflow = pw_field_text(fields);
    hook->instance_id = pw_field_text(fields);
}

static void read_instance(struct pw_fields *fields, void *row)
{
    struct pw_instance *instance = row;
    pw_field_row(fields, &pw_instance_type, instance);
    instance->has_task = pw_field_integer(fields) != 0; /* its key, which is never 0 */
    pw_field_row(fields, &pw_task_type, &instance->task);
    pw_instance_merge(instance, pw_field_time(fields));
}

static void read_current(struct pw_fields *fields, void *row)
{
    struct pw_current *current = row;
    read_instance(fields, &current->instance);
    current->has_step = !pw_field_is_null(fields);
    if (current->has_step)
        pw_field_row(fields, &pw_step_type, &current->step);
}

/* An instance and its position among those wanted, from 1. */
struct placed {
    int64_t place;
    struct pw_instance instance;
};

static void read_placed(struct pw_fields *fields, void *row)
{
    struct placed *placed = row;
    placed->place = pw_field_integer(fields);
    read_instance(fields, &placed->instance);
}

/* What a run begins with, from its instance. */
static void read_beginning(struct pw_fields *fields, void *row)
{
    struct pw_run_rows *run = row;
    run->created_at_ms = pw_field_integer(fields);
    run->params = pw_field_text(fields);
    run->link = pw_field_link(fields);
}

static void read_runner(struct pw_fields *fields, void *row)
{
    struct pw_runner_row *runner = row;
    pw_field_row(fields, &pw_runner_type, runner);
    runner->seen_at_ms = pw_field_time(fields);
}

/* How the rows of an answer are read. */
struct shape {
    size_t size;
    const struct pw_row_type *type; /* if a row is just the fields of this type; or NULL */
    pw_pg_read_row_fn *read;
};

static const struct shape instances = { sizeof(struct pw_instance), NULL, read_instance },
                          currents = { sizeof(struct pw_current), NULL, read_current },
                          placed_instances = { sizeof(struct placed), NULL, read_placed },
                          beginnings = { sizeof(struct pw_run_rows), NULL, read_beginning },
                          runs = { sizeof(struct pw_earlier_run), &pw_earlier_run_type, NULL },
                          steps = { sizeof(struct pw_step_row), &pw_step_type, NULL },
                          events = { sizeof(struct pw_event_row), &pw_event_type, NULL },
                          logs = { sizeof(struct pw_log_row), &pw_log_type, NULL },
                          hooks = { sizeof(struct pw_hook_row), NULL, pw_pg_read_hook_row },
                          runners = { sizeof(struct pw_runner_row), NULL, read_runner };

/* Collects the rows of an answer. */
struct row_list {
    struct pw_rows rows;
    const struct shape *shape;
};

static struct row_list list_of(const struct shape *shape, struct pw_arena *arena)
{
    return (struct row_list){ .rows = { .arena = arena, .row_size = shape->size }, .shape = shape };
}

static pawl_status take_rows(void *user, const PGresult *result)
{
    struct row_list *list = user;
    return pw_pg_read_rows(result, &list->rows, list->shape->type, list->shape->read);
}

/* Finds the rows of the answer to the reading's call. */
static pawl_status find_called(struct pw_reading *reading, const struct shape *shape)
{
    struct row_list list = list_of(shape, reading->arena);
    pawl_status status = pw_pg_read(reading->postgres, &reading->call, take_rows, &list, reading->error);
    reading->found->rows = list.rows.rows;
    reading->found->count = list.rows.count;
    return status;
}

static pawl_status find(struct pw_reading *reading, const struct shape *shape, unsigned name,
                        const struct pw_value *values, size_t count)
{
    pw_call_init(&reading->call, name, values, count);
    return find_called(reading, shape);
}

/* ---- Instances ----------------------------------------------------------------------------------------------- */

pawl_status pw_postgres_read_instance(struct pw_reading *reading)
{
    const struct pw_instance_name *name = &reading->asked->name;
    return find(reading, &instances, QUERY_INSTANCE_BY_ID, PW_VALUES(pw_str(name->workflow), pw_str(name->id)));
}

pawl_status pw_postgres_read_current(struct pw_reading *reading)
{
    const struct pw_instance_name *name = &reading->asked->name;
    return find(reading, &currents, QUERY_INSTANCE_CURRENT, PW_VALUES(pw_str(name->workflow), pw_str(name->id)));
}

pawl_status pw_postgres_read_instance_by_key(struct pw_reading *reading)
{
    return find(reading, &instances, QUERY_INSTANCE_BY_KEY, PW_VALUES(pw_int(reading->asked->key)));
}

pawl_status pw_postgres_read_instances(struct pw_reading *reading)
{
    const struct pw_instances_wanted *wanted = &reading->asked->wanted;
    struct pw_instance *found =
        pw_arena_zero(reading->arena, wanted->count * sizeof *found + 1); /* not NULL for none */
    struct pw_columns columns = { .arena = &reading->scratch };
    pawl_status status = PAWL_OK;
    if (found == NULL)
        return pw_error_plain(reading->error, PAWL_NOMEM);
    for (size_t i = 0; i < wanted->count; i++)
        if (wanted->keys != NULL)
            pw_columns_row(&columns, PW_VALUES(pw_int(wanted->keys[i])));
        else
            pw_columns_row(&columns, PW_VALUES(pw_str(wanted->workflows[i]), pw_str(wanted->ids[i])));
    pw_call_init(&reading->call, wanted->keys != NULL ? QUERY_INSTANCES_BY_KEY : QUERY_INSTANCES_BY_ID, PW_NO_VALUES);
    pw_call_columns(&reading->call, &columns);
    if (wanted->count > 0)
        status = find_called(reading, &placed_instances);
    for (size_t i = 0; wanted->count > 0 && status == PAWL_OK && i < reading->found->count; i++) {
        const struct placed *placed = (const struct placed *)reading->found->rows + i;
        found[placed->place - 1] = placed->instance;
    }
    reading->found->instances = found;
    reading->found->count = wanted->count;
    return status;
}

/* The limit of a page's payloads; 0: none. */
static struct pw_value up_to(size_t bytes_max)
{
    return pw_size(bytes_max > 0 ? bytes_max : SIZE_MAX);
}

pawl_status pw_postgres_list_instances(struct pw_reading *reading)
{
    const struct pw_instance_query *query = &reading->asked->list;
    const struct pw_filter *filter = &pw_filters[query->by];
    const struct pw_value value = filter->is_text ? pw_str(query->text) : pw_int(query->number);
    const struct pw_value values[] = { filter->has_workflow ? pw_str(query->workflow) : value,
                                       pw_int(pw_page_start(query->after_key, query->oldest_first)),
                                       pw_size(query->max), up_to(query->bytes_max), value };
    return find(reading, &instances, pw_page_query(QUERY_LIST_BY_WORKFLOW_OLDEST + 2 * query->by, !query->oldest_first),
                values, filter->has_workflow && filter->has_value ? 5 : 4);
}

/* ---- History ------------------------------------------------------------------------------------------------- */

/* parameters: how many the statement has. */
static void call_for_history(struct pw_call *call, const struct pw_history_query *query, unsigned oldest,
                             size_t parameters)
{
    const struct pw_value values[] = {
        pw_int(query->instance), pw_int(pw_page_start(query->after_seq, !query->newest_first)),
        pw_size(query->max),     up_to(query->bytes_max),
        pw_int(query->run),      pw_int(query->has_level ? (int64_t)query->level : -1),
        pw_str(query->category)
    };
    pw_call_init(call, pw_page_query(oldest, query->newest_first), values, parameters);
}

static pawl_status find_history(struct pw_reading *reading, const struct shape *shape, unsigned oldest,
                                size_t parameters)
{
    call_for_history(&reading->call, &reading->asked->history, oldest, parameters);
    return find_called(reading, shape);
}

pawl_status pw_postgres_read_earlier_runs(struct pw_reading *reading)
{
    return find_history(reading, &runs, QUERY_EARLIER_RUNS_OLDEST, 4);
}

pawl_status pw_postgres_read_steps(struct pw_reading *reading)
{
    return find_history(reading, &steps, QUERY_STEPS_OLDEST, 5);
}

pawl_status pw_postgres_read_events(struct pw_reading *reading)
{
    return find_history(reading, &events, QUERY_EVENTS_OLDEST, 5);
}

pawl_status pw_postgres_read_logs(struct pw_reading *reading)
{
    return find_history(reading, &logs, QUERY_LOGS_OLDEST, 7);
}

pawl_status pw_postgres_read_event(struct pw_reading *reading)
{
    const struct pw_run_query *query = &reading->asked->run;
    return find(reading, &events, QUERY_EVENT_BY_ID,
                PW_VALUES(pw_int(query->instance), pw_int(query->run), pw_str(query->id)));
}

/* Fetches no more than the arena's limit; the arena refuses the row that exceeds it. */
static void call_for_new_events(struct pw_call *call, const struct pw_run_query *query, size_t bytes_max)
{
    pw_call_init(call, QUERY_EVENTS_NEW,
                 PW_VALUES(pw_int(query->instance), pw_int(query->run), pw_int(query->after_seq), up_to(bytes_max)));
}

pawl_status pw_postgres_read_new_events(struct pw_reading *reading)
{
    call_for_new_events(&reading->call, &reading->asked->run, reading->arena->limit);
    return find_called(reading, &events);
}

pawl_status pw_postgres_read_waiting_steps(struct pw_reading *reading)
{
    return find_history(reading, &steps, QUERY_STEPS_WAITING_OLDEST, 5);
}

/* One round trip instead of three, because a run that is being woken waits for it. */
pawl_status pw_postgres_read_run(struct pw_reading *reading)
{
    const struct pw_run_query *asked = &reading->asked->run;
    struct pw_arena *arena = reading->arena;
    const struct pw_history_query all = {
        .instance = asked->instance, .run = asked->run, .max = SIZE_MAX, .bytes_max = arena->limit
    };
    struct row_list begun = list_of(&beginnings, arena), history = list_of(&steps, arena),
                    new_events = list_of(&events, arena);
    struct pw_call calls[3];
    pw_call_init(&calls[0], QUERY_INSTANCE_BEGINNING, PW_VALUES(pw_int(asked->instance)));
    call_for_history(&calls[1], &all, QUERY_STEPS_OLDEST, 5);
    call_for_new_events(&calls[2], asked, arena->limit);
    const struct pw_pg_question questions[] = { { &calls[0], take_rows, &begun },
                                                { &calls[1], take_rows, &history },
                                                { &calls[2], take_rows, &new_events } };
    pawl_status status = pw_pg_read_all(reading->postgres, questions, asked->with_events ? 3 : 2, reading->error);
    if (status == PAWL_OK && begun.rows.count == 0)
        return pw_error_plain(reading->error, PAWL_INSTANCE_NOT_FOUND);
    if (status != PAWL_OK)
        return status;
    struct pw_run_rows *run = begun.rows.rows;
    run->steps = history.rows.rows;
    run->step_count = history.rows.count;
    run->events = new_events.rows.rows;
    run->event_count = new_events.rows.count;
    reading->found->run = *run;
    return PAWL_OK;
}

/* ---- Hooks and runners ------------------------------------------------------------------------------------------ */

pawl_status pw_postgres_list_hooks(struct pw_reading *reading)
{
    const struct pw_hook_query *query = &reading->asked->hooks;
    const struct pw_value values[] = { pw_int(query->after_key), pw_size(query->max), pw_str(query->hook) };
    return find(reading, &hooks, pw_hooks_query(QUERY_HOOKS, query), values, query->hook.data != NULL ? 3 : 2);
}

static int compare_owners(const void *left, const void *right)
{
    const struct pw_runner_row *one = left, *other = right;
    return (one->owner > other->owner) - (one->owner < other->owner);
}

pawl_status pw_postgres_list_runners(struct pw_reading *reading)
{
    pawl_status status =
        find(reading, &runners, QUERY_RUNNERS, PW_VALUES(pw_int(pw_pg_clock_now_ms(&reading->postgres->clock))));
    if (status == PAWL_OK && reading->found->count > 1)
        qsort(reading->found->runners, reading->found->count, sizeof(struct pw_runner_row), compare_owners);
    return status;
}

/* ---- The store's function ---------------------------------------------------------------------------------------- */

pawl_status pw_postgres_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    static pawl_status (*const functions[])(struct pw_reading *) = {
#define FUNCTION(kind, function) [PW_READ_##kind] = pw_postgres_##function,
        PW_READS(FUNCTION)
#undef FUNCTION
    };
    struct pw_reading reading = {
        .postgres = (struct pw_postgres *)store, .asked = asked, .arena = arena, .found = out_found, .error = error
    };
    pawl_status status = functions[asked->kind](&reading);
    pw_arena_clear(&reading.scratch);
    return status;
}
