/* hand.c - see hand.h. */
#include "hand.h"

#include "engine/engine.h"

static int64_t hand_now(void *user)
{
    return atomic_load(&((struct hand *)user)->now_ms);
}

void hand_advance_ms(struct hand *hand, int64_t ms)
{
    atomic_fetch_add(&hand->now_ms, ms);
}

static void never_called(pawl_turn *turn, void *user)
{
    (void)user;
    pawl_turn_finish(turn, "\"by tick\"", strlen("\"by tick\""));
}

int hand_set_up(void **state)
{
    struct hand *hand = calloc(1, sizeof *hand);
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    const struct pawl_definition small = { .struct_size = sizeof small,
                                           .name = "small",
                                           .limits = { .steps_max = 2, .payload_bytes_max = 64 } };
    const struct pawl_definition ticked = { .struct_size = sizeof ticked, .name = "ticked", .advance = never_called };
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_runner_options runner_options = PAWL_RUNNER_OPTIONS_INIT;
    atomic_init(&hand->now_ms, START_MS);
    store_place_make(&hand->place, store_asked_for(STORE_IN_MEMORY));
    options.store_url = hand->place.url;
    options.clock = (struct pawl_clock){ .now_ms = hand_now, .user = hand };
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

int hand_tear_down(void **state)
{
    struct hand *hand = *state;
    pawl_runner_close(hand->runner);
    pawl_runner_close(hand->other);
    pawl_close(hand->engine);
    pawl_scope_free(hand->scope);
    free(hand);
    return 0;
}

/* ---- Shorthands ------------------------------------------------------------------------------------------------------- */

void hand_create_of(struct hand *hand, const char *workflow, const char *id, const char *params)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    options.params_json = params;
    assert_ok(pawl_create(hand->engine, hand->scope, workflow, &options, &instance, &hand->error), hand->error);
}

void hand_create(struct hand *hand, const char *id)
{
    hand_create_of(hand, "polled", id, NULL);
}

struct pawl_instance hand_get(struct hand *hand, const char *id)
{
    struct pawl_instance instance;
    assert_ok(pawl_get(hand->engine, hand->scope, "polled", id, &instance, &hand->error), hand->error);
    return instance;
}

struct pawl_history hand_history(struct hand *hand, const char *id)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    options.include_logs = true;
    options.page_size = 100;
    assert_ok(pawl_get_history(hand->engine, hand->scope, "polled", id, &options, &history, &hand->error), hand->error);
    return history;
}

const struct pawl_step_record *hand_step(struct hand *hand, const char *name)
{
    struct pawl_history history = hand_history(hand, "r");
    for (size_t i = 0; i < history.step_count; i++) {
        if (strcmp(history.steps[i].name, name) == 0)
            return &history.steps[i];
    }
    return NULL;
}

void hand_send(struct hand *hand, const char *id, const char *type, const char *payload)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.payload_json = payload;
    assert_ok(pawl_send_event(hand->engine, NULL, "polled", id, &options, NULL, &hand->error), hand->error);
}

pawl_turn *hand_poll_with(struct hand *hand, pawl_runner *runner)
{
    pawl_turn *turn = NULL;
    assert_ok(pawl_turn_poll(runner, &turn, &hand->error), hand->error);
    return turn;
}

pawl_turn *hand_take_over(struct hand *hand)
{
    pawl_turn *turn = NULL;
    for (int i = 0; i < 2 && turn == NULL; i++) { /* a runner that lives is watched for a lease */
        hand_advance_ms(hand, 1001);
        turn = hand_poll_with(hand, hand->other);
    }
    assert_non_null(turn);
    return turn;
}

pawl_turn *hand_poll(struct hand *hand)
{
    pawl_turn *turn = hand_poll_with(hand, hand->runner);
    assert_non_null(turn);
    return turn;
}

void hand_done_with(struct hand *hand, pawl_runner *runner, pawl_turn *turn)
{
    bool again = true;
    assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);
    assert_false(again);
}

void hand_suspend(struct hand *hand, pawl_turn *turn)
{
    pawl_turn_suspend(turn);
    hand_done_with(hand, hand->runner, turn);
}

void hand_finish(struct hand *hand, pawl_turn *turn, const char *result)
{
    pawl_turn_finish(turn, result, result != NULL ? strlen(result) : 0);
    hand_done_with(hand, hand->runner, turn);
}

void hand_commit(struct hand *hand)
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
