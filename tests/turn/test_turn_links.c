/* test_turn_links.c - turns and what reaches their runs from elsewhere: demands, children, jobs and deferreds.
 *
 * Turns are driven by hand (hand.h), so that what takes two processes elsewhere happens here in one, in a fixed order: what
 * another process would commit is put into the store past everything that would tell the turns of this one. */
#include "kit/hand.h"

#include "engine/engine.h"
#include "pawl/hooks.h"
#include "turn/lanes.h"

enum { HOUR_MS = 3600 * 1000 };

/* ---- Shorthands ------------------------------------------------------------------------------------------------------ */

/* As by pawl_interrupt() in another process: nobody here is told. */
static void demand_from_afar(struct running *hand, const pawl_turn *turn, enum pw_demand demand)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_DEMAND);
    assert_non_null(op);
    op->as.demand = (struct pw_op_demand){ .instance = turn->claim.fence.instance, .demand = demand };
    assert_int_equal(pw_engine_run(hand->engine, &unit), PAWL_OK);
    pw_unit_clear(&unit);
}

static pawl_status wait_for(pawl_lane *lane, const char *type)
{
    struct pawl_answer answer;
    return pawl_recall_event(lane, type, strlen(type), type, HOUR_MS, &answer);
}

static pawl_status await(pawl_lane *lane, const char *name, const char *id, struct pawl_answer *out_answer)
{
    return pawl_recall_child(lane, name, strlen(name), "polled", id, out_answer);
}

/* The turn that is due; it must be of that instance. */
static pawl_turn *poll_for(struct running *hand, const char *id)
{
    struct pawl_turn_info info;
    pawl_turn *turn = hand_poll(hand);
    pawl_turn_describe(turn, &info);
    assert_string_equal(info.instance_id, id);
    return turn;
}

/* A step of that name makes the child, or has made it. */
static void make_child(pawl_lane *lane, const char *id)
{
    struct pawl_answer answer;
    assert_int_equal(recall(lane, id, &answer), PAWL_OK);
    if (answer.kind == PAWL_ANSWER_RUN) {
        assert_int_equal(pawl_attempt_create_child(answer.attempt, "polled", id, false, NULL, 0, NULL), PAWL_OK);
        assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    }
    expect_done(lane, id, NULL);
}

static void fail_run(struct running *hand, pawl_turn *turn, const char *name)
{
    pawl_turn_fail(turn, name, "");
    hand_done_with(hand, hand->runner, turn);
}

/* ---- Demands that a turn has not heard of ------------------------------------------------------------------------------- */

/* The run was parked as paused past the demand, and every interrupt after that found that it was demanded already. */
TEST_BY_HAND(an_interrupt_that_comes_as_a_run_parks_for_repair_is_not_slept_over)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    assert_int_equal(pawl_attempt_fail(expect_run(pawl_turn_lane(turn), "work"), "Broken", "", false), PAWL_OK);
    pawl_turn_await_repair(turn);
    demand_from_afar(hand, turn, PW_DEMAND_INTERRUPT);
    bool again = true;
    assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);
    if (!again)
        turn = poll_for(hand, "r");
    assert_int_equal(wait_for(pawl_turn_lane(turn), "more"), PAWL_INTERRUPTED);
    fail_run(hand, turn, "INTERRUPTED");
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
}

/* Nobody was told that it is due: it was to be paused when that was decided, and the store let it go on. */
TEST_BY_HAND(a_run_that_goes_on_instead_of_waiting_for_repair_is_told_as_due)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    struct pawl_delivery_page page;
    hook.name = "all";
    hook.events = PAWL_HOOK_ENQUEUED;
    assert_ok(pawl_hook_register(hand->engine, &hook, &hand->error), hand->error);
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    assert_int_equal(pawl_attempt_fail(expect_run(pawl_turn_lane(turn), "work"), "Broken", "", false), PAWL_OK);
    pawl_turn_await_repair(turn);
    demand_from_afar(hand, turn, PW_DEMAND_INTERRUPT);
    bool again = true;
    assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);
    assert_false(again);
    assert_ok(pawl_list_deliveries(hand->engine, hand->scope, NULL, &page, &hand->error), hand->error);
    assert_int_equal(page.count, 2); /* that it was created, and this */
    assert_non_null(strstr(page.deliveries[1].delivery.payload_json, "\"resume\""));
}

/* The turn read on to the newer event, and so past the number by which it would have known of the demand. */
TEST_BY_HAND(an_interrupt_before_an_event_that_a_turn_has_seen_is_not_slept_over)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    demand_from_afar(hand, turn, PW_DEMAND_INTERRUPT);
    running_send(hand, "polled", "r", "other", NULL);
    assert_int_equal(wait_for(pawl_turn_lane(turn), "go"), PAWL_SUSPENDED);
    pawl_turn_suspend(turn);
    bool again = true;
    assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);
    if (!again)
        turn = poll_for(hand, "r");
    assert_int_equal(wait_for(pawl_turn_lane(turn), "go"), PAWL_INTERRUPTED);
    fail_run(hand, turn, "INTERRUPTED");
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
}

/* The same with what is read when the run is taken up: later than it was claimed. */
TEST_BY_HAND(an_interrupt_before_an_event_that_was_loaded_is_not_slept_over)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pawl_runner *runner;
    struct pawl_answer answer;
    bool again = true;
    options.always_replay = true; /* each pass reads the run again */
    assert_ok(pawl_runner_open(hand->engine, &options, &runner, &hand->error), hand->error);
    running_create(hand, "polled", "r");
    running_send(hand, "polled", "r", "before", NULL);
    pawl_turn *turn = hand_poll_with(hand, runner);
    assert_int_equal(pawl_attempt_complete(expect_run(pawl_turn_lane(turn), "one"), NULL, 0), PAWL_OK);
    assert_int_equal(recall(pawl_turn_lane(turn), "two", &answer), PAWL_SUSPENDED);
    demand_from_afar(hand, turn, PW_DEMAND_INTERRUPT);
    running_send(hand, "polled", "r", "other", NULL);
    pawl_turn_suspend(turn);
    assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);
    assert_true(again);
    expect_done(pawl_turn_lane(turn), "one", NULL);
    pawl_status status = wait_for(pawl_turn_lane(turn), "go");
    for (int turns = 0; status == PAWL_SUSPENDED && turns < 2; turns++) {
        pawl_turn_suspend(turn);
        assert_ok(pawl_turn_done(runner, turn, &again, &hand->error), hand->error);
        turn = again ? turn : hand_poll_with(hand, runner);
        assert_non_null(turn);
        status = wait_for(pawl_turn_lane(turn), "go");
    }
    assert_int_equal(status, PAWL_INTERRUPTED);
    pawl_turn_fail(turn, "INTERRUPTED", "");
    hand_done_with(hand, runner, turn);
    pawl_runner_close(runner);
}

/* The turn had read the event, so that its outcome held unless anything came behind it: but the interrupt came before. */
TEST_BY_HAND(a_wait_does_not_time_out_past_an_interrupt_before_an_event_that_was_read)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    assert_int_equal(wait_for(pawl_turn_lane(turn), "go"), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    running_advance_ms(hand, 2 * HOUR_MS);
    turn = poll_for(hand, "r");
    demand_from_afar(hand, turn, PW_DEMAND_INTERRUPT);
    running_send(hand, "polled", "r", "other", NULL);
    pawl_status status = wait_for(pawl_turn_lane(turn), "go");
    for (int turns = 0; status == PAWL_SUSPENDED && turns < 3; turns++) {
        bool again = true;
        pawl_turn_suspend(turn);
        assert_ok(pawl_turn_done(hand->runner, turn, &again, &hand->error), hand->error);
        turn = again ? turn : poll_for(hand, "r");
        status = wait_for(pawl_turn_lane(turn), "go");
    }
    assert_int_equal(status, PAWL_INTERRUPTED);
    fail_run(hand, turn, "INTERRUPTED");
    struct pawl_history history = running_history(hand, "polled", "r", 0);
    assert_int_equal(history.step_count, 1);
    assert_int_equal(history.steps[0].status, PAWL_STEP_WAITING);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
}

/* ---- A branch that is interrupted and loses ------------------------------------------------------------------------------ */

struct story {
    struct running *hand;
    pawl_turn *turn;
};

/* The first branch's body hears of the interrupt, and lets the other branch be carried meanwhile. */
static pawl_status work_against_interrupted(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    struct pawl_answer answer;
    if (position == 1)
        return recall(lane, "never", &answer);
    assert_int_equal(recall(lane, "work", &answer), PAWL_OK);
    if (answer.kind == PAWL_ANSWER_RUN) {
        demand_from_afar(story->hand, story->turn, PW_DEMAND_INTERRUPT);
        pw_turn_demand(story->turn, PW_DEMAND_INTERRUPT);
        assert_true(pw_fork_help(story->turn->races));
        assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
        assert_int_equal(recall(lane, "work", &answer), PAWL_OK);
    }
    return answer.kind == PAWL_ANSWER_DONE ? PAWL_OK : PAWL_FAILED;
}

/* When the turn comes to its end, it goes again, because something was demanded that its pass did not know.  Then whoever asks is
 * told. */
static void finish_interrupted(struct running *hand, pawl_turn *turn)
{
    bool again = false;
    pawl_turn_finish(turn, "1", 1);
    assert_int_equal(pawl_turn_done(hand->runner, turn, &again, &hand->error), PAWL_OK);
    assert_true(again);
    assert_int_equal(pawl_lane_check(pawl_turn_lane(turn)), PAWL_INTERRUPTED);
    pawl_turn_unwind(turn);
    pawl_turn_fail(turn, pawl_status_name(PAWL_INTERRUPTED), "");
    hand_done_with(hand, hand->runner, turn);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_TERMINATED);
}

/* A replay carries only the branch that won, so no call says there that the run is interrupted. */
TEST_BY_HAND(an_interruption_of_a_branch_that_loses_is_not_one_of_the_run)
{
    struct story story = { .hand = hand };
    pawl_status statuses[2];
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    story.turn = poll_for(hand, "r");
    assert_int_equal(pawl_lane_first(pawl_turn_lane(story.turn), "race", strlen("race"), 2, work_against_interrupted,
                                     &story, &winner, statuses),
                     PAWL_OK);
    assert_int_equal(winner, 0);
    assert_int_equal(statuses[1], PAWL_INTERRUPTED);
    assert_false(pawl_turn_interrupted(story.turn));
    finish_interrupted(hand, story.turn);
}

static bool yield_always(pawl_runner *runner)
{
    (void)runner;
    return true;
}

/* The loser is told of its step once that is durable, and it is when the other branch decides the race. */
static pawl_status lose_with_work_done(pawl_lane *lane, size_t position, void *user)
{
    struct story *story = user;
    struct pawl_answer answer;
    pawl_status status = recall(lane, position == 0 ? "creates" : "wins", &answer);
    if (status != PAWL_OK || answer.kind != PAWL_ANSWER_RUN)
        return status;
    if (position == 1)
        assert_true(pw_commit_lead(story->hand->engine->commit));
    else
        assert_int_equal(pawl_attempt_create_child(answer.attempt, "polled", "child", true, NULL, 0, NULL), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    return recall(lane, position == 0 ? "creates" : "wins", &answer);
}

/* Nobody came back to it: its step had completed, and was not undone. */
TEST_BY_HAND(a_loser_that_was_not_told_what_it_did_is_walked_before_anything_is_undone)
{
    struct story story = { .hand = hand };
    struct pawl_answer answer;
    pawl_status statuses[2];
    size_t winner = SIZE_MAX;
    running_create(hand, "polled", "r");
    story.turn = poll_for(hand, "r");
    pawl_lane *lane = pawl_turn_lane(story.turn);
    const struct pw_turn_host *own = story.turn->host;
    struct pw_turn_host busy = *own;
    busy.should_yield = yield_always;
    story.turn->host = &busy;
    assert_int_equal(pawl_lane_first(lane, "race", strlen("race"), 2, lose_with_work_done, &story, &winner, statuses),
                     PAWL_OK);
    story.turn->host = own;
    assert_int_equal(winner, 1);
    assert_int_equal(statuses[0], PAWL_SUSPENDED);
    pawl_turn_unwind(story.turn);
    assert_int_equal(recall(lane, "compensate: wins", &answer), PAWL_SUSPENDED);
    pawl_turn_suspend(story.turn);
    bool again = false;
    assert_ok(pawl_turn_done(hand->runner, story.turn, &again, &hand->error), hand->error);
    assert_true(again);
    lane = pawl_turn_lane(story.turn);
    assert_int_equal(pawl_lane_first(lane, "race", strlen("race"), 2, lose_with_work_done, &story, &winner, statuses),
                     PAWL_OK);
    assert_int_equal(winner, 1);
    assert_int_equal(statuses[0], PAWL_OK);
    fail_run(hand, story.turn, "Refused");
}

/* ---- Repair that is over ------------------------------------------------------------------------------------------------ */

enum { LEASE_MS = 1000 };

static int64_t reserve_always(void *hand, struct pw_text workflow, int64_t *out_lease_ms)
{
    (void)hand;
    (void)workflow;
    *out_lease_ms = LEASE_MS;
    return 77;
}

static void never_carry(void *hand, const struct pw_claim *claim)
{
    (void)hand;
    (void)claim;
}

/* It was handed to a local runner with the resume, and still counted as waiting for repair: once it was paused for any other
 * reason it said so, and the next resume put failed steps back. */
TEST_BY_HAND(a_run_that_was_resumed_and_handed_over_waits_for_repair_no_more)
{
    const struct pw_local local = { .runner = hand, .reserve = reserve_always, .deliver = never_carry };
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    assert_int_equal(pawl_attempt_fail(expect_run(pawl_turn_lane(turn), "work"), "Broken", "", false), PAWL_OK);
    pawl_turn_await_repair(turn);
    hand_done_with(hand, hand->runner, turn);
    assert_int_equal(running_get(hand, "polled", "r").phase, PAWL_PHASE_WAITING_FOR_REPAIR);

    assert_true(pw_engine_set_local(hand->engine, &local));
    assert_ok(pawl_resume(hand->engine, "polled", "r", &hand->error), hand->error);
    assert_true(pw_engine_set_local(hand->engine, NULL));
    running_advance_ms(hand, 2 * LEASE_MS); /* its holder is dead */
    assert_ok(pawl_pause(hand->engine, "polled", "r", &hand->error), hand->error);
    assert_int_equal(running_get(hand, "polled", "r").phase, PAWL_PHASE_PAUSED);
}

/* Somebody who interrupts the turn's run once, between a look at it and the commit that rests on the look. */
static struct {
    struct running *hand;
    const pawl_turn *turn; /* NULL: it was */
    const struct pw_store_ops *ops;
} meddler;

static pawl_status read_and_interrupt(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                      struct pw_found *out_found, struct pawl_error *error)
{
    const pawl_turn *turn = meddler.turn;
    pawl_status status = meddler.ops->read(store, asked, arena, out_found, error);
    if (asked->kind != PW_READ_INSTANCE)
        return status;
    meddler.turn = NULL;
    if (turn != NULL)
        demand_from_afar(meddler.hand, turn, PW_DEMAND_INTERRUPT);
    return status;
}

/* The same, who lets the turn begin to undo. */
static pawl_attempt *undoing;

static pawl_status read_and_undo(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                 struct pw_found *out_found, struct pawl_error *error)
{
    const pawl_turn *turn = meddler.turn;
    pawl_status status = meddler.ops->read(store, asked, arena, out_found, error);
    if (asked->kind != PW_READ_STEPS)
        return status;
    meddler.turn = NULL;
    if (turn != NULL) {
        struct pawl_policy policy;
        struct pawl_answer answer;
        pawl_policy_default(&policy);
        policy.undoes = "done";
        pawl_turn_unwind((pawl_turn *)turn);
        assert_int_equal(pawl_recall_step(pawl_turn_lane((pawl_turn *)turn), "undo", strlen("undo"), &policy, &answer),
                         PAWL_OK);
        assert_int_equal(answer.kind, PAWL_ANSWER_RUN);
        undoing = answer.attempt;
    }
    return status;
}

static pawl_status restart_while(struct running *hand, const pawl_turn *turn, bool is_undone)
{
    struct pw_store *store = hand->engine->store;
    struct pw_store_ops ops = *store->ops;
    meddler.hand = hand;
    meddler.turn = turn;
    meddler.ops = store->ops;
    ops.read = is_undone ? read_and_undo : read_and_interrupt;
    store->ops = &ops;
    pawl_status status = pawl_restart_from(hand->engine, "polled", "r", "done", &hand->error);
    store->ops = meddler.ops;
    return status;
}

/* A demand does not move a run that is held.  So the restart went through, and could keep what the turn was about to undo;
 * and the interrupt, which had been acknowledged, was gone. */
TEST_BY_HAND(a_restart_from_a_step_keeps_nothing_of_a_run_that_is_interrupted_at_the_same_moment)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    run_step(pawl_turn_lane(turn), "done", "1");
    pawl_attempt *attempt = expect_run(pawl_turn_lane(turn), "more");
    assert_int_equal(restart_while(hand, turn, false), PAWL_NOT_REPAIRABLE);
    assert_int_equal(pawl_attempt_complete(attempt, NULL, 0), PAWL_OK);
    finish_interrupted(hand, turn);
    assert_int_equal(running_get(hand, "polled", "r").run_number, 1);
}

/* Nor does the row that tells of the first compensation: what it undoes was kept. */
TEST_BY_HAND(a_restart_from_a_step_keeps_nothing_of_a_run_that_begins_to_undo_at_the_same_moment)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    run_step(pawl_turn_lane(turn), "done", "1");
    assert_int_equal(pawl_attempt_fail(expect_run(pawl_turn_lane(turn), "more"), "Broken", "", false), PAWL_OK);
    assert_int_equal(restart_while(hand, turn, true), PAWL_NOT_REPAIRABLE);
    assert_int_equal(pawl_attempt_complete(undoing, NULL, 0), PAWL_OK);
    pawl_turn_fail(turn, "Refused", "");
    hand_done_with(hand, hand->runner, turn);
    assert_int_equal(running_get(hand, "polled", "r").run_number, 1);
    assert_int_equal(running_get(hand, "polled", "r").status, PAWL_ERRORED);
}

/* ---- Children that end more than once -------------------------------------------------------------------------------------- */

/* The second answer had the id of the first, and was dropped: the parent slept for a year. */
TEST_BY_HAND(a_child_that_ends_again_tells_its_parent_again)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "parent");
    pawl_turn *turn = poll_for(hand, "parent");
    make_child(pawl_turn_lane(turn), "child");
    assert_int_equal(await(pawl_turn_lane(turn), "once", "child", &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    fail_run(hand, poll_for(hand, "child"), "First");

    turn = poll_for(hand, "parent");
    make_child(pawl_turn_lane(turn), "child");
    assert_int_equal(await(pawl_turn_lane(turn), "once", "child", &answer), PAWL_OK);
    assert_string_equal(answer.error_name, "First");
    assert_ok(pawl_restart(hand->engine, "polled", "child", &hand->error), hand->error);
    assert_int_equal(await(pawl_turn_lane(turn), "again", "child", &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    fail_run(hand, poll_for(hand, "child"), "Second");

    turn = poll_for(hand, "parent");
    make_child(pawl_turn_lane(turn), "child");
    assert_int_equal(await(pawl_turn_lane(turn), "again", "child", &answer), PAWL_OK);
    assert_int_equal(answer.kind, PAWL_ANSWER_FAILED);
    assert_string_equal(answer.error_name, "Second");
    hand_finish(hand, turn, NULL);
}

/* The code waits for another child than the row says, and an event came just then: the look at the child was left out. */
TEST_BY_HAND(a_wait_for_another_child_looks_at_it_although_an_event_came)
{
    struct pawl_answer answer;
    running_create(hand, "polled", "parent");
    pawl_turn *turn = poll_for(hand, "parent");
    make_child(pawl_turn_lane(turn), "one");
    assert_int_equal(await(pawl_turn_lane(turn), "first", "one", &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    hand_finish(hand, poll_for(hand, "one"), "1");

    turn = poll_for(hand, "parent");
    make_child(pawl_turn_lane(turn), "one");
    assert_int_equal(await(pawl_turn_lane(turn), "first", "one", &answer), PAWL_OK);
    make_child(pawl_turn_lane(turn), "two");
    assert_int_equal(await(pawl_turn_lane(turn), "second", "two", &answer), PAWL_SUSPENDED);
    hand_suspend(hand, turn);
    hand_suspend(hand, poll_for(hand, "two"));
    running_send(hand, "polled", "parent", "other", NULL);
    assert_ok(pawl_pause(hand->engine, "polled", "parent", &hand->error), hand->error);
    assert_ok(pawl_resume(hand->engine, "polled", "parent", &hand->error), hand->error);

    turn = poll_for(hand, "parent");
    running_send(hand, "polled", "parent", "another", NULL);
    assert_int_equal(await(pawl_turn_lane(turn), "second", "one", &answer), PAWL_OK);
    assert_string_equal(answer.result_json, "1");
    hand_finish(hand, turn, NULL);
}

/* ---- What finished last ------------------------------------------------------------------------------------------------------ */

/* Compensations run in the reverse order of completion, and the clock had been set back between the two. */
TEST_BY_HAND(a_step_that_finishes_later_says_so_although_the_clock_was_set_back)
{
    running_create(hand, "polled", "r");
    pawl_turn *turn = poll_for(hand, "r");
    pawl_lane *lane = pawl_turn_lane(turn);
    run_step(lane, "one", "1");
    running_advance_ms(hand, -HOUR_MS);
    run_step(lane, "two", "2");
    int64_t one_at_ms = expect_done(lane, "one", "1").finished_at_ms;
    assert_true(expect_done(lane, "two", "2").finished_at_ms >= one_at_ms);
    hand_finish(hand, turn, NULL);
}

/* ---- Misuse -------------------------------------------------------------------------------------------------------------------- */

TEST_BY_HAND(an_execution_without_an_engine_is_refused)
{
    struct pawl_instance instance;
    assert_int_equal(pawl_execute(NULL, hand->scope, "polled", NULL, &instance, &hand->error), PAWL_INVALID);
}
