/* test_turn_races.c - races of branches: what becomes of the losers, also when their changes are refused, their bodies are late or
 * fail behind the race, or a pause comes in between.
 *
 * Turns are driven by hand (hand.h), so that what takes several threads elsewhere happens here in one, in a fixed order:
 * inside a body the story lets other branches be carried, as a helping worker would, and calls the watchdog. */
#include "kit/hand.h"

#include "runner/runner.h"
#include "turn/attempt.h"
#include "turn/lanes.h"
#include "turn/turn.h"

enum { HOUR_MS = 3600 * 1000, DELAY_MS = 1000, TIMEOUT_MS = 5000 };

struct story {
    struct running *hand;
    pawl_runner *runner;
    int64_t refused_at; /* the attempt whose change the store refuses; those before it fail */
    pawl_status refusal;
    size_t winner;          /* the branch that comes first */
    int walks;              /* of the branch that counts them */
    pawl_attempt *late;     /* the body that outlives its timeout */
    pawl_attempt *changing; /* the body of "change" */
};

/* ---- Shorthands ------------------------------------------------------------------------------------------------------ */

static pawl_status wait_for_go(pawl_lane *lane)
{
    struct pawl_answer answer;
    return pawl_recall_event(lane, "event", strlen("event"), "go", HOUR_MS, &answer);
}

static pawl_status nap(pawl_lane *lane, int64_t ms)
{
    struct pawl_answer answer;
    return pawl_recall_sleep(lane, "nap", strlen("nap"), ms, &answer);
}

static pawl_status recall_with(pawl_lane *lane, const char *name, int64_t timeout_ms, struct pawl_answer *out_answer)
{
    const struct pawl_policy policy = {
        .retries_max = 5, .delay_ms = DELAY_MS, .backoff = PAWL_BACKOFF_CONSTANT, .timeout_ms = timeout_ms
    };
    return pawl_recall_step(lane, name, strlen(name), &policy, out_answer);
}

/* One pass: the first of so many branches; the run ends with it. */
static pawl_status race(struct story *story, pawl_turn *turn, size_t count, pawl_lane_fn *branch)
{
    pawl_status statuses[3];
    size_t winner = SIZE_MAX;
    pawl_status status =
        pawl_lane_first(pawl_turn_lane(turn), "race", strlen("race"), count, branch, story, &winner, statuses);
    if (status == PAWL_OK) {
        assert_int_equal(winner, story->winner);
        pawl_turn_finish(turn, NULL, 0);
    } else {
        assert_int_equal(status, PAWL_SUSPENDED);
        pawl_turn_suspend(turn);
    }
    return status;
}

/* A whole turn.  Answers what its last pass came to. */
static pawl_status carry(struct story *story, size_t count, pawl_lane_fn *branch)
{
    struct running *hand = story->hand;
    pawl_turn *turn = hand_poll_with(hand, story->runner);
    pawl_status status = PAWL_SUSPENDED;
    assert_non_null(turn);
    for (bool again = true; again;) {
        status = race(story, turn, count, branch);
        assert_ok(pawl_turn_done(story->runner, turn, &again, &hand->error), hand->error);
    }
    return status;
}

static void expect_abandoned(struct running *hand, const char *name, int64_t attempts)
{
    const struct pawl_step_record *step = running_step(hand, "polled", "r", name);
    assert_non_null(step);
    assert_int_equal(step->status, PAWL_STEP_ERRORED);
    assert_string_equal(step->error_name, "STEP_ABANDONED");
    assert_null(step->result_json);
    assert_int_equal(step->attempts, attempts);
}

/* ---- A refused change in a branch that loses ------------------------------------------------------------------------- */

static pawl_status refuse(void *connection, const void *data, size_t size)
{
    pawl_status refusal;
    (void)connection;
    assert_int_equal(size, sizeof refusal);
    memcpy(&refusal, data, sizeof refusal);
    return refusal;
}

/* The body of "change". */
static void end_change(struct story *story, pawl_attempt *attempt)
{
    if (pawl_attempt_number(attempt) < story->refused_at) {
        assert_int_equal(pawl_attempt_fail(attempt, "NotYet", "once more", true), PAWL_OK);
        return;
    }
    assert_int_equal(pawl_attempt_mutate(attempt, PAWL_WITH_SUCCESS, refuse, &story->refusal, sizeof story->refusal),
                     PAWL_OK);
    assert_int_equal(pawl_attempt_complete(attempt, "1", 1), PAWL_OK);
}

/* The event comes while the body runs whose change is refused. */
static pawl_status change_and_call(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    pawl_status status = recall_with(lane, "change", TIMEOUT_MS, &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    if (pawl_attempt_number(answer.attempt) == story->refused_at)
        running_send(story->hand, "polled", "r", "go", NULL);
    end_change(story, answer.attempt);
    return recall_with(lane, "change", TIMEOUT_MS, &answer);
}

static pawl_status event_against_change(pawl_lane *lane, size_t position, void *user)
{
    return position == 0 ? wait_for_go(lane) : change_and_call(user, lane);
}

/* Each commit is waited for by unwinding, so that the store has refused the change before anybody asks for the step again. */
static void open_unwinding_runner(struct story *story)
{
    struct running *hand = story->hand;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.always_replay = true;
    assert_ok(pawl_runner_open(hand->engine, &options, &story->runner, &hand->error), hand->error);
}

static void lose_with_refused_change(struct running *hand, int64_t attempt, pawl_status refusal)
{
    struct story story = { .hand = hand, .refused_at = attempt, .refusal = refusal };
    open_unwinding_runner(&story);
    running_create(hand, "polled", "r");
    for (int64_t i = 1; i < attempt; i++) {
        assert_int_equal(carry(&story, 2, event_against_change), PAWL_SUSPENDED);
        running_advance_ms(hand, DELAY_MS);
    }

    assert_int_equal(carry(&story, 2, event_against_change), PAWL_OK);

    expect_abandoned(hand, "change", attempt);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
    pawl_runner_close(story.runner);
}

/* Seed 5052090: the row that waited for the retry was left as it was by the commit that named the winner. */
TEST_BY_HAND(a_retry_whose_change_was_refused_is_abandoned_with_the_race_that_it_lost)
{
    lose_with_refused_change(hand, 2, PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION);
}

/* It was recorded as waiting for a retry when the race was over. */
TEST_BY_HAND(a_first_attempt_whose_change_was_refused_is_abandoned_with_the_race_that_it_lost)
{
    lose_with_refused_change(hand, 1, PAWL_STEP_MUTATION_FAILED);
}

/* ---- Two races side by side ---------------------------------------------------------------------------------------------- */

static pawl_status nap_of(pawl_lane *lane, const char *name)
{
    struct pawl_answer answer;
    return pawl_recall_sleep(lane, name, strlen(name), 0, &answer);
}

static pawl_status change_against_nap(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    struct pawl_answer answer;
    if (position == 1)
        return nap_of(lane, "nap");
    pawl_status status = recall_with(lane, "change", TIMEOUT_MS, &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    end_change(story, answer.attempt);
    return PAWL_SUSPENDED; /* the store has not said yet what it makes of the change */
}

static pawl_status nap_against_nap(pawl_lane *lane, size_t position, void *user)
{
    (void)user;
    return nap_of(lane, position == 0 ? "one" : "two");
}

/* The second race is decided when the store has refused a change of the first, whose winner is not recorded yet. */
static pawl_status race_beside_race(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    pawl_status statuses[2];
    size_t winner = SIZE_MAX;
    if (position == 1) {
        (void)pw_commit_lead(story->hand->engine->commit);
        return pawl_lane_first(lane, "second", strlen("second"), 2, nap_against_nap, story, &winner, statuses);
    }
    pawl_status status =
        pawl_lane_first(lane, "first", strlen("first"), 2, change_against_nap, story, &winner, statuses);
    if (status == PAWL_OK)
        assert_int_equal(winner, 1);
    return status;
}

static pawl_status both_races(pawl_lane *lane, size_t position, void *user)
{
    pawl_status statuses[2];
    (void)position;
    return pawl_lane_all(lane, "all", 3, 2, 0, race_beside_race, user, statuses);
}

/* Seed 470781: the other race's commit abandoned the loser, which was then told to have failed and so came first. */
TEST_BY_HAND(a_race_abandons_no_step_of_another_that_is_not_decided_yet)
{
    struct story story = { .hand = hand, .refused_at = 1, .refusal = PAWL_STEP_MUTATION_FAILED };
    open_unwinding_runner(&story);
    running_create(hand, "polled", "r");

    assert_int_equal(carry(&story, 1, both_races), PAWL_OK);

    expect_abandoned(hand, "change", 1);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
    pawl_runner_close(story.runner);
}

/* ---- A pause while losers are walked ----------------------------------------------------------------------------------- */

static pawl_status event_against_nap(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    if (position == 0)
        return wait_for_go(lane);
    if (story->walks++ == 1)
        assert_ok(pawl_pause(story->hand->engine, "polled", "r", &story->hand->error), story->hand->error);
    return nap(lane, HOUR_MS);
}

TEST_BY_HAND(a_race_is_not_decided_while_a_pause_keeps_its_losers_from_being_walked)
{
    struct story story = { .hand = hand, .runner = hand->runner };
    running_create(hand, "polled", "r");
    assert_int_equal(carry(&story, 2, event_against_nap), PAWL_SUSPENDED);
    running_send(hand, "polled", "r", "go", NULL);

    assert_int_equal(carry(&story, 2, event_against_nap), PAWL_SUSPENDED);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_PAUSED);
    assert_null(running_step(hand, "polled", "r", "race"));
    assert_ok(pawl_resume(hand->engine, "polled", "r", &hand->error), hand->error);
    assert_int_equal(carry(&story, 2, event_against_nap), PAWL_OK);

    expect_abandoned(hand, "nap", 0);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* ---- The watchdog and a race that is won -------------------------------------------------------------------------------- */

/* Fails or gives up on what is late when the first body is. */
static enum pw_given_up expire(struct story *story)
{
    int64_t now_ms = pawl_attempt_deadline_ms(story->late) + 1;
    running_advance_ms(story->hand, now_ms - pawl_now_ms(story->hand->engine));
    return pw_turn_watch_bodies(story->late->turn, now_ms).given_up;
}

static void let_the_event_win(struct story *story, const pawl_lane *lane)
{
    running_send(story->hand, "polled", "r", "go", NULL);
    assert_true(pw_fork_help(lane->turn->races));
}

/* Its body stands still while the other branches are carried. */
static pawl_status stand_still(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    assert_int_equal(recall_with(lane, "late", TIMEOUT_MS, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_RUN);
    story->late = answer.attempt;
    assert_true(pw_fork_help(lane->turn->races));
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

static pawl_status outlive_the_late_one(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    assert_int_equal(recall_with(lane, "live", HOUR_MS, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_RUN);
    let_the_event_win(story, lane);
    assert_int_equal(expire(story), PW_GIVEN_UP_NOT);
    running_advance_ms(story->hand, DELAY_MS);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

static pawl_status event_against_late_and_live(pawl_lane *lane, size_t position, void *user)
{
    if (position == 0)
        return wait_for_go(lane);
    return position == 1 ? stand_still(user, lane) : outlive_the_late_one(user, lane);
}

TEST_BY_HAND(a_race_with_a_late_loser_and_a_live_one_is_recorded_once)
{
    struct story story = { .hand = hand, .runner = hand->runner };
    running_create(hand, "polled", "r");

    assert_int_equal(carry(&story, 3, event_against_late_and_live), PAWL_OK);

    const struct pawl_step_record *step = running_step(hand, "polled", "r", "race");
    assert_non_null(step);
    assert_int_equal(step->updated_at_ms, step->created_at_ms);
    assert_int_equal(running_step(hand, "polled", "r", "live")->status, PAWL_STEP_COMPLETED);
    expect_abandoned(hand, "late", 1);
}

/* Does not ask for its step again: it is not known yet whether the store takes the change. */
static pawl_status change_and_stay(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    pawl_status status = recall_with(lane, "change", TIMEOUT_MS, &answer);
    if (status != PAWL_OK)
        return status;
    assert_int_equal(answer.kind, PAWL_ANSWER_RUN);
    bool refused = pawl_attempt_number(answer.attempt) == story->refused_at;
    end_change(story, answer.attempt);
    return refused ? PAWL_SUSPENDED : recall_with(lane, "change", TIMEOUT_MS, &answer);
}

static pawl_status nap_and_stand_still(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    PAWL_TRY(nap(lane, DELAY_MS));
    pawl_status status = recall_with(lane, "late", TIMEOUT_MS, &answer);
    if (status != PAWL_OK)
        return status;
    story->late = answer.attempt;
    let_the_event_win(story, lane);
    assert_int_equal(expire(story), PW_GIVEN_UP_CLOSED);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

static pawl_status event_against_late_and_change(pawl_lane *lane, size_t position, void *user)
{
    if (position == 0)
        return wait_for_go(lane);
    return position == 1 ? nap_and_stand_still(user, lane) : change_and_stay(user, lane);
}

TEST_BY_HAND(the_watchdog_decides_no_race_while_the_store_may_refuse_a_losers_change)
{
    struct story story = {
        .hand = hand, .runner = hand->runner, .refused_at = 2, .refusal = PAWL_STEP_MUTATION_FAILED
    };
    running_create(hand, "polled", "r");
    assert_int_equal(carry(&story, 3, event_against_late_and_change), PAWL_SUSPENDED);
    running_advance_ms(hand, DELAY_MS);

    assert_int_equal(carry(&story, 3, event_against_late_and_change), PAWL_SUSPENDED);
    (void)pw_commit_lead(hand->engine->commit);
    assert_null(running_step(hand, "polled", "r", "race"));
    assert_int_equal(carry(&story, 3, event_against_late_and_change), PAWL_OK);

    expect_abandoned(hand, "change", 2); /* the refused attempt counts */
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* The body of "change" is under way while the event wins; its change is refused before the late one is given up. */
static pawl_status be_late_behind_a_refusal(struct story *story, pawl_lane *lane)
{
    struct pawl_answer answer;
    pawl_status status = recall_with(lane, "late", TIMEOUT_MS, &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    assert_null(story->late); /* it is run once */
    story->late = answer.attempt;
    let_the_event_win(story, lane);
    end_change(story, story->changing);
    hand_commit(story->hand);
    assert_int_equal(lane->turn->rejections, 1);
    assert_int_equal(expire(story), PW_GIVEN_UP_CLOSED);
    hand_commit(story->hand);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

static pawl_status change_against_event_and_late(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    struct pawl_answer answer;
    if (position > 0)
        return position == 1 ? wait_for_go(lane) : be_late_behind_a_refusal(story, lane);
    pawl_status status = recall_with(lane, "change", TIMEOUT_MS, &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status == PAWL_OK && answer.kind == PAWL_ANSWER_FAILED ? PAWL_FAILED : status;
    story->changing = answer.attempt;
    assert_true(pw_fork_help(lane->turn->races));
    return PAWL_SUSPENDED;
}

/* What the store had refused of a loser was recorded as its failure, and the next turn let that one win. */
TEST_BY_HAND(a_race_that_is_won_stays_won_when_a_late_loser_is_given_up)
{
    struct story story = { .hand = hand,
                           .runner = hand->runner,
                           .refused_at = 1,
                           .refusal = PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION,
                           .winner = 1 };
    running_create(hand, "polled", "r");
    assert_int_equal(carry(&story, 3, change_against_event_and_late), PAWL_SUSPENDED);
    hand_commit(hand);
    assert_int_equal(carry(&story, 3, change_against_event_and_late), PAWL_OK);
    assert_string_equal(running_step(hand, "polled", "r", "race")->result_json, "1");
    expect_abandoned(hand, "change", 1);
    expect_abandoned(hand, "late", 1);
}

/* The second branch says a line and wins, while the body of the first outlives its timeout. */
static pawl_status late_against_speaker(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    struct pawl_answer answer;
    if (position == 1)
        return pawl_lane_log(lane, NULL, PAWL_LOG_INFO, NULL, "first", NULL, 0);
    pawl_status status = recall_with(lane, "late", TIMEOUT_MS, &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    story->late = answer.attempt;
    assert_true(pw_fork_help(lane->turn->races));
    assert_int_equal(expire(story), PW_GIVEN_UP_CLOSED);
    hand_commit(story->hand);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

/* The watchdog recorded the race without the line, and the next turn took the line for one that was recorded. */
TEST_BY_HAND(what_the_winner_said_is_recorded_with_a_race_that_the_watchdog_decides)
{
    struct story story = { .hand = hand, .runner = hand->runner, .winner = 1 };
    struct pawl_history_options with_logs = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    size_t fresh = 0;
    running_create(hand, "polled", "r");
    assert_int_equal(carry(&story, 2, late_against_speaker), PAWL_SUSPENDED);
    hand_commit(hand);

    assert_int_equal(carry(&story, 2, late_against_speaker), PAWL_OK);

    with_logs.include_logs = true;
    assert_ok(pawl_get_history(hand->engine, hand->scope, "polled", "r", &with_logs, &history, &hand->error),
              hand->error);
    for (size_t i = 0; i < history.log_count; i++)
        fresh += strcmp(history.logs[i].message, "first") == 0 && !history.logs[i].is_replay;
    assert_int_equal(fresh, 1);
}

/* In the second turn the long sleep is not reached, because the body before it stands still. */
static pawl_status late_beside_long_sleep(pawl_lane *lane, size_t position, void *user)
{
    struct pawl_answer answer;
    if (position == 0)
        return nap_and_stand_still(user, lane);
    return pawl_recall_sleep(lane, "long", strlen("long"), HOUR_MS, &answer);
}

static pawl_status event_against_late_and_sleep(pawl_lane *lane, size_t position, void *user)
{
    pawl_status statuses[2];
    return position == 0 ? wait_for_go(lane)
                         : pawl_lane_all(lane, "all", 3, 2, 0, late_beside_long_sleep, user, statuses);
}

/* The watchdog recorded the race without the sleep, which then waited for ever (simulation, seed 1064671). */
TEST_BY_HAND(the_watchdog_decides_no_race_before_it_knows_what_the_losers_wait_for)
{
    struct story story = { .hand = hand, .runner = hand->runner };
    running_create(hand, "polled", "r");
    assert_int_equal(carry(&story, 2, event_against_late_and_sleep), PAWL_SUSPENDED);
    hand_commit(hand);
    assert_int_equal(running_step(hand, "polled", "r", "long")->status, PAWL_STEP_WAITING);
    running_advance_ms(hand, DELAY_MS);

    assert_int_equal(carry(&story, 2, event_against_late_and_sleep), PAWL_SUSPENDED);
    hand_commit(hand);
    assert_true(running_step(hand, "polled", "r", "race") == NULL ||
                running_step(hand, "polled", "r", "race")->status == PAWL_STEP_WAITING);

    assert_int_equal(carry(&story, 2, event_against_late_and_sleep), PAWL_OK);
    assert_string_equal(running_step(hand, "polled", "r", "race")->result_json, "0");
    expect_abandoned(hand, "long", 0);
}

/* ---- Losers whose bodies fail behind the race ------------------------------------------------------------------------ */

/* Before the race is recorded: such a body has not failed, is not run again, and wins nothing. */

/* "charge" is not to be tried twice, and fails once it sees that it is cancelled; "change" changes something. */
struct loss {
    struct running *hand;
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
static pawl_status charge(struct loss *loss, pawl_lane *lane)
{
    struct pawl_answer answer;
    struct running *hand = loss->hand;
    pawl_status status = recall_once(lane, "charge", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status == PAWL_OK ? PAWL_FAILED : status;
    if (loss->charges++ == 0 && lane->turn->races != NULL) {
        assert_true(pw_fork_help(lane->turn->races));
        assert_true(pawl_attempt_cancelled(answer.attempt));
    }
    if (loss->pauses)
        assert_ok(pawl_pause(hand->engine, "polled", "r", &hand->error), hand->error);
    if (loss->logs)
        assert_int_equal(pawl_lane_log(lane, answer.attempt, PAWL_LOG_INFO, NULL, "so I stop", NULL, 0), PAWL_OK);
    status = pawl_attempt_fail(answer.attempt, loss->error_name, "after the card was charged", false);
    return status == PAWL_OK ? PAWL_FAILED : status;
}

static pawl_status be_quick(struct loss *loss, pawl_lane *lane)
{
    struct pawl_answer answer;
    pawl_status status = recall_once(lane, "quick", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    status = recall_once(lane, "quick", &answer);
    if (loss->is_busy) { /* from now on other turns are ready */
        loss->busy = *lane->turn->host;
        loss->busy.should_yield = always;
        lane->turn->host = &loss->busy;
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
static pawl_status carry_loss(struct loss *loss, pawl_runner *runner, size_t count, pawl_lane_fn *branch,
                              size_t *out_winner)
{
    struct running *hand = loss->hand;
    pawl_status status = PAWL_SUSPENDED, statuses[3];
    pawl_turn *turn = hand_poll_with(hand, runner);
    assert_non_null(turn);
    const struct pw_turn_host *host = turn->host;
    for (bool again = true; again;) {
        status =
            pawl_lane_first(pawl_turn_lane(turn), "race", strlen("race"), count, branch, loss, out_winner, statuses);
        turn->host = host;
        if (status == PAWL_OK)
            pawl_turn_finish(turn, NULL, 0);
        else
            pawl_turn_suspend(turn);
        assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);
    }
    return status;
}

static void expect_loser_abandoned(struct loss *loss, const char *name)
{
    const struct pawl_step_record *step = running_step(loss->hand, "polled", "r", name);
    assert_non_null(step);
    assert_int_equal(step->status, PAWL_STEP_ERRORED);
    assert_int_equal(step->state, PAWL_STATE_ABANDONED);
    assert_string_equal(step->error_name, "STEP_ABANDONED");
    assert_int_equal(step->attempts, 1);
}

TEST_BY_HAND(it_is_not_run_again_when_a_pause_comes_before_the_race_is_recorded) /* A5 */
{
    struct loss loss = { .hand = hand, .pauses = true, .error_name = "Declined" };
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    assert_int_equal(carry_loss(&loss, hand->runner, 2, charge_or_be_quick, &winner), PAWL_SUSPENDED);
    assert_null(running_step(hand, "polled", "r", "race"));
    expect_loser_abandoned(&loss, "charge");
    assert_ok(pawl_resume(hand->engine, "polled", "r", &hand->error), hand->error);
    assert_int_equal(carry_loss(&loss, hand->runner, 2, charge_or_be_quick, &winner), PAWL_OK);
    assert_int_equal(winner, 1);
    assert_int_equal(loss.charges, 1);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* Its branch cannot go on; it hears of the interrupt as the others do. */
TEST_BY_HAND(nor_does_it_keep_a_run_that_is_interrupted_then)
{
    struct loss loss = { .hand = hand, .pauses = true, .error_name = "Declined" };
    struct pawl_answer answer;
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    assert_int_equal(carry_loss(&loss, hand->runner, 2, charge_or_be_quick, &winner), PAWL_SUSPENDED);
    assert_ok(pawl_interrupt(hand->engine, "polled", "r", &hand->error), hand->error); /* which lifts the pause */
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "charge", &answer), PAWL_INTERRUPTED);
    pawl_turn_fail(turn, "INTERRUPTED", "");
    hand_done_with(hand, hand->runner, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
}

TEST_BY_HAND(it_is_not_run_again_when_the_race_must_wait_for_another_losers_change) /* A5 */
{
    struct loss loss = { .hand = hand, .is_busy = true, .error_name = "Declined" };
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    assert_int_equal(carry_loss(&loss, hand->runner, 3, charge_change_or_be_quick, &winner), PAWL_OK);
    assert_int_equal(loss.charges, 1);
    assert_int_not_equal(winner, 0);
    expect_loser_abandoned(&loss, "charge");
}

/* The line's step was in the history that the next pass reads anew (valgrind and the address sanitizer see it). */
TEST_BY_HAND(what_it_logged_is_kept_also_where_every_pass_reads_the_history)
{
    struct loss loss = { .hand = hand, .logs = true, .error_name = "Declined" };
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_history_options with_logs = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    size_t winner = SIZE_MAX, found = 0;
    pawl_runner *runner;
    options.always_replay = true;
    assert_ok(pawl_runner_open(hand->engine, &options, &runner, &hand->error), hand->error);
    running_create(hand, "polled", "r");
    assert_int_equal(carry_loss(&loss, runner, 3, charge_change_or_be_quick, &winner), PAWL_OK);
    pawl_runner_close(runner);
    with_logs.include_logs = true;
    assert_ok(pawl_get_history(hand->engine, hand->scope, "polled", "r", &with_logs, &history, &hand->error),
              hand->error);
    for (size_t i = 0; i < history.log_count; i++)
        found += strcmp(history.logs[i].message, "so I stop") == 0 && strcmp(history.logs[i].step, "charge") == 0;
    assert_int_equal(found, 1);
}

/* A run would wait for ever for a branch that has not lost, if the engine went by the error's name. */
TEST_BY_HAND(a_body_that_says_that_it_was_abandoned_has_failed)
{
    struct loss loss = { .hand = hand, .error_name = "STEP_ABANDONED" };
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(charge(&loss, pawl_turn_lane(turn)), PAWL_FAILED);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "charge", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "STEP_ABANDONED");
    hand_finish(hand, turn, NULL);
    assert_int_equal(running_step(hand, "polled", "r", "charge")->state, PAWL_STATE_FAILED);
}
