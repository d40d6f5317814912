/* test_runner_tick.c - ticking, and what all ways of running share: claims, leases, order, conflicts (C1, C2, C4, C5, C6).
 * Time is simulated where nothing runs in threads: the skew of a stopped clock is all the time that passes. */
#include "kit/running.h"

#include "engine/engine.h"

enum { FOREIGN_OWNER = 4711 };

struct trail {
    pthread_mutex_t lock;
    char text[4096]; /* what bodies wrote down, in order */
    atomic_int bodies;
    struct running *running;
    void (*meanwhile)(struct running *running); /* called by the body of "meddled" */
};

static struct trail trail;
static const int64_t stopped_at_ms = INT64_C(1700000000000);

static int64_t stopped_now(void *user)
{
    return stopped_at_ms + atomic_load(&((struct running *)user)->skew_ms);
}

static pawl_status write_down(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)out_result;
    atomic_fetch_add(&trail.bodies, 1);
    pthread_mutex_lock(&trail.lock);
    size_t used = strlen(trail.text);
    snprintf(trail.text + used, sizeof trail.text - used, "%s ", pawl_value_string(input, NULL, "?"));
    pthread_mutex_unlock(&trail.lock);
    return PAWL_OK;
}

static pawl_status note(pawl_run *run, const char *step)
{
    pawl_value *id;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &id, "s", pawl_run_format(run, "%s.%s", pawl_run_id(run), step)));
    return pawl_do(run, step, NULL, write_down, id, NULL);
}

static pawl_status two_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(note(run, "1"));
    PAWL_TRY(note(run, "2"));
    return pawl_return(run, out_result, "s", "done");
}

static pawl_status sleeper(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_sleep(run, "nap", "10 seconds"));
    return note(run, "woke");
}

static pawl_status fail_once(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Oops", "the first time");
    return write_down(step, input, out_result);
}

static pawl_status retrier(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    const struct pawl_step_options options = { .retries = 3, .delay = "20 seconds" };
    pawl_value *id;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &id, "s", pawl_run_format(run, "%s.retried", pawl_run_id(run))));
    return pawl_do(run, "retried", &options, fail_once, id, NULL);
}

static pawl_status meddle(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    PAWL_TRY(write_down(step, input, out_result));
    if (trail.meanwhile != NULL)
        trail.meanwhile(trail.running);
    return PAWL_OK;
}

static pawl_status meddled(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    PAWL_TRY(note(run, "1"));
    PAWL_TRY(pawl_do(run, "2", NULL, meddle, NULL, NULL));
    return note(run, "3");
}

static struct running world;

static int set_up(void **state)
{
    struct store_place place = database_place("");
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_runner_options runner_options = PAWL_RUNNER_OPTIONS_INIT;
    memset(&world, 0, sizeof world);
    memset(&trail, 0, sizeof trail);
    pthread_mutex_init(&trail.lock, NULL);
    trail.running = &world;
    options.store_url = place.url;
    options.clock = (struct pawl_clock){ .now_ms = stopped_now, .user = &world };
    runner_options.lease_ms = 5000;
    assert_ok(pawl_open(&options, &world.engine, &world.error), world.error);
    world.scope = pawl_scope_new();
    running_register(&world, "two", two_steps, NULL);
    running_register(&world, "sleeper", sleeper, NULL);
    running_register(&world, "retrier", retrier, NULL);
    running_register(&world, "meddled", meddled, NULL);
    assert_ok(pawl_runner_open(world.engine, &runner_options, &world.runner, &world.error), world.error);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    running_close(&world);
    pthread_mutex_destroy(&trail.lock);
    return 0;
}

static void advance_ms(int64_t ms)
{
    atomic_fetch_add(&world.skew_ms, ms);
}

static int64_t tick_at_most(int64_t instances, int64_t steps)
{
    int64_t processed = -1;
    assert_ok(pawl_runner_tick(world.runner, instances, steps, &processed, &world.error), world.error);
    return processed;
}

static int64_t tick(void)
{
    return tick_at_most(0, 0);
}

static int64_t next_wake_in_ms(void)
{
    int64_t at_ms;
    assert_ok(pawl_runner_next_wake_at(world.runner, &at_ms, &world.error), world.error);
    return at_ms == INT64_MAX ? INT64_MAX : at_ms - stopped_now(&world);
}

/* ---- Playing another runner -------------------------------------------------------------------------------------------- */

static size_t try_to_claim(const char *workflow, int64_t lease_ms, struct pw_fence *out_fence)
{
    const struct pw_text name = pw_text_of(workflow);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CLAIM);
    op->as.claim = (struct pw_op_claim){
        .workflows = &name, .workflow_count = 1, .max = 1, .owner = FOREIGN_OWNER, .lease_ms = lease_ms
    };
    assert_int_equal(pw_commit_run(world.engine->commit, &unit), PAWL_OK);
    size_t count = op->as.claim.claim_count;
    if (count > 0)
        *out_fence = op->as.claim.claims[0].fence;
    pw_unit_clear(&unit);
    return count;
}

static struct pw_fence claim_as_foreigner(const char *workflow, int64_t lease_ms)
{
    struct pw_fence fence = { 0 };
    assert_int_equal(try_to_claim(workflow, lease_ms, &fence), 1);
    return fence;
}

static pawl_status write_as_foreigner(struct pw_fence fence)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    pw_unit_add(&unit, PW_OP_FENCE)->as.fence.at = fence;
    struct pw_op *op = pw_unit_add(&unit, PW_OP_FINISH);
    op->as.finish = (struct pw_op_finish){ .instance = fence.instance,
                                           .outcome = PW_OUTCOME_COMPLETE,
                                           .output = pw_text_of("\"by the foreigner\"") };
    pawl_status status = pw_commit_run(world.engine->commit, &unit);
    pw_unit_clear(&unit);
    return status;
}

static void C1_an_expired_lease_is_taken_over_and_its_holder_fenced_off(void **state)
{
    (void)state;
    running_create(&world, "two", "r");
    struct pw_fence foreign = claim_as_foreigner("two", 1000);
    advance_ms(999);
    assert_int_equal(tick(), 0);
    assert_int_equal(next_wake_in_ms(), 1);

    advance_ms(1);
    int64_t processed = tick();

    assert_int_equal(processed, 1);
    assert_int_equal(write_as_foreigner(foreign), PAWL_CONFLICT);
    assert_string_equal(running_get(&world, "two", "r").output_json, "\"done\"");
    bool told = false;
    struct pawl_history history = running_history(&world, "two", "r", 0);
    for (size_t i = 0; i < history.log_count; i++)
        told = told || strcmp(history.logs[i].category, "system") == 0;
    assert_true(told);
}

static void C1_a_pending_task_ignores_leases(void **state)
{
    (void)state;
    running_create(&world, "sleeper", "r");
    assert_int_equal(tick(), 1); /* parked, long before this runner's lease would end */

    advance_ms(10000);

    assert_int_equal(tick(), 1);
    assert_int_equal(running_get(&world, "sleeper", "r").status, PAWL_COMPLETE);
}

static void take_over(struct running *running)
{
    struct pw_fence fence;
    running->skew_ms += 5000;                         /* this runner's lease is over */
    if (try_to_claim("meddled", 1000, &fence) == 0) { /* but it lives: it is watched first */
        running->skew_ms += 1000;
        (void)claim_as_foreigner("meddled", 1000);
    }
    trail.meanwhile = NULL;
}

static void C4_a_conflict_at_a_boundary_ends_the_turn_quietly(void **state)
{
    (void)state;
    struct pawl_runner_stats stats;
    running_create(&world, "meddled", "r");
    trail.meanwhile = take_over;

    int64_t processed = tick();

    assert_int_equal(processed, 1); /* no error to the caller */
    assert_int_equal(running_get(&world, "meddled", "r").status, PAWL_ACTIVE);
    assert_null(running_step(&world, "meddled", "r", "2"));
    pawl_runner_stats_read(world.runner, &stats);
    assert_int_equal(stats.leases_lost, 1);
    advance_ms(1000); /* the foreigner dies */
    assert_int_equal(tick(), 1);
    assert_int_equal(running_get(&world, "meddled", "r").status, PAWL_COMPLETE);
    assert_string_equal(trail.text, "r.1 ? ? r.3 "); /* the step in flight again, the completed one not */
}

/* ---- Order ----------------------------------------------------------------------------------------------------------------- */

static void C2_wakes_retries_and_resumes_go_before_runs_oldest_first(void **state)
{
    (void)state;
    running_create(&world, "retrier", "r");
    running_create(&world, "sleeper", "s");
    running_create(&world, "two", "p");
    assert_ok(pawl_pause(world.engine, "two", "p", &world.error), world.error);
    assert_int_equal(tick(), 2);
    running_create(&world, "two", "b");
    advance_ms(1);
    running_create(&world, "two", "a");
    advance_ms(14999);
    assert_ok(pawl_resume(world.engine, "two", "p", &world.error),
              world.error); /* due after the sleep, before the retry */
    advance_ms(10000);

    assert_int_equal(tick(), 5);

    assert_string_equal(trail.text, "s.woke p.1 p.2 r.retried b.1 b.2 a.1 a.2 ");
}

/* ---- Limits ---------------------------------------------------------------------------------------------------------------- */

static void C6_a_tick_takes_at_most_so_many_turns(void **state)
{
    (void)state;
    running_create(&world, "two", "a");
    running_create(&world, "two", "b");
    running_create(&world, "two", "c");

    assert_int_equal(tick_at_most(2, 0), 2);
    assert_int_equal(running_count(&world, "two", PAWL_COMPLETE), 2);
    assert_int_equal(tick_at_most(2, 0), 1);
    assert_int_equal(tick_at_most(2, 0), 0);

    assert_int_equal(running_count(&world, "two", PAWL_COMPLETE), 3);
}

static void C6_a_tick_runs_at_most_so_many_bodies(void **state)
{
    (void)state;
    struct pawl_runner_stats stats;
    running_create(&world, "two", "a");
    running_create(&world, "two", "b");

    (void)tick_at_most(0, 1);
    assert_int_equal(atomic_load(&trail.bodies), 1);
    assert_int_equal(running_get(&world, "two", "a").status, PAWL_ACTIVE);
    (void)tick_at_most(0, 2);
    assert_int_equal(atomic_load(&trail.bodies), 3);
    (void)tick_at_most(0, 100);

    assert_int_equal(atomic_load(&trail.bodies), 4);
    assert_int_equal(running_count(&world, "two", PAWL_COMPLETE), 2);
    pawl_runner_stats_read(world.runner, &stats);
    assert_int_equal(stats.steps, 4);
}

static void C6_limits_that_are_negative_are_refused(void **state)
{
    (void)state;
    int64_t processed = 7;

    assert_int_equal(pawl_runner_tick(world.runner, -1, 0, &processed, &world.error), PAWL_INVALID);
    assert_int_equal(pawl_runner_tick(world.runner, 0, -1, &processed, &world.error), PAWL_INVALID);
    assert_int_equal(pawl_runner_tick(NULL, 0, 0, &processed, &world.error), PAWL_INVALID);

    assert_int_equal(processed, 7);
}

static void C6_next_wake_at_serves_a_hosts_own_alarm(void **state)
{
    (void)state;
    assert_true(next_wake_in_ms() == INT64_MAX);
    running_create(&world, "sleeper", "s");
    assert_int_equal(next_wake_in_ms(), 0);
    assert_int_equal(tick(), 1);
    assert_int_equal(next_wake_in_ms(), 10000);
    running_create(&world, "retrier", "r");
    assert_int_equal(tick(), 1);
    assert_int_equal(next_wake_in_ms(), 10000);

    for (int rounds = 0; next_wake_in_ms() != INT64_MAX && rounds < 10; rounds++) {
        advance_ms(next_wake_in_ms());
        (void)tick();
    }

    assert_int_equal(running_get(&world, "sleeper", "s").status, PAWL_COMPLETE);
    assert_int_equal(running_get(&world, "retrier", "r").status, PAWL_COMPLETE);
    assert_int_equal(next_wake_in_ms(), INT64_MAX);
}

static void paused_runs_wake_nobody(void **state)
{
    (void)state;
    running_create(&world, "sleeper", "s");
    assert_int_equal(tick(), 1);

    assert_ok(pawl_pause(world.engine, "sleeper", "s", &world.error), world.error);

    assert_true(next_wake_in_ms() == INT64_MAX);
    advance_ms(20000);
    assert_int_equal(tick(), 0);
    assert_ok(pawl_resume(world.engine, "sleeper", "s", &world.error), world.error);
    assert_int_equal(tick(), 1); /* the timer went on counting */
    assert_int_equal(running_get(&world, "sleeper", "s").status, PAWL_COMPLETE);
}

/* ---- Several runners at once ----------------------------------------------------------------------------------------------- */

static void C1_two_ticking_runners_take_different_runs(void **state)
{
    (void)state;
    pawl_runner *other;
    int64_t processed;
    assert_ok(pawl_runner_open(world.engine, NULL, &other, &world.error), world.error);
    for (int i = 0; i < 10; i++) {
        char id[8];
        snprintf(id, sizeof id, "r%d", i);
        running_create(&world, "two", id);
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(tick_at_most(1, 0), 1);
        assert_ok(pawl_runner_tick(other, 1, 0, &processed, &world.error), world.error);
        assert_int_equal(processed, 1);
    }

    assert_int_equal(running_count(&world, "two", PAWL_COMPLETE), 10);
    assert_int_equal(atomic_load(&trail.bodies), 20);
    pawl_runner_close(other);
}

struct ticker {
    pawl_engine *engine;
    pthread_t thread;
    atomic_bool stop;
    atomic_int wrong;
    atomic_llong processed;
};

static void *tick_often(void *user)
{
    struct ticker *ticker = user;
    pawl_runner *runner = NULL;
    if (pawl_runner_open(ticker->engine, NULL, &runner, NULL) != PAWL_OK)
        return NULL;
    while (!atomic_load(&ticker->stop)) {
        int64_t processed = 0;
        if (pawl_runner_tick(runner, 3, 4, &processed, NULL) != PAWL_OK)
            atomic_fetch_add(&ticker->wrong, 1);
        atomic_fetch_add(&ticker->processed, processed);
        rest_a_little();
    }
    pawl_runner_close(runner);
    return NULL;
}

static void tick_beside_threads(bool in_file)
{
    struct running running;
    struct ticker tickers[2];
    running_open(&running, in_file);
    running_register(&running, "two", two_steps, NULL);
    running_start(&running, NULL);
    for (int i = 0; i < 2; i++) {
        memset(&tickers[i], 0, sizeof tickers[i]);
        tickers[i].engine = running.engine;
        pthread_create(&tickers[i].thread, NULL, tick_often, &tickers[i]);
    }
    for (int i = 0; i < 100; i++) {
        char id[8];
        snprintf(id, sizeof id, "r%d", i);
        running_create(&running, "two", id);
    }
    bool all = running_await_all(&running, "two");
    for (int i = 0; i < 2; i++) {
        atomic_store(&tickers[i].stop, true);
        pthread_join(tickers[i].thread, NULL);
        assert_int_equal(atomic_load(&tickers[i].wrong), 0);
    }

    assert_true(all);
    assert_int_equal(running_count(&running, "two", PAWL_COMPLETE), 100);
    assert_int_equal(atomic_load(&trail.bodies), 200);
    running_close(&running);
}

static void C6_threads_and_ticks_share_one_engine(void **state)
{
    (void)state;
    tick_beside_threads(false);
}

static void C6_threads_and_ticks_share_one_engine_on_a_file(void **state)
{
    (void)state;
    tick_beside_threads(true);
}

/* ---- Long bodies: on a file and the system's clock ------------------------------------------------------------------- */

enum { LEASE_MS = 300 };

static struct {
    struct store_place place;
    int renewals_wanted; /* the body waits until its lease was renewed so often */
    bool expires;        /* or until it has expired */
    int64_t left_ms;     /* of the lease, when the body began */
    atomic_int bodies;
} lengthy;

static int64_t lease_end(void)
{
    return store_place_number(&lengthy.place, "SELECT max(locked_until) FROM workflow_task");
}

static bool has_seen_enough(pawl_step *step, int renewals)
{
    return lengthy.expires ? lease_end() < pawl_now_ms(pawl_step_engine(step)) : renewals >= lengthy.renewals_wanted;
}

static pawl_status take_long(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS, end_ms = lease_end();
    int renewals = 0;
    (void)input;
    (void)out_result;
    atomic_fetch_add(&lengthy.bodies, 1);
    lengthy.left_ms = end_ms - pawl_now_ms(pawl_step_engine(step));
    while (!has_seen_enough(step, renewals)) {
        if (monotonic_ms() > until_ms)
            return pawl_fail_for_good(step, "Patience", "%d renewals", renewals);
        int64_t now_ms = lease_end();
        renewals += now_ms > end_ms;
        end_ms = now_ms;
        rest_a_little();
    }
    return PAWL_OK;
}

static pawl_status long_one(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct pawl_step_options options = { .timeout = lengthy.expires ? "100 ms" : "1 hour",
                                               .retries = PAWL_NO_RETRIES };
    (void)params;
    return pawl_do(run, "long", &options, take_long, NULL, out_result);
}

static struct pawl_instance tick_long(bool alone)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pawl_runner *runner;
    options.lease_ms = LEASE_MS;
    options.tick_alone = alone;
    running_open(&running, true);
    lengthy.place = database_place(running.path);
    running_register(&running, "long", long_one, NULL);
    running_create(&running, "long", "l");
    assert_ok(pawl_runner_open(running.engine, &options, &runner, &running.error), running.error);
    assert_ok(pawl_runner_tick(runner, 0, 0, NULL, &running.error), running.error);
    struct pawl_instance instance = running_get(&running, "long", "l");
    instance.error_name = instance.error_name != NULL ? "some" : NULL; /* the rest goes with the scope */
    pawl_runner_close(runner);
    running_close(&running);
    return instance;
}

static void C6_a_tick_renews_its_lease_while_a_body_runs(void **state)
{
    (void)state;
    memset(&lengthy, 0, sizeof lengthy);
    lengthy.renewals_wanted = 6;

    assert_int_equal(tick_long(false).status, PAWL_COMPLETE);

    assert_int_equal(atomic_load(&lengthy.bodies), 1);
    assert_in_range(lengthy.left_ms, 1, LEASE_MS);
}

static void C6_a_tick_does_not_renew_the_lease_of_a_body_that_outlived_its_timeout(void **state)
{
    (void)state;
    memset(&lengthy, 0, sizeof lengthy);
    lengthy.expires = true;

    assert_int_equal(tick_long(false).status, PAWL_ERRORED);

    assert_int_equal(atomic_load(&lengthy.bodies), 1);
}

static void C6_the_lease_of_a_tick_that_is_alone_covers_the_timeout(void **state)
{
    (void)state;
    memset(&lengthy, 0, sizeof lengthy);

    assert_int_equal(tick_long(true).status, PAWL_COMPLETE);

    /* A slow transaction lengthens the leases in it. */
    assert_in_range(lengthy.left_ms, 3600000, 3600000 + PATIENCE_MS);
}

static void a_started_runner_is_not_ticked(void **state)
{
    (void)state;
    int64_t processed = 0;
    assert_ok(pawl_runner_start(world.runner, &world.error), world.error);

    assert_int_equal(pawl_runner_tick(world.runner, 0, 0, &processed, &world.error), PAWL_INVALID);

    pawl_runner_stop(world.runner);
    assert_ok(pawl_runner_tick(world.runner, 0, 0, &processed, &world.error), world.error);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(C1_an_expired_lease_is_taken_over_and_its_holder_fenced_off),
        TEST(C1_a_pending_task_ignores_leases),
        TEST(C4_a_conflict_at_a_boundary_ends_the_turn_quietly),
        TEST(C2_wakes_retries_and_resumes_go_before_runs_oldest_first),
        TEST(C6_a_tick_takes_at_most_so_many_turns),
        TEST(C6_a_tick_runs_at_most_so_many_bodies),
        TEST(C6_limits_that_are_negative_are_refused),
        TEST(C6_next_wake_at_serves_a_hosts_own_alarm),
        TEST(paused_runs_wake_nobody),
        TEST(C1_two_ticking_runners_take_different_runs),
        TEST(C6_threads_and_ticks_share_one_engine),
        TEST(C6_threads_and_ticks_share_one_engine_on_a_file),
        TEST(C6_a_tick_renews_its_lease_while_a_body_runs),
        TEST(C6_a_tick_does_not_renew_the_lease_of_a_body_that_outlived_its_timeout),
        TEST(C6_the_lease_of_a_tick_that_is_alone_covers_the_timeout),
        TEST(a_started_runner_is_not_ticked),
    };
    return cmocka_run_group_tests_name("runner, ticking", tests, NULL, NULL);
}
