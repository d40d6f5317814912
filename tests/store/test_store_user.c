/* test_store_user.c - the user's SQL and functions inside a unit of work, on both stores (A13). */
#include "kit/store_fixture.h"

static void make_table(struct fixture *fixture)
{
    run_raw_sql(fixture, "CREATE TABLE paid (id TEXT PRIMARY KEY, amount, note)");
}

/* One unit of a fence, the SQL, and a step; the step tells whether the whole was applied. */
static pawl_status apply_sql(struct fixture *fixture, struct pw_fence at, const char *sql, const char *parameters)
{
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    (void)add_sql(unit, sql, parameters);
    (void)add_step(unit, at, (int64_t)step_count(fixture, at) + 1, "step");
    fixture_apply(fixture);
    return unit->status;
}

static void sql_is_applied_with_the_step(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO paid VALUES ($1, $2, $3)", "[\"a\", 5, null]"), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT amount FROM paid WHERE id = 'a' AND note IS NULL"), 5);
    assert_int_equal(step_count(fixture, at), 1);
}

static void sql_is_not_applied_when_the_unit_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_sql(unit, "INSERT INTO paid (id) VALUES ('a')", NULL);
    at.epoch++;
    (void)add_fence(unit, at);
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 0);
}

static void parameters_of_every_kind_are_bound_by_number(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE TABLE kinds (a, b, c, d, e, f, g)");
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds VALUES ($7, $6, $5, $4, $3, $2, $1)",
                               "[\"t\\u0000x\", 9007199254740993, 1.5, true, null, [1, {}], {\"k\": false}]"),
                     PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM kinds WHERE a = '{\"k\":false}' AND b = '[1,{}]'"
                                           " AND c IS NULL AND d = 1 AND e = 1.5 AND f = 9007199254740993"
                                           " AND hex(g) = '740078'"),
                     1);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds (a, b) VALUES (?2, ?1)", "[1, 2]"), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds (a, b) VALUES (?, ?)", "[1, 2]"), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM kinds WHERE a = 2 AND b = 1"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM kinds WHERE a = 1 AND b = 2"), 1);
}

static void a_unique_violation_refuses_the_unit_with_its_own_code(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO paid (id) VALUES ('a')", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO paid (id) VALUES ('a')", NULL),
                     PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_non_null(strstr(fixture->units[0].error.text, "paid.id"));
    assert_int_equal(step_count(fixture, at), 1);
}

static void sql_that_fails_refuses_the_unit_and_says_why(void **state)
{
    static const struct {
        const char *sql, *parameters, *text;
    } cases[] = {
        { "INSERT INTO nowhere VALUES (1)", NULL, "nowhere" },
        { "INSERT INTO", NULL, "incomplete" },
        { "", NULL, "no statement" },
        { "-- nothing", NULL, "no statement" },
        { "DELETE FROM paid; DELETE FROM paid", NULL, "more than one" },
        { "DELETE FROM paid WHERE id = $1", NULL, "1 parameters, 0" },
        { "DELETE FROM paid WHERE id = $1", "[1, 2]", "1 parameters, 2" },
        { "DELETE FROM paid WHERE id = $2", "[1]", "$2 is not one of $1" },
        { "DELETE FROM paid WHERE id = $0", "[1]", "$0 is not one of $1" },
        { "DELETE FROM paid WHERE id = $1x", "[1]", "$1x" },
        { "DELETE FROM paid WHERE id = :name", "[1]", ":name" },
        { "DELETE FROM paid", "{}", "JSON array" },
        { "DELETE FROM paid", "[1", "JSON array" },
        { "INSERT INTO strict_paid VALUES (NULL)", NULL, "NOT NULL" },
    };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "CREATE TABLE strict_paid (id TEXT NOT NULL)");
    for (size_t position = 0; position < sizeof cases / sizeof cases[0]; position++) {
        assert_int_equal(apply_sql(fixture, at, cases[position].sql, cases[position].parameters),
                         PAWL_STEP_MUTATION_FAILED);
        if (strstr(fixture->units[0].error.text, cases[position].text) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", fixture->units[0].error.text, cases[position].text);
    }
    assert_int_equal(step_count(fixture, at), 0);
}

static void blanks_and_comments_behind_a_statement_are_fine(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at, "DELETE FROM paid; -- done\n /* really */ ", "[]"), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "SELECT * FROM workflow_instance", NULL), PAWL_OK);
}

static void sql_may_not_touch_transactions_settings_or_the_stores_tables(void **state)
{
    static const char *const forbidden[] = {
        "COMMIT",
        "ROLLBACK",
        "BEGIN",
        "SAVEPOINT mine",
        "RELEASE unit",
        "ATTACH ':memory:' AS other",
        "PRAGMA synchronous = OFF",
        "UPDATE workflow_task SET epoch = 0",
        "DELETE FROM workflow_step",
        "INSERT INTO Workflow_Log DEFAULT VALUES",
        "DROP TABLE workflow_event",
        "ALTER TABLE workflow_instance ADD COLUMN mine",
        "UPDATE workflow_schema SET version = 9",
        "CREATE TRIGGER mine AFTER INSERT ON workflow_step BEGIN DELETE FROM paid; END",
        "CREATE TEMP TABLE workflow_task (mine)",
        "DROP INDEX workflow_task_leased",
        "INSERT INTO meddling DEFAULT VALUES",
    };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "CREATE TABLE meddling (a); CREATE TRIGGER meddle AFTER INSERT ON meddling"
                         " BEGIN DELETE FROM workflow_task; END");
    for (size_t position = 0; position < sizeof forbidden / sizeof forbidden[0]; position++) {
        if (apply_sql(fixture, at, forbidden[position], NULL) != PAWL_STEP_MUTATION_FAILED)
            fail_msg("allowed: %s", forbidden[position]);
        assert_non_null(strstr(fixture->units[0].error.text, "may not"));
    }
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 0);
}

static void sql_may_change_the_users_own_schema(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_sql(fixture, at, "CREATE TABLE mine (a)", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO mine VALUES (1)", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "CREATE TABLE mine (a)", NULL), PAWL_STEP_MUTATION_FAILED);
    assert_int_equal(step_count(fixture, at), 2);
}

static void sql_that_ends_the_transaction_fails_the_whole(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "INSERT INTO paid (id) VALUES ('a')");
    (void)add_step(fixture_unit(fixture), at, 1, "neighbour");
    (void)add_sql(fixture_unit(fixture), "INSERT OR ROLLBACK INTO paid (id) VALUES ('a')", NULL);
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_int_equal(step_count(fixture, at), 0);
    fixture_clear_units(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

static void a_row_number_that_is_taken_is_a_unique_violation_too(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE TABLE numbered (a); INSERT INTO numbered (rowid, a) VALUES (1, false)");

    assert_int_equal(apply_sql(fixture, at, "INSERT INTO numbered (rowid, a) VALUES ($1, $2)", "[1, false]"),
                     PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO numbered (rowid, a) VALUES ($1, $2)", "[2, false]"), PAWL_OK);

    assert_int_equal(query_number(fixture, "SELECT count(*) FROM numbered WHERE a = 0"), 2);
    assert_int_equal(step_count(fixture, at), 1);
}

/* ---- Functions ----------------------------------------------------------------------------------------------- */

static pawl_status insert_paid(void *connection, const void *data, size_t size)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(connection, "INSERT INTO paid (id) VALUES (?1)", -1, &statement, NULL) != SQLITE_OK)
        return PAWL_FAILED;
    (void)sqlite3_bind_text(statement, 1, data, (int)size, SQLITE_STATIC);
    (void)sqlite3_step(statement);
    return sqlite3_finalize(statement) == SQLITE_OK ? PAWL_OK : PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION;
}

static pawl_status insert_and_fail(void *connection, const void *data, size_t size)
{
    assert_int_equal(insert_paid(connection, data, size), PAWL_OK);
    return PAWL_NOMEM;
}

static pawl_status meddle(void *connection, const void *data, size_t size)
{
    (void)data;
    (void)size;
    if (sqlite3_exec(connection, "COMMIT", NULL, NULL, NULL) == SQLITE_AUTH)
        return PAWL_FAILED;
    return PAWL_OK;
}

static pawl_status apply_mutation(struct fixture *fixture, struct pw_fence at, pawl_mutation_fn *mutate)
{
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    add(unit, PW_OP_MUTATE)->as.mutate = (struct pw_op_mutate){ mutate, "a", 1 };
    fixture_apply(fixture);
    return unit->status;
}

static void a_function_changes_rows_in_the_same_transaction(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_mutation(fixture, at, insert_paid), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid WHERE id = 'a'"), 1);
    assert_int_equal(apply_mutation(fixture, at, insert_paid), PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_non_null(strstr(fixture->units[0].error.text, "paid.id"));
}

static void a_function_that_fails_is_undone(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_mutation(fixture, at, insert_and_fail), PAWL_STEP_MUTATION_FAILED);
    assert_non_null(strstr(fixture->units[0].error.text, "NOMEM"));
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 0);
}

static void a_function_may_not_end_the_transaction(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_mutation(fixture, at, meddle), PAWL_STEP_MUTATION_FAILED);
    assert_non_null(strstr(fixture->units[0].error.text, "not authorized"));
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

static pawl_status insert_or_roll_back(void *connection, const void *data, size_t size)
{
    (void)data;
    (void)size;
    (void)sqlite3_exec(connection, "INSERT OR ROLLBACK INTO paid (id) VALUES ('a')", NULL, NULL, NULL);
    return PAWL_OK;
}

static void a_function_that_ends_the_transaction_all_the_same_fails_the_whole(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "INSERT INTO paid (id) VALUES ('a')");
    (void)add_step(fixture_unit(fixture), at, 1, "neighbour");
    add(fixture_unit(fixture), PW_OP_MUTATE)->as.mutate = (struct pw_op_mutate){ insert_or_roll_back, NULL, 0 };

    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STEP_MUTATION_FAILED);

    assert_non_null(strstr(fixture->error.text, "ended the transaction"));
    assert_int_equal(step_count(fixture, at), 0);
    fixture_clear_units(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

/* clang-format off */
#define TESTS(TEST)                                                                                                    \
    TEST(sql_is_applied_with_the_step)                                                                                 \
    TEST(sql_is_not_applied_when_the_unit_is_refused)                                                                  \
    TEST(parameters_of_every_kind_are_bound_by_number)                                                                 \
    TEST(a_unique_violation_refuses_the_unit_with_its_own_code)                                                        \
    TEST(sql_that_fails_refuses_the_unit_and_says_why)                                                                 \
    TEST(blanks_and_comments_behind_a_statement_are_fine)                                                              \
    TEST(sql_may_not_touch_transactions_settings_or_the_stores_tables)                                                 \
    TEST(sql_may_change_the_users_own_schema)                                                                          \
    TEST(sql_that_ends_the_transaction_fails_the_whole)                                                                \
    TEST(a_row_number_that_is_taken_is_a_unique_violation_too)                                                         \
    TEST(a_function_changes_rows_in_the_same_transaction)                                                              \
    TEST(a_function_that_fails_is_undone)                                                                              \
    TEST(a_function_may_not_end_the_transaction)                                                                       \
    TEST(a_function_that_ends_the_transaction_all_the_same_fails_the_whole)
/* clang-format on */

RUN_ON_BOTH_STORES(TESTS)
