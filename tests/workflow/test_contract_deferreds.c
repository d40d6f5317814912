/* Contract F3: deferreds, which whoever has the token finishes. */
#include "kit/contract_world.h"
#include "kit/sweeping.h"

/* ---- Workflows ----------------------------------------------------------------------------------------------------------- */

static void keep_token(struct contract *contract, const char *token)
{
    contract->text = pawl_scope_format(contract->scope, "%s", token);
}

/* Waits at once. */
WORKFLOW(run_waiting)
{
    const char *token;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    keep_token(pawl_run_user(run), token);
    pawl_status status = pawl_await_deferred(run, "answer", pawl_value_string(params, NULL, NULL), out_result);
    if (status == PAWL_FAILED || status == PAWL_WAIT_FOR_EVENT_TIMEOUT)
        return pawl_return(run, out_result, "[s, s, s]", pawl_status_name(status), pawl_run_failure(run).name,
                           pawl_run_failure(run).message);
    return status;
}

/* Waits an hour later. */
WORKFLOW(run_late)
{
    const char *token;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    keep_token(pawl_run_user(run), token);
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_await_deferred(run, "answer", NULL, out_result);
}

static void succeed(struct contract *contract, const char *result_json)
{
    assert_ok(contract, pawl_deferred_succeed(contract->engine, contract->text, result_json, &contract->error));
}

/* ---- Finishing ------------------------------------------------------------------------------------------------------------ */

TEST_OF(contract, F3_whoever_has_the_token_wakes_the_run)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        contract_begin_again(contract);
        contract_start(contract, run_waiting, NULL);
        assert_instance(contract, PAWL_WAITING);
        assert_int_equal(contract_step(contract, "answer").kind, PAWL_STEP_DEFERRED);
        succeed(contract, contract_distinct[i]);
        contract_idle(contract);
        assert_output(contract, contract_distinct[i]);
        assert_text(contract_step(contract, "answer").result_json, contract_distinct[i]);
    }
}

TEST_OF(contract, F3_finishing_it_before_the_run_waits_is_fine)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        contract_begin_again(contract);
        contract_start(contract, run_late, NULL);
        succeed(contract, contract_distinct[i]);
        contract_idle(contract);
        assert_instance(contract, PAWL_WAITING);
        contract_advance(contract, "1 hour");
        assert_output(contract, contract_distinct[i]);
    }
}

TEST_OF(contract, F3_a_deferred_can_be_failed)
{
    contract_start(contract, run_waiting, NULL);
    assert_ok(contract,
              pawl_deferred_fail(contract->engine, contract->text, "Refused", "by the boss", &contract->error));
    contract_idle(contract);
    assert_output(contract, "[\"FAILED\",\"Refused\",\"by the boss\"]");
    assert_int_equal(contract_step(contract, "answer").status, PAWL_STEP_ERRORED);
}

TEST_OF(contract, F3_the_first_wins_the_same_again_is_fine_and_another_is_told)
{
    contract_start(contract, run_late, NULL);
    succeed(contract, "0");
    succeed(contract, "0");
    assert_status(pawl_deferred_succeed(contract->engine, contract->text, "false", &contract->error),
                  PAWL_DEFERRED_COMPLETED);
    assert_status(pawl_deferred_succeed(contract->engine, contract->text, NULL, &contract->error),
                  PAWL_DEFERRED_COMPLETED);
    assert_status(pawl_deferred_fail(contract->engine, contract->text, "No", "no", &contract->error),
                  PAWL_DEFERRED_COMPLETED);
    contract_advance(contract, "1 hour");
    assert_output(contract, "0");
}

TEST_OF(contract, F3_a_failure_that_came_first_wins_too)
{
    contract_start(contract, run_late, NULL);
    assert_ok(contract, pawl_deferred_fail(contract->engine, contract->text, "No", "no", &contract->error));
    assert_ok(contract, pawl_deferred_fail(contract->engine, contract->text, "No", "no", &contract->error));
    assert_status(pawl_deferred_succeed(contract->engine, contract->text, "1", &contract->error),
                  PAWL_DEFERRED_COMPLETED);
    contract_advance(contract, "1 hour");
    assert_errored(contract, "No", "no");
}

/* ---- Waiting too long ------------------------------------------------------------------------------------------------------ */

TEST_OF(contract, F3_a_wait_with_a_limit_ends_at_it)
{
    contract_start(contract, run_waiting, "\"1 hour\"");
    assert_int_equal(contract_get(contract).current_step->waits_for->until_ms, CONTRACT_START_MS + HOUR_MS);
    contract_advance(contract, "59 minutes");
    assert_instance(contract, PAWL_WAITING);
    contract_advance(contract, "1 minute");
    assert_says(contract_get(contract).output_json, "WAIT_FOR_EVENT_TIMEOUT");
}

TEST_OF(contract, F3_an_answer_within_the_limit_is_taken)
{
    contract_start(contract, run_waiting, "\"1 hour\"");
    contract_jump(contract, 2 * HOUR_MS); /* nobody has looked yet */
    succeed(contract, "1");
    contract_idle(contract);
    assert_output(contract, "1");
}

TEST_OF(contract, F3_a_wait_without_a_limit_lasts)
{
    contract_start(contract, run_waiting, NULL);
    assert_int_equal(contract_get(contract).current_step->waits_for->until_ms, 0);
    contract_advance(contract, "1000 days");
    assert_instance(contract, PAWL_WAITING);
    succeed(contract, "1");
    contract_idle(contract);
    assert_output(contract, "1");
}

/* ---- The token ---------------------------------------------------------------------------------------------------------------- */

WORKFLOW(run_two_tokens)
{
    const char *one, *two;
    PAWL_TRY(pawl_deferred_token(run, "one", &one));
    PAWL_TRY(pawl_deferred_token(run, "two", &two));
    contract_trace(pawl_run_user(run), "%s %s\n", one, two);
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "[s, s]", one, two);
}

TEST_OF(contract, F3_a_token_is_the_same_at_every_replay_and_like_no_other)
{
    char first[512];
    contract_start(contract, run_two_tokens, NULL);
    contract_advance(contract, "1 hour");
    assert_instance(contract, PAWL_COMPLETE);
    size_t size = strcspn(contract->trace, "\n") + 1;
    assert_in_range(size, 1, sizeof first - 1);
    memcpy(first, contract->trace, size);
    first[size] = '\0';
    for (const char *line = contract->trace; *line != '\0'; line += size)
        assert_int_equal(strncmp(line, first, size), 0);
    char *space = strchr(first, ' ');
    *space = '\0';
    space[strlen(space + 1)] = '\0'; /* the line's end */
    assert_string_not_equal(first, space + 1);
    assert_true(strlen(strrchr(first, '.') + 1) >= 32);
    assert_string_not_equal(strrchr(first, '.'), strrchr(space + 1, '.'));
}

TEST_OF(contract, F3_what_is_no_token_is_refused)
{
    static const char *const wrong[] = { "", "x", "w.i.1.1", "w.i.1.1.", "w.i.1.1.00000000000000000000000000000000" };
    contract_start(contract, run_waiting, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_status(pawl_deferred_succeed(contract->engine, wrong[i], "1", &contract->error), PAWL_INVALID_TOKEN);
    char token[256];
    snprintf(token, sizeof token, "%s", contract->text);
    char *last = &token[strlen(token) - 1];
    *last = *last == '0' ? '1' : '0';
    assert_status(pawl_deferred_succeed(contract->engine, token, "1", &contract->error), PAWL_INVALID_TOKEN);
    contract_idle(contract);
    assert_instance(contract, PAWL_WAITING);
}

TEST_OF(contract, F3_a_token_is_worth_nothing_once_its_run_is_over)
{
    contract_start(contract, run_waiting, NULL);
    const char *old = contract->text;
    contract_control(contract, pawl_restart);
    contract_idle(contract);
    assert_string_not_equal(contract->text, old);
    assert_status(pawl_deferred_succeed(contract->engine, old, "1", &contract->error), PAWL_INVALID_TOKEN);
    contract_control(contract, pawl_terminate);
    assert_status(pawl_deferred_succeed(contract->engine, contract->text, "1", &contract->error), PAWL_INVALID_TOKEN);
}

TEST_OF(contract, F3_a_result_that_is_no_JSON_is_refused)
{
    contract_start(contract, run_waiting, NULL);
    assert_status(pawl_deferred_succeed(contract->engine, contract->text, "{", &contract->error), PAWL_INVALID_JSON);
    contract_idle(contract);
    assert_instance(contract, PAWL_WAITING);
}

BRANCH(branch_sleeps)
{
    return pawl_sleep(run, "nap", "1 hour");
}

WORKFLOW(run_race)
{
    struct pawl_branch branches[2] = { { .run = run_waiting }, { .run = branch_sleeps } };
    size_t winner;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "[i, V]", (int)winner, branches[winner].result);
}

TEST_OF(contract, F3_a_deferred_can_win_a_race_and_lose_one)
{
    contract_start(contract, run_race, NULL);
    succeed(contract, "\"\"");
    contract_idle(contract);
    assert_output(contract, "[0,\"\"]");
    contract_begin_again(contract);
    contract_start(contract, run_race, NULL);
    contract_advance(contract, "1 hour");
    assert_output(contract, "[1]");
}

BRANCH(wait_for_go)
{
    struct pawl_event event;
    return pawl_wait_for_event(run, "go", "go", "1 day", &event);
}

WORKFLOW(run_against_deferred)
{
    struct pawl_branch branches[2] = { { .run = wait_for_go }, { .run = run_waiting } };
    size_t winner;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_sleep(run, "afterwards", "1 hour");
}

TEST_OF(contract, F3_what_was_acknowledged_before_its_branch_lost_is_acknowledged_again)
{
    contract_start(contract, run_against_deferred, NULL);
    assert_ok(contract, pawl_pause(contract->engine, "w", "i", &contract->error));
    contract_send(contract, "go", NULL);
    succeed(contract, "1");
    assert_ok(contract, pawl_resume(contract->engine, "w", "i", &contract->error));
    contract_idle(contract);
    assert_string_equal(contract_step(contract, "answer").error_name, "STEP_ABANDONED");
    succeed(contract, "1");
    assert_int_equal(pawl_deferred_succeed(contract->engine, contract->text, "2", &contract->error),
                     PAWL_DEFERRED_COMPLETED);
}

/* ---- Crashes -------------------------------------------------------------------------------------------------------------------- */

BODY(tell)
{
    return pawl_deferred_succeed(pawl_step_engine(step), pawl_value_string(input, NULL, ""), "7", NULL);
}

BRANCH(branch_tells)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "tell", NULL, tell, input, NULL);
}

BRANCH(branch_waits)
{
    return pawl_await_deferred(run, "answer", "1 day", out_result);
}

WORKFLOW(run_to_be_swept)
{
    struct pawl_branch branches[2] = { { .run = branch_tells }, { .run = branch_waits } };
    const char *token;
    pawl_value *input;
    PAWL_TRY(pawl_deferred_token(run, "answer", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", token));
    branches[0].input = input;
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "V", branches[1].result);
}

TEST_OF(sweeping, F3_a_crash_anywhere_changes_nothing)
{
    sweeping_sweep_workflow(sweeping, run_to_be_swept);
    sweeping_is_clean(sweeping, "complete with 7");
}

WORKFLOW(run_waiting_for_no_time)
{
    return pawl_await_deferred(run, "gate", "0", out_result);
}

TEST_OF(contract, F3_a_timeout_of_nothing_is_refused_and_not_taken_for_none)
{
    contract_start(contract, run_waiting_for_no_time, NULL);
    assert_errored(contract, "WAIT_FOR_EVENT_TIMEOUT_RANGE",
                   "a wait for a deferred lasts 1 ms to 365 days, or has no timeout (NULL): not 0 ms");
}
