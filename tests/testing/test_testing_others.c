/* test_testing_others.c - the test kit and crash sweeps where others finish what a run waits for: functions, workers
 * outside, children, whoever has the token of a deferred (contract H1, H2). */
#include "kit/sweeping.h"
#include "testing_kit.h"

WORKFLOW(ask)
{
    const char *token;
    pawl_value *answer = NULL;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    pawl_status status = pawl_await_deferred(run, "approval", "1 day", &answer);
    if (status == PAWL_FAILED)
        return pawl_return(run, out_result, "s", pawl_run_failure(run).name);
    return status == PAWL_OK ? pawl_return(run, out_result, "V", answer) : status;
}

WORKFLOW(call)
{
    return pawl_call(run, "press", "press", NULL, params, out_result);
}

static void begin(struct kit *kit, pawl_workflow_fn *run)
{
    const struct pawl_workflow workflow = { .name = "w", .run = run };
    ok(pawl_register(kit->world->engine, &workflow, &kit->error));
    ok(pawl_world_create(kit->world, "w", "i", "12", &kit->error));
}

/* ---- H1: worlds -------------------------------------------------------------------------------------------------- */

TEST_OF(kit, H1_a_deferred_is_completed_by_its_name)
{
    begin(kit, ask);
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    ok(pawl_world_deferred_succeed(kit->world, "w", "i", " approval ", "{\"yes\":1}", &kit->error));
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    assert_string_equal(kit_get(kit, "w", "i").output_json, "{\"yes\":1}");
}

TEST_OF(kit, H1_a_deferred_is_failed_by_its_name)
{
    begin(kit, ask);
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    ok(pawl_world_deferred_fail(kit->world, "w", "i", "approval", "Refused", NULL, &kit->error));
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    assert_string_equal(kit_get(kit, "w", "i").output_json, "\"Refused\"");
}

TEST_OF(kit, H1_the_token_of_a_deferred_is_the_right_one)
{
    const char *token = NULL;
    begin(kit, ask);
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    ok(pawl_world_deferred_token(kit->world, "w", "i", "approval", &token, &kit->error));
    ok(pawl_deferred_succeed(kit->world->engine, token, "1", &kit->error));
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    assert_string_equal(kit_get(kit, "w", "i").output_json, "1");
}

TEST_OF(kit, H1_a_deferred_that_is_not_there_is_told)
{
    const char *token = NULL;
    begin(kit, ask);
    assert_int_equal(pawl_world_deferred_succeed(kit->world, "w", "i", "approval", "1", &kit->error),
                     PAWL_INVALID_STEP_NAME);
    assert_string_equal(kit->error.text, "run 1 of instance \"i\" has no deferred \"approval\" yet");
    assert_int_equal(pawl_world_deferred_fail(kit->world, "w", "other", "approval", "No", NULL, &kit->error),
                     PAWL_INSTANCE_NOT_FOUND);
    assert_int_equal(pawl_world_deferred_token(NULL, "w", "i", "approval", &token, &kit->error), PAWL_INVALID);
    assert_null(token);
}

TEST_OF(kit, H1_the_mock_of_a_call_stands_for_its_worker)
{
    begin(kit, call);
    ok(pawl_world_mock_failure(kit->world, "w", "press", 1, "Jam", "jammed", true, &kit->error));
    ok(pawl_world_mock_result(kit->world, "w", "press", 0, "\"pages\"", &kit->error));
    ok(pawl_world_mock_failure(kit->world, "w", "press", 1, "Jam", "jammed", true, &kit->error));
    ok(pawl_world_run_to_end(kit->world, &kit->error));
    assert_string_equal(kit_get(kit, "w", "i").output_json, "\"pages\"");
    assert_int_equal(pawl_world_step(kit->world, "w", "i", "press")->attempts, 2);
}

TEST_OF(kit, H1_a_worker_outside_is_played_by_the_test)
{
    static const char *const functions[] = { "press" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    options.functions = functions;
    options.function_count = 1;
    begin(kit, call);
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    ok(pawl_job_claim(kit->world->engine, kit->world->scope, &options, &jobs, &count, &kit->error));
    assert_int_equal(count, 1);
    assert_string_equal(jobs[0].data_json, "12");
    ok(pawl_job_complete(kit->world->engine, jobs[0].token, "13", &kit->error));
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
    assert_string_equal(kit_get(kit, "w", "i").output_json, "13");
}

/* ---- H2: sweeps --------------------------------------------------------------------------------------------------- */

BODY(flaky)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Flaky", "the first time");
    return pawl_result(step, out_result, "V", input);
}

static pawl_status register_flaky(pawl_world *world, void *user, struct pawl_error *error)
{
    const struct pawl_function function = { .name = "flaky", .run = flaky };
    (void)user;
    return pawl_register_function(pawl_world_engine(world), &function, error);
}

BODY(undo)
{
    return pawl_result(step, out_result, "V", pawl_value_at(input, "result"));
}

/* All of it, one after the other; and at its end the steps are undone, when it is asked to fail. */
WORKFLOW(everything)
{
    static const struct pawl_compensation undone = { .undo = undo };
    static const struct pawl_step_options options = { .compensate = &undone };
    pawl_value *called = NULL, *born = NULL, *answer = NULL;
    const char *token, *id;
    PAWL_TRY(pawl_do(run, "first", &options, sweeping_plain, NULL, NULL));
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    PAWL_TRY(pawl_start_child(run, "bear", "leaf", NULL, NULL, &id));
    PAWL_TRY(pawl_call(run, "call", "flaky", &options, params, &called));
    PAWL_TRY(pawl_await_child(run, "grown", "leaf", id, &born));
    PAWL_TRY(pawl_await_deferred(run, "approval", NULL, &answer));
    if (pawl_value_bool(params, "fails", false))
        return pawl_run_fail(run, "AsAsked", "it was asked to fail");
    return pawl_return(run, out_result, "[V, V, V]", called, born, answer);
}

static void sweep_everything(struct sweeping *sweeping, const char *params)
{
    static const struct pawl_sweep_event approval = { "deferred:approval", "true", "2 hours" };
    sweeping->options.setup = register_flaky;
    sweeping->options.params_json = params;
    sweeping->options.events = &approval;
    sweeping->options.event_count = 1;
    sweeping_add(sweeping, "w", everything);
    sweeping_add(sweeping, "leaf", sweeping_leaf);
    sweeping_sweep(sweeping);
}

static bool has_commit(const struct sweeping *sweeping, const char *part)
{
    for (size_t i = 0; i < sweeping->report.commit_count; i++) {
        if (strstr(sweeping->report.commits[i], part) != NULL)
            return true;
    }
    return false;
}

TEST_OF(sweeping, H2_calls_children_and_deferreds_stand_every_crash)
{
    sweep_everything(sweeping, "{\"n\":1}");
    sweeping_is_clean(sweeping, "complete with [{\"n\":1},7,true]");
    assert_true(has_commit(sweeping, "claim \"@flaky\""));
    assert_true(has_commit(sweeping, "step \"grown\" completed"));
    assert_true(has_commit(sweeping, "step \"approval\" completed"));
    assert_int_equal(sweeping->report.crashes, 2 * sweeping->report.commit_count);
}

TEST_OF(sweeping, H2_compensations_stand_every_crash)
{
    sweep_everything(sweeping, "{\"fails\":true}");
    sweeping_is_clean(sweeping, "errored with AsAsked");
    assert_true(has_commit(sweeping, "step \"compensate: first\" completed"));
    assert_true(has_commit(sweeping, "step \"compensate: call\" completed"));
}

static pawl_status mock_press(pawl_world *world, void *user, struct pawl_error *error)
{
    (void)user;
    return pawl_world_mock_result(world, NULL, "press", 0, "5", error);
}

TEST_OF(sweeping, H2_a_call_that_is_mocked_needs_no_worker)
{
    sweeping->options.setup = mock_press;
    sweeping_sweep_workflow(sweeping, call);
    sweeping_is_clean(sweeping, "complete with 5");
}

TEST_OF(sweeping, H2_a_call_that_nobody_carries_out_is_found)
{
    sweeping_sweep_workflow(sweeping, call);
    assert_int_equal(sweeping->report.finding_count, 1);
    assert_int_equal(sweeping->report.findings[0].kind, PAWL_SWEEP_ENDLESS);
    sweeping_says(sweeping, "the call \"press\" waits for a worker, and there is none");
}

TEST_OF(sweeping, H2_a_deferred_that_the_workflow_does_not_have_is_refused)
{
    static const struct pawl_sweep_event other = { "deferred:other", "true", NULL };
    sweeping->options.events = &other;
    sweeping->options.event_count = 1;
    sweeping->options.workflow = "w";
    sweeping_add(sweeping, "w", ask);
    assert_int_equal(pawl_sweep(sweeping->scope, &sweeping->options, &sweeping->report, &sweeping->error),
                     PAWL_INVALID_STEP_NAME);
    assert_string_equal(sweeping->error.text, "run 1 of instance \"sweep\" has no deferred \"other\" yet");
}
