/* read_numbers.c - reads that find numbers: when something is due next, how many there are, and facts about the
 * database. */
#include "store/postgres/read.h"
#include "store/postgres/schema.h"

/* ---- Statements ---------------------------------------------------------------------------------------------- */

/* clang-format off */

#define EARLIEST "SELECT coalesce(min(d.at), 9223372036854775807) FROM "
/* When the first task is due past a time, except those left out.  With a share: when the first task of the share is
 * due past $4.  Tasks of other shards count after the grace, $3. */
#define NEXT(tasks, column, after, except)                                                                             \
    "(SELECT " column " AS at FROM workflow_task WHERE workflow = w.workflow AND " tasks " AND " column " > " after    \
    "  AND instance <> ALL(" except "::bigint[]) ORDER BY " column " LIMIT 1)"
#define NEXT_OF_SHARE(tasks, column)                                                                                   \
    "(SELECT " column " AS at FROM workflow_task WHERE workflow = w.workflow AND " tasks                               \
    "  AND " column " > $4::bigint AND instance <> ALL($5::bigint[])"                                                  \
    "  AND coalesce(substr(w.owned, shard + 1, 1), '1') = '1' ORDER BY " column " LIMIT 1) UNION ALL"                  \
    " (SELECT n.at + $3::bigint FROM " NEXT(tasks, column, "$4::bigint - $3::bigint", "$5") " n)"

/* How many instances have a status, up to $2: by the task while the run is open, by the outcome afterwards. */
#define COUNT_UP_TO(table, column, value)                                                                              \
    "(SELECT count(*) FROM (SELECT 1 FROM unnest($1::text[]) AS w (workflow) CROSS JOIN LATERAL ("                     \
    "  SELECT 1 FROM " table " t WHERE t.workflow = w.workflow AND t." column " = " value " LIMIT $2::bigint) r"       \
    "  LIMIT $2::bigint) c)"
#define OPEN_COUNT(status) COUNT_UP_TO("workflow_task", "status", status)
#define ENDED_COUNT(outcome) COUNT_UP_TO("workflow_instance", "outcome", outcome)

#define QUERIES(QUERY)                                                                                                 \
    QUERY(NEXT_DUE,                                                                                                    \
        EARLIEST "unnest($1::text[]) AS w (workflow) CROSS JOIN LATERAL ("                                             \
        NEXT(PG_RESUMABLE, "due_at", "$2::bigint", "$3") " UNION ALL "                                                 \
        NEXT(PG_STARTABLE, "due_at", "$2::bigint", "$3") " UNION ALL "                                                 \
        NEXT(PG_LEASED, "locked_until", "$2::bigint", "$3") ") d")                                                     \
    QUERY(NEXT_DUE_SHARED,                                                                                             \
        EARLIEST "unnest($1::text[], $2::text[]) AS w (workflow, owned) CROSS JOIN LATERAL ("                          \
        NEXT_OF_SHARE(PG_RESUMABLE, "due_at") " UNION ALL " NEXT_OF_SHARE(PG_STARTABLE, "due_at") " UNION ALL "        \
        NEXT_OF_SHARE(PG_LEASED, "locked_until") ") d")                                                                \
    QUERY(HOOK_NEXT,                                                                                                   \
        EARLIEST "unnest($1::text[]) AS w (hook) CROSS JOIN LATERAL (SELECT next_at AS at"                             \
        " FROM workflow_hook WHERE hook = w.hook AND next_at IS NOT NULL AND next_at > $2::bigint"                     \
        " ORDER BY next_at LIMIT 1) d")                                                                                \
    QUERY(TASK_COUNTS,                                                                                                 \
        "SELECT count(*) FILTER (WHERE status = 0), count(*) FILTER (WHERE status = 1),"                               \
        " count(*) FILTER (WHERE status = 2), (SELECT count(*) FROM workflow_hook WHERE (next_at IS NULL, key) <"      \
        " (true, 0)),"                                                                                                 \
        " (SELECT count(*) FROM workflow_hook WHERE (next_at IS NULL, key + 0) >= (true, 0)) FROM workflow_task")      \
    QUERY(DUE_COUNTS,                                                                                                  \
        "SELECT count(*), min(at) FROM (SELECT due_at AS at FROM workflow_task WHERE " PG_RESUMABLE                    \
        "  AND due_at <= $1::bigint UNION ALL SELECT due_at FROM workflow_task WHERE " PG_STARTABLE                    \
        "  AND due_at <= $1::bigint UNION ALL SELECT locked_until FROM workflow_task WHERE " PG_LEASED                 \
        "  AND locked_until <= $1::bigint) d")                                                                         \
    QUERY(WAITING_COUNT,                                                                                               \
        "SELECT count(*) FROM workflow_step WHERE instance = $1::bigint AND run = $2::bigint AND status = 0")          \
    QUERY(STATUS_COUNTS,                                                                                               \
        "SELECT " OPEN_COUNT("0") ", " OPEN_COUNT("1") ", " OPEN_COUNT("2") ", "                                       \
        ENDED_COUNT("1") ", " ENDED_COUNT("2") ", " ENDED_COUNT("3"))                                                  \
    QUERY(PART_READ, "SELECT number + 1, size FROM workflow_set WHERE key = 1 AND size > 1")

/* clang-format on */

enum { BEFORE_FIRST = PW_PG_QUERIES_OF_READ_NUMBERS - 1, QUERIES(PW_STATEMENT_NUMBER) };

const struct pw_statement pw_pg_queries_of_read_numbers[PW_STATEMENTS_MAX] = { QUERIES(PG_STATEMENT) };

static pawl_status find(struct pw_reading *reading, struct pw_numbers *numbers)
{
    *numbers = (struct pw_numbers){ .is_found = false };
    return pw_pg_read(reading->postgres, &reading->call, pw_numbers_take, numbers, reading->error);
}

/* ---- When next ----------------------------------------------------------------------------------------------- */

static pawl_status find_earliest(struct pw_reading *reading)
{
    struct pw_numbers numbers;
    pawl_status status = find(reading, &numbers);
    reading->found->at_ms = numbers.of[0];
    return status;
}

/* Prepares a statement about these names, with the owned shards of each. */
static void call_for(struct pw_reading *reading, unsigned name, const struct pw_text *names,
                     const struct pw_text *owned, size_t count)
{
    struct pw_columns columns = { .arena = &reading->scratch };
    for (size_t i = 0; i < count; i++)
        if (owned != NULL)
            pw_columns_row(&columns, PW_VALUES(pw_str(names[i]), pw_str(owned[i])));
        else
            pw_columns_row(&columns, PW_VALUES(pw_str(names[i])));
    pw_call_init(&reading->call, name, PW_NO_VALUES);
    pw_call_columns(&reading->call, &columns);
}

pawl_status pw_postgres_next_due(struct pw_reading *reading)
{
    static const struct pw_share all = { .owned = NULL };
    const struct pw_due_query *query = &reading->asked->due;
    const struct pw_share *share = query->share != NULL ? query->share : &all;
    struct pw_columns except = { .arena = &reading->scratch };
    reading->found->at_ms = INT64_MAX;
    if (query->count == 0)
        return PAWL_OK;
    call_for(reading, share->owned != NULL ? QUERY_NEXT_DUE_SHARED : QUERY_NEXT_DUE, query->workflows, share->owned,
             query->count);
    if (share->owned != NULL)
        pw_call_add(&reading->call, PW_VALUES(pw_int(share->grace_ms)));
    pw_call_add(&reading->call, PW_VALUES(pw_int(query->after_ms)));
    pw_put_excepted(&except, share);
    pw_call_columns(&reading->call, &except);
    return find_earliest(reading);
}

pawl_status pw_postgres_next_hook(struct pw_reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    reading->found->at_ms = INT64_MAX;
    if (query->count == 0)
        return PAWL_OK;
    call_for(reading, QUERY_HOOK_NEXT, query->names, NULL, query->count);
    pw_call_add(&reading->call, PW_VALUES(pw_int(PW_EVER)));
    return find_earliest(reading);
}

/* ---- How many ------------------------------------------------------------------------------------------------- */

pawl_status pw_postgres_count_tasks(struct pw_reading *reading)
{
    struct pw_numbers tasks = { .is_found = false }, due = { .is_found = false };
    struct pw_call calls[2];
    pw_call_init(&calls[0], QUERY_TASK_COUNTS, PW_NO_VALUES);
    pw_call_init(&calls[1], QUERY_DUE_COUNTS, PW_VALUES(pw_int(reading->asked->now_ms)));
    const struct pw_pg_question questions[] = { { &calls[0], pw_numbers_take, &tasks },
                                                { &calls[1], pw_numbers_take, &due } };
    pawl_status status = pw_pg_read_all(reading->postgres, questions, 2, reading->error);
    reading->found->tasks = (struct pw_task_counts){ .active = pw_count_of(tasks.of[0]),
                                                     .waiting = pw_count_of(tasks.of[1]),
                                                     .paused = pw_count_of(tasks.of[2]),
                                                     .hooks_pending = pw_count_of(tasks.of[3]),
                                                     .hooks_failed = pw_count_of(tasks.of[4]),
                                                     .due = pw_count_of(due.of[0]),
                                                     .oldest_due_at_ms = pw_time_of(due.of[1]) };
    return status;
}

pawl_status pw_postgres_count_waiting_steps(struct pw_reading *reading)
{
    const struct pw_run_query *query = &reading->asked->run;
    struct pw_numbers numbers;
    pw_call_init(&reading->call, QUERY_WAITING_COUNT, PW_VALUES(pw_int(query->instance), pw_int(query->run)));
    pawl_status status = find(reading, &numbers);
    reading->found->total = pw_count_of(numbers.of[0]);
    return status;
}

pawl_status pw_postgres_count_statuses(struct pw_reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    struct pw_numbers numbers;
    reading->found->statuses = (struct pw_status_counts){ .of = { 0 } };
    if (query->count == 0)
        return PAWL_OK;
    call_for(reading, QUERY_STATUS_COUNTS, query->names, NULL, query->count);
    pw_call_add(&reading->call, PW_VALUES(pw_int(query->max)));
    pawl_status status = find(reading, &numbers);
    for (size_t i = 0; i < PW_STATUS_COUNT; i++)
        reading->found->statuses.of[i] = pw_count_of(numbers.of[i]);
    return status;
}

/* ---- What the database is ------------------------------------------------------------------------------------ */

pawl_status pw_postgres_read_part(struct pw_reading *reading)
{
    struct pw_numbers numbers;
    pw_call_init(&reading->call, QUERY_PART_READ, PW_NO_VALUES);
    pawl_status status = find(reading, &numbers);
    reading->found->part = (struct pw_part){ .number = numbers.of[0], .count = numbers.of[1] };
    return status;
}

pawl_status pw_postgres_read_schema(struct pw_reading *reading)
{
    struct pw_numbers numbers;
    pw_call_init(&reading->call, PW_PG_SCHEMA_VERSION, PW_NO_VALUES);
    pawl_status status = find(reading, &numbers);
    reading->found->schema =
        (struct pw_schema_found){ .version = numbers.of[0], .known = pw_postgres_newest_version() };
    return status;
}
