/* Contract F2: a run that suspends instead of failing, and runs that are taken up where they stopped. */
#include "kit/contract_world.h"
#include "kit/sweeping.h"

/* Steps fail for as long as the fixture's number is 0. */
BODY(work_when_mended)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    if (contract->number == 0)
        return pawl_fail(step, "Broken", "attempt %d", (int)pawl_step_attempt(step));
    return input == NULL ? PAWL_OK : pawl_result(step, out_result, "V", input);
}

static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
static const struct pawl_step_options twice = { .retries = 1, .delay = "1 s" };
static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
static const struct pawl_step_options undone = { .compensate = &by_tracing };

WORKFLOW(run_repairable)
{
    PAWL_TRY(pawl_do(run, "before", &undone, contract_body_ok, NULL, NULL));
    pawl_status status = pawl_do(run, "work", &twice, work_when_mended, params, out_result);
    if (status == PAWL_FAILED || status == PAWL_INTERRUPTED)
        contract_trace(pawl_run_user(run), "%s; ", pawl_status_name(status));
    return status;
}

static void start_suspending(struct contract *contract, pawl_workflow_fn *run, const char *params)
{
    contract_register_as(contract, (struct pawl_workflow){ .name = "w", .run = run, .suspend_on_failure = true });
    assert_ok(contract, pawl_world_create(contract->world, "w", "i", params, &contract->error));
    contract_idle(contract);
    contract_advance(contract, "1 minute");
}

static void assert_awaits_repair(struct contract *contract)
{
    assert_instance(contract, PAWL_PAUSED);
    assert_int_equal(contract_get(contract).phase, PAWL_PHASE_WAITING_FOR_REPAIR);
}

/* ---- Suspending on failure --------------------------------------------------------------------------------------------------- */

TEST_OF(contract, F2_a_step_that_failed_for_good_parks_the_run_until_it_is_mended_and_resumed)
{
    start_suspending(contract, run_repairable, "7");
    assert_awaits_repair(contract);
    assert_int_equal(contract_step(contract, "work").status, PAWL_STEP_ERRORED);
    assert_int_equal(contract_step(contract, "work").attempts, 2);
    contract_advance(contract, "10 days");
    assert_awaits_repair(contract);
    assert_int_equal(contract->bodies, 3);

    contract->number = 1;
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_output(contract, "7");
    assert_int_equal(contract_step(contract, "work").attempts, 1);
    assert_int_equal(contract_get(contract).run_number, 1);
    assert_int_equal(contract->bodies, 4);
    assert_text(contract->trace, "");
}

TEST_OF(contract, F2_a_run_that_is_resumed_unmended_waits_again)
{
    start_suspending(contract, run_repairable, NULL);
    contract_control(contract, pawl_resume);
    contract_advance(contract, "1 minute");
    assert_awaits_repair(contract);
    assert_int_equal(contract->bodies, 5);
}

TEST_OF(contract, F2_a_run_that_waits_for_repair_can_be_interrupted_and_is_undone)
{
    start_suspending(contract, run_repairable, NULL);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract_get(contract).error_name, "INTERRUPTED");
    assert_text(contract->trace, "INTERRUPTED; compensate: before {}; ");
}

TEST_OF(contract, F2_a_run_that_waits_for_repair_can_be_terminated_and_restarted)
{
    start_suspending(contract, run_repairable, "7");
    contract_control(contract, pawl_restart);
    contract_advance(contract, "1 minute");
    assert_awaits_repair(contract);
    assert_int_equal(contract_get(contract).run_number, 2);
    contract_control(contract, pawl_terminate);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "");
}

BRANCH(branch_work)
{
    const char *name = pawl_value_string(input, NULL, "");
    if (strcmp(name, "sleeper") == 0)
        PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    pawl_step_fn *body = strcmp(name, "sound") == 0 ? contract_body_ok : work_when_mended;
    PAWL_TRY(pawl_do(run, name, &once, body, input, out_result));
    return pawl_do(run, pawl_run_format(run, "after %s", name), &once, contract_body_ok, input, NULL);
}

WORKFLOW(run_branches)
{
    static const char *const names[] = { "sound", "broken", "sleeper" };
    struct pawl_branch branches[3];
    for (size_t i = 0; i < 3; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", names[i]));
        branches[i] = (struct pawl_branch){ .run = branch_work, .input = input };
    }
    pawl_status status = pawl_all(run, "all", branches, 3, 0);
    if (status != PAWL_OK && status != PAWL_SUSPENDED) /* which is sticky: forgetting it is harmless */
        return status;
    return pawl_return(run, out_result, "[V, V, V]", branches[0].result, branches[1].result, branches[2].result);
}

TEST_OF(contract, F2_a_branch_that_fails_parks_the_run_and_the_others_lose_nothing)
{
    start_suspending(contract, run_branches, NULL);
    assert_awaits_repair(contract);
    assert_false(contract_has_step(contract, "after broken"));
    contract->number = 1;
    contract_control(contract, pawl_resume);
    contract_advance(contract, "2 hours");
    assert_output(contract, "[\"sound\",\"broken\",\"sleeper\"]");
    assert_int_equal(contract->bodies, 7);
}

WORKFLOW(run_call)
{
    return pawl_call(run, "ask", "work", &once, params, out_result);
}

TEST_OF(contract, F2_a_call_that_failed_for_good_is_called_again_after_the_repair)
{
    contract_register_function(contract, "work", work_when_mended);
    start_suspending(contract, run_call, "false");
    assert_awaits_repair(contract);
    contract->number = 1;
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_output(contract, "false");
    assert_int_equal(contract->bodies, 2);
}

WORKFLOW(run_work)
{
    return pawl_do(run, "work", &once, work_when_mended, params, out_result);
}

WORKFLOW(run_parent)
{
    return pawl_run_child(run, "child", "child", NULL, params, out_result);
}

TEST_OF(contract, F2_a_parent_whose_child_failed_awaits_it_again_once_the_child_is_retried)
{
    contract_register(contract, "child", run_work);
    start_suspending(contract, run_parent, "0");
    assert_awaits_repair(contract);
    contract->number = 1;
    assert_ok(contract, pawl_retry(contract->engine, "child", contract_child(contract).id, &contract->error));
    contract_control(contract, pawl_resume);
    contract_idle(contract);
    assert_output(contract, "0");
}

WORKFLOW(run_deferred)
{
    struct contract *contract = pawl_run_user(run);
    const char *token;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    contract->text = pawl_scope_format(contract->scope, "%s", token);
    pawl_status status = pawl_await_deferred(run, "answer", "1 hour", out_result);
    if (status == PAWL_SUSPENDED)
        return status;
    return pawl_return(run, out_result, "s", pawl_status_name(status));
}

TEST_OF(contract, F2_what_nobody_can_take_back_is_told_instead_of_parking_the_run)
{
    start_suspending(contract, run_deferred, NULL);
    assert_ok(contract, pawl_deferred_fail(contract->engine, contract->text, "No", "no", &contract->error));
    contract_idle(contract);
    assert_output(contract, "\"FAILED\"");
    contract_begin_again(contract);
    start_suspending(contract, run_deferred, NULL);
    contract_advance(contract, "1 hour");
    assert_output(contract, "\"WAIT_FOR_EVENT_TIMEOUT\"");
}

BODY(interrupt_and_fail)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    if (pawl_interrupt(pawl_step_engine(step), "w", "i", NULL) != PAWL_OK)
        contract_trace(contract, "not interrupted; ");
    return pawl_fail_for_good(step, "Broken", "for good");
}

WORKFLOW(run_interrupted_while_failing)
{
    PAWL_TRY(pawl_do(run, "before", &undone, contract_body_ok, NULL, NULL));
    return pawl_do(run, "work", &once, interrupt_and_fail, NULL, NULL);
}

TEST_OF(contract, F2_an_interrupt_that_comes_while_the_step_fails_is_not_slept_over)
{
    start_suspending(contract, run_interrupted_while_failing, NULL);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "compensate: before {}; ");
    assert_int_equal(contract->bodies, 2);
}

/* ---- Retrying an errored run -------------------------------------------------------------------------------------------------- */

WORKFLOW(run_not_undone)
{
    PAWL_TRY(pawl_do(run, "before", NULL, contract_body_ok, params, NULL));
    PAWL_TRY(pawl_do(run, "work", &once, work_when_mended, params, NULL));
    return pawl_do(run, "after", NULL, contract_body_ok, params, out_result);
}

TEST_OF(contract, F2_a_retry_goes_on_where_the_run_failed)
{
    contract_start(contract, run_not_undone, "\"\"");
    assert_errored(contract, "Broken", "attempt 1");
    contract->number = 1;
    contract_control(contract, pawl_retry);
    contract_idle(contract);
    assert_output(contract, "\"\"");
    assert_int_equal(contract_get(contract).run_number, 2);
    assert_int_equal(contract->bodies, 4); /* before, work, work, after */
    assert_int_equal(contract_history(contract, 1).step_count, 2);
    assert_int_equal(contract_history(contract, 2).step_count, 3);
    assert_status(pawl_retry(contract->engine, "w", "i", &contract->error), PAWL_NOT_REPAIRABLE);
}

TEST_OF(contract, F2_a_run_whose_steps_were_undone_cannot_be_taken_up_again)
{
    contract_start(contract, run_repairable, NULL);
    contract_advance(contract, "1 minute");
    assert_errored(contract, "Broken", NULL);
    assert_says(contract->trace, "compensate: before");
    assert_status(pawl_retry(contract->engine, "w", "i", &contract->error), PAWL_NOT_REPAIRABLE);
    assert_says(contract->error.text, "undone");
    assert_status(pawl_restart_from(contract->engine, "w", "i", "work", &contract->error), PAWL_NOT_REPAIRABLE);
    contract->number = 1;
    contract_control(contract, pawl_restart);
    contract_idle(contract);
    assert_instance(contract, PAWL_COMPLETE);
}

BODY(undo_while_somebody_restarts)
{
    struct contract *contract = pawl_step_user(step);
    contract_trace(contract, "%s; ", pawl_status_name(pawl_restart_from(contract->engine, "w", "i", "work", NULL)));
    return PAWL_OK;
}

WORKFLOW(run_undone_meanwhile)
{
    static const struct pawl_compensation meanwhile = { .undo = undo_while_somebody_restarts };
    static const struct pawl_step_options options = { .compensate = &meanwhile };
    PAWL_TRY(pawl_do(run, "before", &options, contract_body_ok, params, NULL));
    PAWL_TRY(pawl_do(run, "also before", &options, contract_body_ok, params, NULL));
    return pawl_do(run, "work", &once, work_when_mended, params, out_result);
}

TEST_OF(contract, F2_a_run_whose_first_compensation_is_under_way_keeps_nothing)
{
    contract_start(contract, run_undone_meanwhile, NULL);
    assert_errored(contract, "Broken", NULL);
    assert_text(contract->trace, "NOT_REPAIRABLE; NOT_REPAIRABLE; ");
    assert_int_equal(contract_get(contract).run_number, 1);
}

TEST_OF(contract, F2_a_restart_from_a_step_keeps_what_came_before_it)
{
    contract->number = 1;
    contract_start(contract, run_not_undone, "1");
    assert_output(contract, "1");
    assert_int_equal(contract->bodies, 3);
    assert_ok(contract, pawl_restart_from(contract->engine, "w", "i", "work", &contract->error));
    contract_idle(contract);
    assert_output(contract, "1");
    assert_int_equal(contract->bodies, 5); /* work and after, again */
    assert_status(pawl_restart_from(contract->engine, "w", "i", "nothing", &contract->error), PAWL_INVALID_STEP_NAME);
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------------------- */

BODY(work_when_counted)
{
    const struct sweeping *sweeping = pawl_step_user(step);
    if (sweeping->count == 0)
        return pawl_fail_for_good(step, "Broken", "not mended yet");
    return sweeping_plain(step, input, out_result);
}

BODY(mend)
{
    struct sweeping *sweeping = pawl_step_user(step);
    sweeping->count = 1;
    pawl_status status = pawl_resume(pawl_step_engine(step), "w", "sweep", NULL);
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status;
}

WORKFLOW(run_mender)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "mend", NULL, mend, NULL, NULL);
}

WORKFLOW(run_to_be_swept)
{
    PAWL_TRY(pawl_do(run, "before", NULL, sweeping_plain, params, NULL));
    PAWL_TRY(pawl_start_child(run, "mender", "mender", NULL, NULL, NULL));
    return pawl_do(run, "work", NULL, work_when_counted, params, out_result);
}

TEST_OF(sweeping, F2_a_crash_anywhere_changes_nothing)
{
    sweeping_add(sweeping, "w", run_to_be_swept);
    sweeping_add(sweeping, "mender", run_mender);
    sweeping->workflows[0].suspend_on_failure = true;
    sweeping->count_resets = true;
    sweeping_sweep(sweeping);
    sweeping_is_clean(sweeping, "complete with 7");
}
