/* Contract F4: what completed steps did is undone, in the reverse order, when the run fails or is rolled back. */
#include "kit/contract_world.h"
#include "kit/sweeping.h"

/* ---- Bodies ------------------------------------------------------------------------------------------------------------ */

/* Fails until its third attempt. */
BODY(undo_at_last)
{
    if (pawl_step_attempt(step) < 3)
        return pawl_fail(step, "NotNow", "attempt %d", (int)pawl_step_attempt(step));
    return contract_body_traces(step, input, out_result);
}

BODY(undo_never)
{
    contract_trace(pawl_step_user(step), "never; ");
    return pawl_fail_for_good(step, "Stuck", "it cannot be undone");
}

static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
static const struct pawl_compensation by_undo = { .undo = contract_body_traces };
static const struct pawl_compensation by_undo_never = { .undo = undo_never };
static const struct pawl_step_options undone = { .compensate = &by_undo };
static const struct pawl_step_options undone_never = { .compensate = &by_undo_never };

static pawl_status step_with(pawl_run *run, const char *name, const struct pawl_step_options *options)
{
    pawl_value *input;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", name));
    return pawl_do(run, name, options, contract_body_ok, input, NULL);
}

/* ---- When the run fails ------------------------------------------------------------------------------------------------- */

WORKFLOW(run_three_and_fail)
{
    PAWL_TRY(step_with(run, "a", &undone));
    PAWL_TRY(step_with(run, "plain", NULL));
    PAWL_TRY(step_with(run, "b", &undone));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    PAWL_TRY(step_with(run, " c ", &undone));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_compensations_run_in_reverse_order_when_the_run_fails)
{
    contract_start(contract, run_three_and_fail, NULL);
    assert_text(contract->trace, "");
    contract_advance(contract, "1 hour");

    assert_errored(contract, "Refused", "after all");
    assert_text(contract->trace, "compensate: c {\"input\":\" c \",\"result\":\" c \"}; "
                                 "compensate: b {\"input\":\"b\",\"result\":\"b\"}; "
                                 "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
    assert_int_equal(contract_step(contract, "compensate: a").status, PAWL_STEP_COMPLETED);
    assert_false(contract_has_step(contract, "compensate: plain"));
    assert_int_equal(contract->bodies, 4);
}

WORKFLOW(run_failing_step)
{
    static const struct pawl_step_options failing = { .retries = PAWL_NO_RETRIES, .compensate = &by_undo };
    PAWL_TRY(step_with(run, "a", &undone));
    return pawl_do(run, "b", &failing, contract_body_fails, NULL, NULL);
}

TEST_OF(contract, F4_a_step_that_failed_is_not_undone_those_before_it_are)
{
    contract_start(contract, run_failing_step, NULL);
    assert_errored(contract, "Broken", "attempt 1");
    assert_text(contract->trace, "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
    assert_false(contract_has_step(contract, "compensate: b"));
}

WORKFLOW(run_handling_failure)
{
    PAWL_TRY(step_with(run, "a", &undone));
    pawl_status status = pawl_do(run, "b", &once, contract_body_fails, NULL, NULL);
    if (status == PAWL_SUSPENDED)
        return status;
    return pawl_return(run, out_result, "s", status == PAWL_FAILED ? "handled" : "?");
}

TEST_OF(contract, F4_a_failure_that_the_workflow_handles_undoes_nothing)
{
    contract_start(contract, run_handling_failure, NULL);
    assert_output(contract, "\"handled\"");
    assert_text(contract->trace, "");
}

/* ---- Races ----------------------------------------------------------------------------------------------------------- */

BRANCH(branch_that_loses)
{
    PAWL_TRY(step_with(run, "loser", &undone));
    return pawl_sleep(run, "long", "1 day");
}

BRANCH(branch_that_wins)
{
    PAWL_TRY(pawl_sleep(run, "short", "1 hour"));
    return step_with(run, "winner", &undone);
}

WORKFLOW(run_race_and_fail)
{
    struct pawl_branch branches[] = { { .run = branch_that_loses }, { .run = branch_that_wins } };
    PAWL_TRY(pawl_first(run, "race", branches, 2, NULL));
    if (pawl_value_bool(params, NULL, false)) /* another turn, which calls the winner alone */
        PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_what_lost_a_race_is_undone_too_whether_the_run_fails_at_once_or_later)
{
    for (int later = 0; later < 2; later++) {
        contract_begin_again(contract);
        contract_start(contract, run_race_and_fail, later ? "true" : "false");
        contract_advance(contract, "2 hours");
        contract_advance(contract, "2 hours");
        assert_errored(contract, "Refused", "after all");
        assert_text(contract->trace, "compensate: winner {\"input\":\"winner\",\"result\":\"winner\"}; "
                                     "compensate: loser {\"input\":\"loser\",\"result\":\"loser\"}; ");
    }
}

BODY(create_another)
{
    return pawl_step_create(step, "other", NULL, NULL); /* so that the step is told only once it is durable */
}

BRANCH(branch_that_creates)
{
    return pawl_do(run, "creates", &undone, create_another, input, out_result);
}

BODY(fail_for_good)
{
    return pawl_fail_for_good(step, "Broken", "at once");
}

BRANCH(branch_that_fails)
{
    return pawl_do(run, "fails", NULL, fail_for_good, input, out_result);
}

WORKFLOW(run_race_to_failure)
{
    struct pawl_branch branches[] = { { .run = branch_that_creates }, { .run = branch_that_fails } };
    pawl_status status = pawl_first(run, "race", branches, 2, NULL);
    return status == PAWL_OK || status == PAWL_FAILED ? pawl_run_fail(run, "Refused", "after all") : status;
}

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

TEST_OF(contract, F4_what_a_loser_did_is_undone_though_it_was_cut_short_before_it_was_told)
{
    contract_register(contract, "other", run_nothing);
    contract_start(contract, run_race_to_failure, NULL);
    assert_errored(contract, "Refused", "after all");
    assert_text(contract->trace, "compensate: creates {}; ");
}

/* ---- Its input ------------------------------------------------------------------------------------------------------------ */

BODY(give_text)
{
    const struct contract *contract = pawl_step_user(step);
    return contract->text == NULL
               ? PAWL_OK
               : pawl_value_parse(pawl_step_scope(step), contract->text, strlen(contract->text), out_result, NULL);
}

WORKFLOW(run_one_and_fail)
{
    PAWL_TRY(pawl_do(run, "a", &undone, give_text, params, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_input_and_result_are_handed_on_as_they_were_and_what_is_absent_is_left_out)
{
    for (size_t i = 0; i < CONTRACT_DISTINCT_COUNT; i++) {
        for (size_t j = 0; j < CONTRACT_DISTINCT_COUNT; j++) {
            char expected[120], input[40] = "", result[40] = "";
            contract_begin_again(contract);
            contract->text = contract_distinct[j];
            contract_start(contract, run_one_and_fail, contract_distinct[i]);
            if (contract_distinct[i] != NULL)
                snprintf(input, sizeof input, "\"input\":%s", contract_distinct[i]);
            if (contract_distinct[j] != NULL)
                snprintf(result, sizeof result, "\"result\":%s", contract_distinct[j]);
            snprintf(expected, sizeof expected, "compensate: a {%s%s%s}; ", input,
                     input[0] != '\0' && result[0] != '\0' ? "," : "", result);
            assert_text(contract->trace, expected);
        }
    }
}

/* ---- Branches --------------------------------------------------------------------------------------------------------- */

BRANCH(branch_after_nap)
{
    const char *name = pawl_value_string(input, NULL, "");
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s naps", name), name));
    return step_with(run, name, &undone);
}

WORKFLOW(run_branches_and_fail)
{
    static const char *const naps[] = { "3 hours", "1 hour", "2 hours" };
    struct pawl_branch branches[3];
    for (size_t i = 0; i < 3; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "s", naps[i]));
        branches[i] = (struct pawl_branch){ .run = branch_after_nap, .input = input };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 3, 0));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_steps_of_branches_are_undone_in_the_reverse_order_of_their_completion)
{
    contract_start(contract, run_branches_and_fail, NULL);
    contract_advance(contract, "4 hours");
    assert_errored(contract, "Refused", NULL);
    assert_text(contract->trace, "compensate: 3 hours {\"input\":\"3 hours\",\"result\":\"3 hours\"}; "
                                 "compensate: 2 hours {\"input\":\"2 hours\",\"result\":\"2 hours\"}; "
                                 "compensate: 1 hour {\"input\":\"1 hour\",\"result\":\"1 hour\"}; ");
}

WORKFLOW(run_step_twice_and_fail)
{
    PAWL_TRY(step_with(run, "a", &undone));
    PAWL_TRY(step_with(run, "b", &undone));
    PAWL_TRY(step_with(run, "a", &undone)); /* answered from history */
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_a_step_that_was_asked_for_twice_is_undone_once)
{
    contract_start(contract, run_step_twice_and_fail, NULL);
    assert_text(contract->trace, "compensate: b {\"input\":\"b\",\"result\":\"b\"}; "
                                 "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
}

/* ---- Its attempts ------------------------------------------------------------------------------------------------------ */

WORKFLOW(run_retried_undo)
{
    static const struct pawl_step_options patient = { .retries = 2,
                                                      .delay = "1 hour",
                                                      .backoff = PAWL_BACKOFF_CONSTANT };
    static const struct pawl_compensation patiently = { .undo = undo_at_last, .options = &patient };
    static const struct pawl_step_options undone_patiently = { .retries = PAWL_NO_RETRIES, .compensate = &patiently };
    PAWL_TRY(step_with(run, "a", &undone));
    PAWL_TRY(step_with(run, "b", &undone_patiently));
    PAWL_TRY(step_with(run, "c", &undone));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_a_compensation_is_tried_again_as_its_own_options_say)
{
    contract_start(contract, run_retried_undo, NULL);
    assert_instance(contract, PAWL_WAITING);
    assert_text(contract->trace, "compensate: c {\"input\":\"c\",\"result\":\"c\"}; ");
    contract_advance(contract, "59 minutes");
    assert_int_equal(contract_step(contract, "compensate: b").attempts, 1);
    contract_advance(contract, "2 hours");

    assert_errored(contract, "Refused", "after all");
    assert_int_equal(contract_step(contract, "compensate: b").attempts, 3);
    assert_text(contract->trace, "compensate: c {\"input\":\"c\",\"result\":\"c\"}; "
                                 "compensate: b {\"input\":\"b\",\"result\":\"b\"}; "
                                 "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
    assert_int_equal(contract->bodies, 3);
}

WORKFLOW(run_undo_fails)
{
    PAWL_TRY(step_with(run, "a", &undone));
    PAWL_TRY(step_with(run, "b", &undone_never));
    PAWL_TRY(step_with(run, "c", &undone));
    if (pawl_value_bool(params, NULL, false))
        PAWL_TRY(pawl_sleep(run, "nap", "1 day"));
    return pawl_run_fail(run, "Refused", "after all");
}

static bool has_error_line(struct contract *contract, const char *word)
{
    struct pawl_history history = contract_history(contract, 0);
    for (size_t i = 0; i < history.log_count; i++) {
        const struct pawl_log_record *line = &history.logs[i];
        if (line->level == PAWL_LOG_ERROR && strcmp(line->category, "workflow") == 0 &&
            strstr(line->message, word) != NULL)
            return true;
    }
    return false;
}

TEST_OF(contract, F4_a_compensation_that_fails_for_good_is_logged_and_the_others_still_run)
{
    contract_start(contract, run_undo_fails, NULL);
    assert_errored(contract, "Refused", "after all");
    assert_text(contract->trace, "compensate: c {\"input\":\"c\",\"result\":\"c\"}; never; "
                                 "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
    assert_true(has_error_line(contract, "step \"compensate: b\" failed for good: Stuck: it cannot be undone"));
}

/* ---- Rollback ----------------------------------------------------------------------------------------------------------- */

TEST_OF(contract, F4_terminate_with_rollback_undoes_and_ends_as_terminated_without_an_error)
{
    contract_start(contract, run_three_and_fail, NULL);
    contract_control(contract, pawl_terminate_with_rollback);
    contract_idle(contract);

    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.status, PAWL_TERMINATED);
    assert_text(instance.error_name, NULL);
    assert_text(contract->trace, "compensate: b {\"input\":\"b\",\"result\":\"b\"}; "
                                 "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
}

TEST_OF(contract, F4_a_rollback_that_cannot_undo_all_ends_with_COMPENSATION_FAILED)
{
    contract_start(contract, run_undo_fails, "true");
    contract_control(contract, pawl_terminate_with_rollback);
    contract_idle(contract);

    struct pawl_instance instance = contract_get(contract);
    assert_int_equal(instance.status, PAWL_TERMINATED);
    assert_text(instance.error_name, "COMPENSATION_FAILED");
    assert_says(instance.error_message, "compensate: b");
    assert_says(contract->trace, "compensate: a ");
}

/* ---- Names, limits, misuse ---------------------------------------------------------------------------------------------- */

enum { LONGEST = 256 };

static const char *long_name(pawl_run *run, char last)
{
    char *name = contract_long_text(pawl_run_scope(run), LONGEST);
    if (name != NULL)
        name[LONGEST - 1] = last;
    return name;
}

WORKFLOW(run_long_names)
{
    PAWL_TRY(step_with(run, long_name(run, 'y'), &undone));
    PAWL_TRY(step_with(run, long_name(run, 'z'), &undone));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, F4_the_longest_step_names_are_undone_under_names_of_their_own)
{
    size_t undos = 0;
    contract_start(contract, run_long_names, NULL);
    assert_errored(contract, "Refused", NULL);
    struct pawl_history history = contract_history(contract, 0);
    for (size_t i = 0; i < history.step_count; i++) {
        assert_int_equal(strlen(history.steps[i].name), LONGEST);
        assert_int_equal(history.steps[i].state, PAWL_STATE_COMPLETED);
        undos += strncmp(history.steps[i].name, "compensate: ", strlen("compensate: ")) == 0;
    }
    assert_null(history.steps[0].undoes);
    assert_text(history.steps[2].undoes, history.steps[1].name); /* the newest first */
    assert_text(history.steps[3].undoes, history.steps[0].name);
    assert_int_equal(history.step_count, 4);
    assert_int_equal(undos, 2);
}

TEST_OF(contract, F4_a_run_that_met_its_limit_of_steps_is_undone_all_the_same)
{
    contract_open_with(contract, (struct pawl_limits){ .steps_max = 2 }, 1);
    contract_start(contract, run_three_and_fail, NULL);
    assert_errored(contract, "MAX_STEPS_EXCEEDED", NULL);
    assert_text(contract->trace, "compensate: a {\"input\":\"a\",\"result\":\"a\"}; ");
}

WORKFLOW(run_with_options)
{
    const struct contract *contract = pawl_run_user(run);
    return pawl_do(run, "a", contract->options, contract_body_ok, params, NULL);
}

TEST_OF(contract, F4_a_compensation_needs_a_function_and_is_not_compensated_itself)
{
    static const struct pawl_compensation nothing = { .undo = NULL };
    static const struct pawl_compensation chained = { .undo = contract_body_traces, .options = &undone };
    static const struct pawl_step_options hasty = { .delay = "soon" };
    static const struct pawl_compensation hastily = { .undo = contract_body_traces, .options = &hasty };
    static const struct {
        struct pawl_step_options options;
        const char *error, *word;
    } cases[] = { { { .compensate = &nothing }, "INVALID", "function" },
                  { { .compensate = &chained }, "INVALID", "itself" },
                  { { .compensate = &hastily }, "INVALID_DURATION", "soon" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        contract_begin_again(contract);
        contract->options = &cases[i].options;
        contract_start(contract, run_with_options, NULL);
        assert_errored(contract, cases[i].error, NULL);
        assert_says(contract_get(contract).error_message, cases[i].word);
        assert_int_equal(contract->bodies, 0);
    }
}

/* Every durable call that takes a name. */
WORKFLOW(run_with_reserved_names)
{
    static const char name[] = "  compensate: a ";
    struct pawl_branch branches[1] = { { .run = branch_that_wins } };
    const char *text;
    const pawl_status said[] = {
        pawl_do(run, name, &undone, contract_body_ok, NULL, NULL),
        pawl_sleep(run, name, "1 hour"),
        pawl_sleep_until(run, name, 1),
        pawl_wait_for_event(run, name, "go", NULL, NULL),
        pawl_call(run, name, "f", NULL, NULL, NULL),
        pawl_start_child(run, name, "w", NULL, NULL, &text),
        pawl_await_child(run, name, "w", "x", NULL),
        pawl_run_child(run, name, "w", NULL, NULL, NULL),
        pawl_deferred_token(run, name, &text),
        pawl_await_deferred(run, name, NULL, NULL),
        pawl_first(run, name, branches, 1, NULL),
        pawl_first(run, NULL, branches, 1, NULL), /* which is no name at all */
    };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (said[i] != PAWL_INVALID_STEP_NAME)
            contract_trace(pawl_run_user(run), "call %zu said %s; ", i, pawl_status_name(said[i]));
    PAWL_TRY(step_with(run, "compensate:", &undone)); /* is not one of them, and neither is this */
    PAWL_TRY(step_with(run, "to compensate: a", NULL));
    PAWL_TRY(pawl_do(run, "compensate: a", NULL, contract_body_ok, NULL, out_result));
    return PAWL_OK;
}

TEST_OF(contract, F4_the_names_of_compensations_are_no_names_for_other_steps)
{
    contract_start(contract, run_with_reserved_names, NULL);
    assert_errored(contract, "INVALID_STEP_NAME", NULL);
    assert_says(contract_get(contract).error_message, "must not begin with \"compensate: \"");
    assert_text(contract->trace, "compensate: compensate: {\"input\":\"compensate:\",\"result\":\"compensate:\"}; ");
    assert_int_equal(contract->bodies, 2);
}

TEST_OF(contract, F4_the_defaults_of_a_workflow_carry_no_compensation)
{
    struct pawl_workflow workflow = { .name = "w", .run = run_with_options, .steps = &undone };
    assert_status(pawl_register(contract->engine, &workflow, &contract->error), PAWL_INVALID);
    assert_says(contract->error.text, "compensation");
}

/* ---- What a branch did that lost a race ---------------------------------------------------------------------------- */

BRANCH(reserve_and_wait)
{
    PAWL_TRY(pawl_do(run, "reserve", &undone, contract_body_ok, input, NULL));
    PAWL_TRY(pawl_sleep(run, "long", "1 hour"));
    return pawl_do(run, "never", &undone, contract_body_ok, input, NULL);
}

BRANCH(pay_and_wait)
{
    PAWL_TRY(pawl_sleep(run, "short", "1 minute"));
    return pawl_do(run, "pay", &undone, contract_body_ok, input, NULL);
}

/* Fails in the pass that decides the race or, when the fixture's number says so, in a later one. */
WORKFLOW(run_race_then_fail)
{
    const struct contract *contract = pawl_run_user(run);
    struct pawl_branch branches[] = { { .run = reserve_and_wait }, { .run = pay_and_wait } };
    size_t winner = 99;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    if (contract->number != 0)
        PAWL_TRY(pawl_sleep(run, "later", "1 minute"));
    return pawl_run_fail(run, "Refused", "branch %d was first", (int)winner);
}

/* A replay carries only the branch that won: whether the other one's steps were undone hung on whether there was one. */
TEST_OF(contract, what_the_loser_of_a_race_had_completed_is_undone_in_whichever_pass_the_run_fails)
{
    for (int64_t later = 0; later < 2; later++) {
        contract_begin_again(contract);
        contract->number = later;
        contract_start(contract, run_race_then_fail, NULL);
        contract_advance(contract, "2 hours");
        assert_errored(contract, "Refused", "branch 1 was first");
        assert_text(contract->trace, "compensate: pay {}; compensate: reserve {}; ");
        assert_false(contract_has_step(contract, "never"));
    }
}

/* ---- When the clock was set back --------------------------------------------------------------------------------------- */

WORKFLOW(run_two_and_fail)
{
    PAWL_TRY(pawl_do(run, "one", &undone, contract_body_ok, NULL, NULL));
    PAWL_TRY(pawl_wait_for_event(run, "go", "go", "1 day", NULL));
    PAWL_TRY(pawl_do(run, "two", &undone, contract_body_ok, NULL, NULL));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(contract, what_was_done_last_is_undone_first_although_the_clock_was_set_back)
{
    contract_start(contract, run_two_and_fail, NULL);
    contract_jump(contract, -HOUR_MS);
    contract_send(contract, "go", NULL);
    contract_idle(contract);
    contract_advance(contract, "2 hours");
    assert_errored(contract, "Refused", "after all");
    assert_text(contract->trace, "compensate: two {}; compensate: one {}; ");
}

/* ---- What was abandoned, in a run that begins in the middle of the race ---------------------------------------------------- */

BRANCH(wait_long)
{
    return pawl_sleep(run, "long", "1 hour");
}

BRANCH(work_twice)
{
    PAWL_TRY(pawl_do(run, "one", NULL, contract_body_ok, input, NULL));
    PAWL_TRY(pawl_sleep(run, "short", "1 minute"));
    return pawl_do(run, "two", NULL, contract_body_ok, input, out_result);
}

WORKFLOW(run_race)
{
    struct pawl_branch branches[] = { { .run = wait_long }, { .run = work_twice } };
    size_t winner;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "i", (int)winner);
}

/* The wait that had lost was kept as failed, so it was over at once, and won. */
TEST_OF(contract, what_lost_a_race_is_not_kept_in_a_run_that_runs_the_race_again)
{
    contract_start(contract, run_race, NULL);
    contract_advance(contract, "1 minute");
    assert_output(contract, "1");
    assert_ok(contract, pawl_restart_from(contract->engine, "w", "i", "two", &contract->error));
    contract_idle(contract);
    contract_advance(contract, "2 hours");
    assert_output(contract, "1");
    assert_int_equal(contract->bodies, 3);
}

/* ---- Crashes ------------------------------------------------------------------------------------------------------------- */

BODY(quietly)
{
    return pawl_result(step, out_result, "V", input);
}

BODY(fail_once)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "NotNow", "again");
    return pawl_result(step, out_result, "V", input);
}

BRANCH(sweep_branch)
{
    static const struct pawl_compensation patiently = { .undo = fail_once };
    static const struct pawl_step_options options = { .compensate = &patiently };
    const char *name = pawl_value_string(input, NULL, "");
    return pawl_do(run, name, &options, sweeping_plain, input, out_result);
}

WORKFLOW(run_to_be_swept)
{
    static const struct pawl_compensation quiet = { .undo = quietly };
    static const struct pawl_step_options options = { .compensate = &quiet };
    struct pawl_branch branches[2] = { { .run = sweep_branch }, { .run = sweep_branch } };
    pawl_value *names[2];
    PAWL_TRY(pawl_do(run, "first", &options, sweeping_plain, NULL, NULL));
    for (size_t i = 0; i < 2; i++) {
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &names[i], "s", i == 0 ? "left" : "right"));
        branches[i].input = names[i];
    }
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_run_fail(run, "Refused", "after all");
}

TEST_OF(sweeping, F4_a_crash_anywhere_changes_nothing_and_undoes_nothing_twice)
{
    sweeping_sweep_workflow(sweeping, run_to_be_swept);
    sweeping_is_clean(sweeping, "errored with Refused");
}
