/* test_regressions_losers.c - what a review once found wrong with branches that lose a race and whose bodies fail behind it,
 * before the race is recorded.  Such a body has not failed, is not run again, and wins nothing.
 *
 * Turns are driven by hand (hand.h), so that what takes several threads elsewhere happens here in one, in a fixed order. */
#include "kit/hand.h"

#include "turn/attempt.h"
#include "turn/lanes.h"

/* "charge" is not to be tried twice, and fails once it sees that it is cancelled; "change" changes something. */
struct story {
    struct hand *hand;
    struct pw_turn_host busy;
    bool pauses, is_busy, logs;
    const char *error_name; /* of "charge" */
    int charges;            /* bodies of it */
};

static pawl_status recall_once(pawl_lane *lane, const char *name, struct pawl_answer *out_answer)
{
    struct pawl_policy policy;
    pawl_policy_default(&policy);
    policy.retries_max = 0;
    return pawl_recall_step(lane, name, strlen(name), &policy, out_answer);
}

static bool always(pawl_runner *runner)
{
    (void)runner;
    return true;
}

/* While its body runs the other branches are carried on, and one of them wins. */
static pawl_status charge(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    struct hand *hand = story->hand;
    pawl_status status = recall_once(lane, "charge", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status == PAWL_OK ? PAWL_FAILED : status;
    if (story->charges++ == 0 && lane->turn->races != NULL) {
        assert_true(pw_fork_help(lane->turn->races));
        assert_true(pawl_attempt_cancelled(answer.attempt));
    }
    if (story->pauses)
        assert_ok(pawl_pause(hand->engine, "polled", "r", &hand->error), hand->error);
    if (story->logs)
        assert_int_equal(pawl_lane_log(lane, answer.attempt, PAWL_LOG_INFO, NULL, "so I stop", NULL, 0), PAWL_OK);
    status = pawl_attempt_fail(answer.attempt, story->error_name, "after the card was charged", false);
    return status == PAWL_OK ? PAWL_FAILED : status;
}

static pawl_status be_quick(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    pawl_status status = recall_once(lane, "quick", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    status = recall_once(lane, "quick", &answer);
    if (story->is_busy) { /* from now on other turns are ready */
        story->busy = *lane->turn->host;
        story->busy.should_yield = always;
        lane->turn->host = &story->busy;
    }
    return status;
}

/* Its change is not answered yet when the race is over. */
static pawl_status change(pawl_lane *lane)
{
    struct pawl_answer answer;
    pawl_status status = recall_once(lane, "change", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    assert_true(pw_fork_help(lane->turn->races));
    assert_int_equal(pawl_attempt_sql(answer.attempt, PAWL_WITH_SUCCESS, "CREATE TABLE mine (x)", NULL, 0), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    return recall_once(lane, "change", &answer);
}

static pawl_status charge_or_be_quick(pawl_lane *lane, size_t position, void *user)
{
    return position == 0 ? charge(user, lane) : be_quick(user, lane);
}

static pawl_status charge_change_or_be_quick(pawl_lane *lane, size_t position, void *user)
{
    return position == 1 ? change(lane) : charge_or_be_quick(lane, position, user);
}

/* A whole turn.  Answers what its last pass came to. */
static pawl_status carry(struct story *story, pawl_runner *runner, size_t count, pawl_lane_fn *branch,
                         size_t *out_winner)
{
    struct hand *hand = story->hand;
    pawl_status status = PAWL_SUSPENDED, statuses[3];
    pawl_turn *turn = hand_poll_with(hand, runner);
    assert_non_null(turn);
    const struct pw_turn_host *host = turn->host;
    for (bool again = true; again;) {
        status =
            pawl_lane_first(pawl_turn_lane(turn), "race", strlen("race"), count, branch, story, out_winner, statuses);
        turn->host = host;
        if (status == PAWL_OK)
            pawl_turn_finish(turn, NULL, 0);
        else
            pawl_turn_suspend(turn);
        assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);
    }
    return status;
}

static void expect_abandoned(struct story *story, const char *name)
{
    const struct pawl_step_record *step = hand_step(story->hand, name);
    assert_non_null(step);
    assert_int_equal(step->status, PAWL_STEP_ERRORED);
    assert_int_equal(step->state, PAWL_STATE_ABANDONED);
    assert_string_equal(step->error_name, "STEP_ABANDONED");
    assert_int_equal(step->attempts, 1);
}

static void it_is_not_run_again_when_a_pause_comes_before_the_race_is_recorded(void **state) /* A5 */
{
    struct hand *hand = *state;
    struct story story = { .hand = hand, .pauses = true, .error_name = "Declined" };
    size_t winner = SIZE_MAX;
    hand_create(hand, "r");
    assert_int_equal(carry(&story, hand->runner, 2, charge_or_be_quick, &winner), PAWL_SUSPENDED);
    assert_null(hand_step(hand, "race"));
    expect_abandoned(&story, "charge");
    assert_ok(pawl_resume(hand->engine, "polled", "r", &hand->error), hand->error);
    assert_int_equal(carry(&story, hand->runner, 2, charge_or_be_quick, &winner), PAWL_OK);
    assert_int_equal(winner, 1);
    assert_int_equal(story.charges, 1);
    assert_int_equal(hand_get(hand, "r").status, PAWL_COMPLETE);
}

/* Its branch cannot go on; it hears of the interrupt as the others do. */
static void nor_does_it_keep_a_run_that_is_interrupted_then(void **state)
{
    struct hand *hand = *state;
    struct story story = { .hand = hand, .pauses = true, .error_name = "Declined" };
    struct pawl_answer answer;
    size_t winner = SIZE_MAX;
    hand_create(hand, "r");
    assert_int_equal(carry(&story, hand->runner, 2, charge_or_be_quick, &winner), PAWL_SUSPENDED);
    assert_ok(pawl_interrupt(hand->engine, "polled", "r", &hand->error), hand->error); /* which lifts the pause */
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "charge", &answer), PAWL_INTERRUPTED);
    pawl_turn_fail(turn, "INTERRUPTED", "");
    hand_done_with(hand, hand->runner, turn);
    assert_int_equal(hand_get(hand, "r").status, PAWL_TERMINATED);
}

static void it_is_not_run_again_when_the_race_must_wait_for_another_losers_change(void **state) /* A5 */
{
    struct hand *hand = *state;
    struct story story = { .hand = hand, .is_busy = true, .error_name = "Declined" };
    size_t winner = SIZE_MAX;
    hand_create(hand, "r");
    assert_int_equal(carry(&story, hand->runner, 3, charge_change_or_be_quick, &winner), PAWL_OK);
    assert_int_equal(story.charges, 1);
    assert_int_not_equal(winner, 0);
    expect_abandoned(&story, "charge");
}

/* The line's step was in the history that the next pass reads anew (valgrind and the address sanitizer see it). */
static void what_it_logged_is_kept_also_where_every_pass_reads_the_history(void **state)
{
    struct hand *hand = *state;
    struct story story = { .hand = hand, .logs = true, .error_name = "Declined" };
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_history_options with_logs = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    size_t winner = SIZE_MAX, found = 0;
    pawl_runner *runner;
    options.always_replay = true;
    assert_ok(pawl_runner_open(hand->engine, &options, &runner, &hand->error), hand->error);
    hand_create(hand, "r");
    assert_int_equal(carry(&story, runner, 3, charge_change_or_be_quick, &winner), PAWL_OK);
    pawl_runner_close(runner);
    with_logs.include_logs = true;
    assert_ok(pawl_get_history(hand->engine, hand->scope, "polled", "r", &with_logs, &history, &hand->error),
              hand->error);
    for (size_t i = 0; i < history.log_count; i++)
        found += strcmp(history.logs[i].message, "so I stop") == 0 && strcmp(history.logs[i].step, "charge") == 0;
    assert_int_equal(found, 1);
}

/* A run would wait for ever for a branch that has not lost, if the engine went by the error's name. */
static void a_body_that_says_that_it_was_abandoned_has_failed(void **state)
{
    struct hand *hand = *state;
    struct story story = { .hand = hand, .error_name = "STEP_ABANDONED" };
    struct pawl_answer answer;
    hand_create(hand, "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(charge(&story, pawl_turn_lane(turn)), PAWL_FAILED);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "charge", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "STEP_ABANDONED");
    hand_finish(hand, turn, NULL);
    assert_int_equal(hand_step(hand, "charge")->state, PAWL_STATE_FAILED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_not_run_again_when_a_pause_comes_before_the_race_is_recorded),
        TEST(nor_does_it_keep_a_run_that_is_interrupted_then),
        TEST(it_is_not_run_again_when_the_race_must_wait_for_another_losers_change),
        TEST(what_it_logged_is_kept_also_where_every_pass_reads_the_history),
        TEST(a_body_that_says_that_it_was_abandoned_has_failed),
    };
    return cmocka_run_group_tests_name("regressions of losers", tests, NULL, NULL);
}
