/* Contract G1 and G2: calls that workers carry out, and bare calls. */
#include "kit/contract_world.h"
#include "kit/sweeping.h"

/* ---- A job ------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_call)
{
    const struct contract *contract = pawl_run_user(run);
    PAWL_TRY(pawl_call(run, "ask", "work", contract->options, params, out_result));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_call(run, "ask", "work", contract->options, params, out_result); /* from history */
}

TEST_OF(contract, G1_a_call_is_a_job_that_runs_once_and_its_result_is_kept)
{
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_call, "{\"n\":1}");
    struct pawl_step_record step = contract_step(contract, "ask");
    assert_int_equal(step.kind, PAWL_STEP_CALL);
    assert_int_equal(step.status, PAWL_STEP_COMPLETED);
    assert_int_equal(step.attempts, 1);
    assert_text(step.result_json, "{\"n\":1}");
    contract_advance(contract, "1 hour");
    assert_output(contract, "{\"n\":1}");
    assert_int_equal(contract->bodies, 1);
}

TEST_OF(contract, G1_nothing_null_zero_false_and_the_empty_text_arrive_and_come_back_as_they_are)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        contract_begin_again(contract);
        contract_register_function(contract, "work", contract_body_ok);
        contract_start(contract, run_call, contract_distinct[i]);
        contract_advance(contract, "1 hour");
        assert_output(contract, contract_distinct[i]);
        assert_text(contract_step(contract, "ask").result_json, contract_distinct[i]);
    }
}

/* What a function may ask, and what it may not do. */
BODY(look_around)
{
    struct contract *contract = pawl_step_user(step);
    contract_trace(contract, "%s attempt %d, ", pawl_step_name(step), (int)pawl_step_attempt(step));
    contract_trace(contract, "%s, ", pawl_run_workflow(pawl_step_run(step)));
    contract_trace(contract, "deadline in %d s, ",
                   (int)((pawl_step_deadline_ms(step) - pawl_now_ms(pawl_step_engine(step))) / SECOND_MS));
    contract_trace(contract, "%s", pawl_step_cancelled(step) ? "cancelled" : "wanted");
    if (pawl_step_attempt(step) < 3) {
        contract_trace(contract, "; ");
        return pawl_fail(step, "NotNow", "attempt %d", (int)pawl_step_attempt(step));
    }
    contract_trace(contract, ", sql %s", pawl_status_name(pawl_step_sql(step, "DELETE FROM nothing", NULL)));
    contract_trace(contract, ", create %s", pawl_status_name(pawl_step_create(step, "w", NULL, NULL)));
    contract_trace(contract, ", event %s", pawl_status_name(pawl_step_send_event(step, "w", "i", "go", NULL)));
    contract_trace(contract, ", log %s", pawl_status_name(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "hello")));
    return pawl_result(step, out_result, "s", "done");
}

TEST_OF(contract, G1_retries_and_timeout_are_the_steps_and_the_function_knows_its_attempt)
{
    static const struct pawl_step_options options = {
        .retries = 2, .delay = "1 minute", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "90 s"
    };
    contract->options = &options;
    contract_register_function(contract, "work", look_around);
    contract_start(contract, run_call, NULL);
    assert_instance(contract, PAWL_WAITING);
    assert_int_equal(contract_step(contract, "ask").attempts, 1);
    contract_advance(contract, "2 minutes");

    assert_text(contract->trace, "ask attempt 1, @work, deadline in 90 s, wanted; "
                                 "ask attempt 2, @work, deadline in 90 s, wanted; "
                                 "ask attempt 3, @work, deadline in 90 s, wanted, sql INVALID, create INVALID, "
                                 "event INVALID, log OK");
    struct pawl_step_record step = contract_step(contract, "ask");
    assert_text(step.result_json, "\"done\"");
    assert_int_equal(step.attempts, 3);
    assert_int_equal(step.attempts_max, 3);
    assert_int_equal(step.timeout_ms, 90 * SECOND_MS);
    assert_text(step.waits_for->function, "work");
}

BODY(fail_for_good)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    return pawl_fail_for_good(step, "Refused", "order %d", 7);
}

WORKFLOW(run_call_and_handle)
{
    const struct contract *contract = pawl_run_user(run);
    pawl_status status = pawl_call(run, "ask", "work", contract->options, params, NULL);
    if (status != PAWL_FAILED)
        return status;
    struct pawl_failure failure = pawl_run_failure(run);
    return pawl_return(run, out_result, "[s, s]", failure.name, failure.message);
}

TEST_OF(contract, G1_a_call_that_failed_for_good_says_with_what)
{
    contract_register_function(contract, "work", fail_for_good);
    contract_start(contract, run_call_and_handle, NULL);
    assert_output(contract, "[\"Refused\",\"order 7\"]");
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_step(contract, "ask").status, PAWL_STEP_ERRORED);
}

TEST_OF(contract, G1_a_call_that_used_up_its_attempts_has_failed_with_the_last_error)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 s" };
    contract->options = &options;
    contract_register_function(contract, "work", contract_body_fails);
    contract_start(contract, run_call_and_handle, NULL);
    contract_advance(contract, "1 minute");
    assert_output(contract, "[\"Broken\",\"attempt 2\"]");
    assert_int_equal(contract->bodies, 2);
}

/* The first one takes ten minutes. */
BODY(dawdle)
{
    struct contract *contract = pawl_step_user(step);
    contract->bodies++;
    if (pawl_step_attempt(step) == 1)
        contract_jump(contract, 10 * MINUTE_MS);
    return pawl_result(step, out_result, "i", (int)pawl_step_attempt(step));
}

TEST_OF(contract, G1_an_attempt_that_outlives_its_timeout_has_failed_whatever_it_says)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 s", .timeout = "1 minute" };
    contract->options = &options;
    contract_register_function(contract, "work", dawdle);
    contract_start(contract, run_call, NULL);
    contract_advance(contract, "1 minute");
    assert_text(contract_step(contract, "ask").result_json, "2");
    assert_int_equal(contract->bodies, 2);
}

/* ---- Workers outside ----------------------------------------------------------------------------------------------------- */

static const struct pawl_job *claim_one(struct contract *contract)
{
    static const char *const functions[] = { "work" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    size_t count;
    options.functions = functions;
    options.function_count = 1;
    assert_ok(contract, pawl_job_claim(contract->engine, contract->scope, &options, &jobs, &count, &contract->error));
    return count == 1 ? &jobs[0] : NULL;
}

TEST_OF(contract, G1_a_dead_workers_job_is_claimed_again_and_the_dead_one_counts_no_more)
{
    contract_start(contract, run_call, "\"x\"");
    const struct pawl_job *first = claim_one(contract);
    assert_non_null(first);
    assert_text(first->data_json, "\"x\"");
    assert_text(first->step, "ask");
    assert_int_equal(first->attempt, 1);
    assert_null(claim_one(contract));
    contract_advance(contract, "31 s");
    const struct pawl_job *second = claim_one(contract);
    assert_non_null(second);
    assert_text(second->id, first->id);

    assert_status(pawl_job_complete(contract->engine, first->token, "1", &contract->error), PAWL_JOB_GONE);
    assert_ok(contract, pawl_job_complete(contract->engine, second->token, "2", &contract->error));
    contract_advance(contract, "2 hours");
    assert_output(contract, "2");
}

TEST_OF(contract, G1_the_job_of_a_run_that_is_terminated_is_there_no_more)
{
    contract_start(contract, run_call, NULL);
    contract_control(contract, pawl_terminate);
    assert_null(claim_one(contract));
}

/* ---- With the rest -------------------------------------------------------------------------------------------------------- */

static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
static const struct pawl_step_options undone = { .compensate = &by_tracing };

WORKFLOW(run_call_and_fail)
{
    PAWL_TRY(pawl_call(run, "ask", "work", &undone, params, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, G1_a_call_can_be_compensated)
{
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_call_and_fail, "false");
    assert_errored(contract, "Refused", NULL);
    assert_text(contract->trace, "compensate: ask {\"input\":false,\"result\":false}; ");
}

WORKFLOW(run_call_and_sleep)
{
    pawl_status status = pawl_call(run, "ask", "work", &undone, params, NULL);
    if (status == PAWL_INTERRUPTED)
        contract_trace(pawl_run_user(run), "told at the call; ");
    return status == PAWL_OK ? pawl_sleep(run, "nap", "1 hour") : status;
}

TEST_OF(contract, F1_a_call_that_was_answered_before_the_interrupt_is_undone)
{
    contract_start(contract, run_call_and_sleep, "false");
    assert_ok(contract, pawl_job_complete(contract->engine, claim_one(contract)->token, "1", &contract->error));
    contract_control(contract, pawl_interrupt); /* nobody has taken the answer yet */
    contract_idle(contract);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "compensate: ask {\"input\":false,\"result\":1}; ");
}

BODY(undo_while_a_worker_speaks)
{
    struct contract *contract = pawl_step_user(step);
    contract_trace(contract, "%s; ", pawl_status_name(pawl_job_complete(contract->engine, contract->text, "1", NULL)));
    return PAWL_OK;
}

WORKFLOW(run_step_and_call)
{
    static const struct pawl_compensation late = { .undo = undo_while_a_worker_speaks };
    static const struct pawl_step_options options = { .compensate = &late };
    PAWL_TRY(pawl_do(run, "a", &options, contract_body_ok, params, NULL));
    return run_call_and_sleep(run, params, out_result);
}

TEST_OF(contract, F1_a_job_that_is_out_ends_before_anything_is_undone)
{
    contract_start(contract, run_step_and_call, NULL);
    contract->text = claim_one(contract)->token;
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "told at the call; JOB_GONE; ");
    assert_int_equal(contract_step(contract, "ask").status, PAWL_STEP_ERRORED);
    assert_int_equal(contract_step(contract, "ask").state, PAWL_STATE_GIVEN_UP);
    assert_text(contract_step(contract, "ask").error_name, "STEP_ABANDONED");
}

TEST_OF(contract, F1_an_attempt_that_failed_before_the_interrupt_is_not_followed_by_another)
{
    contract_start(contract, run_call_and_sleep, NULL);
    assert_ok(contract,
              pawl_job_fail(contract->engine, claim_one(contract)->token, "NotNow", "", true, &contract->error));
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "told at the call; ");
    assert_text(contract_step(contract, "ask").error_name, "NotNow");
    assert_null(claim_one(contract));
}

BRANCH(branch_nap)
{
    return pawl_sleep(run, "nap", "1 hour");
}

BRANCH(branch_ask)
{
    return pawl_call(run, "ask", "work", NULL, input, out_result);
}

WORKFLOW(run_call_beside_a_nap)
{
    struct pawl_branch branches[] = { { .run = branch_ask }, { .run = branch_nap } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(contract, F2_a_call_that_was_given_up_is_made_again_after_a_restart_from_a_later_step)
{
    contract_start(contract, run_call_beside_a_nap, NULL);
    contract_control(contract, pawl_interrupt);
    contract_idle(contract);
    assert_instance(contract, PAWL_TERMINATED);
    assert_ok(contract, pawl_restart_from(contract->engine, "w", "i", "nap", &contract->error));
    contract_idle(contract);
    const struct pawl_job *job = claim_one(contract);
    assert_non_null(job);
    assert_ok(contract, pawl_job_complete(contract->engine, job->token, "1", &contract->error));
    contract_advance(contract, "1 hour");
    assert_instance(contract, PAWL_COMPLETE);
}

BRANCH(branch_call)
{
    const char *name = pawl_run_format(run, "ask %d", (int)pawl_value_int(input, NULL, 0));
    return pawl_call(run, name, "work", NULL, input, out_result);
}

WORKFLOW(run_calls_at_once)
{
    struct pawl_branch branches[3];
    for (int i = 0; i < 3; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "i", i));
        branches[i] = (struct pawl_branch){ .run = branch_call, .input = input };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 3, 0));
    return pawl_return(run, out_result, "[V, V, V]", branches[0].result, branches[1].result, branches[2].result);
}

TEST_OF(contract, G1_branches_call_at_once)
{
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_calls_at_once, NULL);
    assert_output(contract, "[0,1,2]");
    assert_int_equal(contract->bodies, 3);
}

/* ---- Bare calls ------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_bare)
{
    PAWL_TRY(pawl_invoke(run, "work", params, out_result));
    return pawl_sleep(run, "nap", "1 hour");
}

TEST_OF(contract, G2_a_bare_call_runs_in_every_pass_and_is_recorded_nowhere)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        contract_begin_again(contract);
        contract_register_function(contract, "work", contract_body_ok);
        contract_start(contract, run_bare, contract_distinct[i]);
        contract_advance(contract, "1 hour");
        assert_output(contract, contract_distinct[i]);
        assert_true(contract->passes > 1);
        assert_int_equal(contract->bodies, contract->passes);
        assert_int_equal(contract_history(contract, 0).step_count, 1); /* the sleep */
    }
}

BODY(do_what_a_step_may)
{
    struct contract *contract = pawl_step_user(step);
    contract_trace(contract, "attempt %d, deadline %d, %s", (int)pawl_step_attempt(step),
                   (int)pawl_step_deadline_ms(step), pawl_step_cancelled(step) ? "cancelled" : "wanted");
    contract_trace(contract, ", sql %s", pawl_status_name(pawl_step_sql(step, "DELETE FROM nothing", NULL)));
    contract_trace(contract, ", create %s", pawl_status_name(pawl_step_create(step, "w", NULL, NULL)));
    contract_trace(contract, ", log %s", pawl_status_name(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "hello")));
    return pawl_fail(step, "Refused", "by %s", pawl_step_name(step));
}

WORKFLOW(run_bare_and_handle)
{
    pawl_status status = pawl_invoke(run, "work", params, NULL);
    struct pawl_failure failure = pawl_run_failure(run);
    return pawl_return(run, out_result, "[s, s, s]", pawl_status_name(status), failure.name, failure.message);
}

TEST_OF(contract, G2_a_bare_call_is_no_step_and_its_failure_is_told)
{
    contract_register_function(contract, "work", do_what_a_step_may);
    contract_start(contract, run_bare_and_handle, NULL);
    assert_output(contract, "[\"FAILED\",\"Refused\",\"by work\"]");
    assert_text(contract->trace, "attempt 1, deadline 0, wanted, sql INVALID, create INVALID, log INVALID");
}

TEST_OF(contract, G2_a_bare_call_of_what_is_not_registered_is_told)
{
    contract_start(contract, run_bare_and_handle, NULL);
    assert_output(contract, "[\"FAILED\",\"INVALID\",\"no function \\\"work\\\" is registered here\"]");
}

/* ---- Registering -------------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, G1_functions_are_registered_once_under_names_that_are_valid)
{
    static const char *const wrong[] = { "", "-a", ".a", "a b", "a/b", "@a", NULL };
    contract_register_function(contract, "a.b-c_D9", contract_body_ok);
    struct pawl_function function = { .name = "a.b-c_D9", .run = contract_body_ok };
    assert_true(pawl_register_function(contract->engine, &function, &contract->error) != PAWL_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        function.name = wrong[i];
        assert_status(pawl_register_function(contract->engine, &function, &contract->error),
                      PAWL_INVALID_FUNCTION_NAME);
    }
    function = (struct pawl_function){ .name = "b" };
    assert_status(pawl_register_function(contract->engine, &function, &contract->error), PAWL_INVALID);
    function = (struct pawl_function){ .name = "b", .run = contract_body_ok, .concurrency = -1 };
    assert_status(pawl_register_function(contract->engine, &function, &contract->error), PAWL_INVALID);
}

TEST_OF(contract, G1_a_workflow_and_a_function_may_have_one_name)
{
    contract_register_function(contract, "w", contract_body_ok);
    contract_start(contract, run_calls_at_once, NULL);
    const struct pawl_workflow_info *workflows;
    size_t count;
    assert_ok(contract, pawl_list_workflows(contract->engine, contract->scope, &workflows, &count));
    assert_int_equal(count, 1);
    assert_text(workflows[0].name, "w");
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------------------- */

BODY(work)
{
    if (pawl_step_attempt(step) == 1 && pawl_value_int(input, NULL, 0) == 1)
        return pawl_fail(step, "NotNow", "again");
    return pawl_result(step, out_result, "V", input);
}

static pawl_status register_work(pawl_world *world, void *user, struct pawl_error *error)
{
    struct pawl_function function = { .name = "work", .run = work, .user = user };
    return pawl_register_function(pawl_world_engine(world), &function, error);
}

TEST_OF(sweeping, G1_a_crash_anywhere_changes_nothing)
{
    sweeping->options.setup = register_work;
    sweeping_sweep_workflow(sweeping, run_calls_at_once);
    sweeping_is_clean(sweeping, "complete with [0,1,2]");
}

/* ---- Patience -------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_calling_nobody)
{
    static const struct pawl_step_options quick = { .timeout = "1 second" };
    return pawl_call(run, "ask", "nobody-has-it", &quick, params, out_result);
}

TEST_OF(contract, G1_a_call_that_nobody_takes_waits_and_is_looked_at_ever_more_seldom)
{
    contract_start(contract, run_calling_nobody, NULL);
    int64_t first_ms = contract_step(contract, "ask").wake_at_ms - pawl_now_ms(contract->engine);
    assert_in_range(first_ms, 1, 1000);
    for (int i = 0; i < 20; i++)
        contract_advance(contract, "1 minute");
    struct pawl_step_record step = contract_step(contract, "ask");
    assert_int_equal(step.status, PAWL_STEP_WAITING);
    assert_int_equal(step.attempts, 1);
    assert_in_range(step.wake_at_ms - step.updated_at_ms, 60000, 60000);
}
