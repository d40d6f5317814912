/* Runs and the engine's budget of memory: a run for which there is none waits, holds nothing, and goes on later. */
#include "kit/running.h"

#include "engine/engine.h"

enum { STEPS = 6, RESULT_BYTES = 700 * 1024, CROWD = 6 };

BODY(make_large)
{
    char *text = malloc(RESULT_BYTES + 1);
    assert_non_null(text);
    memset(text, 'x', RESULT_BYTES);
    text[RESULT_BYTES] = '\0';
    pawl_status status = pawl_value_pack(pawl_step_scope(step), out_result, "s", text);
    free(text);
    return status;
}

/* Some megabytes of results, then it waits; its end needs them again. */
WORKFLOW(large)
{
    size_t bytes = 0;
    for (int i = 0; i < STEPS; i++) {
        char name[16];
        pawl_value *result;
        snprintf(name, sizeof name, "step %d", i);
        PAWL_TRY(pawl_do(run, name, NULL, make_large, NULL, &result));
        bytes += strlen(pawl_value_string(result, NULL, ""));
    }
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "1 day", NULL));
    return pawl_value_pack(pawl_run_scope(run), out_result, "i", (int)bytes);
}

WORKFLOW(small)
{
    return pawl_wait_for_event(run, "wait", "go", "1 day", NULL);
}

BODY(stand_at_gate)
{
    return gate_pass(pawl_step_user(step)) ? PAWL_OK : PAWL_FAILED;
}

WORKFLOW(growing)
{
    for (int i = 0; i < STEPS; i++) {
        char name[16];
        snprintf(name, sizeof name, "step %d", i);
        PAWL_TRY(pawl_do(run, name, NULL, make_large, NULL, NULL));
    }
    return pawl_do(run, "stand", NULL, stand_at_gate, NULL, NULL);
}

static int set_up(void **state)
{
    struct running *running = calloc(1, sizeof *running);
    assert_non_null(running);
    running_open(running, true);
    running_register(running, "large", large, NULL);
    running_register(running, "small", small, NULL);
    running_start(running, NULL);
    *state = running;
    return 0;
}

static int tear_down(void **state)
{
    running_close(*state);
    free(*state);
    return 0;
}

static const struct test_setting running_setting = { set_up, tear_down, 0 };

static struct pawl_stats stats_of(struct running *running)
{
    struct pawl_stats stats = { .struct_size = sizeof stats };
    pawl_stats_read(running->engine, &stats);
    return stats;
}

/* What is kept warm is not loaded. */
static void start_anew(struct running *running)
{
    running_stop(running);
    running_start(running, NULL);
}

static void await_refusals(struct running *running, int64_t more_than)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(running).memory_refusals <= more_than && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(stats_of(running).memory_refusals > more_than);
}

static void await_held(struct running *running, int64_t bytes)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(running).memory_bytes_held != bytes && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(stats_of(running).memory_bytes_held, bytes);
}

TEST_OF(running, a_run_is_loaded_however_large_it_is)
{
    running_create(running, "large", "a");
    (void)running_await(running, "large", "a", PAWL_WAITING);
    start_anew(running);
    running_send(running, "large", "a", "go", NULL);
    struct pawl_instance instance = running_await(running, "large", "a", PAWL_COMPLETE);
    assert_int_equal(atoi(instance.output_json), STEPS * RESULT_BYTES);
    await_held(running, 0);
    assert_int_equal(stats_of(running).memory_refusals, 0);
}

TEST_OF(running, a_run_waits_while_others_have_all_the_memory)
{
    int64_t held = 0;
    running_create(running, "small", "a");
    (void)running_await(running, "small", "a", PAWL_WAITING);
    pawl_memory_owe(running->engine, &held, stats_of(running).memory_bytes_max);
    running_send(running, "small", "a", "go", NULL);
    await_refusals(running, 0);
    await_held(running, held); /* it holds nothing while it waits */
    assert_int_equal(running_get(running, "small", "a").status, PAWL_ACTIVE);
    assert_true(pw_budget_is_short(&running->engine->memory)); /* so nothing else is claimed */
    running_create(running, "small", "b");                     /* and nothing is handed over */
    assert_int_equal(running_get(running, "small", "b").phase, PAWL_PHASE_QUEUED);

    pawl_memory_owe(running->engine, &held, 0);
    (void)running_await(running, "small", "a", PAWL_COMPLETE);
    (void)running_await(running, "small", "b", PAWL_WAITING);
    await_held(running, 0);
    assert_int_equal(stats_of(running).leases_lost, 0);
}

/* Some megabytes each, and a budget that is less than one of them needs: one after the other they fit. */
TEST_OF(running, each_of_many_goes_on_in_its_time)
{
    char id[CROWD][16];
    for (int i = 0; i < CROWD; i++) {
        snprintf(id[i], sizeof id[i], "i%d", i);
        running_create(running, "large", id[i]);
        (void)running_await(running, "large", id[i], PAWL_WAITING);
    }
    running_stop(running);
    running->engine->memory.max = 3 * 1024 * 1024;
    for (int i = 0; i < CROWD; i++)
        running_send(running, "large", id[i], "go", NULL);
    running_start(running, NULL);
    for (int i = 0; i < CROWD; i++)
        (void)running_await(running, "large", id[i], PAWL_COMPLETE);
    assert_true(stats_of(running).memory_refusals > 0);
    await_held(running, 0);
    assert_int_equal(stats_of(running).leases_lost, 0);
}

/* Nothing is loaded: its own steps make it large. */
TEST(what_a_run_adds_to_its_history_counts)
{
    struct running running;
    struct gate gate;
    gate_init(&gate);
    running_open(&running, true);
    running_register(&running, "growing", growing, &gate);
    running_start(&running, NULL);
    running_create(&running, "growing", "a");
    gate_await(&gate, 1);

    assert_true(stats_of(&running).memory_bytes_held >= STEPS * RESULT_BYTES);

    gate_open(&gate);
    (void)running_await(&running, "growing", "a", PAWL_COMPLETE);
    await_held(&running, 0);
    running_close(&running);
    gate_clear(&gate);
}
