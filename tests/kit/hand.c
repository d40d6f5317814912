/* hand.c - see hand.h. */
#include "hand.h"

#include "engine/engine.h"

static void never_called(pawl_turn *turn, void *user)
{
    (void)user;
    pawl_turn_finish(turn, "\"by tick\"", strlen("\"by tick\""));
}

static int set_up(void **state)
{
    struct running *hand = calloc(1, sizeof *hand);
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    const struct pawl_definition small = { .struct_size = sizeof small,
                                           .name = "small",
                                           .limits = { .steps_max = 2, .payload_bytes_max = 64 } };
    const struct pawl_definition ticked = { .struct_size = sizeof ticked, .name = "ticked", .advance = never_called };
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_runner_options runner_options = PAWL_RUNNER_OPTIONS_INIT;
    store_place_make(&hand->place, store_asked_for(STORE_IN_MEMORY));
    options.store_url = hand->place.url;
    options.clock = (struct pawl_clock){ .now_ms = running_stopped_ms, .user = hand };
    runner_options.lease_ms = 1000;
    assert_ok(pawl_open(&options, &hand->engine, &hand->error), hand->error);
    assert_ok(pawl_define(hand->engine, &polled, &hand->error), hand->error);
    assert_ok(pawl_define(hand->engine, &small, &hand->error), hand->error);
    assert_ok(pawl_define(hand->engine, &ticked, &hand->error), hand->error);
    assert_ok(pawl_runner_open(hand->engine, &runner_options, &hand->runner, &hand->error), hand->error);
    assert_ok(pawl_runner_open(hand->engine, &runner_options, &hand->other, &hand->error), hand->error);
    hand->scope = pawl_scope_new();
    *state = hand;
    return 0;
}

static int tear_down(void **state)
{
    struct running *hand = *state;
    pawl_runner_close(hand->runner);
    pawl_runner_close(hand->other);
    pawl_close(hand->engine);
    pawl_scope_free(hand->scope);
    free(hand);
    return 0;
}

const struct test_setting hand_setting = { .set_up = set_up, .tear_down = tear_down };

/* ---- Shorthands ------------------------------------------------------------------------------------------------------- */

pawl_turn *hand_poll_with(struct running *hand, pawl_runner *runner)
{
    pawl_turn *turn = NULL;
    assert_ok(pawl_turn_poll(runner, &turn, &hand->error), hand->error);
    return turn;
}

pawl_turn *hand_take_over(struct running *hand)
{
    pawl_turn *turn = NULL;
    for (int i = 0; i < 2 && turn == NULL; i++) { /* twice: a live runner is observed for a lease first */
        running_advance_ms(hand, 1001);
        turn = hand_poll_with(hand, hand->other);
    }
    assert_non_null(turn);
    return turn;
}

pawl_turn *hand_poll(struct running *hand)
{
    pawl_turn *turn = hand_poll_with(hand, hand->runner);
    assert_non_null(turn);
    return turn;
}

void hand_done_with(struct running *hand, pawl_runner *runner, pawl_turn *turn)
{
    bool again = true;
    assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);
    assert_false(again);
}

void hand_suspend(struct running *hand, pawl_turn *turn)
{
    pawl_turn_suspend(turn);
    hand_done_with(hand, hand->runner, turn);
}

void hand_finish(struct running *hand, pawl_turn *turn, const char *result)
{
    pawl_turn_finish(turn, result, result != NULL ? strlen(result) : 0);
    hand_done_with(hand, hand->runner, turn);
}

void hand_commit(struct running *hand)
{
    while (pw_commit_lead(hand->engine->commit))
        continue;
}

pawl_status recall(pawl_lane *lane, const char *name, struct pawl_answer *answer)
{
    return pawl_recall_step(lane, name, strlen(name), NULL, answer);
}

pawl_attempt *expect_run(pawl_lane *lane, const char *name)
{
    struct pawl_answer answer;
    assert_int_equal(recall(lane, name, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_RUN);
    return answer.attempt;
}

struct pawl_answer expect_done(pawl_lane *lane, const char *name, const char *result)
{
    struct pawl_answer answer;
    assert_int_equal(recall(lane, name, &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_DONE);
    if (result == NULL)
        assert_null(answer.result_json);
    else
        assert_string_equal(answer.result_json, result);
    return answer;
}

void run_step(pawl_lane *lane, const char *name, const char *result)
{
    pawl_attempt *attempt = expect_run(lane, name);
    assert_int_equal(pawl_attempt_complete(attempt, result, strlen(result)), PAWL_OK);
    (void)expect_done(lane, name, result);
}
