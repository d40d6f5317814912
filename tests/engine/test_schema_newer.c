/* test_schema_newer.c - a newer Pawl migrates the database while this process has it open: it takes no new work, finishes what it
 * holds, and says so.  The newer Pawl is played by raising the version in the table. */
#include "kit/hand.h"

#include "pawl/hooks.h"

static pawl_status no_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    (void)params;
    (void)out_result;
    return PAWL_OK;
}

static void raise_version(const struct store_place *place, int by)
{
    store_place_execute(place, by > 0 ? "UPDATE workflow_schema SET version = version + 1"
                                      : "UPDATE workflow_schema SET version = version - 1");
}

/* ---- With simulated time -------------------------------------------------------------------------------------------- */

static int64_t hand_clock(void *user)
{
    return atomic_load(&((struct hand *)user)->now_ms);
}

static pawl_status try_open(struct hand *hand, pawl_engine **out_engine)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = hand->place.url;
    options.clock = (struct pawl_clock){ .now_ms = hand_clock, .user = hand };
    return pawl_open(&options, out_engine, &hand->error);
}

static int set_up(void **state)
{
    struct hand *hand = calloc(1, sizeof *hand);
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    const struct pawl_workflow ticked = { .name = "ticked", .run = no_steps };
    assert_non_null(hand);
    atomic_init(&hand->now_ms, START_MS);
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
    struct hand *hand = *state;
    pawl_runner_close(hand->runner);
    pawl_close(hand->engine);
    pawl_scope_free(hand->scope);
    store_place_remove(&hand->place);
    free(hand);
    return 0;
}

static int64_t newer_schema(pawl_runner *runner)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(runner, &stats);
    return stats.newer_schema;
}

/* Every way to take work says so, with both versions. */
static void assert_takes_nothing(struct hand *hand, int64_t version)
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

static void a_runner_that_finds_a_newer_schema_takes_nothing_and_finishes_what_it_holds(void **state)
{
    struct hand *hand = *state;
    pawl_engine *other = NULL;
    int64_t version = store_place_number(&hand->place, "SELECT version FROM workflow_schema");
    hand_create(hand, "held");
    hand_create(hand, "due");
    pawl_turn *held = hand_poll(hand);
    assert_int_equal(newer_schema(hand->runner), 0);

    raise_version(&hand->place, +1);
    hand_advance_ms(hand, 1000);

    assert_takes_nothing(hand, version + 1);
    assert_int_equal(try_open(hand, &other), PAWL_STORE_TOO_NEW); /* as ever */
    run_step(pawl_turn_lane(held), "1", "7");
    hand_finish(hand, held, "8");
    assert_int_equal(hand_get(hand, "held").status, PAWL_COMPLETE);
    hand_create_of(hand, "ticked", "new", NULL); /* is kept for whoever takes it */
    assert_int_equal(hand_get(hand, "due").phase, PAWL_PHASE_QUEUED);

    raise_version(&hand->place, -1);
    hand_advance_ms(hand, 1000);
    int64_t processed = 0;
    assert_ok(pawl_runner_tick(hand->runner, 0, 0, &processed, &hand->error), hand->error);
    assert_int_equal(processed, 1);
    assert_int_equal(newer_schema(hand->runner), 0);
    assert_ok(pawl_check_schema(hand->engine, &hand->error), hand->error);
}

static void the_version_is_read_at_most_once_a_second(void **state)
{
    struct hand *hand = *state;
    hand_advance_ms(hand, 1000);
    assert_ok(pawl_runner_tick(hand->runner, 0, 0, NULL, &hand->error), hand->error);
    raise_version(&hand->place, +1);
    hand_advance_ms(hand, 999);
    assert_ok(pawl_runner_tick(hand->runner, 0, 0, NULL, &hand->error), hand->error);
    hand_advance_ms(hand, 1);
    assert_int_equal(pawl_runner_tick(hand->runner, 0, 0, NULL, &hand->error), PAWL_STORE_TOO_NEW);
    raise_version(&hand->place, -1);
}

/* ---- A started runner ----------------------------------------------------------------------------------------------- */

static struct gate gate;

static pawl_status wait_at_gate(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return gate_pass(&gate) ? PAWL_OK : PAWL_FAILED;
}

static pawl_status pass_gate(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
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

static void a_started_runner_finds_a_newer_schema_by_itself(void **state)
{
    struct running running;
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_runner_that_finds_a_newer_schema_takes_nothing_and_finishes_what_it_holds,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_version_is_read_at_most_once_a_second, set_up, tear_down),
        cmocka_unit_test(a_started_runner_finds_a_newer_schema_by_itself),
    };
    return cmocka_run_group_tests_name("newer schema", tests, NULL, NULL);
}
