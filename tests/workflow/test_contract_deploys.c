/* Contract A17: code that changes between turns. */
#include "kit/contract_world.h"

#include "engine/engine.h"

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

WORKFLOW(run_old)
{
    PAWL_TRY(pawl_do(run, "kept", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_do(run, "removed", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 h"));
    return pawl_return(run, out_result, "s", "old");
}

WORKFLOW(run_new)
{
    PAWL_TRY(pawl_do(run, "added", NULL, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "5 h"));
    PAWL_TRY(pawl_do(run, "kept", NULL, contract_body_ok, NULL, NULL));
    return pawl_return(run, out_result, "s", "new");
}

TEST_OF(contract, A17_a_run_goes_on_with_the_code_that_is_registered_now)
{
    contract_start(contract, run_old, NULL);
    assert_int_equal(contract->bodies, 2);

    contract_deploy(contract, run_new);
    contract_advance(contract, "1 h");

    assert_output(contract, "\"new\"");
    assert_int_equal(contract->bodies, 3);
    struct pawl_history history = contract_history(contract, 0);
    assert_int_equal(history.step_count, 4);
    assert_text(history.steps[1].name, "removed");
    assert_int_equal(history.steps[1].status, PAWL_STEP_COMPLETED);
    assert_text(history.steps[3].name, "added");
    assert_int_equal(history.steps[3].created_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_int_equal(contract_step(contract, "nap").wake_at_ms, CONTRACT_START_MS + HOUR_MS);
}

WORKFLOW(run_other_kind)
{
    return pawl_sleep(run, "kept", "1 s");
}

TEST_OF(contract, A17_new_code_that_uses_a_name_for_another_kind_of_step_is_told)
{
    contract_start(contract, run_old, NULL);

    contract_deploy(contract, run_other_kind);
    contract_advance(contract, "1 h");

    assert_errored(contract, "STEP_TYPE_MISMATCH", NULL);
    assert_says(contract_get(contract).error_message, "\"kept\"");
}

WORKFLOW(run_no_wait)
{
    return pawl_return(run, out_result, "s", "no wait");
}

TEST_OF(contract, A17_new_code_that_no_longer_waits_goes_on_when_the_run_is_woken)
{
    contract_start(contract, run_old, NULL);

    contract_deploy(contract, run_no_wait);
    contract_idle(contract);
    struct pawl_instance before = contract_get(contract);
    contract_advance(contract, "1 h");

    assert_int_equal(before.status, PAWL_WAITING);
    assert_output(contract, "\"no wait\"");
}

WORKFLOW(run_waits_for_go)
{
    return pawl_wait_for_event(run, "wait", "go", NULL, NULL);
}

WORKFLOW(run_waits_for_stop)
{
    return pawl_wait_for_event(run, "wait", "stop", NULL, NULL);
}

TEST_OF(contract, A17_new_code_that_waits_for_another_type_is_woken_by_it)
{
    contract_start(contract, run_waits_for_go, NULL);
    contract_deploy(contract, run_waits_for_stop);
    contract_control(contract, pawl_pause);
    contract_control(contract, pawl_resume);
    contract_idle(contract);

    assert_ok(contract, pawl_world_send_event(contract->world, "w", "i", "stop", NULL, &contract->error));
    contract_idle(contract);

    assert_output(contract, NULL);
}

/* An instance of a workflow that this engine has not registered, as another one's create leaves it. */
static void create_foreign(struct contract *contract)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CREATE);
    assert_non_null(op);
    op->as.create.workflow = pw_text_of("foreign");
    op->as.create.id = pw_text_of("f");
    assert_status(pw_commit_run(contract->engine->commit, &unit), PAWL_OK);
    pw_unit_clear(&unit);
}

TEST_OF(contract, A17_a_runner_claims_only_the_workflows_that_it_has)
{
    struct pawl_instance foreign;
    create_foreign(contract);

    contract_start(contract, run_nothing, NULL);

    assert_output(contract, NULL);
    assert_int_equal(contract_tick(contract), 0);
    assert_int_equal(contract_next_wake(contract), INT64_MAX);
    assert_int_equal(contract_query(contract, "SELECT count(*) FROM workflow_task WHERE workflow = 'foreign'"
                                              " AND processing = 0 AND started_at IS NULL"),
                     1);
    assert_status(pawl_world_get(contract->world, "foreign", "f", &foreign, &contract->error), PAWL_WORKFLOW_NOT_FOUND);
}

TEST_OF(contract, A17_a_run_whose_workflow_was_away_stays_due_and_goes_on_when_it_is_back)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    if (!contract->in_file)
        skip(); /* only one engine can see a store in memory */
    contract_start(contract, run_old, NULL);
    contract_jump(contract, HOUR_MS);
    options.store_url = contract->url;
    options.start_ms = contract_now(contract);
    pawl_world_close(contract->world);
    assert_ok(contract, pawl_world_open(&options, &contract->world, &contract->error));
    contract->engine = pawl_world_engine(contract->world);
    contract_register(contract, "other", run_nothing);

    contract_idle(contract);
    int64_t due = contract_query(contract, "SELECT count(*) FROM workflow_task WHERE due_at <= 1767229200000"
                                           " AND processing = 0");
    contract_deploy(contract, run_old);
    struct pawl_instance waiting = contract_get(contract);
    int64_t due_at_ms = contract_next_wake(contract);
    contract_idle(contract);

    assert_int_equal(due, 1);
    assert_int_equal(waiting.status, PAWL_WAITING);
    assert_int_equal(due_at_ms, CONTRACT_START_MS + HOUR_MS);
    assert_output(contract, "\"old\"");
    assert_int_equal(contract->bodies, 2);
}
