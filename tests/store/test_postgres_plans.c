/* test_postgres_plans.c - every statement of the PostgreSQL store is served by an index, whatever the planner knows.
 *
 * Plans are generic and kept, and a table that is empty now is large soon; so each plan must be the same for tables that
 * are new, for tables that were analyzed while they were empty, and for tables with rows.  None scans a table, joins one
 * without looking up, or sorts one. */
#include "kit/store_fixture.h"

#include <libpq-fe.h>

#include "store/postgres/connection.h"

enum { PLAN_SIZE = 8192 };

static const char *name_of(unsigned number)
{
    return pw_pg_query(number)->name + strlen("pawl_");
}

/* ---- Getting plans -------------------------------------------------------------------------------------------------- */

/* BEGIN, LISTEN and their like have none; nor has a number that no statement has. */
static bool has_plan(unsigned number)
{
    const char *text = pw_pg_query(number)->text;
    static const char *const verbs[] = { "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "(SELECT" };
    for (size_t i = 0; text != NULL && i < sizeof verbs / sizeof verbs[0]; i++)
        if (strncmp(text, verbs[i], strlen(verbs[i])) == 0)
            return strcmp(name_of(number), "USER_CHECK") != 0;
    return false;
}

/* A session as the store has them. */
static void open_session(struct fixture *fixture, struct pw_pg_connection *connection, struct pw_postgres_url *url)
{
    bool hopeless;
    assert_int_equal(pw_postgres_url_parse(fixture->url, &fixture->arena, url, &fixture->error), PAWL_OK);
    assert_int_equal(pw_pg_open(connection, url, PW_PG_WRITER, &hopeless, &fixture->error), PAWL_OK);
    assert_true(pw_pg_leave_pipeline(connection));
}

/* Parameters are unknown, as they are to a generic plan. */
static void explain(PGconn *db, unsigned number, char plan[PLAN_SIZE])
{
    char sql[8192];
    (void)snprintf(sql, sizeof sql, "DEALLOCATE ALL; PREPARE it AS %s", pw_pg_query(number)->text);
    PQclear(PQexec(db, sql));
    PGresult *counted = PQexec(db, "SELECT array_length(parameter_types, 1) FROM pg_prepared_statements");
    if (PQntuples(counted) != 1)
        fail_msg("%s cannot be prepared", name_of(number));
    int count = atoi(PQgetvalue(counted, 0, 0));
    PQclear(counted);
    size_t size = (size_t)snprintf(sql, sizeof sql, "EXPLAIN (COSTS OFF) EXECUTE it");
    for (int p = 0; p < count; p++)
        size +=
            (size_t)snprintf(sql + size, sizeof sql - size, "%sNULL%s", p == 0 ? "(" : ", ", p == count - 1 ? ")" : "");
    PGresult *lines = PQexec(db, sql);
    if (PQresultStatus(lines) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", name_of(number), PQerrorMessage(db));
    size = 0;
    plan[0] = '\0';
    for (int row = 0; row < PQntuples(lines) && size < PLAN_SIZE; row++)
        size += (size_t)snprintf(plan + size, PLAN_SIZE - size, "%s\n", PQgetvalue(lines, row, 0));
    PQclear(lines);
}

/* ---- Judging one ------------------------------------------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* One row each, or one for each session that writes. */
static bool may_scan(const char *name)
{
    static const char *const names[] = { "SCHEMA_VERSION", "SCHEMA_SET_VERSION", "USER_UNGUARD", "RECEIPT_FORGET" };
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* Sorts what it is about to claim, or two pages; never a table. */
static bool may_sort(const char *name)
{
    static const char *const names[] = { "CLAIM", "CLAIM_UP_TO", "HOOK_CLAIM", "HOOKS_OF" };
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* Counts what is in the index, or asks whether anything is. */
static bool may_go_through_an_index(const char *name)
{
    static const char *const names[] = { "TASK_COUNTS" };
    return is_one_of(name, names, sizeof names / sizeof names[0]);
}

static void check_line(const char *name, const char *line, const char *next)
{
    bool through_index = strstr(line, "Index Scan") != NULL || strstr(line, "Index Only Scan") != NULL;
    if (strstr(line, "Seq Scan on workflow") != NULL && !may_scan(name))
        fail_msg("%s: %s", name, line);
    if (strstr(line, "Sort Key") != NULL && !may_sort(name))
        fail_msg("%s: %s", name, line);
    if (strstr(line, "Join Filter") != NULL)
        fail_msg("%s: %s", name, line);
    if (through_index && strstr(line, " on workflow") != NULL && strstr(next, "Index Cond") == NULL &&
        !may_go_through_an_index(name))
        fail_msg("%s, without a condition: %s", name, line);
}

static void check_plan(const char *name, const char *plan)
{
    char line[512], next[512];
    for (const char *at = plan; *at != '\0'; at += strcspn(at, "\n") + 1) {
        const char *behind = at + strcspn(at, "\n") + 1;
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        (void)snprintf(next, sizeof next, "%.*s", (int)strcspn(behind, "\n"), behind);
        check_line(name, line, next);
    }
}

/* Where more than one index could serve. */
static void check_indexes(const char *name, const char *plan)
{
    static const struct {
        const char *name, *index;
    } wanted[] = {
        { "TASK_LOCK", "workflow_task_pkey" },
        { "TASK_LOCK_FOUND", "workflow_task_pkey" },
        { "TASK_LOCK_FOUND", "workflow_instance_open_child" },
        { "TASK_LOCK_FOUND", "workflow_instance_id" },
        { "CHILDREN", "workflow_instance_open_child" },
        { "TASK_DELETE", "workflow_task_pkey" },
        { "INSTANCE_FIND", "workflow_instance_id" },
        { "STEP_FIND", "workflow_step_pkey" },
        { "EVENT_FIND", "workflow_event_pkey" },
        { "EVENT_FIND_ID", "workflow_event_id" },
        { "EVENT_FIND_ANSWER", "workflow_event_id" },
        { "STEP_KEEP", "workflow_step_pkey" },
        { "CLAIM", "workflow_task_resumable" },
        { "CLAIM", "workflow_task_startable" },
        { "CLAIM", "workflow_task_leased" },
        { "CLAIM_UP_TO", "workflow_task_resumable" },
        { "CLAIM_UP_TO", "workflow_task_startable" },
        { "CLAIM_UP_TO", "workflow_task_leased" },
        { "REAP", "workflow_task_leased" },
        { "HOOK_LOCK", "workflow_hook_pkey" },
        { "HOOK_CLAIM", "workflow_hook_due" },
        { "HOOK_CLAIM", "workflow_hook_pkey on workflow_hook h_1" },
        { "HOOK_CLAIM", "workflow_hook_pkey on workflow_hook h_2" },
        { "INSTANCE_BY_ID", "workflow_instance_id" },
        { "INSTANCE_CURRENT", "workflow_instance_id" },
        { "INSTANCE_CURRENT", "workflow_step_waiting" },
#define LIST_INDEXES(with, name, shape, column, type, index)                                                           \
    { "LIST_BY_" #name "_OLDEST", "using " #index }, { "LIST_BY_" #name "_NEWEST", "Backward using " #index },
        PW_INSTANCE_FILTERS(LIST_INDEXES, )
#undef LIST_INDEXES
            { "STEPS_WAITING_OLDEST", "using workflow_step_waiting" },
        { "STEPS_WAITING_NEWEST", "Backward using workflow_step_waiting" },
        { "WAITING_COUNT", "workflow_step_waiting" },
        { "EVENTS_NEW", "workflow_event_new" },
        { "NEXT_DUE", "workflow_task_leased" },
        { "NEXT_DUE_SHARED", "workflow_task_resumable" },
        { "NEXT_DUE_SHARED", "workflow_task_startable" },
        { "NEXT_DUE_SHARED", "workflow_task_leased" },
        { "STATUS_COUNTS", "workflow_task_status" },
        { "STATUS_COUNTS", "workflow_instance_ended" },
        { "RUNNERS", "workflow_runner_heartbeat" },
        { "HOOKS_PENDING", "workflow_hook_list_all" },
        { "HOOKS_FAILED", "workflow_hook_list_all" },
        { "HOOKS_OF_PENDING", "workflow_hook_list" },
        { "HOOKS_OF_FAILED", "workflow_hook_list" },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (strcmp(name, wanted[i].name) == 0 && strstr(plan, wanted[i].index) == NULL)
            fail_msg("%s is not served by %s:\n%s", name, wanted[i].index, plan);
}

/* ---- All ----------------------------------------------------------------------------------------------------------------- */

static char plans[PW_PG_QUERY_COUNT][PLAN_SIZE];

static void compare_plans(struct fixture *fixture, const char *when)
{
    struct pw_pg_connection connection;
    struct pw_postgres_url url;
    char plan[PLAN_SIZE];
    open_session(fixture, &connection, &url);
    for (unsigned i = 0; i < PW_PG_QUERY_COUNT; i++) {
        if (!has_plan(i))
            continue;
        explain(connection.db, i, plan);
        if (plans[i][0] == '\0')
            (void)snprintf(plans[i], sizeof plans[i], "%s", plan);
        if (strncmp(name_of(i), "SCHEMA_", strlen("SCHEMA_")) != 0 && strcmp(plans[i], plan) != 0)
            fail_msg("%s is planned otherwise %s:\n%s", name_of(i), when, plan);
    }
    pw_pg_close(&connection);
}

TEST_IN(on_postgres, fixture, every_statement_is_served_by_an_index_whatever_the_statistics_say)
{
    compare_plans(fixture, "when the tables are new");
    size_t checked = 0;
    for (unsigned i = 0; i < PW_PG_QUERY_COUNT; i++) {
        if (!has_plan(i))
            continue;
        check_plan(name_of(i), plans[i]);
        check_indexes(name_of(i), plans[i]);
        checked++;
    }
    assert_true(checked > PW_READ_KIND_COUNT);
    assert_string_equal(name_of(PW_PG_QUERIES_OF_READ), "INSTANCE_BY_ID");
    assert_string_equal(name_of(PW_PG_QUERIES_OF_READ_NUMBERS), "NEXT_DUE");
    run_raw_sql(fixture, "VACUUM ANALYZE");
    compare_plans(fixture, "when the tables were analyzed while they were empty");
    run_raw_sql(fixture,
                "INSERT INTO workflow_instance (key, run, created_at, updated_at, workflow, id, outcome)"
                " SELECT g, 1, 1, 1, 'order', 'i-' || g, CASE WHEN g % 2 = 0 THEN 1 END FROM generate_series(1, 5) g;"
                "INSERT INTO workflow_task (instance, run, epoch, due_at, updated_at, event_seq, status, kind,"
                " processing, pause_requested, workflow)"
                " SELECT g, 1, 0, g, 1, 0, g % 3, g % 4, 0, 0, 'order' FROM generate_series(1, 5) g");
    run_raw_sql(fixture, "VACUUM ANALYZE");
    compare_plans(fixture, "when there are a few rows");
    run_raw_sql(fixture,
                "INSERT INTO workflow_instance (key, run, created_at, updated_at, workflow, id, outcome, parent,"
                " parent_run, relation)"
                " SELECT g, 1, 1, 1, 'order-' || g % 3, 'i-' || g, CASE WHEN g % 2 = 0 THEN 1 END,"
                " CASE WHEN g % 4 < 3 THEN g / 100 + 1 END, CASE WHEN g % 4 < 3 THEN 1 END,"
                " CASE WHEN g % 4 < 3 THEN g % 3 + 1 END FROM generate_series(6, 5000) g;"
                "INSERT INTO workflow_task (instance, run, epoch, due_at, updated_at, event_seq, status, kind,"
                " processing, pause_requested, workflow, owner, locked_until)"
                " SELECT g, 1, 0, g, 1, 0, g % 3, g % 4, (g % 5 = 0)::int, 0, 'order', 7, g"
                " FROM generate_series(6, 5000) g;"
                "INSERT INTO workflow_step (instance, run, seq, attempts, attempts_max, timeout, created_at,"
                " updated_at, kind, status, name) SELECT g % 5000, 1, g, 1, 1, 1, 1, 1, 1, g % 3, 's'"
                " FROM generate_series(1, 5000) g");
    run_raw_sql(fixture, "VACUUM ANALYZE");
    compare_plans(fixture, "when there are rows");
}

/* ---- Row types ------------------------------------------------------------------------------------------------------- */

/* Rows are sent without the names of their columns: whatever is in another order is written into another column. */
TEST_IN(on_postgres, fixture, row_types_have_the_columns_of_their_statements)
{
    static const struct {
        const char *type, *columns;
    } cases[] = {
        { PG_INSTANCE_ROW, PW_COLUMNS(PW_INSTANCE_FIELDS, "") },
        { PG_TASK_ROW, PG_TASK_COLUMNS ", workflow, shard" },
        { PG_STEP_ROW, "instance, run, " PW_COLUMNS(PW_STEP_FIELDS, "") },
        { PG_EVENT_ROW, "instance, run, " PG_EVENT_COLUMNS },
        { PG_LOG_ROW, "instance, run, " PG_LOG_COLUMNS },
        { PG_HOOK_ROW, "instance" PW_COLUMNS(PW_HOOK_FIELDS, "") },
    };
    struct pw_pg_connection connection;
    struct pw_postgres_url url;
    open_session(fixture, &connection, &url);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sql[512];
        (void)snprintf(sql, sizeof sql,
                       "SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute"
                       " WHERE attrelid = (SELECT typrelid FROM pg_type WHERE oid = '%s'::regtype)",
                       cases[i].type);
        PGresult *columns = PQexec(connection.db, sql);
        assert_string_equal(PQgetvalue(columns, 0, 0), cases[i].columns);
        PQclear(columns);
    }
    pw_pg_close(&connection);
}
