/* test_clocks.c - wall time may jump: bodies do not time out by it, runners lose no lease, and sleeps end by wall time. */
#include "engine/engine.h"
#include "kit/running.h"

#include "pawl/testing.h"
#include "kit/stores.h"

#define SECOND_MS INT64_C(1000)
#define HOUR_MS (3600 * SECOND_MS)

/* ---- In a world ----------------------------------------------------------------------------------------------------- */

struct clocks {
    struct store_place place;
    pawl_world *world;
    struct pawl_error error;
    int64_t by_ms; /* a body sets the clock by this, and lets so much time pass */
    int64_t passes_ms;
    int bodies;
    int64_t deadline_in_ms, remaining_ms;
    bool cancelled;
    int64_t taken; /* by another runner while the body ran */
};

BODY(work)
{
    struct clocks *clocks = pawl_step_user(step);
    clocks->bodies++;
    pawl_world_set_clock_ms(clocks->world, clocks->by_ms);
    pawl_world_jump_ms(clocks->world, clocks->passes_ms);
    clocks->deadline_in_ms = pawl_step_deadline_ms(step) - pawl_now_ms(pawl_step_engine(step));
    clocks->remaining_ms = pawl_step_remaining_ms(step);
    clocks->cancelled = pawl_step_cancelled(step);
    return pawl_result(step, out_result, "i", 1);
}

static const struct pawl_step_options ten_seconds = { .timeout = "10 s", .retries = PAWL_NO_RETRIES };

WORKFLOW(worker)
{
    return pawl_do(run, "work", &ten_seconds, work, NULL, out_result);
}

/* While the body runs another runner ticks, three times in a lease, and the first one renews. */
BODY(be_watched)
{
    struct clocks *clocks = pawl_step_user(step);
    pawl_runner *other = NULL;
    if (clocks->bodies++ > 0)
        return PAWL_OK;
    PAWL_TRY(pawl_runner_open(pawl_step_engine(step), NULL, &other, NULL));
    pawl_world_set_clock_ms(clocks->world, clocks->by_ms);
    pawl_status status = PAWL_OK;
    for (int i = 0; i < 12 && status == PAWL_OK; i++) {
        int64_t processed = 0;
        status = pawl_runner_tick(other, 1, 0, &processed, NULL);
        clocks->taken += processed;
        pawl_world_jump_ms(clocks->world, 10 * SECOND_MS);
        if (status == PAWL_OK)
            status = pawl_runner_renew(pawl_world_runner(clocks->world), NULL);
    }
    pawl_runner_close(other);
    return status;
}

WORKFLOW(watched)
{
    return pawl_do(run, "work", NULL, be_watched, NULL, out_result);
}

WORKFLOW(sleeper)
{
    return pawl_sleep(run, "rest", "1 hour");
}

static int set_up(void **state)
{
    struct clocks *clocks = calloc(1, sizeof *clocks);
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    struct pawl_workflow workflows[] = { { .name = "worker", .run = worker, .user = clocks },
                                         { .name = "watched", .run = watched, .user = clocks },
                                         { .name = "sleeper", .run = sleeper, .user = clocks } };
    assert_non_null(clocks);
    store_place_make(&clocks->place, store_asked_for(STORE_IN_MEMORY));
    options.store_url = clocks->place.url;
    assert_ok(pawl_world_open(&options, &clocks->world, &clocks->error), clocks->error);
    for (size_t i = 0; i < LENGTH(workflows); i++)
        assert_ok(pawl_register(pawl_world_engine(clocks->world), &workflows[i], &clocks->error), clocks->error);
    *state = clocks;
    return 0;
}

static int tear_down(void **state)
{
    struct clocks *clocks = *state;
    pawl_world_close(clocks->world);
    store_place_remove(&clocks->place);
    free(clocks);
    return 0;
}

static const struct test_setting clocks_setting = { set_up, tear_down, 0 };

static struct pawl_instance play(struct clocks *clocks, const char *workflow)
{
    struct pawl_instance instance;
    assert_ok(pawl_world_create(clocks->world, workflow, "i", NULL, &clocks->error), clocks->error);
    assert_ok(pawl_world_run_until_idle(clocks->world, &clocks->error), clocks->error);
    assert_ok(pawl_world_get(clocks->world, workflow, "i", &instance, &clocks->error), clocks->error);
    return instance;
}

static void expect_in_time(struct clocks *clocks, int64_t by_ms)
{
    clocks->by_ms = by_ms;
    assert_int_equal(play(clocks, "worker").status, PAWL_COMPLETE);
    assert_int_equal(clocks->bodies, 1);
    assert_int_equal(clocks->remaining_ms, 10 * SECOND_MS);
    assert_int_equal(clocks->deadline_in_ms, 10 * SECOND_MS);
    assert_false(clocks->cancelled);
}

TEST_OF(clocks, a_clock_that_is_set_forward_does_not_time_out_a_body)
{
    expect_in_time(clocks, HOUR_MS);
}

TEST_OF(clocks, a_clock_that_is_set_back_does_not_lengthen_its_time)
{
    expect_in_time(clocks, -HOUR_MS);
}

TEST_OF(clocks, time_that_passes_times_out_a_body_whatever_the_clock_says)
{
    clocks->by_ms = -HOUR_MS;
    clocks->passes_ms = 10 * SECOND_MS + 1;
    struct pawl_instance instance = play(clocks, "worker");
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, "STEP_TIMEOUT");
    assert_int_equal(clocks->remaining_ms, 0);
    assert_true(clocks->cancelled);
}

/* PostgreSQL's leases end by the database's clock, which is not this one. */
static void expect_kept(struct clocks *clocks, int64_t by_ms)
{
    if (clocks->place.store == STORE_IN_POSTGRES)
        return;
    clocks->by_ms = by_ms;
    assert_int_equal(play(clocks, "watched").status, PAWL_COMPLETE);
    assert_int_equal(clocks->taken, 0);
    assert_int_equal(clocks->bodies, 1);
}

TEST_OF(clocks, a_clock_that_is_set_forward_takes_no_lease_from_a_runner_that_renews)
{
    expect_kept(clocks, HOUR_MS);
}

TEST_OF(clocks, a_clock_that_is_set_back_takes_no_lease_from_a_runner_that_renews)
{
    expect_kept(clocks, -HOUR_MS);
}

static enum pawl_instance_status status_of_sleeper(struct clocks *clocks)
{
    struct pawl_instance instance;
    assert_ok(pawl_world_run_until_idle(clocks->world, &clocks->error), clocks->error);
    assert_ok(pawl_world_get(clocks->world, "sleeper", "i", &instance, &clocks->error), clocks->error);
    return instance.status;
}

TEST_OF(clocks, a_sleep_ends_by_wall_time)
{
    assert_int_equal(play(clocks, "sleeper").status, PAWL_WAITING);
    pawl_world_set_clock_ms(clocks->world, -HOUR_MS);
    pawl_world_jump_ms(clocks->world, HOUR_MS);
    assert_int_equal(status_of_sleeper(clocks), PAWL_WAITING); /* an hour has passed, but the clock does not show it */
    pawl_world_set_clock_ms(clocks->world, HOUR_MS - 1);
    assert_int_equal(status_of_sleeper(clocks), PAWL_WAITING);
    pawl_world_set_clock_ms(clocks->world, 1);
    assert_int_equal(status_of_sleeper(clocks), PAWL_COMPLETE);
}

/* ---- With threads ----------------------------------------------------------------------------------------------------- */

struct started {
    struct running running;
    struct gate gate;
    atomic_int bodies;
};

static int64_t skewed_now(void *user)
{
    struct running *running = user;
    return INT64_C(1767225600000) + monotonic_ms() + atomic_load(&running->skew_ms);
}

static int64_t true_monotonic(void *user)
{
    (void)user;
    return monotonic_ms();
}

BODY(wait_at_gate)
{
    struct started *started = pawl_step_user(step);
    atomic_fetch_add(&started->bodies, 1);
    return gate_pass(&started->gate) ? PAWL_OK : pawl_fail_for_good(step, "Gate", "nobody opened it");
}

WORKFLOW(waits)
{
    static const struct pawl_step_options options = { .timeout = "10 min", .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "wait", &options, wait_at_gate, NULL, out_result);
}

WORKFLOW(quick)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

/* What the keeper thinks of the jump it has shown once it claimed a run that another engine made after it, which nobody told
 * it of. */
static void let_keeper_look(struct started *started, const char *path, const char *id)
{
    struct running other;
    memset(&other, 0, sizeof other);
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct store_place place = database_place(path);
    options.store_url = place.url;
    options.clock =
        (struct pawl_clock){ .now_ms = skewed_now, .user = &started->running, .monotonic_ms = true_monotonic };
    assert_ok(pawl_open(&options, &other.engine, &other.error), other.error);
    other.scope = pawl_scope_new();
    running_register(&other, "quick", quick, NULL);
    running_create(&other, "quick", id);
    pawl_close(other.engine);
    pawl_scope_free(other.scope);
    (void)running_await(&started->running, "quick", id, PAWL_COMPLETE);
}

TEST(a_started_runner_keeps_its_bodies_when_the_clock_jumps)
{
    struct started started;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    char path[64];
    memset(&started, 0, sizeof started);
    gate_init(&started.gate);
    database_name(path, sizeof path);
    struct store_place place = database_place(path);
    options.store_url = place.url;
    options.clock =
        (struct pawl_clock){ .now_ms = skewed_now, .user = &started.running, .monotonic_ms = true_monotonic };
    struct running *running = &started.running;
    assert_ok(pawl_open(&options, &running->engine, &running->error), running->error);
    (void)snprintf(running->path, sizeof running->path, "%s", path);
    running->scope = pawl_scope_new();
    running_register(running, "waits", waits, &started);
    running_register(running, "quick", quick, NULL);
    running_start(running, NULL);
    running_create(running, "waits", "w");
    gate_await(&started.gate, 1);

    if (place.store != STORE_IN_POSTGRES) { /* whose leases end by the database's clock, which here is this one */
        atomic_store(&running->skew_ms, HOUR_MS);
        let_keeper_look(&started, path, "forward");
        atomic_store(&running->skew_ms, -HOUR_MS);
        let_keeper_look(&started, path, "back");
    }
    gate_open(&started.gate);

    (void)running_await(running, "waits", "w", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&started.bodies), 1);
    gate_clear(&started.gate);
    running_close(running);
}

/* ---- Options ------------------------------------------------------------------------------------------------------------ */

static int64_t fixed(void *user)
{
    return *(const int64_t *)user;
}

TEST(a_clock_with_wall_time_alone_is_used_for_both)
{
    int64_t now_ms = 5000;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    pawl_engine *engine;
    options.store_url = "sqlite::memory:";
    options.clock = (struct pawl_clock){ .now_ms = fixed, .user = &now_ms };
    assert_int_equal(pawl_open(&options, &engine, NULL), PAWL_OK);
    assert_int_equal(pw_engine_monotonic_ms(engine), 5000);
    assert_true(pw_engine_has_own_time(engine));
    pawl_close(engine);
    options.clock = (struct pawl_clock){ .monotonic_ms = fixed, .user = &now_ms };
    assert_int_equal(pawl_open(&options, &engine, NULL), PAWL_OK);
    assert_int_equal(pw_engine_monotonic_ms(engine), 5000);
    assert_true(pawl_now_ms(engine) > INT64_C(1600000000000));
    pawl_close(engine);
    options.clock = (struct pawl_clock){ .user = NULL };
    assert_int_equal(pawl_open(&options, &engine, NULL), PAWL_OK);
    assert_false(pw_engine_has_own_time(engine));
    pawl_close(engine);
}
