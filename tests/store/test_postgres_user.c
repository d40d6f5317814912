/* test_postgres_user.c - the user's SQL and functions inside a unit of work, in PostgreSQL (A13).  What they may do there is
 * what they may do in SQLite (test_store_user.c); how they are kept from the rest is not. */
#include "kit/store_fixture.h"

#include <libpq-fe.h>

static void make_table(struct fixture *fixture)
{
    run_raw_sql(fixture, "CREATE TABLE paid (id text PRIMARY KEY, amount int, note text)");
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

static void assert_unit_says(const struct fixture *fixture, const char *sql, const char *part)
{
    if (strstr(fixture->units[0].error.text, part) == NULL)
        fail_msg("%s: \"%s\" does not say \"%s\"", sql, fixture->units[0].error.text, part);
}

/* ---- SQL ----------------------------------------------------------------------------------------------------------- */

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
    (void)add_event(unit, at, "e", "paid");
    (void)add_sql(unit, "INSERT INTO paid (id) VALUES ('a')", NULL);
    at.epoch++;
    (void)add_fence(unit, at);
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_CONFLICT);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 0);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_event"), 0);
    assert_int_equal(read_key(fixture, at.instance).task.event_seq, 0);
}

static void sql_sees_what_came_before_it_and_is_seen_by_what_comes_after(void **state) /* S2 */
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    (void)add_step(fixture_unit(fixture), at, 1, "before");
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_event(unit, at, "e", "paid");
    (void)add_sql(unit,
                  "INSERT INTO paid (id, amount) SELECT 'a', (SELECT count(*) FROM workflow_step)"
                  " + 10 * (SELECT count(*) FROM workflow_event)",
                  NULL);
    (void)add_sql(fixture_unit(fixture), "UPDATE paid SET amount = amount + 100", NULL);
    struct pw_op_fence *after = add_fence(fixture_unit(fixture), at);
    fixture_apply(fixture);
    for (size_t i = 0; i < fixture->unit_count; i++)
        assert_int_equal(fixture->units[i].status, PAWL_OK);
    assert_int_equal(after->event_seq, 1);
    assert_int_equal(query_number(fixture, "SELECT amount FROM paid"), 111);
}

static void a_refused_unit_of_sql_leaves_its_neighbours_alone(void **state) /* S2 */
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    (void)add_sql(fixture_unit(fixture), "INSERT INTO paid (id) VALUES ('a')", NULL);
    (void)add_step(fixture_unit(fixture), at, 1, "one");
    struct pw_unit *bad = fixture_unit(fixture);
    (void)add_step(bad, at, 2, "never");
    (void)add_create(bad, "order", "never");
    (void)add_sql(bad, "INSERT INTO paid (id) VALUES ('a')", NULL);
    (void)add_step(fixture_unit(fixture), at, 2, "two");
    (void)add_create(fixture_unit(fixture), "order", "b");
    fixture_apply(fixture);
    for (size_t i = 0; i < fixture->unit_count; i++)
        assert_int_equal(fixture->units[i].status, i == 2 ? PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION : PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step WHERE name IN ('one', 'two')"), 2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_step"), 2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance WHERE id IN ('a', 'b')"), 2);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM workflow_instance"), 2);
}

static void parameters_of_every_kind_are_bound_by_number(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE TABLE kinds (a jsonb, b json, c int, d boolean, e float8, f bigint, g text)");
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds VALUES ($7, $6, $5, $4, $3, $2, $1)",
                               "[\"t'\\\"x\", 9007199254740993, 1.5, true, null, [1, {}], {\"k\": false}]"),
                     PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM kinds WHERE a = '{\"k\":false}'"
                                           " AND b::text = '[1,{}]' AND c IS NULL AND d AND e = 1.5"
                                           " AND f = 9007199254740993 AND g = 't''\"x'"),
                     1);
}

static void sql_that_fails_refuses_the_unit_and_says_why(void **state)
{
    static const struct {
        const char *sql, *parameters, *text;
    } cases[] = {
        { "INSERT INTO nowhere VALUES (1)", NULL, "nowhere" },
        { "INSERT INTO", NULL, "syntax" },
        { "", NULL, "no statement" },
        { "-- nothing", NULL, "no statement" },
        { "DELETE FROM paid; DELETE FROM paid", NULL, "multiple" },
        { "DELETE FROM paid WHERE id = $1", NULL, "1 parameters, 0" },
        { "DELETE FROM paid WHERE id = $1", "[1, 2]", "1 parameters, 2" },
        { "DELETE FROM paid WHERE amount = $1", "[\"x\"]", "integer" },
        { "DELETE FROM paid WHERE id = $1", "[\"a\\u0000b\"]", "\\u0000" },
        { "DELETE FROM paid", "{}", "JSON array" },
        { "DELETE FROM paid", "[1", "JSON array" },
        { "INSERT INTO strict_paid VALUES (NULL)", NULL, "null value" },
        { "SELECT 1 / 0", NULL, "division" },
    };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "CREATE TABLE strict_paid (id text NOT NULL)");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(apply_sql(fixture, at, cases[i].sql, cases[i].parameters), PAWL_STEP_MUTATION_FAILED);
        assert_unit_says(fixture, cases[i].sql, cases[i].text);
    }
    assert_int_equal(step_count(fixture, at), 0);
    assert_int_equal(apply_sql(fixture, at, "DELETE FROM paid; -- done\n /* really /* so */ */ ", "[]"), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "SELECT * FROM workflow_instance", NULL), PAWL_OK);
}

static void sql_may_not_touch_transactions_the_session_or_the_stores_tables(void **state)
{
    static const char *const forbidden[] = {
        "COMMIT",
        " /* a /* b */ c */ -- d\n commit",
        "ROLLBACK",
        "BEGIN",
        "SAVEPOINT mine",
        "RELEASE pawl_unit",
        "SET search_path TO pg_catalog",
        "RESET ALL",
        "EXECUTE \"pawl_COMMIT\"",
        "COPY paid FROM STDIN",
        "LOCK TABLE workflow_task",
        "UPDATE workflow_task SET epoch = 0",
        "DELETE FROM workflow_step",
        "WITH gone AS (DELETE FROM workflow_task RETURNING 1) SELECT * FROM gone",
        "INSERT INTO workflow_log DEFAULT VALUES",
        "TRUNCATE workflow_event",
        "DELETE FROM workflow_runner",
        "DELETE FROM workflow_run",
        "DROP TABLE workflow_event CASCADE",
        "ALTER TABLE workflow_instance ADD COLUMN mine int",
        "UPDATE workflow_schema SET version = 9",
        "CREATE TRIGGER mine AFTER INSERT ON workflow_step EXECUTE FUNCTION workflow_guard()",
        "DROP TRIGGER workflow_guard ON workflow_step",
        "CREATE TEMP TABLE workflow_task (mine int)",
        "DROP INDEX workflow_task_leased",
        "DROP VIEW workflow_steps",
        "SELECT set_config('search_path', 'pg_catalog', true)",
        "DO $$ BEGIN DELETE FROM workflow_task; END $$",
        "INSERT INTO meddling DEFAULT VALUES",
    };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "CREATE TABLE meddling (a int); CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS"
                         " $$ BEGIN DELETE FROM workflow_task; RETURN NULL; END $$;"
                         "CREATE TRIGGER meddle AFTER INSERT ON meddling FOR EACH ROW EXECUTE FUNCTION meddle()");
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        if (apply_sql(fixture, at, forbidden[i], NULL) != PAWL_STEP_MUTATION_FAILED)
            fail_msg("allowed: %s", forbidden[i]);
        assert_unit_says(fixture, forbidden[i], "may not");
    }
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 0);
    run_raw_sql(fixture, "DROP TABLE meddling; DROP FUNCTION meddle()");
}

static void sql_may_change_the_users_own_schema(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_sql(fixture, at, "CREATE TABLE mine (a int)", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO mine VALUES (1)", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "CREATE TABLE mine (a int)", NULL), PAWL_STEP_MUTATION_FAILED);
    assert_int_equal(apply_sql(fixture, at, "ALTER TABLE mine ADD COLUMN b int", NULL), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 3);
}

/* Its own unit is to blame, and only when it is alone in a transaction can that be told: commit.h applies it so. */
static void a_constraint_that_is_checked_at_the_commit_fails_the_whole_and_is_undone(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture,
                "CREATE TABLE late (id int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO late VALUES (1)");
    (void)add_step(fixture_unit(fixture), at, 1, "neighbour");
    (void)add_sql(fixture_unit(fixture), "INSERT INTO late VALUES (1)", NULL);
    pawl_status status = fixture_apply_on(fixture, fixture->store);
    assert_int_equal(status, PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_true(fixture->units[0].undone);
    assert_int_equal(step_count(fixture, at), 0);
    fixture_clear_units(fixture);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

/* But for what speaks of the server: a disk that is full is no fault of the step's. */
static void a_trigger_that_is_fired_at_the_commit_fails_the_step_whatever_it_raises(void **state)
{
    static const char *const states[] = { "P0001", "23514", "22012", "ABCDE" };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE TABLE late (state text);"
                         "CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                         "  RAISE EXCEPTION 'not today' USING ERRCODE = NEW.state;"
                         " END $$;"
                         "CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED"
                         " FOR EACH ROW EXECUTE FUNCTION judge()");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        char parameters[16];
        (void)snprintf(parameters, sizeof parameters, "[\"%s\"]", states[i]);
        (void)add_sql(fixture_unit(fixture), "INSERT INTO late VALUES ($1)", parameters);
        assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STEP_MUTATION_FAILED);
        assert_non_null(strstr(fixture->error.text, "not today"));
        assert_non_null(strstr(fixture->error.text, states[i]));
        assert_true(fixture->units[0].undone);
        fixture_clear_units(fixture);
    }
    (void)add_sql(fixture_unit(fixture), "INSERT INTO late VALUES ('53100')", NULL);
    assert_int_equal(fixture_apply_on(fixture, fixture->store), PAWL_STORE_FULL);
    fixture_clear_units(fixture);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM late"), 0);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

static void the_users_statements_are_planned_as_elsewhere(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at,
                               "INSERT INTO paid (id, note) VALUES ('during', current_setting('enable_seqscan') ||"
                               " current_setting('enable_hashjoin') || current_setting('enable_sort'))",
                               NULL),
                     PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid WHERE note = 'ononon'"), 1);
}

/* ---- Functions -------------------------------------------------------------------------------------------------------- */

/* Runs the SQL that is its data. */
static pawl_status run_text(void *connection, const void *data, size_t size)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql, "%.*s", (int)size, (const char *)data);
    PGresult *result = PQexec(connection, sql);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    pawl_status status = code == NULL                 ? PAWL_OK
                         : strcmp(code, "23505") == 0 ? PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION
                                                      : PAWL_FAILED;
    PQclear(result);
    return status;
}

static pawl_status run_text_and_fail(void *connection, const void *data, size_t size)
{
    return run_text(connection, data, size) == PAWL_OK ? PAWL_NOMEM : PAWL_OK;
}

static pawl_status run_text_and_ignore(void *connection, const void *data, size_t size)
{
    (void)run_text(connection, data, size);
    return PAWL_OK;
}

static pawl_status leave_a_query(void *connection, const void *data, size_t size)
{
    (void)data;
    (void)size;
    return PQsendQuery(connection, "SELECT 1; SELECT 2") == 1 ? PAWL_OK : PAWL_FAILED;
}

static pawl_status apply_mutation(struct fixture *fixture, struct pw_fence at, pawl_mutation_fn *mutate,
                                  const char *data)
{
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    add(unit, PW_OP_MUTATE)->as.mutate = (struct pw_op_mutate){ mutate, data, strlen(data) };
    (void)add_step(unit, at, (int64_t)step_count(fixture, at) + 1, "step");
    pawl_status whole = fixture_apply_on(fixture, fixture->store);
    return whole != PAWL_OK ? whole : unit->status;
}

static void a_function_changes_rows_in_the_same_transaction(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    const char *sql = "INSERT INTO paid (id) VALUES ('a')";
    make_table(fixture);
    assert_int_equal(apply_mutation(fixture, at, run_text, sql), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid WHERE id = 'a'"), 1);
    assert_int_equal(apply_mutation(fixture, at, run_text, sql), PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_unit_says(fixture, sql, "paid");
    assert_int_equal(step_count(fixture, at), 1);
}

static void a_function_that_fails_is_undone(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_mutation(fixture, at, run_text_and_fail, "INSERT INTO paid (id) VALUES ('a')"),
                     PAWL_STEP_MUTATION_FAILED);
    assert_unit_says(fixture, "", "NOMEM");
    assert_int_equal(apply_mutation(fixture, at, run_text_and_ignore, "INSERT INTO nowhere VALUES (1)"),
                     PAWL_STEP_MUTATION_FAILED);
    assert_unit_says(fixture, "", "nowhere");
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 0);
    assert_int_equal(step_count(fixture, at), 0);
}

static void a_function_may_leave_answers_behind(void **state)
{
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_mutation(fixture, at, leave_a_query, ""), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 1);
}

static void a_function_may_not_change_the_stores_tables(void **state)
{
    static const char *const forbidden[] = { "DELETE FROM workflow_task", "ALTER TABLE workflow_task ADD COLUMN x int",
                                             "SET LOCAL search_path TO pg_catalog" };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        assert_int_equal(apply_mutation(fixture, at, run_text, forbidden[i]), PAWL_STEP_MUTATION_FAILED);
        assert_unit_says(fixture, forbidden[i], "may not");
    }
    assert_int_equal(step_count(fixture, at), 0);
}

/* It cannot be kept from trying; but nothing of it remains. */
static void a_function_that_ends_the_transaction_fails_the_whole_and_all_is_undone(void **state) /* S1 */
{
    static const char *const endings[] = { "COMMIT", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; BEGIN",
                                           "ROLLBACK TO pawl_unit; RELEASE pawl_unit" };
    struct fixture *fixture = *state;
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        fixture_clear_units(fixture);
        (void)add_sql(fixture_unit(fixture), "INSERT INTO paid (id) VALUES ('neighbour')", NULL);
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_step(unit, at, 1, "step");
        add(unit, PW_OP_MUTATE)->as.mutate =
            (struct pw_op_mutate){ run_text_and_ignore, endings[i], strlen(endings[i]) };
        if (fixture_apply_on(fixture, fixture->store) == PAWL_OK)
            fail_msg("%s", endings[i]);
        assert_true(unit->undone);
        assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 0);
        assert_int_equal(step_count(fixture, at), 0);
        assert_int_equal(try_fence(fixture, at), PAWL_OK);
    }
}

/* clang-format off */
int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_POSTGRES(sql_is_applied_with_the_step)
        ON_POSTGRES(sql_is_not_applied_when_the_unit_is_refused)
        ON_POSTGRES(sql_sees_what_came_before_it_and_is_seen_by_what_comes_after)
        ON_POSTGRES(a_refused_unit_of_sql_leaves_its_neighbours_alone)
        ON_POSTGRES(parameters_of_every_kind_are_bound_by_number)
        ON_POSTGRES(sql_that_fails_refuses_the_unit_and_says_why)
        ON_POSTGRES(sql_may_not_touch_transactions_the_session_or_the_stores_tables)
        ON_POSTGRES(sql_may_change_the_users_own_schema)
        ON_POSTGRES(a_constraint_that_is_checked_at_the_commit_fails_the_whole_and_is_undone)
        ON_POSTGRES(a_trigger_that_is_fired_at_the_commit_fails_the_step_whatever_it_raises)
        ON_POSTGRES(the_users_statements_are_planned_as_elsewhere)
        ON_POSTGRES(a_function_changes_rows_in_the_same_transaction)
        ON_POSTGRES(a_function_that_fails_is_undone)
        ON_POSTGRES(a_function_may_leave_answers_behind)
        ON_POSTGRES(a_function_may_not_change_the_stores_tables)
        ON_POSTGRES(a_function_that_ends_the_transaction_fails_the_whole_and_all_is_undone)
    };
    return cmocka_run_group_tests_name("the user's code in PostgreSQL", tests, NULL, NULL);
}
/* clang-format on */
