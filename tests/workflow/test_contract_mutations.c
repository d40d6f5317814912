/* Contract A13: what a step changes in the transaction that records its outcome: SQL, functions, instances, events. */
#include "kit/contract_world.h"

static void make_table(struct contract *contract)
{
    contract_execute(contract, "CREATE TABLE paid (id INTEGER PRIMARY KEY, note TEXT NOT NULL)");
}

static bool in_postgres(const struct contract *contract)
{
    return contract->place.store == STORE_IN_POSTGRES;
}

static int64_t count_paid(struct contract *contract)
{
    return contract_query(contract, "SELECT count(*) FROM paid");
}

/* The step "x" with the body of the test; then a sleep, so that there is a replay. */
static pawl_status run_with(pawl_run *run, pawl_step_fn *body, pawl_value **out_result)
{
    const struct contract *contract = pawl_run_user(run);
    PAWL_TRY(pawl_do(run, "x", contract->options, body, NULL, out_result));
    return pawl_sleep(run, "nap", "1 h");
}

static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };

/* ---- SQL ------------------------------------------------------------------------------------------------------------ */

BODY(body_pays)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES ($1, $2)", "[i,s]", 7, "it's \"7\" \xe2\x82\xac"));
    PAWL_TRY(pawl_step_sql(step, "UPDATE paid SET note = note || $1 WHERE id = $2", "[s,i]", "!", 7));
    return pawl_result(step, out_result, "i", 7);
}

WORKFLOW(run_pays)
{
    return run_with(run, body_pays, out_result);
}

TEST_OF(contract, A13_sql_of_a_step_runs_once_in_the_order_registered_and_not_at_replay)
{
    make_table(contract);

    contract_start(contract, run_pays, NULL);
    contract_execute(contract, "DELETE FROM paid WHERE note <> 'it''s \"7\" \xe2\x82\xac!'");
    int64_t after_the_step = count_paid(contract);
    contract_execute(contract, "DELETE FROM paid");
    contract_advance(contract, "1 h");

    assert_int_equal(after_the_step, 1);
    assert_output(contract, "7");
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(count_paid(contract), 0);
}

BODY(body_binds)
{
    return pawl_step_sql(step, "INSERT INTO kinds VALUES ($1, $2, $3, $4, $5, $6, $7)", "[s,I,f,b,n,[i,i],{s:i}]",
                         "text", (long long)INT64_MAX, 1.5, 1, 1, 2, "k", 3);
}

WORKFLOW(run_binds)
{
    return run_with(run, body_binds, out_result);
}

TEST_OF(contract, A13_parameters_of_every_kind_are_bound)
{
    contract_execute(contract, "CREATE TABLE kinds (a TEXT, b BIGINT, c DOUBLE PRECISION, d BOOLEAN, e TEXT, f TEXT,"
                               " g TEXT)");

    contract_start(contract, run_binds, NULL);

    assert_int_equal(contract_query(contract,
                                    "SELECT count(*) FROM kinds WHERE a = 'text' AND b = 9223372036854775807"
                                    " AND c = 1.5 AND d IS TRUE AND e IS NULL AND f = '[1,2]' AND g = '{\"k\":3}'"),
                     1);
}

BODY(body_pays_at_third)
{
    int64_t attempt = pawl_step_attempt(step);
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES ($1, 'x')", "[I]", (long long)attempt));
    return attempt < 3 ? pawl_fail(step, "Broken", "not yet") : PAWL_OK;
}

WORKFLOW(run_pays_at_third)
{
    return run_with(run, body_pays_at_third, out_result);
}

TEST_OF(contract, A13_what_a_failed_attempt_registered_is_dropped)
{
    make_table(contract);
    contract_start(contract, run_pays_at_third, NULL);
    int64_t after_the_first = count_paid(contract);

    contract_advance(contract, "30 s");

    assert_int_equal(after_the_first, 0);
    assert_int_equal(contract_step(contract, "x").attempts, 3);
    assert_int_equal(contract_query(contract, "SELECT sum(id) FROM paid"), 3);
}

BODY(body_collides)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES (1, 'new')", NULL));
    PAWL_TRY(pawl_step_create(step, "w", "child", NULL));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES (2, 'again')", NULL));
    return pawl_result(step, out_result, "s", "dropped");
}

WORKFLOW(run_collides)
{
    struct contract *contract = pawl_run_user(run);
    pawl_value *result = NULL;
    pawl_status status = pawl_do(run, "x", NULL, body_collides, NULL, &result);
    if (status == PAWL_SUSPENDED)
        return status;
    contract_trace(contract, "%s %s %d; ", pawl_status_name(status), pawl_run_failure(run).name,
                   (int)pawl_value_kind(result, NULL));
    return pawl_sleep(run, "nap", "1 h");
}

TEST_IN(contract_of_passes, contract, A13_a_unique_violation_fails_the_step_for_good_and_nothing_of_it_is_applied)
{
    struct pawl_instance child;
    make_table(contract);
    contract_execute(contract, "INSERT INTO paid (id, note) VALUES (2, 'old')");

    contract_start(contract, run_collides, NULL);
    contract_advance(contract, "1 h");

    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_int_equal(step.attempts, 1);
    assert_int_equal(step.attempts_max, 6);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_text(step.result_json, NULL);
    assert_text(step.error_name, "STEP_UNIQUE_CONSTRAINT_VIOLATION");
    assert_says(step.error_message, "paid"); /* the table */
    assert_int_equal(contract->bodies, 1);
    assert_text(contract->trace, "FAILED STEP_UNIQUE_CONSTRAINT_VIOLATION 0; "
                                 "FAILED STEP_UNIQUE_CONSTRAINT_VIOLATION 0; ");
    assert_int_equal(contract_query(contract, "SELECT sum(id) FROM paid"), 2);
    assert_status(pawl_world_get(contract->world, "w", "child", &child, &contract->error), PAWL_INSTANCE_NOT_FOUND);
    assert_output(contract, NULL);
}

TEST_OF(contract, A13_another_error_of_the_database_fails_the_attempt_which_is_tried_again)
{
    contract_start(contract, run_pays, NULL);
    struct pawl_step_record first = contract_step(contract, "x");
    make_table(contract);
    contract_advance(contract, "10 s");

    assert_int_equal(first.status, PAWL_STEP_WAITING);
    assert_text(first.error_name, "STEP_MUTATION_FAILED");
    assert_says(first.error_message, in_postgres(contract) ? "\"paid\" does not exist" : "no such table: paid");
    assert_int_equal(first.attempts, 1);
    assert_int_equal(first.next_retry_at_ms, CONTRACT_START_MS + 10000);
    assert_text(first.result_json, NULL);
    assert_int_equal(contract_step(contract, "x").status, PAWL_STEP_COMPLETED);
    assert_int_equal(contract_step(contract, "x").attempts, 2);
    assert_text(contract_step(contract, "x").error_name, NULL);
    assert_int_equal(count_paid(contract), 1);
    assert_int_equal(contract->bodies, 2);
}

BODY(body_breaks_a_rule)
{
    return pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES (1, NULL)", NULL);
}

WORKFLOW(run_breaks_a_rule)
{
    return run_with(run, body_breaks_a_rule, out_result);
}

TEST_OF(contract, A13_a_constraint_that_is_not_about_uniqueness_is_tried_again)
{
    make_table(contract);

    contract_start(contract, run_breaks_a_rule, NULL);

    assert_instance(contract, PAWL_WAITING);
    assert_text(contract_step(contract, "x").error_name, "STEP_MUTATION_FAILED");
    assert_says(contract_step(contract, "x").error_message, "paid");
    assert_says(contract_step(contract, "x").error_message, "note");
}

BODY(body_runs_text)
{
    const struct contract *contract = pawl_step_user(step);
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES (1, 'x')", NULL));
    return pawl_step_sql(step, contract->text, NULL);
}

WORKFLOW(run_runs_text)
{
    return pawl_do(run, "x", &once, body_runs_text, NULL, out_result);
}

TEST_OF(contract, A13_transactions_and_the_engines_own_tables_are_out_of_bounds)
{
    static const char *const forbidden[] = {
        "COMMIT",
        "END",
        "ROLLBACK",
        "BEGIN",
        "SAVEPOINT mine",
        "RELEASE pawl_unit",
        "ATTACH ':memory:' AS other",
        "PRAGMA journal_mode = DELETE",
        "UPDATE workflow_instance SET output = '1'",
        "DELETE FROM workflow_step",
        "DELETE FROM WORKFLOW_TASK",
        "INSERT INTO workflow_log SELECT * FROM workflow_log",
        "INSERT INTO workflow_run SELECT * FROM workflow_run",
        "UPDATE workflow_event SET delivered_at = NULL",
        "DROP TABLE workflow_step",
        "DROP INDEX workflow_step_order",
        "DROP VIEW workflow_steps",
        "ALTER TABLE workflow_instance ADD COLUMN mine",
        "CREATE INDEX mine ON workflow_step (name)",
        "CREATE TRIGGER mine AFTER INSERT ON workflow_step BEGIN DELETE FROM paid; END",
        "INSERT INTO paid (id, note) VALUES (2, 'x'); INSERT INTO paid (id, note) VALUES (3, 'x')",
        "INSERT INTO paid (id, note) VALUES ($1, 'x')",
        "",
        "nonsense",
    };
    char id[16];
    make_table(contract);
    contract_register(contract, "w", run_runs_text);

    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        struct pawl_instance instance;
        contract->text = forbidden[i];
        snprintf(id, sizeof id, "i-%zu", i);
        assert_ok(contract, pawl_world_create(contract->world, "w", id, NULL, &contract->error));
        contract_idle(contract);
        assert_ok(contract, pawl_world_get(contract->world, "w", id, &instance, &contract->error));
        if (instance.status != PAWL_ERRORED || strcmp(instance.error_name, "STEP_MUTATION_FAILED") != 0 ||
            count_paid(contract) != 0)
            fail_msg("\"%s\" went through: %s %s", forbidden[i], pawl_instance_status_name(instance.status),
                     instance.error_name != NULL ? instance.error_name : "");
    }
}

/* ---- Mutations for a failure ------------------------------------------------------------------------------------------ */

BODY(body_notes_failure)
{
    struct contract *contract = pawl_step_user(step);
    long long attempt = (long long)pawl_step_attempt(step);
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO paid (id, note) VALUES ($1, 'failure')", "[I]", attempt));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES ($1, 'success')", "[I]", 100 + attempt));
    if (attempt <= contract->number)
        return pawl_fail(step, "Broken", "attempt %lld", attempt);
    return PAWL_OK;
}

WORKFLOW(run_notes_failure)
{
    static const struct pawl_step_options options = { .retries = 2, .delay = "1 s", .backoff = PAWL_BACKOFF_CONSTANT };
    if (pawl_do(run, "x", &options, body_notes_failure, NULL, NULL) == PAWL_SUSPENDED)
        return PAWL_SUSPENDED;
    return pawl_sleep(run, "nap", "1 h");
}

TEST_OF(contract, A13_changes_for_a_failure_run_only_when_the_step_failed_for_good)
{
    make_table(contract);
    contract->number = 3;
    contract_start(contract, run_notes_failure, NULL);
    int64_t after_the_first = count_paid(contract);
    contract_advance(contract, "1 s");
    int64_t after_the_second = count_paid(contract);

    contract_advance(contract, "1 s");
    int64_t after_the_third = contract_query(contract, "SELECT sum(id) FROM paid");
    contract_advance(contract, "1 h");

    assert_int_equal(after_the_first, 0);
    assert_int_equal(after_the_second, 0);
    assert_int_equal(after_the_third, 3);
    assert_int_equal(contract_step(contract, "x").status, PAWL_STEP_ERRORED);
    assert_int_equal(count_paid(contract), 1);
    assert_output(contract, NULL);
}

TEST_OF(contract, A13_changes_for_a_failure_do_not_run_with_a_success)
{
    make_table(contract);
    contract->number = 1;
    contract_start(contract, run_notes_failure, NULL);

    contract_advance(contract, "1 s");

    assert_int_equal(contract_step(contract, "x").status, PAWL_STEP_COMPLETED);
    assert_int_equal(contract_query(contract, "SELECT sum(id) FROM paid"), 102);
}

BODY(body_collides_with_note)
{
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO paid (id, note) VALUES (50, 'failure')", NULL));
    return pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES (2, 'again')", NULL);
}

WORKFLOW(run_collides_with_note)
{
    return pawl_do(run, "x", NULL, body_collides_with_note, NULL, out_result);
}

TEST_OF(contract, A13_changes_for_a_failure_run_also_when_a_unique_violation_is_the_failure)
{
    make_table(contract);
    contract_execute(contract, "INSERT INTO paid (id, note) VALUES (2, 'old')");

    contract_start(contract, run_collides_with_note, NULL);

    assert_errored(contract, "STEP_UNIQUE_CONSTRAINT_VIOLATION", NULL);
    assert_int_equal(contract_query(contract, "SELECT sum(id) FROM paid"), 52);
}

BODY(body_fails_twice)
{
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO nowhere VALUES (1)", NULL));
    return pawl_fail_for_good(step, "CardDeclined", "no funds");
}

WORKFLOW(run_fails_twice)
{
    return pawl_do(run, "x", NULL, body_fails_twice, NULL, out_result);
}

TEST_OF(contract, A13_a_refused_change_for_a_failure_leaves_the_failure_and_a_log_line)
{
    contract_start(contract, run_fails_twice, NULL);

    assert_errored(contract, "CardDeclined", "no funds");
    assert_int_equal(contract_step(contract, "x").attempts, 1);
    struct pawl_history history = contract_history(contract, 0);
    bool told = false;
    for (size_t i = 0; i < history.log_count; i++)
        told = told ||
               (strstr(history.logs[i].message, "nowhere") != NULL && strcmp(history.logs[i].category, "system") == 0);
    assert_true(told);
}

BODY(body_notes_timeout)
{
    struct contract *contract = pawl_step_user(step);
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO paid (id, note) VALUES (1, 'failure')", NULL));
    if (contract->number == 0)
        return pawl_step_sql(step, "INSERT INTO nowhere VALUES (1)", NULL);
    contract_jump(contract, contract->number);
    return PAWL_OK;
}

WORKFLOW(run_notes_timeout)
{
    return pawl_do(run, "x", &once, body_notes_timeout, NULL, out_result);
}

TEST_OF(contract, A13_changes_for_a_failure_run_when_the_last_attempt_times_out)
{
    make_table(contract);
    contract->number = HOUR_MS;

    contract_start(contract, run_notes_timeout, NULL);

    assert_errored(contract, "STEP_TIMEOUT", NULL);
    assert_int_equal(count_paid(contract), 1);
}

TEST_OF(contract, A13_changes_for_a_failure_run_when_the_last_attempts_changes_are_refused)
{
    make_table(contract);

    contract_start(contract, run_notes_timeout, NULL);

    assert_errored(contract, "STEP_MUTATION_FAILED", NULL);
    assert_int_equal(count_paid(contract), 1);
}

/* ---- Functions ------------------------------------------------------------------------------------------------------------ */

struct look {
    struct contract *contract;
    char note[16];
    pawl_status answer;
};

/* In PostgreSQL a function that commits fails the whole, see test_postgres_user.c. */
static pawl_status mutate_and_look(void *connection, const void *data, size_t size)
{
    struct look look;
    int64_t completed;
    if (size != sizeof look)
        return PAWL_INVALID;
    memcpy(&look, data, sizeof look);
    enum test_store store = look.contract->place.store;
    if (!store_connection_number(store, connection,
                                 "SELECT count(*) FROM workflow_step WHERE name = 'x' AND status = 1", &completed))
        return PAWL_FAILED;
    contract_trace(look.contract, "%s: %lld completed; ", look.note, (long long)completed);
    if (!store_connection_execute(store, connection, "INSERT INTO paid (id, note) VALUES (9, 'function')"))
        return PAWL_FAILED;
    if (store != STORE_IN_POSTGRES && store_connection_execute(store, connection, "COMMIT"))
        contract_trace(look.contract, "it could commit");
    return look.answer;
}

BODY(body_mutates)
{
    struct contract *contract = pawl_step_user(step);
    struct look look = { contract, "seen", (pawl_status)contract->number };
    contract->bodies++;
    PAWL_TRY(pawl_step_mutate(step, PAWL_WITH_SUCCESS, mutate_and_look, &look, sizeof look));
    memset(&look, 0xff, sizeof look); /* it was copied */
    return PAWL_OK;
}

WORKFLOW(run_mutates)
{
    return run_with(run, body_mutates, out_result);
}

TEST_OF(contract, A13_a_function_runs_once_in_the_transaction_before_the_step_is_recorded)
{
    make_table(contract);

    contract_start(contract, run_mutates, NULL);
    contract_advance(contract, "1 h");

    assert_text(contract->trace, "seen: 0 completed; ");
    assert_int_equal(count_paid(contract), 1);
    assert_int_equal(contract_step(contract, "x").status, PAWL_STEP_COMPLETED);
    assert_output(contract, NULL);
}

TEST_OF(contract, A13_a_function_that_answers_a_unique_violation_fails_the_step_for_good)
{
    make_table(contract);
    contract->number = PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION;

    contract_start(contract, run_mutates, NULL);

    assert_errored(contract, "STEP_UNIQUE_CONSTRAINT_VIOLATION", NULL);
    assert_int_equal(contract_step(contract, "x").attempts, 1);
    assert_int_equal(count_paid(contract), 0);
}

TEST_OF(contract, A13_a_function_that_fails_otherwise_fails_the_attempt)
{
    make_table(contract);
    contract->number = PAWL_FAILED;

    contract_start(contract, run_mutates, NULL);
    contract->number = PAWL_OK;
    int64_t after_the_first = count_paid(contract);
    contract_advance(contract, "10 s");

    assert_int_equal(after_the_first, 0);
    assert_int_equal(contract_step(contract, "x").attempts, 2);
    assert_int_equal(contract_step(contract, "x").status, PAWL_STEP_COMPLETED);
    assert_int_equal(count_paid(contract), 1);
}

BODY(body_terminated)
{
    PAWL_TRY(body_pays(step, input, out_result));
    PAWL_TRY(pawl_step_create(step, "w", "child", NULL));
    return pawl_terminate(pawl_step_engine(step), "w", "i", NULL);
}

WORKFLOW(run_terminated)
{
    return run_with(run, body_terminated, out_result);
}

TEST_OF(contract, A13_nothing_of_a_step_whose_run_was_terminated_is_applied)
{
    struct pawl_instance child;
    make_table(contract);

    contract_start(contract, run_terminated, NULL);

    assert_instance(contract, PAWL_TERMINATED);
    assert_int_equal(count_paid(contract), 0);
    assert_status(pawl_world_get(contract->world, "w", "child", &child, &contract->error), PAWL_INSTANCE_NOT_FOUND);
    assert_false(contract_has_step(contract, "x"));
}

/* ---- Instances and events -------------------------------------------------------------------------------------------------- */

WORKFLOW(run_listens)
{
    struct pawl_event event;
    contract_trace(pawl_run_user(run), "%s(%lld) ", pawl_run_id(run), (long long)pawl_value_int(params, NULL, -1));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, &event));
    return pawl_return(run, out_result, "V", event.payload);
}

/* Creates or sends as text says: "workflow id". */
BODY(body_reaches_out)
{
    struct contract *contract = pawl_step_user(step);
    char workflow[32] = "", id[32] = "";
    pawl_value *payload;
    (void)sscanf(contract->text, "%31s %31s", workflow, id);
    contract->bodies++;
    PAWL_TRY(pawl_value_pack(pawl_step_scope(step), &payload, "i", contract->bodies));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid (id, note) VALUES (1, 'x')", NULL));
    if (contract->number == 0)
        PAWL_TRY(pawl_step_create(step, workflow, id[0] != '\0' ? id : NULL, payload));
    else
        PAWL_TRY(pawl_step_send_event(step, workflow, id, "go", payload));
    return contract->bodies < contract->moments[0] ? pawl_fail(step, "Broken", "not yet") : PAWL_OK;
}

WORKFLOW(run_reaches_out)
{
    return run_with(run, body_reaches_out, out_result);
}

TEST_OF(contract, A13_a_child_is_created_with_the_step_that_succeeds_and_only_once)
{
    struct pawl_instance child;
    make_table(contract);
    contract_register(contract, "listener", run_listens);
    contract->text = "listener c-1";
    contract->moments[0] = 2; /* the first attempt fails */
    contract_start(contract, run_reaches_out, NULL);
    assert_status(pawl_world_get(contract->world, "listener", "c-1", &child, &contract->error),
                  PAWL_INSTANCE_NOT_FOUND);

    contract_advance(contract, "10 s");
    contract_advance(contract, "1 h");

    assert_ok(contract, pawl_world_get(contract->world, "listener", "c-1", &child, &contract->error));
    assert_int_equal(child.status, PAWL_WAITING);
    assert_text(child.params_json, "2");
    assert_int_equal(child.created_at_ms, contract_step(contract, "x").updated_at_ms);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance"), 2);
    assert_output(contract, NULL);
}

TEST_OF(contract, A13_a_child_without_an_id_gets_one)
{
    make_table(contract);
    contract_register(contract, "listener", run_listens);
    contract->text = "listener";

    contract_start(contract, run_reaches_out, NULL);

    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_instance WHERE workflow = 'listener'"
                                              " AND length(id) >= 16 AND params = '1'"),
                     1);
}

static void assert_reach_fails_for_good(struct contract *contract, const char *target, const char *error_name)
{
    contract->text = target;
    contract_start(contract, run_reaches_out, NULL);
    struct pawl_step_record step = contract_step(contract, "x");
    assert_int_equal(step.status, PAWL_STEP_ERRORED);
    assert_int_equal(step.attempts, 1);
    assert_int_equal(step.next_retry_at_ms, 0);
    assert_text(step.error_name, error_name);
    assert_errored(contract, error_name, NULL);
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(count_paid(contract), 0);
}

TEST_OF(contract, A13_a_child_whose_id_exists_fails_the_step_for_good)
{
    make_table(contract);
    contract_register(contract, "listener", run_listens);
    assert_ok(contract, pawl_world_create(contract->world, "listener", "c-1", "77", &contract->error));

    assert_reach_fails_for_good(contract, "listener c-1", "STEP_UNIQUE_CONSTRAINT_VIOLATION");

    assert_says(contract_step(contract, "x").error_message, "c-1");
    assert_int_equal(
        contract_query(contract, "SELECT count(*) FROM workflow_instance WHERE id = 'c-1' AND params = '77'"), 1);
}

TEST_OF(contract, A13_a_child_of_an_unknown_workflow_fails_the_step_for_good)
{
    make_table(contract);

    assert_reach_fails_for_good(contract, "nobody c-1", "WORKFLOW_NOT_FOUND");
}

TEST_OF(contract, A13_a_child_with_a_bad_id_fails_the_step_for_good)
{
    make_table(contract);

    assert_reach_fails_for_good(contract, "w -c", "INVALID_INSTANCE_ID");
}

TEST_OF(contract, A13_an_event_is_sent_with_the_step_that_succeeds_and_wakes_its_target)
{
    struct pawl_instance listener;
    make_table(contract);
    contract_register(contract, "listener", run_listens);
    assert_ok(contract, pawl_world_create(contract->world, "listener", "l", NULL, &contract->error));
    contract->text = "listener l";
    contract->number = 1;
    contract->moments[0] = 2;
    contract_start(contract, run_reaches_out, NULL);
    assert_ok(contract, pawl_world_get(contract->world, "listener", "l", &listener, &contract->error));
    assert_int_equal(listener.status, PAWL_WAITING);

    contract_advance(contract, "10 s");
    contract_advance(contract, "1 h");

    assert_ok(contract, pawl_world_get(contract->world, "listener", "l", &listener, &contract->error));
    assert_int_equal(listener.status, PAWL_COMPLETE);
    assert_text(listener.output_json, "2");
    assert_int_equal(listener.completed_at_ms, CONTRACT_START_MS + 10000);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_event"), 1);
}

TEST_OF(contract, A13_an_event_to_an_unknown_instance_fails_the_step_for_good)
{
    make_table(contract);
    contract->number = 1;

    assert_reach_fails_for_good(contract, "w nobody", "INSTANCE_NOT_FOUND");
}

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

TEST_OF(contract, A13_an_event_to_a_finished_instance_fails_the_step_for_good)
{
    make_table(contract);
    contract_register(contract, "brief", run_nothing);
    assert_ok(contract, pawl_world_create(contract->world, "brief", "b", NULL, &contract->error));
    contract->number = 1;

    assert_reach_fails_for_good(contract, "brief b", "INSTANCE_TERMINAL");
}

WORKFLOW(run_tells_itself)
{
    struct pawl_event event;
    PAWL_TRY(pawl_do(run, "x", NULL, body_reaches_out, NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, &event));
    return pawl_return(run, out_result, "V", event.payload);
}

TEST_OF(contract, A13_a_step_can_send_an_event_to_its_own_run)
{
    make_table(contract);
    contract->text = "w i";
    contract->number = 1;

    contract_start(contract, run_tells_itself, NULL);

    assert_output(contract, "1");
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_history(contract, 0).event_count, 1);
}
