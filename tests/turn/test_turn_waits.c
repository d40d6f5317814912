/* test_turn_waits.c - engine.h driven by hand: events, logs, lanes. */
#include "kit/hand.h"

/* ---- Events and logs ------------------------------------------------------------------------------------------------------- */

TEST_BY_HAND(A9_a_wait_is_answered_by_the_oldest_event_of_its_type)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "paid", 5000, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    running_advance_ms(hand, 10);
    running_send(hand, "polled", "r", "other", "0");
    assert_null(hand_poll_with(hand, hand->runner));

    running_send(hand, "polled", "r", "paid", "1");
    running_send(hand, "polled", "r", "paid", "2");
    turn = hand_poll(hand);
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "paid", 5000, &answer), PAWL_OK);

    assert_int_equal(answer.kind, PAWL_ANSWER_DONE);
    assert_string_equal(answer.result_json, "1");
    assert_int_equal(answer.event_at_ms, START_MS + 10);
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w2", 2, "paid", 5000, &answer), PAWL_OK);
    assert_string_equal(answer.result_json, "2");
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A9_a_wait_that_times_out_is_told_as_failed)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "paid", 5000, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);

    running_advance_ms(hand, 5000);
    turn = hand_poll(hand);

    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "paid", 5000, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "WAIT_FOR_EVENT_TIMEOUT");
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A9_an_event_that_comes_during_the_turn_wins_over_the_timeout)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "paid", 5000, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    running_advance_ms(hand, 5000);
    turn = hand_poll(hand);

    running_send(hand, "polled", "r", "paid", "1"); /* sent at the last moment, seen by nobody yet */
    assert_int_equal(pawl_recall_event(pawl_turn_lane(turn), "w", 1, "paid", 5000, &answer), PAWL_OK);

    assert_int_equal(answer.kind, PAWL_ANSWER_DONE);
    assert_string_equal(answer.result_json, "1");
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A12_log_lines_are_durable_once_with_their_step_and_attempt)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_lane *lane = pawl_turn_lane(turn);
    pawl_attempt *attempt = expect_run(lane, "s");

    assert_int_equal(pawl_lane_log(lane, attempt, PAWL_LOG_WARN, "shop", "in the body", "{\"a\":1}", 7), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    (void)expect_done(lane, "s", NULL);
    assert_int_equal(pawl_lane_log(lane, NULL, PAWL_LOG_INFO, NULL, "after it", NULL, 0), PAWL_OK);
    assert_int_equal(pawl_lane_log(lane, NULL, PAWL_LOG_INFO, "system", "forged", NULL, 0), PAWL_INVALID_LOG);
    assert_int_equal(pawl_lane_log(lane, NULL, PAWL_LOG_INFO, NULL, "bad data", "{", 1), PAWL_INVALID_JSON);
    hand_finish(hand, turn, NULL);

    struct pawl_history history = running_history(hand, "polled", "r", 0);
    assert_int_equal(history.log_count, 2);
    assert_string_equal(history.logs[0].message, "in the body");
    assert_string_equal(history.logs[0].step, "s");
    assert_int_equal(history.logs[0].attempt, 1);
    assert_int_equal(history.logs[0].level, PAWL_LOG_WARN);
    assert_string_equal(history.logs[0].data_json, "{\"a\":1}");
    assert_string_equal(history.logs[1].category, "workflow");
    assert_null(history.logs[1].step);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------------------ */

struct branches {
    int calls[4];
    size_t sleeper; /* a position that sleeps before its step; SIZE_MAX: none */
};

static pawl_status branch(pawl_lane *lane, size_t position, void *user)
{
    struct branches *branches = user;
    struct pawl_answer answer;
    char name[16];
    branches->calls[position]++;
    if (position == branches->sleeper)
        PAWL_TRY(pawl_recall_sleep(lane, "nap", 3, 60000, &answer));
    snprintf(name, sizeof name, "step %zu", position);
    PAWL_TRY(recall(lane, name, &answer));
    if (answer.kind == PAWL_ANSWER_RUN)
        PAWL_TRY(pawl_attempt_complete(answer.attempt, NULL, 0));
    return position == 2 ? PAWL_FAILED : PAWL_OK;
}

TEST_BY_HAND(A11_all_branches_are_carried_past_one_that_waits)
{
    struct branches branches = { .sleeper = 0 };
    pawl_status statuses[4];
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);

    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 4, 0, branch, &branches, statuses), PAWL_SUSPENDED);
    assert_int_equal(statuses[0], PAWL_SUSPENDED);
    assert_int_equal(statuses[1], PAWL_OK);
    assert_int_equal(statuses[2], PAWL_FAILED);
    hand_suspend(hand, turn);
    assert_int_equal(running_history(hand, "polled", "r", 0).step_count, 4); /* the nap, and three steps */
    running_advance_ms(hand, 60000);
    turn = hand_poll(hand);
    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 4, 0, branch, &branches, statuses), PAWL_OK);

    assert_int_equal(statuses[0], PAWL_OK);
    assert_int_equal(statuses[2], PAWL_FAILED);
    hand_finish(hand, turn, NULL);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

TEST_BY_HAND(A11_a_limit_counts_branches_begun_and_unfinished)
{
    struct branches branches = { .sleeper = 0 };
    pawl_status statuses[4];
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);

    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 4, 1, branch, &branches, statuses), PAWL_SUSPENDED);

    assert_int_equal(branches.calls[1], 0);
    hand_suspend(hand, turn);
    running_advance_ms(hand, 60000);
    turn = hand_poll(hand);
    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 4, 1, branch, &branches, statuses), PAWL_OK);
    assert_int_equal(branches.calls[3], 1);
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(A11_the_first_branch_is_recorded_and_only_it_is_replayed)
{
    struct branches branches = { .sleeper = 0 };
    struct pawl_answer answer;
    pawl_status statuses[4];
    size_t winner = 99;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_lane_first(pawl_turn_lane(turn), "race", 4, 2, branch, &branches, &winner, statuses),
                     PAWL_OK);
    assert_int_equal(winner, 1);
    assert_int_equal(pawl_recall_sleep(pawl_turn_lane(turn), "pause", 5, 10, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    int calls_of_the_loser = branches.calls[0];

    running_advance_ms(hand, 60000); /* the loser's nap would be over by now */
    turn = hand_poll(hand);
    winner = 99;
    assert_int_equal(pawl_lane_first(pawl_turn_lane(turn), "race", 4, 2, branch, &branches, &winner, statuses),
                     PAWL_OK);

    assert_int_equal(winner, 1);
    assert_int_equal(statuses[1], PAWL_OK);
    assert_int_equal(branches.calls[0], calls_of_the_loser);
    hand_finish(hand, turn, NULL);
}
