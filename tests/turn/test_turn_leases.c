/* test_turn_leases.c - engine.h driven by hand: lost leases, control from outside, other runners. */
#include "kit/hand.h"

#include "engine/engine.h"
#include "turn/inside.h"

/* ---- Leases ------------------------------------------------------------------------------------------------------------------ */

TEST_BY_HAND(C1_a_run_is_handed_to_one_of_two_polling_runners)
{
    pawl_turn *turns[3];
    struct pawl_turn_info first, second;
    running_create(hand, "polled", "a");
    running_create(hand, "polled", "b");

    turns[0] = hand_poll_with(hand, hand->runner);
    turns[1] = hand_poll_with(hand, hand->other);
    turns[2] = hand_poll_with(hand, hand->runner);

    assert_null(turns[2]);
    pawl_turn_describe(turns[0], &first);
    pawl_turn_describe(turns[1], &second);
    assert_string_not_equal(first.instance_id, second.instance_id);
    hand_finish(hand, turns[0], NULL);
    pawl_turn_finish(turns[1], NULL, 0);
    hand_done_with(hand, hand->other, turns[1]);
}

TEST_BY_HAND(C1_after_a_lost_lease_nothing_is_recorded)
{
    struct pawl_answer answer;
    bool again = true;
    running_create(hand, "polled", "r");
    pawl_turn *lost = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(lost), "s");
    pawl_turn *turn = hand_take_over(hand);

    (void)!pawl_attempt_complete(attempt, "\"lost\"", strlen("\"lost\""));
    if (recall(pawl_turn_lane(lost), "s", &answer) == PAWL_OK) { /* taken, but not durable yet */
        assert_int_equal(answer.kind, PAWL_ANSWER_DONE);
        assert_int_equal(recall(pawl_turn_lane(lost), "next", &answer), PAWL_SUSPENDED);
    }
    pawl_turn_finish(lost, "\"lost\"", strlen("\"lost\""));
    assert_ok(pawl_turn_done(hand->runner, lost, &again, &hand->error), hand->error);
    run_step(pawl_turn_lane(turn), "s", "\"kept\"");
    pawl_turn_finish(turn, "\"kept\"", strlen("\"kept\""));
    hand_done_with(hand, hand->other, turn);

    struct pawl_runner_stats stats;
    pawl_runner_stats_read(hand->runner, &stats);
    assert_false(again);
    assert_int_equal(stats.leases_lost, 1);
    assert_int_equal(stats.in_flight, 0);
    assert_string_equal(running_get(hand, "polled", "r").output_json, "\"kept\"");
    assert_string_equal(running_history(hand, "polled", "r", 0).steps[0].result_json, "\"kept\"");
}

TEST_BY_HAND(C1_a_renewed_lease_is_not_taken_over)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    for (int i = 0; i < 5; i++) {
        running_advance_ms(hand, 900);
        assert_ok(pawl_runner_renew(hand->runner, &hand->error), hand->error);
        assert_null(hand_poll_with(hand, hand->other));
    }
    hand_finish(hand, turn, NULL);

    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

TEST_BY_HAND(C1_a_renewal_that_finds_the_lease_gone_cancels_the_attempt)
{
    bool again = true;
    running_create(hand, "polled", "r");
    pawl_turn *lost = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(lost), "s");
    pawl_turn *turn = hand_take_over(hand);
    assert_false(pawl_attempt_cancelled(attempt));

    assert_ok(pawl_runner_renew(hand->runner, &hand->error), hand->error);

    assert_true(pawl_attempt_cancelled(attempt));
    (void)!pawl_attempt_complete(attempt, NULL, 0);
    pawl_turn_suspend(lost);
    assert_ok(pawl_turn_done(hand->runner, lost, &again, &hand->error), hand->error);
    assert_false(again);
    pawl_turn_finish(turn, NULL, 0);
    hand_done_with(hand, hand->other, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* When the lease of "r" ends, by the store. */
static int64_t leased_until(struct running *hand)
{
    struct pw_store *store = hand->engine->store;
    struct pw_arena arena = { 0 };
    struct pw_instance row;
    assert_int_equal(pw_read_instance(store, &arena, pw_text_of("polled"), pw_text_of("r"), &row, &hand->error),
                     PAWL_OK);
    pw_arena_clear(&arena);
    return row.task.locked_until_ms;
}

TEST_BY_HAND(C1_a_body_begins_without_a_question_while_a_third_of_the_lease_is_left)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    running_advance_ms(hand, 667);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "s");

    assert_int_equal(leased_until(hand), START_MS + 1000);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(C1_after_a_pause_a_body_begins_once_the_lease_was_renewed)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    running_advance_ms(hand, 668);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "s");

    assert_int_equal(leased_until(hand), START_MS + 668 + 1000);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    hand_finish(hand, turn, NULL);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

TEST_BY_HAND(C1_after_a_pause_no_body_begins_of_a_run_that_others_have_taken)
{
    struct pawl_answer answer;
    bool again = true;
    running_create(hand, "polled", "r");
    pawl_turn *lost = hand_poll(hand);
    pawl_turn *turn = hand_take_over(hand);
    run_step(pawl_turn_lane(turn), "s", "1");
    hand_commit(hand);

    assert_int_equal(recall(pawl_turn_lane(lost), "s", &answer), PAWL_SUSPENDED);

    pawl_turn_suspend(lost);
    assert_ok(pawl_turn_done(hand->runner, lost, &again, &hand->error), hand->error);
    assert_false(again);
    pawl_turn_finish(turn, NULL, 0);
    hand_done_with(hand, hand->other, turn);
    assert_int_equal(running_history(hand, "polled", "r", 0).steps[0].attempts, 1);
}

/* What happens to a turn between the moment at which it may begin a body and the body itself. */
static struct {
    struct running *hand;
    const struct pw_turn_host *host;
    struct pw_turn_host delaying;
    int times;
} delay;

/* As a thread that waits for a lock while its process is stopped: others take the run and complete the step. */
static void begin_late(pawl_runner *runner, int64_t deadline_ms)
{
    delay.host->look_at(runner, deadline_ms);
    if (delay.times++ > 0)
        return;
    pawl_turn *turn = hand_take_over(delay.hand);
    run_step(pawl_turn_lane(turn), "s", "1");
    hand_commit(delay.hand);
    pawl_turn_finish(turn, NULL, 0);
    hand_done_with(delay.hand, delay.hand->other, turn);
}

TEST_BY_HAND(C1_no_body_begins_when_the_run_was_taken_after_the_look_at_the_lease)
{
    struct pawl_answer answer;
    bool again = true;
    running_create(hand, "polled", "r");
    pawl_turn *lost = hand_poll(hand);
    delay.hand = hand;
    delay.host = lost->host;
    delay.delaying = *lost->host;
    delay.delaying.look_at = begin_late;
    delay.times = 0;
    lost->host = &delay.delaying;

    assert_int_equal(recall(pawl_turn_lane(lost), "s", &answer), PAWL_SUSPENDED);

    assert_int_equal(delay.times, 1);
    lost->host = delay.host;
    pawl_turn_suspend(lost);
    assert_ok(pawl_turn_done(hand->runner, lost, &again, &hand->error), hand->error);
    assert_false(again);
    assert_int_equal(running_history(hand, "polled", "r", 0).steps[0].attempts, 1);
}

TEST_BY_HAND(C1_a_boundary_renews_the_lease_once_half_of_it_is_over)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "early", "1");
    hand_commit(hand);
    assert_int_equal(leased_until(hand), START_MS + 1000);
    running_advance_ms(hand, 501);
    run_step(pawl_turn_lane(turn), "late", "1");
    hand_commit(hand);

    assert_int_equal(leased_until(hand), START_MS + 501 + 1000);
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(B5_a_turn_under_way_commits_nothing_after_a_terminate)
{
    struct pawl_answer answer;
    bool again = true;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "before", "1");
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "s");

    assert_ok(pawl_terminate(hand->engine, "polled", "r", &hand->error), hand->error);
    (void)!pawl_attempt_complete(attempt, "1", 1);
    (void)!recall(pawl_turn_lane(turn), "s", &answer);
    pawl_turn_finish(turn, "1", 1);
    assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);

    assert_false(again);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
    assert_int_equal(running_history(hand, "polled", "r", 0).step_count, 1);
}

TEST_BY_HAND(B4_a_pause_is_reached_at_the_next_boundary)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "s");
    assert_ok(pawl_pause(hand->engine, "polled", "r", &hand->error), hand->error);
    assert_int_equal(running_get(hand, "polled", "r").phase, PAWL_PHASE_WAITING_FOR_PAUSE);

    assert_int_equal(pawl_attempt_complete(attempt, "1", 1), PAWL_OK);
    pawl_status status = recall(pawl_turn_lane(turn), "s", &answer);
    if (status == PAWL_OK)
        status = recall(pawl_turn_lane(turn), "next", &answer);
    assert_int_equal(status, PAWL_SUSPENDED);
    hand_suspend(hand, turn);

    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_PAUSED);
    assert_ok(pawl_resume(hand->engine, "polled", "r", &hand->error), hand->error);
    turn = hand_poll(hand);
    (void)expect_done(pawl_turn_lane(turn), "s", "1");
    hand_finish(hand, turn, NULL);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* ---- Beside other runners ------------------------------------------------------------------------------------------------ */

TEST_BY_HAND(polls_and_ticks_leave_each_others_workflows_alone)
{
    int64_t processed = 99;
    running_create(hand, "polled", "p");
    running_create_with(hand, "ticked", "t", NULL);

    assert_ok(pawl_runner_tick(hand->other, 0, 0, &processed, &hand->error), hand->error);
    pawl_turn *turn = hand_poll(hand);

    assert_int_equal(processed, 1);
    assert_null(hand_poll_with(hand, hand->runner));
    hand_finish(hand, turn, NULL);
}

TEST_BY_HAND(C6_next_wake_at_tells_of_polled_runs_too)
{
    struct pawl_answer answer;
    int64_t at_ms = 0;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_sleep(pawl_turn_lane(turn), "nap", 3, 60000, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);

    assert_ok(pawl_runner_next_wake_at(hand->runner, &at_ms, &hand->error), hand->error);

    assert_int_equal(at_ms, START_MS + 60000);
}

TEST_BY_HAND(A1_nothing_is_defined_once_a_runner_takes_part)
{
    const struct pawl_definition late = { .struct_size = sizeof late, .name = "late" };
    assert_null(hand_poll_with(hand, hand->runner));

    assert_int_equal(pawl_define(hand->engine, &late, &hand->error), PAWL_INVALID);

    assert_non_null(strstr(hand->error.text, "late"));
}

static void await_step_status(struct running *hand, const char *id, const char *error_name)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    struct pawl_instance instance = running_get(hand, "polled", id);
    while ((instance.current_step == NULL || instance.current_step->error_name == NULL) && monotonic_ms() < until_ms) {
        rest_a_little();
        instance = running_get(hand, "polled", id);
    }
    assert_non_null(instance.current_step);
    assert_non_null(instance.current_step->error_name);
    assert_string_equal(instance.current_step->error_name, error_name);
}

/* The runner that renews the lease also watches the attempt; the binding still holds the turn when that has given up. */
TEST_BY_HAND(A7_a_polled_turn_of_a_started_runner_survives_the_watchdog)
{
    const struct pawl_policy policy = { 5, 1000000, PAWL_BACKOFF_CONSTANT, 100, NULL, NULL };
    struct pawl_answer answer;
    bool again = true;
    running_create(hand, "polled", "r");
    assert_ok(pawl_runner_start(hand->runner, &hand->error), hand->error);
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_OK);

    running_advance_ms(hand, 101);
    pawl_runner_wake(hand->runner);
    await_step_status(hand, "r", "STEP_TIMEOUT");
    assert_true(pawl_attempt_cancelled(answer.attempt));
    assert_int_not_equal(pawl_attempt_complete(answer.attempt, "1", 1), PAWL_OK);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "s", 1, &policy, &answer), PAWL_SUSPENDED);
    pawl_turn_suspend(turn);
    assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);

    assert_false(again);
    pawl_runner_stop(hand->runner);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_WAITING);
}
