/* test_turn_ends.c - how turns end and go on: late bodies, refused changes, retries, interrupts and completions.
 *
 * Turns are driven by hand (hand.h), so that what takes several threads or processes elsewhere happens here in one, in a fixed
 * order. */
#include "kit/hand.h"

#include "engine/engine.h"
#include "turn/attempt.h"
#include "turn/lanes.h"

enum { HOUR_MS = 3600 * 1000, TIMEOUT_MS = 100 };

/* ---- Shorthands ------------------------------------------------------------------------------------------------------ */

/* A step that is tried once, and not for long. */
static pawl_status recall_once(pawl_lane *lane, const char *name, struct pawl_answer *out_answer)
{
    struct pawl_policy policy;
    pawl_policy_default(&policy);
    policy.retries_max = 0;
    policy.timeout_ms = TIMEOUT_MS;
    return pawl_recall_step(lane, name, strlen(name), &policy, out_answer);
}

static pawl_status wait_for(pawl_lane *lane, const char *type)
{
    struct pawl_answer answer;
    return pawl_recall_event(lane, type, strlen(type), type, HOUR_MS, &answer);
}

static void fail_for_good(pawl_lane *lane, const char *name)
{
    assert_int_equal(pawl_attempt_fail(expect_run(lane, name), "Broken", "", false), PAWL_OK);
}

static void fail_run(struct running *hand, pawl_turn *turn)
{
    pawl_turn_fail(turn, "Broken", "");
    hand_done_with(hand, hand->runner, turn);
}

/* The watchdog comes by when the attempt is late. */
static enum pw_given_up expire(struct running *hand, pawl_attempt *late)
{
    int64_t now_ms = pawl_attempt_deadline_ms(late) + 1;
    running_advance_ms(hand, now_ms - pawl_now_ms(hand->engine));
    return pw_turn_watch_bodies(late->turn, now_ms).given_up;
}

/* ---- How far a turn goes ----------------------------------------------------------------------------------------------- */

/* What a replay logs again used up all that a turn may keep, so that every turn ended where it had begun, for ever. */
TEST_BY_HAND(a_turn_comes_to_its_first_body_however_much_was_logged_before_it)
{
    enum { LINE_SIZE = 1000 * 1000, LINES = 5 };
    char *data = malloc(LINE_SIZE);
    assert_non_null(data);
    memset(data, 'x', LINE_SIZE);
    data[0] = data[LINE_SIZE - 1] = '"';
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    for (int i = 0; i < LINES; i++)
        assert_int_equal(pawl_lane_log(pawl_turn_lane(turn), NULL, PAWL_LOG_INFO, NULL, "much to say", data, LINE_SIZE),
                         PAWL_OK);
    free(data);
    run_step(pawl_turn_lane(turn), "work", "1");
    hand_finish(hand, turn, NULL);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

static pawl_status fail_or_work(pawl_lane *lane, size_t position, void *user)
{
    struct pawl_answer answer;
    const char *name = position == 0 ? "bad" : "good";
    pawl_turn *turn = user;
    pawl_status status = recall(lane, name, &answer);
    if (status != PAWL_OK)
        return status;
    if (answer.kind == PAWL_ANSWER_RUN) {
        status = position == 0 ? pawl_attempt_fail(answer.attempt, "Bad", "", false)
                               : pawl_attempt_complete(answer.attempt, NULL, 0);
        assert_int_equal(status, PAWL_OK);
        status = recall(lane, name, &answer);
    }
    if (status != PAWL_OK || answer.kind == PAWL_ANSWER_DONE)
        return status;
    pawl_turn_await_repair(turn); /* as for a workflow that waits for repair when a step fails */
    return PAWL_SUSPENDED;
}

static bool take_no_step(pawl_runner *runner)
{
    (void)runner;
    return false;
}

static pawl_status race_on(pawl_turn *turn, pawl_lane_fn *branch, void *user, size_t *out_winner)
{
    pawl_status statuses[2];
    return pawl_lane_first(pawl_turn_lane(turn), "race", strlen("race"), 2, branch, user, out_winner, statuses);
}

/* A runner that stopped, or a tick's budget, let it wait for a repair that it did not need. */
TEST_BY_HAND(a_run_whose_other_branch_could_not_begin_does_not_wait_for_repair)
{
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    fail_for_good(pawl_turn_lane(turn), "bad");
    const struct pw_turn_host *own = turn->host;
    struct pw_turn_host spent = *own;
    spent.take_step = take_no_step;
    turn->host = &spent;
    assert_int_equal(race_on(turn, fail_or_work, turn, &winner), PAWL_SUSPENDED);
    turn->host = own;
    hand_done_with(hand, hand->runner, turn);

    turn = hand_poll(hand);
    assert_int_equal(race_on(turn, fail_or_work, turn, &winner), PAWL_OK);
    assert_int_equal(winner, 1);
    hand_finish(hand, turn, NULL);
}

/* ---- The watchdog ---------------------------------------------------------------------------------------------------------- */

/* The closing went through before the store had refused the failure, which was lost: the body ran again and again. */
TEST_BY_HAND(a_timeout_whose_change_is_refused_is_recorded_all_the_same)
{
    static const char change[] = "INSERT INTO nowhere VALUES (1)";
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "work", &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_sql(answer.attempt, PAWL_WITH_FAILURE, change, NULL, 0), PAWL_OK);
    assert_int_equal(expire(hand, answer.attempt), PW_GIVEN_UP_CLOSED);
    hand_commit(hand);
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_SUSPENDED);
    hand_suspend(hand, turn);

    assert_int_equal(running_step(hand, "polled", "r", "work")->status, PAWL_STEP_ERRORED);
    turn = hand_poll(hand);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "work", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "STEP_TIMEOUT");
    fail_run(hand, turn);
}

/* The same when the refusal had come before the watchdog did: that of a change beside the late body, which nobody had asked for
 * since. */
TEST_BY_HAND(what_was_refused_before_the_watchdog_came_is_recorded_too)
{
    static const char change[] = "INSERT INTO nowhere VALUES (1)";
    struct pawl_answer changing, late;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "change", &changing), PAWL_OK);
    assert_int_equal(recall_once(pawl_turn_lane(turn), "late", &late), PAWL_OK);
    assert_int_equal(pawl_attempt_sql(changing.attempt, PAWL_WITH_SUCCESS, change, NULL, 0), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(changing.attempt, NULL, 0), PAWL_OK);
    hand_commit(hand);
    assert_int_equal(turn->rejections, 1);
    assert_int_equal(expire(hand, late.attempt), PW_GIVEN_UP_CLOSED);
    hand_commit(hand);
    assert_int_equal(pawl_attempt_complete(late.attempt, NULL, 0), PAWL_SUSPENDED);
    hand_suspend(hand, turn);

    assert_string_equal(running_step(hand, "polled", "r", "change")->error_name, "STEP_MUTATION_FAILED");
    assert_string_equal(running_step(hand, "polled", "r", "late")->error_name, "STEP_TIMEOUT");
    fail_run(hand, hand_poll(hand));
}

static pawl_status wait_or_be_late(pawl_lane *lane, size_t position, void *user)
{
    const struct pawl_policy policy = { .retries_max = 1, .delay_ms = HOUR_MS, .timeout_ms = TIMEOUT_MS };
    struct pawl_answer answer;
    if (position == 0)
        return wait_for(lane, "go");
    assert_int_equal(pawl_recall_step(lane, "late", strlen("late"), &policy, &answer), PAWL_OK);
    assert_int_equal(expire(user, answer.attempt), PW_GIVEN_UP_CLOSED);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

/* The late body came back before the turn was closed, which then waited for what its lanes knew of: not for the next attempt at
 * what had been refused. */
TEST_BY_HAND(what_was_refused_is_tried_again_in_time_although_the_late_body_came_back)
{
    const struct pawl_policy policy = { .retries_max = 1, .delay_ms = 1, .timeout_ms = HOUR_MS };
    struct pawl_answer changing;
    pawl_status statuses[2];
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "change", strlen("change"), &policy, &changing), PAWL_OK);
    assert_int_equal(pawl_attempt_sql(changing.attempt, PAWL_WITH_SUCCESS, "INSERT INTO nowhere VALUES (1)", NULL, 0),
                     PAWL_OK);
    assert_int_equal(pawl_attempt_complete(changing.attempt, NULL, 0), PAWL_OK);
    hand_commit(hand);
    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 2, 0, wait_or_be_late, hand, statuses),
                     PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    hand_commit(hand);

    running_advance_ms(hand, 1);
    fail_run(hand, hand_poll(hand));
}

struct together {
    struct running *hand;
    pawl_attempt *live;
};

static pawl_status be_late_or_wait(pawl_lane *lane, size_t position, void *user)
{
    const struct together *together = user;
    struct pawl_answer answer;
    if (position == 1)
        return wait_for(lane, "go");
    pawl_status status = recall_once(lane, "late", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status != PAWL_OK ? status : PAWL_FAILED;
    assert_int_equal(expire(together->hand, answer.attempt), PW_GIVEN_UP_NOT);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

/* It slept until the other branch's wait was over, in an hour. */
TEST_BY_HAND(a_branch_whose_step_timed_out_for_good_beside_a_body_goes_on_at_once)
{
    struct together together = { .hand = hand };
    pawl_status statuses[2];
    bool again = false;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    together.live = expect_run(pawl_turn_lane(turn), "live");
    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 2, 0, be_late_or_wait, &together, statuses),
                     PAWL_SUSPENDED);
    assert_int_equal(pawl_attempt_complete(together.live, NULL, 0), PAWL_OK);
    pawl_turn_suspend(turn);
    assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);
    assert_true(again);
    assert_int_equal(pawl_lane_all(pawl_turn_lane(turn), "all", 3, 2, 0, be_late_or_wait, &together, statuses),
                     PAWL_SUSPENDED);
    assert_int_equal(statuses[0], PAWL_FAILED);
    hand_suspend(hand, turn);
}

/* ---- What failed last ------------------------------------------------------------------------------------------------------ */

static pawl_status be_cancelled_or_fail(pawl_lane *lane, size_t position, void *user)
{
    struct pawl_answer answer;
    const char *name = position == 0 ? "slow" : "quick";
    (void)user;
    pawl_status status = recall(lane, name, &answer);
    if (status != PAWL_OK)
        return status;
    if (answer.kind == PAWL_ANSWER_RUN && position == 0) {
        assert_true(pw_fork_help(lane->turn->races)); /* which is decided meanwhile */
        return pawl_attempt_fail(answer.attempt, "Cancelled", "somebody else was first", false);
    }
    if (answer.kind == PAWL_ANSWER_RUN) {
        assert_int_equal(pawl_attempt_fail(answer.attempt, "Broken", "mend me", false), PAWL_OK);
        assert_int_equal(recall(lane, name, &answer), PAWL_OK);
    }
    return answer.kind == PAWL_ANSWER_DONE ? PAWL_OK : PAWL_FAILED;
}

/* A retry kept the failure that the run had failed with, and tried what had lost against it. */
TEST_BY_HAND(a_loser_that_was_cancelled_has_not_failed_last)
{
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    (void)race_on(turn, be_cancelled_or_fail, NULL, &winner);
    assert_int_equal(winner, 1);
    fail_run(hand, turn);
    assert_string_equal(running_step(hand, "polled", "r", "slow")->error_name, "STEP_ABANDONED");
    assert_ok(pawl_retry(hand->engine, "polled", "r", &hand->error), hand->error);
    turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "quick", "1");
    hand_finish(hand, turn, NULL);
}

/* The failure that had been handled was tried again, and the one that the run had failed with was kept. */
TEST_BY_HAND(a_retry_tries_what_failed_last_although_the_clock_was_set_back)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    fail_for_good(pawl_turn_lane(turn), "optional");
    running_advance_ms(hand, -HOUR_MS);
    fail_for_good(pawl_turn_lane(turn), "charge");
    fail_run(hand, turn);
    assert_ok(pawl_retry(hand->engine, "polled", "r", &hand->error), hand->error);
    turn = hand_poll(hand);
    assert_int_equal(recall(pawl_turn_lane(turn), "optional", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    run_step(pawl_turn_lane(turn), "charge", "1");
    hand_finish(hand, turn, NULL);
}

static pawl_status tell_nobody_or_fail(pawl_lane *lane, size_t position, void *user)
{
    struct pawl_answer answer;
    if (position == 1)
        return be_cancelled_or_fail(lane, position, user);
    pawl_status status = recall(lane, "slow", &answer);
    if (status != PAWL_OK)
        return status;
    assert_true(pw_fork_help(lane->turn->races)); /* which is decided meanwhile */
    assert_int_equal(pawl_attempt_send_event(answer.attempt, "polled", "nobody", "hello", NULL, 0), PAWL_OK);
    return pawl_attempt_complete(answer.attempt, NULL, 0);
}

TEST_BY_HAND(a_loser_whose_change_cannot_be_made_has_not_failed_last)
{
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    (void)race_on(turn, tell_nobody_or_fail, NULL, &winner);
    assert_int_equal(winner, 1);
    fail_run(hand, turn);
    assert_ok(pawl_retry(hand->engine, "polled", "r", &hand->error), hand->error);
    turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "quick", "1");
    hand_finish(hand, turn, NULL);
}

/* Its row is older than the other's, because it had failed before. */
TEST_BY_HAND(nor_does_a_retry_mistake_a_step_that_was_retried_before_the_clock_was_set_back)
{
    const struct pawl_policy once_more = { .retries_max = 1, .delay_ms = 1000, .timeout_ms = HOUR_MS };
    struct pawl_answer answer;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    pawl_lane *lane = pawl_turn_lane(turn);
    assert_int_equal(pawl_recall_step(lane, "charge", strlen("charge"), &once_more, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_fail(answer.attempt, "Broken", "", true), PAWL_OK);
    running_advance_ms(hand, HOUR_MS);
    fail_for_good(lane, "optional");
    running_advance_ms(hand, -HOUR_MS / 2);
    assert_int_equal(pawl_recall_step(lane, "charge", strlen("charge"), &once_more, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_fail(answer.attempt, "Broken", "", true), PAWL_OK);
    fail_run(hand, turn);
    assert_ok(pawl_retry(hand->engine, "polled", "r", &hand->error), hand->error);
    turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "charge", "1");
    hand_finish(hand, turn, NULL);
}

/* ---- Demands -------------------------------------------------------------------------------------------------------------------- */

/* Somebody who restarts the run between the commit of an interrupt and the telling of it. */
static struct {
    struct running *hand;
    pawl_turn *second;
} restarter;

static void restart_first(void *runner, const struct pw_word *word)
{
    struct running *hand = restarter.hand;
    (void)runner;
    if (word->kind != PW_WORD_DEMAND)
        return;
    assert_ok(pawl_restart(hand->engine, "polled", "r", &hand->error), hand->error);
    restarter.second = hand_poll_with(hand, hand->other);
    assert_non_null(restarter.second);
}

/* All turns of the instance were told, and the new run unwound although nothing was demanded of it. */
TEST_BY_HAND(an_interrupt_is_told_to_the_run_that_was_interrupted_and_no_other)
{
    struct pw_peer peer = { .hear = restart_first };
    bool again = true;
    restarter.hand = hand;
    running_create(hand, "polled", "r");
    pawl_turn *first = hand_poll(hand);
    pw_engine_join(hand->engine, &peer); /* told before the runners are */
    assert_ok(pawl_interrupt(hand->engine, "polled", "r", &hand->error), hand->error);
    pw_engine_leave(hand->engine, &peer);
    run_step(pawl_turn_lane(restarter.second), "work", "1");
    pawl_turn_finish(restarter.second, NULL, 0);
    hand_done_with(hand, hand->other, restarter.second);
    while (again) {
        pawl_turn_suspend(first);
        assert_ok(pawl_turn_done(hand->runner, first, &again, &hand->error), hand->error);
    }
    assert_int_equal(running_get(hand, "polled", "r").run_number, 2);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_COMPLETE);
}

/* A plain termination runs no code of the workflow, and so undoes nothing: a turn taken by hand could. */
TEST_BY_HAND(a_child_taken_by_hand_that_is_terminated_with_its_parent_gets_nothing_done)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "parent");
    pawl_turn *turn = hand_poll(hand);
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "make");
    assert_int_equal(pawl_attempt_create_child(attempt, "polled", "r", true, NULL, 0, NULL), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    expect_done(pawl_turn_lane(turn), "make", NULL);
    assert_int_equal(wait_for(pawl_turn_lane(turn), "go"), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    turn = hand_poll(hand);
    run_step(pawl_turn_lane(turn), "charge", "1");
    assert_int_equal(wait_for(pawl_turn_lane(turn), "go"), PAWL_SUSPENDED);
    hand_suspend(hand, turn);

    assert_ok(pawl_terminate(hand->engine, "polled", "parent", &hand->error), hand->error);
    turn = hand_poll(hand);
    assert_int_equal(recall(pawl_turn_lane(turn), "charge", &answer), PAWL_SUSPENDED);
    pawl_turn_unwind(turn);
    assert_int_equal(recall(pawl_turn_lane(turn), "compensate: charge", &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
    assert_null(running_step(hand, "polled", "r", "compensate: charge"));
}

/* ---- Deferreds ------------------------------------------------------------------------------------------------------------------- */

/* A turn that ends the deferred between the look of whoever completes it and his commit. */
static struct {
    const struct pw_store_ops *ops;
    pawl_turn *turn; /* NULL: it has */
} ender;

static pawl_status await_deferred(pawl_turn *turn, struct pawl_answer *out_answer)
{
    return pawl_recall_deferred(pawl_turn_lane(turn), "approval", strlen("approval"), TIMEOUT_MS, out_answer);
}

static pawl_status read_and_time_out(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                     struct pw_found *out_found, struct pawl_error *error)
{
    pawl_turn *turn = ender.turn;
    struct pawl_answer answer;
    pawl_status status = ender.ops->read(store, asked, arena, out_found, error);
    if (asked->kind != PW_READ_STEPS)
        return status;
    ender.turn = NULL;
    if (turn != NULL) {
        assert_int_equal(await_deferred(turn, &answer), PAWL_OK);
        assert_string_equal(answer.error_name, "WAIT_FOR_EVENT_TIMEOUT");
    }
    return status;
}

/* It was acknowledged, and the run went on with the timeout. */
TEST_BY_HAND(a_completion_that_a_timeout_came_before_is_refused_again_and_again)
{
    struct pawl_answer answer;
    const char *token;
    char kept[256];
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_token(pawl_turn_lane(turn), "approval", strlen("approval"), &token), PAWL_OK);
    snprintf(kept, sizeof kept, "%s", token);
    assert_int_equal(await_deferred(turn, &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    running_advance_ms(hand, TIMEOUT_MS);
    turn = hand_poll(hand);

    struct pw_store *store = hand->engine->store;
    struct pw_store_ops ops = *store->ops;
    ender.ops = store->ops;
    ender.turn = turn;
    ops.read = read_and_time_out;
    store->ops = &ops;
    pawl_status status = pawl_deferred_succeed(hand->engine, kept, "1", &hand->error);
    store->ops = ender.ops;
    assert_int_equal(status, PAWL_INVALID_TOKEN);
    assert_int_equal(pawl_deferred_succeed(hand->engine, kept, "1", &hand->error), PAWL_INVALID_TOKEN);
    hand_finish(hand, turn, NULL);
    assert_int_equal(pawl_deferred_succeed(hand->engine, kept, "1", &hand->error), PAWL_INVALID_TOKEN);
}

/* A turn under way is no reason to refuse one that came in time. */
TEST_BY_HAND(a_completion_beside_a_turn_is_acknowledged_and_taken)
{
    struct pawl_answer answer;
    const char *token;
    running_create(hand, "polled", "r");
    pawl_turn *turn = hand_poll(hand);
    assert_int_equal(pawl_recall_token(pawl_turn_lane(turn), "approval", strlen("approval"), &token), PAWL_OK);
    hand_commit(hand);
    assert_ok(pawl_deferred_fail(hand->engine, token, "Refused", "", &hand->error), hand->error);
    assert_int_equal(await_deferred(turn, &answer), PAWL_OK);
    assert_string_equal(answer.error_name, "Refused");
    assert_ok(pawl_deferred_fail(hand->engine, token, "Refused", "", &hand->error), hand->error);
    assert_int_equal(pawl_deferred_succeed(hand->engine, token, "1", &hand->error), PAWL_DEFERRED_COMPLETED);
    hand_finish(hand, turn, NULL);
}
