/* read_numbers.c - reads that find numbers: when something is due next, and how many there are. */
#include "base/error.h"
#include "store/sqlite/read.h"

/* ---- Statements ---------------------------------------------------------------------------------------------- */

/* clang-format off */

/* Leaves out the instances that a share excepts, listed as ",1,2," or nothing. */
#define NOT_EXCEPTED(list) " AND instr(" list ", ',' || instance || ',') = 0"
/* When the first task is due past a time. */
#define NEXT_OF(column, tasks, past, except)                                                                           \
    "(SELECT min(" column ") FROM " tasks " AND workflow = ?1 AND " column " > " past NOT_EXCEPTED(except) ")"
/* When the first task of the owned shards is due past a time, and the first of all shards, after the grace, past
 * another time. */
#define NEXT_OF_SHARE(column, tasks, past, all_past)                                                                   \
    "(SELECT " column " FROM " tasks " AND workflow = ?1 AND " column " > " past                                       \
    "  AND substr(?2, shard + 1, 1) = '1'" NOT_EXCEPTED("?6") " ORDER BY " column " LIMIT 1), "                        \
    NEXT_OF(column, tasks, all_past, "?6") " + ?3"

#define DUE_COUNT(column, tasks) "(SELECT count(*) FROM " tasks " AND workflow = ?1 AND " column " <= ?2)"
#define TASK_COUNT(status)                                                                                             \
    "(SELECT count(*) FROM workflow_task INDEXED BY workflow_task_status WHERE workflow = ?1 AND status = " status ")"
/* How many instances have a status, up to a limit: by the task while the run is open, by the outcome afterwards. */
#define COUNT_UP_TO(max, table, index, column, value)                                                                  \
    "(SELECT count(*) FROM (SELECT 1 FROM " table " INDEXED BY " index                                                 \
    "  WHERE workflow = ?1 AND " column " = " value " LIMIT " max "))"
#define OPEN_COUNT(status, max) COUNT_UP_TO(max, "workflow_task", "workflow_task_status", "status", status)
#define ENDED_COUNT(outcome, max) COUNT_UP_TO(max, "workflow_instance", "workflow_instance_ended", "outcome", outcome)

#define QUERIES(QUERY)                                                                                                 \
    QUERY(NEXT_DUE,                                                                                                    \
        "SELECT " NEXT_OF("due_at", RESUMABLE, "?2", "?4") ", " NEXT_OF("due_at", STARTABLE, "?2", "?4") ", "          \
        NEXT_OF("locked_until", LEASED, "?3", "?4"))                                                                   \
    QUERY(NEXT_DUE_SHARED,                                                                                             \
        "SELECT " NEXT_OF_SHARE("due_at", RESUMABLE, "?4", "?4 - ?3") ", "                                             \
        NEXT_OF_SHARE("due_at", STARTABLE, "?4", "?4 - ?3") ", " NEXT_OF_SHARE("locked_until", LEASED, "?5", "?5"))    \
    QUERY(NEXT_EXPIRED, "SELECT " HELD_COLUMNS ", 0 FROM " LEASED " AND workflow = ?1 AND locked_until <= ?2")         \
    QUERY(NEXT_EXPIRED_SHARED,                                                                                         \
        "SELECT " HELD_COLUMNS ", CASE substr(?3, shard + 1, 1) WHEN '1' THEN 0 ELSE ?4 END"                           \
        " FROM " LEASED " AND workflow = ?1 AND locked_until <= ?2")                                                   \
    QUERY(HOOK_NEXT,                                                                                                   \
        "SELECT min(next_at) FROM workflow_hook INDEXED BY workflow_hook_due WHERE hook = ?1 AND next_at IS NOT NULL"  \
        " AND next_at > ?2")                                                                                           \
    QUERY(TASK_WORKFLOW_AFTER,                                                                                         \
        "SELECT min(workflow) FROM workflow_task INDEXED BY workflow_task_status WHERE workflow > ?1")                 \
    QUERY(TASK_COUNTS,                                                                                                 \
        "SELECT " TASK_COUNT("0") ", " TASK_COUNT("1") ", " TASK_COUNT("2") ", " DUE_COUNT("due_at", RESUMABLE) " + "  \
        DUE_COUNT("due_at", STARTABLE) " + " DUE_COUNT("locked_until", LEASED))                                        \
    QUERY(HOOK_COUNTS,                                                                                                 \
        "SELECT (SELECT count(*) FROM workflow_hook INDEXED BY workflow_hook_all_pending"                              \
        "         WHERE next_at IS NOT NULL AND key > 0),"                                                             \
        "       (SELECT count(*) FROM workflow_hook INDEXED BY workflow_hook_all_failed"                               \
        "         WHERE next_at IS NULL AND key > 0)")                                                                 \
    QUERY(WAITING_COUNT,                                                                                               \
        "SELECT count(*) FROM workflow_step INDEXED BY workflow_step_waiting"                                          \
        " WHERE instance = ?1 AND run = ?2 AND status = 0")                                                            \
    QUERY(STATUS_COUNTS,                                                                                               \
        "SELECT " OPEN_COUNT("0", "?2") ", " OPEN_COUNT("1", "?3") ", " OPEN_COUNT("2", "?4") ", "                     \
        ENDED_COUNT("1", "?5") ", " ENDED_COUNT("2", "?6") ", " ENDED_COUNT("3", "?7"))

/* clang-format on */

enum { BEFORE_FIRST = PW_QUERIES_OF_READ_NUMBERS - 1, QUERIES(PW_STATEMENT_NUMBER) };

const struct pw_statement pw_sqlite_queries_of_read_numbers[PW_STATEMENTS_MAX] = { QUERIES(PW_STATEMENT) };

static void start(struct pw_reading *reading, unsigned name, const struct pw_value *values, size_t count)
{
    pw_query_start(&reading->query, reading->connection, name, values, count);
}

/* ---- When next ----------------------------------------------------------------------------------------------- */

/* The earliest of *earliest_ms and the times in the columns of the one row. */
static pawl_status take_earliest(struct pw_reading *reading, int64_t *earliest_ms)
{
    struct pw_query *query = &reading->query;
    if (pw_query_step(query))
        for (int column = 0; column < sqlite3_column_count(query->statement); column++) {
            bool is_null = pw_column_is_null(query);
            int64_t at_ms = pw_column_integer(query);
            if (!is_null && at_ms < *earliest_ms)
                *earliest_ms = at_ms;
        }
    return pw_query_end(query, reading->error);
}

pawl_status pw_sqlite_next_hook(struct pw_reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    pawl_status status = PAWL_OK;
    reading->found->at_ms = INT64_MAX;
    for (size_t position = 0; position < query->count && status == PAWL_OK; position++) {
        start(reading, QUERY_HOOK_NEXT, PW_VALUES(pw_str(query->names[position]), pw_int(PW_EVER)));
        status = take_earliest(reading, &reading->found->at_ms);
    }
    return status;
}

/* A question about one workflow, past a time, as things are now. */
struct due_question {
    const struct pw_share *share;   /* NULL: all tasks */
    struct pw_text excepted;        /* the instances that it leaves out, as a list for the queries */
    struct pw_text workflow, owned; /* owned absent: all shards */
    int64_t after_ms, now_ms;
};

/* Writes the list of excepted keys as ",1,2,", or nothing if none is left out.  False when memory is out. */
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

/* Tasks that nobody holds, and leases that have not expired. */
static pawl_status earliest_due(struct pw_reading *reading, const struct due_question *question)
{
    const struct pw_value after = pw_int(question->after_ms), excepted = pw_str(question->excepted);
    const struct pw_value now = pw_int(question->after_ms > question->now_ms ? question->after_ms : question->now_ms);
    const struct pw_value workflow = pw_str(question->workflow);
    if (question->owned.data != NULL)
        start(reading, QUERY_NEXT_DUE_SHARED,
              PW_VALUES(workflow, pw_str(question->owned), pw_int(question->share->grace_ms), after, now, excepted));
    else
        start(reading, QUERY_NEXT_DUE, PW_VALUES(workflow, after, now, excepted));
    return take_earliest(reading, &reading->found->at_ms);
}

void pw_read_held(struct pw_query *query, struct pw_held *held)
{
    held->instance = pw_column_integer(query);
    held->owner = pw_column_integer(query);
    held->run = pw_column_count(query);
    held->epoch = pw_column_count(query);
    held->locked_until_ms = pw_column_integer(query);
}

/* An expired lease is due when it may be taken, which is later if its runner lives (sightings.h). */
static pawl_status earliest_expired(struct pw_reading *reading, const struct due_question *question)
{
    struct pw_sqlite *sqlite = reading->sqlite;
    struct pw_query *query = &reading->query;
    const struct pw_value workflow = pw_str(question->workflow), now = pw_int(question->now_ms);
    if (question->owned.data != NULL)
        start(reading, QUERY_NEXT_EXPIRED_SHARED,
              PW_VALUES(workflow, now, pw_str(question->owned), pw_int(question->share->grace_ms)));
    else
        start(reading, QUERY_NEXT_EXPIRED, PW_VALUES(workflow, now));
    while (pw_query_step(query)) {
        struct pw_held held;
        pw_read_held(query, &held);
        int64_t at_ms = held.locked_until_ms + pw_column_integer(query);
        int64_t wait_ms = 0;
        if (question->share != NULL && pw_share_excepts(question->share, held.instance))
            continue;
        if (pw_sqlite_may_live(sqlite, held.owner))
            wait_ms = pw_sightings_wait_ms(&sqlite->sightings, &held, pw_sqlite_monotonic_ms(sqlite));
        if (wait_ms > 0 && question->now_ms + wait_ms > at_ms)
            at_ms = question->now_ms + wait_ms;
        if (at_ms > question->after_ms && at_ms < reading->found->at_ms)
            reading->found->at_ms = at_ms;
    }
    return pw_query_end(query, reading->error);
}

pawl_status pw_sqlite_next_due(struct pw_reading *reading)
{
    struct pw_arena arena = { 0 };
    const struct pw_due_query *query = &reading->asked->due;
    const struct pw_share *share = query->share;
    struct due_question question = { .share = share,
                                     .after_ms = query->after_ms,
                                     .now_ms = reading->sqlite->store.ops->now_ms(&reading->sqlite->store) };
    pawl_status status = PAWL_OK;
    reading->found->at_ms = INT64_MAX;
    if (!write_excepted(&arena, share, &question.excepted))
        status = pw_error_plain(reading->error, PAWL_NOMEM);
    for (size_t position = 0; position < query->count && status == PAWL_OK; position++) {
        question.workflow = query->workflows[position];
        question.owned = share != NULL && share->owned != NULL ? share->owned[position] : (struct pw_text){ NULL, 0 };
        status = earliest_due(reading, &question);
        if (status == PAWL_OK)
            status = earliest_expired(reading, &question);
    }
    pw_arena_clear(&arena);
    return status;
}

/* ---- How many ------------------------------------------------------------------------------------------------- */

static bool is_behind(struct pw_text text, struct pw_text other)
{
    size_t common = text.size < other.size ? text.size : other.size;
    int order = memcmp(text.data, other.data, common);
    return order != 0 ? order > 0 : text.size > other.size;
}

/* The next workflow by name, or absent after the last.  There is no index over all workflows, so they are visited
 * one by one.  A result that does not come after the given name counts as the end, because a damaged index might go in a circle. */
static pawl_status workflow_after(struct pw_reading *reading, struct pw_arena *arena, struct pw_text *workflow)
{
    struct pw_text next = { NULL, 0 };
    start(reading, QUERY_TASK_WORKFLOW_AFTER, PW_VALUES(pw_str(*workflow)));
    if (pw_query_step(&reading->query))
        next = pw_column_text(&reading->query, arena);
    pawl_status status = pw_query_end(&reading->query, reading->error);
    *workflow = next.data != NULL && is_behind(next, *workflow) ? next : (struct pw_text){ NULL, 0 };
    return status;
}

/* Adds up the columns of the one row. */
static pawl_status add_counts(struct pw_reading *reading, int64_t *counts, size_t count)
{
    if (pw_query_step(&reading->query))
        for (size_t i = 0; i < count; i++)
            counts[i] += pw_column_count(&reading->query);
    return pw_query_end(&reading->query, reading->error);
}

static pawl_status oldest_due(struct pw_reading *reading, struct pw_text workflow, int64_t *oldest_ms)
{
    start(reading, QUERY_NEXT_DUE,
          PW_VALUES(pw_str(workflow), pw_int(PW_EVER), pw_int(PW_EVER), pw_str(pw_text_of(""))));
    return take_earliest(reading, oldest_ms);
}

static pawl_status count_tasks_of(struct pw_reading *reading, struct pw_text workflow, struct pw_task_counts *counts)
{
    int64_t numbers[4] = { 0 };
    start(reading, QUERY_TASK_COUNTS, PW_VALUES(pw_str(workflow), pw_int(reading->asked->now_ms)));
    pawl_status status = add_counts(reading, numbers, 4);
    counts->active += numbers[0];
    counts->waiting += numbers[1];
    counts->paused += numbers[2];
    counts->due += numbers[3];
    if (status == PAWL_OK && numbers[3] > 0)
        status = oldest_due(reading, workflow, &counts->oldest_due_at_ms);
    return status;
}

pawl_status pw_sqlite_count_tasks(struct pw_reading *reading)
{
    struct pw_arena arena = { 0 };
    struct pw_task_counts counts = { .oldest_due_at_ms = INT64_MAX };
    struct pw_text workflow = { "", 0 }; /* comes before all names */
    int64_t hooks[2] = { 0 };
    pawl_status status = workflow_after(reading, &arena, &workflow);
    while (status == PAWL_OK && workflow.data != NULL) {
        status = count_tasks_of(reading, workflow, &counts);
        if (status == PAWL_OK)
            status = workflow_after(reading, &arena, &workflow);
    }
    pw_arena_clear(&arena);
    if (status == PAWL_OK) {
        start(reading, QUERY_HOOK_COUNTS, PW_NO_VALUES);
        status = add_counts(reading, hooks, 2);
    }
    counts.hooks_pending = hooks[0];
    counts.hooks_failed = hooks[1];
    if (counts.due == 0)
        counts.oldest_due_at_ms = 0;
    reading->found->tasks = counts;
    return status;
}

pawl_status pw_sqlite_count_waiting_steps(struct pw_reading *reading)
{
    const struct pw_run_query *query = &reading->asked->run;
    start(reading, QUERY_WAITING_COUNT, PW_VALUES(pw_int(query->instance), pw_int(query->run)));
    reading->found->total = 0;
    return add_counts(reading, &reading->found->total, 1);
}

/* Counts no more of a workflow than is left to count. */
pawl_status pw_sqlite_count_statuses(struct pw_reading *reading)
{
    const struct pw_names_query *query = &reading->asked->names;
    struct pw_status_counts counts = { .of = { 0 } };
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < query->count && status == PAWL_OK; i++) {
        start(reading, QUERY_STATUS_COUNTS, PW_VALUES(pw_str(query->names[i])));
        for (size_t of = 0; of < PW_STATUS_COUNT; of++)
            pw_query_bind(&reading->query, PW_VALUES(pw_int(query->max - counts.of[of])));
        status = add_counts(reading, counts.of, PW_STATUS_COUNT);
    }
    reading->found->statuses = counts;
    return status;
}
