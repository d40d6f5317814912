/* Contract G1 and G2: calls that workers carry out, and bare calls. */
#include <string.h>

#include "kit/contract_world.h"
#include "kit/sweeping.h"

/* ---- A job ------------------------------------------------------------------------------------------------------------- */

static pawl_status run_call(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct contract *contract = pawl_run_user(run);
    PAWL_TRY(pawl_call(run, "ask", "work", contract->options, params, out_result));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_call(run, "ask", "work", contract->options, params, out_result); /* from history */
}

static void G1_a_call_is_a_job_that_runs_once_and_its_result_is_kept(void **state)
{
    struct contract *contract = *state;
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

static void G1_nothing_null_zero_false_and_the_empty_text_arrive_and_come_back_as_they_are(void **state)
{
    struct contract *contract = *state;
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
static pawl_status look_around(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
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

static void G1_retries_and_timeout_are_the_steps_and_the_function_knows_its_attempt(void **state)
{
    static const struct pawl_step_options options = {
        .retries = 2, .delay = "1 minute", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "90 s"
    };
    struct contract *contract = *state;
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

static pawl_status fail_for_good(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    contract->bodies++;
    return pawl_fail_for_good(step, "Refused", "order %d", 7);
}

static pawl_status run_call_and_handle(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct contract *contract = pawl_run_user(run);
    pawl_status status = pawl_call(run, "ask", "work", contract->options, params, NULL);
    if (status != PAWL_FAILED)
        return status;
    struct pawl_failure failure = pawl_run_failure(run);
    return pawl_return(run, out_result, "[s, s]", failure.name, failure.message);
}

static void G1_a_call_that_failed_for_good_says_with_what(void **state)
{
    struct contract *contract = *state;
    contract_register_function(contract, "work", fail_for_good);
    contract_start(contract, run_call_and_handle, NULL);
    assert_output(contract, "[\"Refused\",\"order 7\"]");
    assert_int_equal(contract->bodies, 1);
    assert_int_equal(contract_step(contract, "ask").status, PAWL_STEP_ERRORED);
}

static void G1_a_call_that_used_up_its_attempts_has_failed_with_the_last_error(void **state)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 s" };
    struct contract *contract = *state;
    contract->options = &options;
    contract_register_function(contract, "work", contract_body_fails);
    contract_start(contract, run_call_and_handle, NULL);
    contract_advance(contract, "1 minute");
    assert_output(contract, "[\"Broken\",\"attempt 2\"]");
    assert_int_equal(contract->bodies, 2);
}

/* The first one takes ten minutes. */
static pawl_status dawdle(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    contract->bodies++;
    if (pawl_step_attempt(step) == 1)
        contract_jump(contract, 10 * MINUTE_MS);
    return pawl_result(step, out_result, "i", (int)pawl_step_attempt(step));
}

static void G1_an_attempt_that_outlives_its_timeout_has_failed_whatever_it_says(void **state)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 s", .timeout = "1 minute" };
    struct contract *contract = *state;
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

static void G1_a_dead_workers_job_is_claimed_again_and_the_dead_one_counts_no_more(void **state)
{
    struct contract *contract = *state;
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

static void G1_the_job_of_a_run_that_is_terminated_is_there_no_more(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_call, NULL);
    contract_control(contract, pawl_terminate);
    assert_null(claim_one(contract));
}

/* ---- With the rest -------------------------------------------------------------------------------------------------------- */

static const struct pawl_compensation by_tracing = { .undo = contract_body_traces };
static const struct pawl_step_options undone = { .compensate = &by_tracing };

static pawl_status run_call_and_fail(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_call(run, "ask", "work", &undone, params, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

static void G1_a_call_can_be_compensated(void **state)
{
    struct contract *contract = *state;
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_call_and_fail, "false");
    assert_errored(contract, "Refused", NULL);
    assert_text(contract->trace, "compensate: ask {\"input\":false,\"result\":false}; ");
}

static pawl_status run_call_and_sleep(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    pawl_status status = pawl_call(run, "ask", "work", &undone, params, NULL);
    if (status == PAWL_INTERRUPTED)
        contract_trace(pawl_run_user(run), "told at the call; ");
    return status == PAWL_OK ? pawl_sleep(run, "nap", "1 hour") : status;
}

static void F1_a_call_that_was_answered_before_the_interrupt_is_undone(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_call_and_sleep, "false");
    assert_ok(contract, pawl_job_complete(contract->engine, claim_one(contract)->token, "1", &contract->error));
    contract_control(contract, pawl_interrupt); /* nobody has taken the answer yet */
    contract_idle(contract);
    assert_instance(contract, PAWL_TERMINATED);
    assert_text(contract->trace, "compensate: ask {\"input\":false,\"result\":1}; ");
}

static pawl_status undo_while_a_worker_speaks(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    contract_trace(contract, "%s; ", pawl_status_name(pawl_job_complete(contract->engine, contract->text, "1", NULL)));
    return PAWL_OK;
}

static pawl_status run_step_and_call(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_compensation late = { .undo = undo_while_a_worker_speaks };
    static const struct pawl_step_options options = { .compensate = &late };
    PAWL_TRY(pawl_do(run, "a", &options, contract_body_ok, params, NULL));
    return run_call_and_sleep(run, params, out_result);
}

static void F1_a_job_that_is_out_ends_before_anything_is_undone(void **state)
{
    struct contract *contract = *state;
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

static void F1_an_attempt_that_failed_before_the_interrupt_is_not_followed_by_another(void **state)
{
    struct contract *contract = *state;
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

static pawl_status branch_nap(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_sleep(run, "nap", "1 hour");
}

static pawl_status branch_ask(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    return pawl_call(run, "ask", "work", NULL, input, out_result);
}

static pawl_status run_call_beside_a_nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[] = { { .run = branch_ask }, { .run = branch_nap } };
    (void)params;
    (void)out_result;
    return pawl_all(run, "all", branches, 2, 0);
}

static void F2_a_call_that_was_given_up_is_made_again_after_a_restart_from_a_later_step(void **state)
{
    struct contract *contract = *state;
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

static pawl_status branch_call(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *name = pawl_run_format(run, "ask %d", (int)pawl_value_int(input, NULL, 0));
    return pawl_call(run, name, "work", NULL, input, out_result);
}

static pawl_status run_calls_at_once(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[3];
    (void)params;
    for (int i = 0; i < 3; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "i", i));
        branches[i] = (struct pawl_branch){ .run = branch_call, .input = input };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 3, 0));
    return pawl_return(run, out_result, "[V, V, V]", branches[0].result, branches[1].result, branches[2].result);
}

static void G1_branches_call_at_once(void **state)
{
    struct contract *contract = *state;
    contract_register_function(contract, "work", contract_body_ok);
    contract_start(contract, run_calls_at_once, NULL);
    assert_output(contract, "[0,1,2]");
    assert_int_equal(contract->bodies, 3);
}

/* ---- Bare calls ------------------------------------------------------------------------------------------------------------- */

static pawl_status run_bare(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_invoke(run, "work", params, out_result));
    return pawl_sleep(run, "nap", "1 hour");
}

static void G2_a_bare_call_runs_in_every_pass_and_is_recorded_nowhere(void **state)
{
    struct contract *contract = *state;
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

static pawl_status do_what_a_step_may(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct contract *contract = pawl_step_user(step);
    (void)input;
    (void)out_result;
    contract_trace(contract, "attempt %d, deadline %d, %s", (int)pawl_step_attempt(step),
                   (int)pawl_step_deadline_ms(step), pawl_step_cancelled(step) ? "cancelled" : "wanted");
    contract_trace(contract, ", sql %s", pawl_status_name(pawl_step_sql(step, "DELETE FROM nothing", NULL)));
    contract_trace(contract, ", create %s", pawl_status_name(pawl_step_create(step, "w", NULL, NULL)));
    contract_trace(contract, ", log %s", pawl_status_name(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "hello")));
    return pawl_fail(step, "Refused", "by %s", pawl_step_name(step));
}

static pawl_status run_bare_and_handle(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_status status = pawl_invoke(run, "work", params, NULL);
    struct pawl_failure failure = pawl_run_failure(run);
    return pawl_return(run, out_result, "[s, s, s]", pawl_status_name(status), failure.name, failure.message);
}

static void G2_a_bare_call_is_no_step_and_its_failure_is_told(void **state)
{
    struct contract *contract = *state;
    contract_register_function(contract, "work", do_what_a_step_may);
    contract_start(contract, run_bare_and_handle, NULL);
    assert_output(contract, "[\"FAILED\",\"Refused\",\"by work\"]");
    assert_text(contract->trace, "attempt 1, deadline 0, wanted, sql INVALID, create INVALID, log INVALID");
}

static void G2_a_bare_call_of_what_is_not_registered_is_told(void **state)
{
    struct contract *contract = *state;
    contract_start(contract, run_bare_and_handle, NULL);
    assert_output(contract, "[\"FAILED\",\"INVALID\",\"no function \\\"work\\\" is registered here\"]");
}

/* ---- Registering -------------------------------------------------------------------------------------------------------------- */

static void G1_functions_are_registered_once_under_names_that_are_valid(void **state)
{
    static const char *const wrong[] = { "", "-a", ".a", "a b", "a/b", "@a", NULL };
    struct contract *contract = *state;
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

static void G1_a_workflow_and_a_function_may_have_one_name(void **state)
{
    struct contract *contract = *state;
    contract_register_function(contract, "w", contract_body_ok);
    contract_start(contract, run_calls_at_once, NULL);
    const struct pawl_workflow_info *workflows;
    size_t count;
    assert_ok(contract, pawl_list_workflows(contract->engine, contract->scope, &workflows, &count));
    assert_int_equal(count, 1);
    assert_text(workflows[0].name, "w");
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------------------- */

static pawl_status work(pawl_step *step, const pawl_value *input, pawl_value **out_result)
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

static void G1_a_crash_anywhere_changes_nothing(void **state)
{
    struct sweeping *sweeping = *state;
    sweeping->options.setup = register_work;
    sweeping_sweep_workflow(sweeping, run_calls_at_once);
    sweeping_is_clean(sweeping, "complete with [0,1,2]");
}

/* ---- Patience -------------------------------------------------------------------------------------------------------- */

static pawl_status run_calling_nobody(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options quick = { .timeout = "1 second" };
    return pawl_call(run, "ask", "nobody-has-it", &quick, params, out_result);
}

static void G1_a_call_that_nobody_takes_waits_and_is_looked_at_ever_more_seldom(void **state)
{
    struct contract *contract = *state;
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

int main(void)
{
    struct CMUnitTest tests[] = {
        CONTRACT_TEST(G1_a_call_is_a_job_that_runs_once_and_its_result_is_kept),
        CONTRACT_TEST(G1_nothing_null_zero_false_and_the_empty_text_arrive_and_come_back_as_they_are),
        CONTRACT_TEST(G1_retries_and_timeout_are_the_steps_and_the_function_knows_its_attempt),
        CONTRACT_TEST(G1_a_call_that_failed_for_good_says_with_what),
        CONTRACT_TEST(G1_a_call_that_used_up_its_attempts_has_failed_with_the_last_error),
        CONTRACT_TEST(G1_an_attempt_that_outlives_its_timeout_has_failed_whatever_it_says),
        CONTRACT_TEST(G1_a_dead_workers_job_is_claimed_again_and_the_dead_one_counts_no_more),
        CONTRACT_TEST(G1_the_job_of_a_run_that_is_terminated_is_there_no_more),
        CONTRACT_TEST(G1_a_call_can_be_compensated),
        CONTRACT_TEST(F1_a_call_that_was_answered_before_the_interrupt_is_undone),
        CONTRACT_TEST(F1_a_job_that_is_out_ends_before_anything_is_undone),
        CONTRACT_TEST(F2_a_call_that_was_given_up_is_made_again_after_a_restart_from_a_later_step),
        CONTRACT_TEST(F1_an_attempt_that_failed_before_the_interrupt_is_not_followed_by_another),
        CONTRACT_TEST(G1_branches_call_at_once),
        CONTRACT_TEST(G2_a_bare_call_runs_in_every_pass_and_is_recorded_nowhere),
        CONTRACT_TEST(G2_a_bare_call_is_no_step_and_its_failure_is_told),
        CONTRACT_TEST(G2_a_bare_call_of_what_is_not_registered_is_told),
        CONTRACT_TEST(G1_functions_are_registered_once_under_names_that_are_valid),
        CONTRACT_TEST(G1_a_workflow_and_a_function_may_have_one_name),
        CONTRACT_TEST(G1_a_call_that_nobody_takes_waits_and_is_looked_at_ever_more_seldom),
    };
    const struct CMUnitTest sweeps[] = {
        SWEEP_TEST(G1_a_crash_anywhere_changes_nothing),
    };
    int failed = contract_run_tests("contract G1 and G2", tests, sizeof tests / sizeof tests[0]);
    return failed + cmocka_run_group_tests(sweeps, NULL, NULL);
}
