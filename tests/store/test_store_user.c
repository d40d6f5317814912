/* test_store_user.c - the user's SQL and functions inside a unit of work, in every database (A13).  What they may do is the same
 * everywhere; how they are kept from the rest is not. */
#include "kit/store_fixture.h"

#ifdef PAWL_HAS_POSTGRES
#include <libpq-fe.h>
#endif

/* Where a case holds. */
enum { IN_SQLITE = ON_MEMORY | ON_FILE, IN_POSTGRES = ON_POSTGRES, IN_BOTH = IN_SQLITE | IN_POSTGRES };

static bool holds(const struct fixture *fixture, int where)
{
    return (where & 1 << fixture->place.store) != 0;
}

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

TEST_IN(on_engines, fixture, sql_is_applied_with_the_step)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO paid VALUES ($1, $2, $3)", "[\"a\", 5, null]"), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT amount FROM paid WHERE id = 'a' AND note IS NULL"), 5);
    assert_int_equal(step_count(fixture, at), 1);
}

TEST_IN(on_engines, fixture, sql_is_not_applied_when_the_unit_is_refused)
{
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

TEST_IN(on_engines, fixture, sql_sees_what_came_before_it_and_is_seen_by_what_comes_after) /* S2 */
{
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

TEST_IN(on_engines, fixture, a_refused_unit_of_sql_leaves_its_neighbours_alone) /* S2 */
{
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

TEST_IN(on_engines, fixture, parameters_of_every_kind_are_bound_by_number)
{
    bool is_sqlite = holds(fixture, IN_SQLITE);
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, is_sqlite
                             ? "CREATE TABLE kinds (a, b, c, d, e, f, g)"
                             : "CREATE TABLE kinds (a jsonb, b json, c int, d boolean, e float8, f bigint, g text)");
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds VALUES ($7, $6, $5, $4, $3, $2, $1)",
                               is_sqlite ? "[\"t\\u0000x\", 9007199254740993, 1.5, true, null, [1, {}], {\"k\": false}]"
                                         : "[\"t'\\\"x\", 9007199254740993, 1.5, true, null, [1, {}], {\"k\": false}]"),
                     PAWL_OK);
    assert_int_equal(
        query_number(fixture,
                     is_sqlite ? "SELECT count(*) FROM kinds WHERE a = '{\"k\":false}' AND b = '[1,{}]'"
                                 " AND c IS NULL AND d = 1 AND e = 1.5 AND f = 9007199254740993 AND hex(g) = '740078'"
                               : "SELECT count(*) FROM kinds WHERE a = '{\"k\":false}' AND b::text = '[1,{}]'"
                                 " AND c IS NULL AND d AND e = 1.5 AND f = 9007199254740993 AND g = 't''\"x'"),
        1);
}

TEST_IN(on_sqlite, fixture, parameters_may_be_written_as_sqlite_does)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE TABLE kinds (a, b)");
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds (a, b) VALUES (?2, ?1)", "[1, 2]"), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO kinds (a, b) VALUES (?, ?)", "[1, 2]"), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM kinds WHERE a = 2 AND b = 1"), 1);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM kinds WHERE a = 1 AND b = 2"), 1);
}

TEST_IN(on_engines, fixture, a_unique_violation_refuses_the_unit_with_its_own_code)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO paid (id) VALUES ('a')", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO paid (id) VALUES ('a')", NULL),
                     PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_unit_says(fixture, "", holds(fixture, IN_SQLITE) ? "paid.id" : "paid");
    assert_int_equal(step_count(fixture, at), 1);
}

TEST_IN(on_engines, fixture, sql_that_fails_refuses_the_unit_and_says_why)
{
    static const struct {
        int where;
        const char *sql, *parameters, *text;
    } cases[] = {
        { IN_BOTH, "INSERT INTO nowhere VALUES (1)", NULL, "nowhere" },
        { IN_SQLITE, "INSERT INTO", NULL, "incomplete" },
        { IN_POSTGRES, "INSERT INTO", NULL, "syntax" },
        { IN_BOTH, "", NULL, "no statement" },
        { IN_BOTH, "-- nothing", NULL, "no statement" },
        { IN_SQLITE, "DELETE FROM paid; DELETE FROM paid", NULL, "more than one" },
        { IN_POSTGRES, "DELETE FROM paid; DELETE FROM paid", NULL, "multiple" },
        { IN_BOTH, "DELETE FROM paid WHERE id = $1", NULL, "1 parameters, 0" },
        { IN_BOTH, "DELETE FROM paid WHERE id = $1", "[1, 2]", "1 parameters, 2" },
        { IN_SQLITE, "DELETE FROM paid WHERE id = $2", "[1]", "$2 is not one of $1" },
        { IN_SQLITE, "DELETE FROM paid WHERE id = $0", "[1]", "$0 is not one of $1" },
        { IN_SQLITE, "DELETE FROM paid WHERE id = $1x", "[1]", "$1x" },
        { IN_SQLITE, "DELETE FROM paid WHERE id = :name", "[1]", ":name" },
        { IN_POSTGRES, "DELETE FROM paid WHERE amount = $1", "[\"x\"]", "integer" },
        { IN_POSTGRES, "DELETE FROM paid WHERE id = $1", "[\"a\\u0000b\"]", "\\u0000" },
        { IN_BOTH, "DELETE FROM paid", "{}", "JSON array" },
        { IN_BOTH, "DELETE FROM paid", "[1", "JSON array" },
        { IN_SQLITE, "INSERT INTO strict_paid VALUES (NULL)", NULL, "NOT NULL" },
        { IN_POSTGRES, "INSERT INTO strict_paid VALUES (NULL)", NULL, "null value" },
        { IN_POSTGRES, "SELECT 1 / 0", NULL, "division" },
    };
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "CREATE TABLE strict_paid (id text NOT NULL)");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!holds(fixture, cases[i].where))
            continue;
        assert_int_equal(apply_sql(fixture, at, cases[i].sql, cases[i].parameters), PAWL_STEP_MUTATION_FAILED);
        assert_unit_says(fixture, cases[i].sql, cases[i].text);
    }
    assert_int_equal(step_count(fixture, at), 0);
}

TEST_IN(on_engines, fixture, blanks_and_comments_behind_a_statement_are_fine)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_sql(fixture, at, "DELETE FROM paid; -- done\n /* really */ ", "[]"), PAWL_OK);
    if (holds(fixture, IN_POSTGRES)) /* where comments nest */
        assert_int_equal(apply_sql(fixture, at, "DELETE FROM paid; -- done\n /* really /* so */ */ ", "[]"), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "SELECT * FROM workflow_instance", NULL), PAWL_OK);
}

TEST_IN(on_engines, fixture, sql_may_not_touch_transactions_settings_or_the_stores_tables)
{
    static const struct {
        int where;
        const char *sql;
    } forbidden[] = {
        { IN_BOTH, "COMMIT" },
        { IN_BOTH, "ROLLBACK" },
        { IN_BOTH, "BEGIN" },
        { IN_BOTH, "SAVEPOINT mine" },
        { IN_BOTH, "UPDATE workflow_task SET epoch = 0" },
        { IN_BOTH, "DELETE FROM workflow_step" },
        { IN_BOTH, "UPDATE workflow_schema SET version = 9" },
        { IN_BOTH, "DROP INDEX workflow_task_leased" },
        { IN_BOTH, "INSERT INTO meddling DEFAULT VALUES" },
        { IN_SQLITE, "RELEASE unit" },
        { IN_SQLITE, "ATTACH ':memory:' AS other" },
        { IN_SQLITE, "PRAGMA synchronous = OFF" },
        { IN_SQLITE, "INSERT INTO Workflow_Log DEFAULT VALUES" },
        { IN_SQLITE, "DROP TABLE workflow_event" },
        { IN_SQLITE, "ALTER TABLE workflow_instance ADD COLUMN mine" },
        { IN_SQLITE, "CREATE TRIGGER mine AFTER INSERT ON workflow_step BEGIN DELETE FROM paid; END" },
        { IN_SQLITE, "CREATE TEMP TABLE workflow_task (mine)" },
        { IN_POSTGRES, " /* a /* b */ c */ -- d\n commit" },
        { IN_POSTGRES, "RELEASE pawl_unit" },
        { IN_POSTGRES, "SET search_path TO pg_catalog" },
        { IN_POSTGRES, "RESET ALL" },
        { IN_POSTGRES, "EXECUTE \"pawl_COMMIT\"" },
        { IN_POSTGRES, "COPY paid FROM STDIN" },
        { IN_POSTGRES, "LOCK TABLE workflow_task" },
        { IN_POSTGRES, "WITH gone AS (DELETE FROM workflow_task RETURNING 1) SELECT * FROM gone" },
        { IN_POSTGRES, "INSERT INTO workflow_log DEFAULT VALUES" },
        { IN_POSTGRES, "TRUNCATE workflow_event" },
        { IN_POSTGRES, "DELETE FROM workflow_runner" },
        { IN_POSTGRES, "DELETE FROM workflow_run" },
        { IN_POSTGRES, "DROP TABLE workflow_event CASCADE" },
        { IN_POSTGRES, "ALTER TABLE workflow_instance ADD COLUMN mine int" },
        { IN_POSTGRES, "CREATE TRIGGER mine AFTER INSERT ON workflow_step EXECUTE FUNCTION workflow_guard()" },
        { IN_POSTGRES, "DROP TRIGGER workflow_guard ON workflow_step" },
        { IN_POSTGRES, "CREATE TEMP TABLE workflow_task (mine int)" },
        { IN_POSTGRES, "DROP VIEW workflow_steps" },
        { IN_POSTGRES, "SELECT set_config('search_path', 'pg_catalog', true)" },
        { IN_POSTGRES, "DO $$ BEGIN DELETE FROM workflow_task; END $$" },
    };
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, holds(fixture, IN_SQLITE)
                             ? "CREATE TABLE meddling (a); CREATE TRIGGER meddle AFTER INSERT ON meddling"
                               " BEGIN DELETE FROM workflow_task; END"
                             : "CREATE TABLE meddling (a int);"
                               "CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS"
                               " $$ BEGIN DELETE FROM workflow_task; RETURN NULL; END $$;"
                               "CREATE TRIGGER meddle AFTER INSERT ON meddling FOR EACH ROW EXECUTE FUNCTION meddle()");
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        if (!holds(fixture, forbidden[i].where))
            continue;
        if (apply_sql(fixture, at, forbidden[i].sql, NULL) != PAWL_STEP_MUTATION_FAILED)
            fail_msg("allowed: %s", forbidden[i].sql);
        assert_unit_says(fixture, forbidden[i].sql, "may not");
    }
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 0);
    if (holds(fixture, IN_POSTGRES))
        run_raw_sql(fixture, "DROP TABLE meddling; DROP FUNCTION meddle()");
}

TEST_IN(on_engines, fixture, sql_may_change_the_users_own_schema)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_sql(fixture, at, "CREATE TABLE mine (a int)", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO mine VALUES (1)", NULL), PAWL_OK);
    assert_int_equal(apply_sql(fixture, at, "CREATE TABLE mine (a int)", NULL), PAWL_STEP_MUTATION_FAILED);
    assert_int_equal(apply_sql(fixture, at, "ALTER TABLE mine ADD COLUMN b int", NULL), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 3);
}

TEST_IN(on_sqlite, fixture, sql_that_ends_the_transaction_fails_the_whole)
{
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

TEST_IN(on_sqlite, fixture, a_row_number_that_is_taken_is_a_unique_violation_too)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    run_raw_sql(fixture, "CREATE TABLE numbered (a); INSERT INTO numbered (rowid, a) VALUES (1, false)");

    assert_int_equal(apply_sql(fixture, at, "INSERT INTO numbered (rowid, a) VALUES ($1, $2)", "[1, false]"),
                     PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
    assert_int_equal(apply_sql(fixture, at, "INSERT INTO numbered (rowid, a) VALUES ($1, $2)", "[2, false]"), PAWL_OK);

    assert_int_equal(query_number(fixture, "SELECT count(*) FROM numbered WHERE a = 0"), 2);
    assert_int_equal(step_count(fixture, at), 1);
}

/* Its own unit is to blame, and only when it is alone in a transaction can that be told: commit.h applies it so. */
TEST_IN(on_postgres, fixture, a_constraint_that_is_checked_at_the_commit_fails_the_whole_and_is_undone)
{
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
TEST_IN(on_postgres, fixture, a_trigger_that_is_fired_at_the_commit_fails_the_step_whatever_it_raises)
{
    static const char *const states[] = { "P0001", "23514", "22012", "ABCDE" };
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

TEST_IN(on_postgres, fixture, the_users_statements_are_planned_as_elsewhere)
{
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

struct call {
    enum test_store store;
    const char *sql;
    pawl_status failure; /* what the function says when the SQL fails */
};

static pawl_status run_text(void *connection, const void *data, size_t size)
{
    const struct call *call = data;
    (void)size;
    return store_connection_execute(call->store, connection, call->sql) ? PAWL_OK : call->failure;
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

static pawl_status apply_mutation(struct fixture *fixture, struct pw_fence at, pawl_mutation_fn *mutate,
                                  const char *sql, pawl_status failure)
{
    const struct call call = { fixture->place.store, sql, failure };
    fixture_clear_units(fixture);
    struct pw_unit *unit = fixture_unit(fixture);
    (void)add_fence(unit, at);
    add(unit, PW_OP_MUTATE)->as.mutate = (struct pw_op_mutate){ mutate, &call, sizeof call };
    (void)add_step(unit, at, (int64_t)step_count(fixture, at) + 1, "step");
    pawl_status whole = fixture_apply_on(fixture, fixture->store);
    return whole != PAWL_OK ? whole : unit->status;
}

TEST_IN(on_engines, fixture, a_function_changes_rows_in_the_same_transaction)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    const pawl_status taken = PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION;
    const char *sql = "INSERT INTO paid (id) VALUES ('a')";
    make_table(fixture);
    assert_int_equal(apply_mutation(fixture, at, run_text, sql, taken), PAWL_OK);
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid WHERE id = 'a'"), 1);
    assert_int_equal(apply_mutation(fixture, at, run_text, sql, taken), taken);
    assert_unit_says(fixture, sql, holds(fixture, IN_SQLITE) ? "paid.id" : "paid");
    assert_int_equal(step_count(fixture, at), 1);
}

TEST_IN(on_engines, fixture, a_function_that_fails_is_undone)
{
    const char *sql = "INSERT INTO paid (id) VALUES ('a')";
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    assert_int_equal(apply_mutation(fixture, at, run_text_and_fail, sql, PAWL_FAILED), PAWL_STEP_MUTATION_FAILED);
    assert_unit_says(fixture, "", "NOMEM");
    if (holds(fixture, IN_POSTGRES)) { /* where nothing succeeds in a transaction behind a failure */
        sql = "INSERT INTO nowhere VALUES (1)";
        assert_int_equal(apply_mutation(fixture, at, run_text_and_ignore, sql, PAWL_FAILED), PAWL_STEP_MUTATION_FAILED);
        assert_unit_says(fixture, "", "nowhere");
    }
    assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 0);
    assert_int_equal(step_count(fixture, at), 0);
}

TEST_IN(on_engines, fixture, a_function_may_not_change_the_stores_tables_or_end_the_transaction)
{
    static const struct {
        int where;
        const char *sql, *text;
    } forbidden[] = {
        { IN_SQLITE, "COMMIT", "not authorized" },
        { IN_SQLITE, "DELETE FROM workflow_task", "not authorized" },
        { IN_POSTGRES, "DELETE FROM workflow_task", "may not" },
        { IN_POSTGRES, "ALTER TABLE workflow_task ADD COLUMN x int", "may not" },
        { IN_POSTGRES, "SET LOCAL search_path TO pg_catalog", "may not" },
    };
    struct pw_fence at = create_held(fixture, "order", "a");
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        if (!holds(fixture, forbidden[i].where))
            continue;
        assert_int_equal(apply_mutation(fixture, at, run_text, forbidden[i].sql, PAWL_FAILED),
                         PAWL_STEP_MUTATION_FAILED);
        assert_unit_says(fixture, forbidden[i].sql, forbidden[i].text);
    }
    assert_int_equal(step_count(fixture, at), 0);
    assert_int_equal(try_fence(fixture, at), PAWL_OK);
}

/* It cannot be kept from trying; but nothing of it remains. */
TEST_IN(on_engines, fixture, a_function_that_ends_the_transaction_fails_the_whole_and_all_is_undone) /* S1 */
{
    static const struct {
        int where;
        const char *sql;
    } endings[] = {
        { IN_SQLITE, "INSERT OR ROLLBACK INTO paid (id) VALUES ('a')" },
        { IN_POSTGRES, "COMMIT" },
        { IN_POSTGRES, "ROLLBACK" },
        { IN_POSTGRES, "COMMIT; BEGIN" },
        { IN_POSTGRES, "ROLLBACK; BEGIN" },
        { IN_POSTGRES, "ROLLBACK TO pawl_unit; RELEASE pawl_unit" },
    };
    struct pw_fence at = create_held(fixture, "order", "a");
    make_table(fixture);
    run_raw_sql(fixture, "INSERT INTO paid (id) VALUES ('a')");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const struct call call = { fixture->place.store, endings[i].sql, PAWL_FAILED };
        if (!holds(fixture, endings[i].where))
            continue;
        fixture_clear_units(fixture);
        (void)add_sql(fixture_unit(fixture), "INSERT INTO paid (id) VALUES ('neighbour')", NULL);
        struct pw_unit *unit = fixture_unit(fixture);
        (void)add_step(unit, at, 1, "step");
        add(unit, PW_OP_MUTATE)->as.mutate = (struct pw_op_mutate){ run_text_and_ignore, &call, sizeof call };
        pawl_status status = fixture_apply_on(fixture, fixture->store);
        if (status == PAWL_OK)
            fail_msg("%s", endings[i].sql);
        if (holds(fixture, IN_SQLITE)) {
            assert_int_equal(status, PAWL_STEP_MUTATION_FAILED);
            assert_non_null(strstr(fixture->error.text, "ended the transaction"));
        }
        assert_true(unit->undone);
        assert_int_equal(query_number(fixture, "SELECT count(*) FROM paid"), 1);
        assert_int_equal(step_count(fixture, at), 0);
        assert_int_equal(try_fence(fixture, at), PAWL_OK);
    }
}

#ifdef PAWL_HAS_POSTGRES
static pawl_status leave_a_query(void *connection, const void *data, size_t size)
{
    (void)data;
    (void)size;
    return PQsendQuery(connection, "SELECT 1; SELECT 2") == 1 ? PAWL_OK : PAWL_FAILED;
}

TEST_IN(on_postgres, fixture, a_function_may_leave_answers_behind)
{
    struct pw_fence at = create_held(fixture, "order", "a");
    assert_int_equal(apply_mutation(fixture, at, leave_a_query, "", PAWL_FAILED), PAWL_OK);
    assert_int_equal(step_count(fixture, at), 1);
}
#endif
