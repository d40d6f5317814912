/* test_schema_newer.c - a newer Pawl migrates the database while this process has it open: it takes no new work, finishes what it
 * holds, and says so.  The newer Pawl is played by raising the version in the table. */
#include "kit/hand.h"

#include "pawl/hooks.h"

WORKFLOW(no_steps)
{
    return PAWL_OK;
}

static void raise_version(const struct store_place *place, int by)
{
    store_place_execute(place, by > 0 ? "UPDATE workflow_schema SET version = version + 1"
                                      : "UPDATE workflow_schema SET version = version - 1");
}

/* ---- With simulated time -------------------------------------------------------------------------------------------- */

static pawl_status try_open(struct running *hand, pawl_engine **out_engine)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = hand->place.url;
    options.clock = (struct pawl_clock){ .now_ms = running_stopped_ms, .user = hand };
    return pawl_open(&options, out_engine, &hand->error);
}

static int set_up(void **state)
{
    struct running *hand = calloc(1, sizeof *hand);
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    const struct pawl_workflow ticked = { .name = "ticked", .run = no_steps };
    assert_non_null(hand);
    store_place_make(&hand->place, store_asked_for(STORE_IN_FILE));
    assert_ok(try_open(hand, &hand->engine), hand->error);
    assert_ok(pawl_define(hand->engine, &polled, &hand->error), hand->error);
    assert_ok(pawl_register(hand->engine, &ticked, &hand->error), hand->error);
    assert_ok(pawl_runner_open(hand->engine, NULL, &hand->runner, &hand->error), hand->error);
    hand->scope = pawl_scope_new();
    *state = hand;
    return 0;
}

static int tear_down(void **state)
{
    struct running *hand = *state;
    pawl_runner_close(hand->runner);
    pawl_close(hand->engine);
    pawl_scope_free(hand->scope);
    store_place_remove(&hand->place);
    free(hand);
    return 0;
}

static const struct test_setting with_newer_schema = { set_up, tear_down, 0 };

static int64_t newer_schema(pawl_runner *runner)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(runner, &stats);
    return stats.newer_schema;
}

/* Every way to take work says so, with both versions. */
static void assert_takes_nothing(struct running *hand, int64_t version)
{
    static const char *const functions[] = { "charge" };
    struct pawl_claim_options claim = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    char known[40], found[40];
    int64_t processed = -1;
    size_t count;
    pawl_turn *turn = NULL;
    claim.functions = functions;
    claim.function_count = 1;
    assert_int_equal(pawl_runner_tick(hand->runner, 0, 0, &processed, &hand->error), PAWL_STORE_TOO_NEW);
    (void)snprintf(found, sizeof found, "schema version %d,", (int)version);
    (void)snprintf(known, sizeof known, "up to %d:", (int)version - 1);
    assert_non_null(strstr(hand->error.text, found));
    assert_non_null(strstr(hand->error.text, known));
    assert_int_equal(pawl_turn_poll(hand->runner, &turn, &hand->error), PAWL_STORE_TOO_NEW);
    assert_null(turn);
    assert_int_equal(pawl_job_claim(hand->engine, hand->scope, &claim, &jobs, &count, &hand->error),
                     PAWL_STORE_TOO_NEW);
    assert_int_equal(pawl_hooks_tick(hand->engine, 0, NULL, NULL, &hand->error), PAWL_STORE_TOO_NEW);
    assert_int_equal(pawl_check_schema(hand->engine, &hand->error), PAWL_STORE_TOO_NEW);
    assert_int_equal(newer_schema(hand->runner), version);
}

TEST_WITH(with_newer_schema, struct running *hand,
          a_runner_that_finds_a_newer_schema_takes_nothing_and_finishes_what_it_holds)
{
    pawl_engine *other = NULL;
    int64_t version = store_place_number(&hand->place, "SELECT version FROM workflow_schema");
    running_create(hand, "polled", "held");
    running_create(hand, "polled", "due");
    pawl_turn *held = hand_poll(hand);
    assert_int_equal(newer_schema(hand->runner), 0);

    raise_version(&hand->place, +1);
    running_advance_ms(hand, 1000);

    assert_takes_nothing(hand, version + 1);
    assert_int_equal(try_open(hand, &other), PAWL_STORE_TOO_NEW); /* as ever */
    run_step(pawl_turn_lane(held), "1", "7");
    hand_finish(hand, held, "8");
    assert_int_equal(running_get(hand, "polled", "held").status, PAWL_COMPLETE);
    running_create_with(hand, "ticked", "new", NULL); /* is kept for whoever takes it */
    assert_int_equal(running_get(hand, "polled", "due").phase, PAWL_PHASE_QUEUED);

    raise_version(&hand->place, -1);
    running_advance_ms(hand, 1000);
    int64_t processed = 0;
    assert_ok(pawl_runner_tick(hand->runner, 0, 0, &processed, &hand->error), hand->error);
    assert_int_equal(processed, 1);
    assert_int_equal(newer_schema(hand->runner), 0);
    assert_ok(pawl_check_schema(hand->engine, &hand->error), hand->error);
}

TEST_WITH(with_newer_schema, struct running *hand, the_version_is_read_at_most_once_a_second)
{
    running_advance_ms(hand, 1000);
    assert_ok(pawl_runner_tick(hand->runner, 0, 0, NULL, &hand->error), hand->error);
    raise_version(&hand->place, +1);
    running_advance_ms(hand, 999);
    assert_ok(pawl_runner_tick(hand->runner, 0, 0, NULL, &hand->error), hand->error);
    running_advance_ms(hand, 1);
    assert_int_equal(pawl_runner_tick(hand->runner, 0, 0, NULL, &hand->error), PAWL_STORE_TOO_NEW);
    raise_version(&hand->place, -1);
}

/* ---- A started runner ----------------------------------------------------------------------------------------------- */

static struct gate gate;

BODY(wait_at_gate)
{
    return gate_pass(&gate) ? PAWL_OK : PAWL_FAILED;
}

WORKFLOW(pass_gate)
{
    PAWL_TRY(pawl_do(run, "gate", NULL, wait_at_gate, NULL, NULL));
    return pawl_do(run, "more", NULL, wait_at_gate, NULL, NULL);
}

static void await_newer_schema(pawl_runner *runner, bool is_newer)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while ((newer_schema(runner) != 0) != is_newer) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

TEST(a_started_runner_finds_a_newer_schema_by_itself)
{
    struct running running;
    gate_init(&gate);
    running_open(&running, true);
    struct store_place place = database_place(running.path);
    running_register(&running, "gates", pass_gate, NULL);
    running_start(&running, NULL);
    running_create(&running, "gates", "held");
    gate_await(&gate, 1);

    raise_version(&place, +1);
    await_newer_schema(running.runner, true);

    running_create(&running, "gates", "new"); /* not handed to the local runner, either */
    gate_open(&gate);
    (void)running_await(&running, "gates", "held", PAWL_COMPLETE);
    assert_int_equal(running_get(&running, "gates", "new").phase, PAWL_PHASE_QUEUED);
    assert_int_equal(gate_entered(&gate), 2);

    raise_version(&place, -1);
    (void)running_await(&running, "gates", "new", PAWL_COMPLETE);
    assert_int_equal(newer_schema(running.runner), 0);
    running_close(&running);
    gate_clear(&gate);
}
