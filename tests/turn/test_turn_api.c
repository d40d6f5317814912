/* test_turn_api.c - engine.h driven by hand: steps, suspension, changes registered in a step. */
#include "kit/hand.h"

/* ---- Steps -------------------------------------------------------------------------------------------------------------- */

TEST_BY_HAND(a_turn_knows_its_run)
{
    struct pawl_turn_info info;
    running_create_with(hand, "polled", "r", "{\"n\":1}");
    running_advance_ms(hand, 5);

    pawl_turn *turn = hand_poll(hand);
    pawl_turn_describe(turn, &info);

    assert_string_equal(info.workflow, "polled");
    assert_string_equal(info.instance_id, "r");
    assert_int_equal(info.run_number, 1);
    assert_int_equal(info.created_at_ms, START_MS);
    assert_string_equal(info.params_json, "{\"n\":1}");
    assert_int_equal(info.params_size, strlen("{\"n\":1}"));
    assert_true(info.is_first);
    assert_false(info.is_again);
    assert_ptr_equal(pawl_turn_engine(turn), hand->engine);
    hand_finish(hand, turn, NULL);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
    assert_null(running_get(hand, "polled", "r").output_json);
}

TEST_BY_HAND(A3_a_completed_step_is_answered_from_history_in_later_turns)
{
    struct pawl_answer answer;
    struct pawl_turn_info info;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), " charge ");
    assert_int_equal(pawl_attempt_number(attempt), 1);
    assert_int_equal(pawl_attempt_deadline_ms(attempt), START_MS + 600000);
    assert_false(pawl_attempt_cancelled(attempt));
    assert_int_equal(pawl_attempt_complete(attempt, "{\"ok\":true}", strlen("{\"ok\":true}")), PAWL_OK);
    answer = expect_done(pawl_turn_lane(turn), "charge", "{\"ok\":true}");
    assert_true(answer.is_new);
    assert_false(answer.is_replay);
    assert_int_equal(pawl_recall_sleep(pawl_turn_lane(turn), "nap", 3, 60000, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_WAITING);
    assert_null(hand_poll_with(hand, hand->runner));

    running_advance_ms(hand, 60000);
    turn = hand_poll(hand);
    pawl_turn_describe(turn, &info);
    answer = expect_done(pawl_turn_lane(turn), "charge", "{\"ok\":true}");

    assert_false(info.is_first);
    assert_true(answer.is_replay);
    assert_int_equal(pawl_recall_sleep(pawl_turn_lane(turn), "nap", 3, 60000, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_DONE);
    hand_finish(hand, turn, "[1]");
    assert_string_equal(running_get(hand, "polled", "r").output_json, "[1]");
    assert_int_equal(running_history(hand, "polled", "r", 0).step_count, 2);
}

TEST_BY_HAND(no_result_and_null_are_two_results)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_lane *lane = pawl_turn_lane(turn);

    assert_int_equal(pawl_attempt_complete(expect_run(lane, "none"), NULL, 0), PAWL_OK);
    run_step(lane, "null", "null");

    (void)expect_done(lane, "none", NULL);
    (void)expect_done(lane, "null", "null");
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A5_a_failed_attempt_is_tried_again_when_its_delay_is_over)
{
    const struct pawl_policy policy = { 1, 500, PAWL_BACKOFF_CONSTANT, 1000, NULL, NULL };
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_fail(answer.attempt, "Oops", "once", true), PAWL_OK);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    assert_int_equal(running_get(hand, "polled", "r").current_step->next_retry_at_ms, START_MS + 500);
    running_advance_ms(hand, 499);
    assert_null(hand_poll_with(hand, hand->runner));

    running_advance_ms(hand, 1);
    turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_number(answer.attempt), 2);
    assert_int_equal(pawl_attempt_fail(answer.attempt, "Oops", "twice", true), PAWL_OK);

    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "Oops");
    assert_string_equal(answer.error_message, "twice");
    pawl_turn_fail(turn, answer.error_name, answer.error_message);
    hand_done_with(hand, hand->runner, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_ERRORED);
    assert_string_equal(running_get(hand, "polled", "r").error_message, "twice");
}

TEST_BY_HAND(A6_a_failure_for_good_is_not_tried_again)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);

    assert_int_equal(pawl_attempt_fail(expect_run(pawl_turn_lane(turn), "s"), "Declined", "no", false), PAWL_OK);

    assert_int_equal(recall(pawl_turn_lane(turn), "s", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    hand_finish(hand, turn, "\"handled\"");
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

TEST_BY_HAND(A7_what_is_handed_in_past_the_deadline_is_a_timeout)
{
    const struct pawl_policy policy = { 0, 500, PAWL_BACKOFF_CONSTANT, 700, NULL, NULL };
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    pawl_attempt *attempt = answer.attempt;

    running_advance_ms(hand, 701);
    assert_true(pawl_attempt_cancelled(attempt));
    assert_int_equal(pawl_attempt_complete(attempt, "1", 1), PAWL_OK);

    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "STEP_TIMEOUT");
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A3_wrong_names_and_kinds_are_refused_with_a_text)
{
    char long_name[257];
    struct pawl_answer answer;
    memset(long_name, 'x', sizeof long_name);
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_lane *lane = pawl_turn_lane(turn);

    assert_int_equal(recall(lane, "  ", &answer), PAWL_INVALID_STEP_NAME);
    assert_int_equal(recall(lane, "\xff", &answer), PAWL_INVALID_STEP_NAME);
    assert_int_equal(pawl_recall_step(lane, long_name, 257, NULL, &answer), PAWL_INVALID_STEP_NAME);
    assert_string_not_equal(pawl_lane_error(lane), "");
    run_step(lane, "s", "1");
    assert_int_equal(pawl_recall_sleep(lane, "s", 1, 1, &answer), PAWL_STEP_TYPE_MISMATCH);
    assert_non_null(strstr(pawl_lane_error(lane), "\"s\""));
    assert_int_equal(pawl_recall_sleep(lane, "n", 1, -1, &answer), PAWL_SLEEP_RANGE);
    assert_int_equal(pawl_recall_event(lane, "e", 1, "t", 999, &answer), PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE);
    assert_int_equal(pawl_recall_event(lane, "e", 1, "-t", 1000, &answer), PAWL_INVALID_EVENT_TYPE);

    hand_finish(hand, turn, NULL); /* none of them has spoiled the turn */
    assert_int_equal(running_history(hand, "polled", "r", 0).step_count, 1);
}

TEST_BY_HAND(A3_an_unfinished_step_called_again_is_a_duplicate)
{
    struct pawl_answer answer = { .kind = PAWL_ANSWER_DONE };
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "s");

    pawl_status status = recall(pawl_turn_lane(turn), "s", &answer);

    if (status == PAWL_OK && answer.kind == PAWL_ANSWER_RUN) /* so that nothing leaks when this fails */
        (void)!pawl_attempt_complete(answer.attempt, NULL, 0);
    (void)!pawl_attempt_complete(attempt, NULL, 0);
    hand_finish(hand, turn, NULL);
    assert_int_equal(status, PAWL_DUPLICATE_STEP_KEY);
}

TEST_BY_HAND(A16_a_definitions_own_limits_hold)
{
    struct pawl_answer answer;
    char large[100] = "\"";
    memset(large + 1, 'x', 97);
    large[98] = '"';
    running_create_with(hand, "small", "r", NULL);
    pawl_turn *turn = hand_poll(hand);
    pawl_lane *lane = pawl_turn_lane(turn);

    assert_int_equal(pawl_attempt_complete(expect_run(lane, "large"), large, 99), PAWL_OK);
    assert_int_equal(recall(lane, "large", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "PAYLOAD_TOO_LARGE");
    run_step(lane, "two", "2");
    assert_int_equal(recall(lane, "three", &answer), PAWL_MAX_STEPS_EXCEEDED);
    assert_int_equal(pawl_recall_sleep(lane, "a sleep is no step", 18, 0, &answer), PAWL_OK);
    pawl_turn_finish(turn, large, 99);
    hand_done_with(hand, hand->runner, turn);

    struct pawl_instance instance;
    assert_ok(pawl_get(hand->engine, hand->scope, "small", "r", &instance, &hand->error), hand->error);
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, "PAYLOAD_TOO_LARGE");
}

/* ---- Suspension ----------------------------------------------------------------------------------------------------------- */

TEST_BY_HAND(suspension_is_sticky_for_the_lane)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_lane *lane = pawl_turn_lane(turn);
    assert_int_equal(pawl_recall_sleep(lane, "nap", 3, 60000, &answer), PAWL_SUSPENDED);

    assert_int_equal(recall(lane, "later", &answer), PAWL_SUSPENDED);
    assert_int_equal(pawl_recall_event(lane, "event", 5, "t", 1000, &answer), PAWL_SUSPENDED);
    assert_int_equal(pawl_recall_sleep(lane, "nap", 3, 60000, &answer), PAWL_SUSPENDED);
    assert_int_equal(pawl_lane_log(lane, NULL, PAWL_LOG_INFO, NULL, "unheard", NULL, 0), PAWL_SUSPENDED);
    hand_finish(hand, turn, "\"too soon\""); /* a binding that forgot to unwind */

    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_WAITING);
    assert_int_equal(running_history(hand, "polled", "r", 0).step_count, 1);
    assert_int_equal(running_history(hand, "polled", "r", 0).log_count, 0);
}

TEST_BY_HAND(a_turn_that_is_not_ended_fails_its_run)
{
    running_create(hand, "polled", "r");

    hand_done_with(hand, hand->runner, hand_poll(hand));

    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_ERRORED);
    assert_string_equal(running_get(hand, "polled", "r").error_name, "TURN_NOT_ENDED");
}

TEST_BY_HAND(a_turn_that_is_ended_twice_has_one_outcome)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);

    pawl_turn_finish(turn, "1", 1);
    pawl_turn_fail(turn, "Second", "thoughts");
    hand_done_with(hand, hand->runner, turn);

    struct pawl_instance instance = running_get(hand, "polled", "r");
    bool first = instance.status == PAWL_COMPLETE && instance.error_name == NULL;
    bool second = instance.status == PAWL_ERRORED && instance.output_json == NULL;
    assert_true(first || second);
    assert_null(hand_poll_with(hand, hand->runner));
}

TEST_BY_HAND(a_turn_suspended_for_nothing_comes_again_but_not_at_once)
{
    running_create(hand, "polled", "r");
    hand_suspend(hand, hand_poll(hand));

    assert_null(hand_poll_with(hand, hand->runner));
    running_advance_ms(hand, 1000);
    hand_finish(hand, hand_poll(hand), NULL);

    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* A runner that replays after every commit asks for another pass where others would just go on. */
TEST_BY_HAND(a_turn_that_waited_for_a_commit_is_driven_once_more_from_the_top)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_answer answer;
    pawl_runner *runner;
    bool again = false;
    options.always_replay = true;
    assert_ok(pawl_runner_open(hand->engine, &options, &runner, &hand->error), hand->error);
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll_with(hand, runner);
    assert_int_equal(pawl_attempt_complete(expect_run(pawl_turn_lane(turn), "one"), "1", 1), PAWL_OK);
    assert_int_equal(recall(pawl_turn_lane(turn), "two", &answer), PAWL_SUSPENDED);
    pawl_turn_suspend(turn);

    assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);

    assert_true(again);
    (void)expect_done(pawl_turn_lane(turn), "one", "1");
    pawl_turn_finish(turn, NULL, 0);
    hand_done_with(hand, runner, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
    pawl_runner_close(runner);
}

TEST_BY_HAND(an_attempt_that_outlives_its_turn_is_dropped)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "s");
    hand_suspend(hand, turn);

    assert_int_not_equal(pawl_attempt_complete(attempt, "\"late\"", strlen("\"late\"")), PAWL_OK);

    running_advance_ms(hand, 1000);
    turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "s", "\"again\"");
    hand_finish(hand, turn, NULL);
    assert_string_equal(running_history(hand, "polled", "r", 0).steps[0].result_json, "\"again\"");
}

/* ---- Changes registered in a step ---------------------------------------------------------------------------------------- */

struct calls {
    enum test_store store;
    int count;
};

static pawl_status count_call(void *connection, const void *data, size_t size)
{
    struct calls *calls;
    assert_int_equal(size, sizeof calls);
    memcpy(&calls, data, sizeof calls);
    calls->count++;
    return store_connection_execute(calls->store, connection, "CREATE TABLE IF NOT EXISTS app (n INTEGER UNIQUE)")
               ? PAWL_OK
               : PAWL_STEP_MUTATION_FAILED;
}

TEST_BY_HAND(A13_changes_run_once_with_success_and_not_with_a_failed_attempt)
{
    const struct pawl_policy policy = { 3, 10, PAWL_BACKOFF_CONSTANT, 1000, NULL, NULL };
    struct pawl_answer answer;
    struct calls calls = { hand->place.store, 0 }, *where = &calls;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_mutate(answer.attempt, PAWL_WITH_SUCCESS, count_call, &where, sizeof where), PAWL_OK);
    assert_int_equal(pawl_attempt_fail(answer.attempt, "No", "", true), PAWL_OK);
    hand_suspend(hand, turn);
    running_advance_ms(hand, 1000);
    assert_int_equal(calls.count, 0);

    turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_mutate(answer.attempt, PAWL_WITH_SUCCESS, count_call, &where, sizeof where), PAWL_OK);
    assert_int_equal(pawl_attempt_sql(answer.attempt, PAWL_WITH_SUCCESS, "INSERT INTO app VALUES ($1)", "[7]", 3),
                     PAWL_OK);
    assert_int_equal(pawl_attempt_complete(answer.attempt, "1", 1), PAWL_OK);
    (void)expect_done(pawl_turn_lane(turn), "s", "1");
    pawl_attempt *again = expect_run(pawl_turn_lane(turn), "again");
    assert_int_equal(pawl_attempt_sql(again, PAWL_WITH_SUCCESS, "INSERT INTO app VALUES (7)", NULL, 0), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(again, NULL, 0), PAWL_OK);

    assert_int_equal(recall(pawl_turn_lane(turn), "again", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "STEP_UNIQUE_CONSTRAINT_VIOLATION");
    assert_int_equal(calls.count, 1);
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A13_a_step_creates_a_run_and_sends_it_an_event_with_its_completion)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "parent");
    pawl_turn *turn = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "make");
    assert_int_equal(pawl_attempt_create(attempt, "polled", "child", "[1]", 3), PAWL_OK);
    struct pawl_instance child;
    assert_int_equal(pawl_get(hand->engine, hand->scope, "polled", "child", &child, NULL), PAWL_INSTANCE_NOT_FOUND);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    (void)expect_done(pawl_turn_lane(turn), "make", NULL);
    attempt = expect_run(pawl_turn_lane(turn), "tell");
    assert_int_equal(pawl_attempt_send_event(attempt, "polled", "child", "go", "2", 1), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    (void)expect_done(pawl_turn_lane(turn), "tell", NULL);
    hand_finish(hand, turn, NULL);

    turn = hand_poll(hand);
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "go", 1000, &answer), PAWL_OK);
    assert_string_equal(answer.result_json, "2");
    hand_finish(hand, turn, NULL);

    assert_int_equal(running_get(hand, "polled", "child").status, PAWL_COMPLETE);
}
