/* test_store_plans.c - every query is served by an index: no plan scans a table or sorts. */
#include "kit/store_fixture.h"

/* One row, or one row for each table there is; every lease, which is what reaping is about; and what an index found, up to
 * a limit. */
static bool is_allowed(const char *name, const char *detail)
{
    return (strncmp(name, "SCHEMA_", strlen("SCHEMA_")) == 0 && strncmp(detail, "SCAN", strlen("SCAN")) == 0) ||
           (strcmp(name, "REAP_LEASES") == 0 &&
            strcmp(detail, "SCAN workflow_task USING INDEX workflow_task_leased") == 0) || /* of leased tasks alone */
           ((strcmp(name, "STATUS_COUNTS") == 0 || strcmp(name, "EVENTS_UNREAD") == 0) &&
            strncmp(detail, "SCAN (subquery", strlen("SCAN (subquery")) == 0) ||
           strcmp(detail, "SCAN CONSTANT ROW") == 0 ||
           strcmp(detail, "SCAN sqlite_sequence") == 0; /* a row for each table that counts up its keys */
}

static bool is_slow(const char *detail)
{
    return strstr(detail, "SCAN") != NULL || strstr(detail, "USE TEMP B-TREE") != NULL ||
           strstr(detail, "AUTOMATIC") != NULL;
}

static void check_plan(struct fixture *fixture, const struct pw_statement *query)
{
    sqlite3 *db = ((struct pw_sqlite *)fixture->store)->writer.db;
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", query->text);
    assert_non_null(sql);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(statement, 3);
        if (is_slow(detail) && !is_allowed(query->name, detail))
            fail_msg("%s: %s", query->name, detail);
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    sqlite3_free(sql);
}

static size_t check_plans(struct fixture *fixture)
{
    size_t checked = 0;
    for (unsigned number = 0; number < PW_QUERY_COUNT; number++) {
        const struct pw_statement *query = pw_sqlite_query(number);
        if (query->text != NULL)
            check_plan(fixture, query);
        checked += query->text != NULL;
    }
    return checked;
}

/* Those of transactions are counted in their list; those of reads are at least as many as there are kinds. */
TEST_IN(on_sqlite, fixture, every_query_is_served_by_an_index)
{
#define ONE(name, text) +1
    enum { OF_TRANSACTIONS = 0 PW_SQLITE_QUERIES(ONE) };
#undef ONE
    assert_true(check_plans(fixture) >= OF_TRANSACTIONS + PW_READ_KIND_COUNT);
    assert_string_equal(pw_sqlite_query(PW_QUERIES_OF_READ)->name, "INSTANCE_BY_ID");
    assert_string_equal(pw_sqlite_query(PW_QUERIES_OF_READ_NUMBERS)->name, "NEXT_DUE");
}

/* The user may run ANALYZE, with numbers that tempt the planner. */
TEST_IN(on_sqlite, fixture, every_query_is_served_by_an_index_whatever_the_statistics_say)
{
    static const char *const ids[] = { "a", "b", "c", "d" };
    for (size_t position = 0; position < 4; position++)
        (void)create_instance(fixture, "order", ids[position]);
    run_raw_sql(fixture, "ANALYZE; UPDATE sqlite_stat1 SET stat = replace(stat, '4', '4000000');"
                         "ANALYZE sqlite_schema");
    (void)check_plans(fixture);
}

TEST_IN(on_sqlite, fixture, the_plan_check_finds_scans_and_sorts)
{
    assert_true(is_slow("SCAN workflow_task"));
    assert_true(is_slow("USE TEMP B-TREE FOR ORDER BY"));
    assert_false(is_slow("SEARCH workflow_task USING INTEGER PRIMARY KEY (rowid=?)"));
    assert_false(is_allowed("REAP_LEASES", "SCAN workflow_task"));
}
