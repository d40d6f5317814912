/* test_runner_tick.c - ticking, and what all ways of running share: claims, leases, order, conflicts (C1, C2, C4, C5, C6).
 * Time is simulated where nothing runs in threads: the skew of a stopped clock is all the time that passes. */
#include "kit/running.h"

#include "engine/engine.h"
#include "testing/forward.h"

enum { FOREIGN_OWNER = 4711 };

struct trail {
    pthread_mutex_t lock;
    char text[4096]; /* what bodies wrote down, in order */
    atomic_int bodies;
    struct running *running;
    void (*meanwhile)(struct running *running); /* called by the body of "meddled" */
};

static struct trail trail;

BODY(write_down)
{
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

WORKFLOW(two_steps)
{
    PAWL_TRY(note(run, "1"));
    PAWL_TRY(note(run, "2"));
    return pawl_return(run, out_result, "s", "done");
}

WORKFLOW(sleeper)
{
    PAWL_TRY(pawl_sleep(run, "nap", "10 seconds"));
    return note(run, "woke");
}

BODY(fail_once)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Oops", "the first time");
    return write_down(step, input, out_result);
}

WORKFLOW(retrier)
{
    const struct pawl_step_options options = { .retries = 3, .delay = "20 seconds" };
    pawl_value *id;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &id, "s", pawl_run_format(run, "%s.retried", pawl_run_id(run))));
    return pawl_do(run, "retried", &options, fail_once, id, NULL);
}

BODY(meddle)
{
    PAWL_TRY(write_down(step, input, out_result));
    if (trail.meanwhile != NULL)
        trail.meanwhile(trail.running);
    return PAWL_OK;
}

WORKFLOW(meddled)
{
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
    options.clock = (struct pawl_clock){ .now_ms = running_stopped_ms, .user = &world };
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

static const struct test_setting running_setting = { set_up, tear_down, 0 };

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
    return at_ms == INT64_MAX ? INT64_MAX : at_ms - running_stopped_ms(&world);
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

TEST_OF(running, C1_an_expired_lease_is_taken_over_and_its_holder_fenced_off)
{
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

TEST_OF(running, C1_a_pending_task_ignores_leases)
{
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

TEST_OF(running, C4_a_conflict_at_a_boundary_ends_the_turn_quietly)
{
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

TEST_OF(running, C2_wakes_retries_and_resumes_go_before_runs_oldest_first)
{
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

TEST_OF(running, C6_a_tick_takes_at_most_so_many_turns)
{
    running_create(&world, "two", "a");
    running_create(&world, "two", "b");
    running_create(&world, "two", "c");

    assert_int_equal(tick_at_most(2, 0), 2);
    assert_int_equal(running_count(&world, "two", PAWL_COMPLETE), 2);
    assert_int_equal(tick_at_most(2, 0), 1);
    assert_int_equal(tick_at_most(2, 0), 0);

    assert_int_equal(running_count(&world, "two", PAWL_COMPLETE), 3);
}

TEST_OF(running, C6_a_tick_runs_at_most_so_many_bodies)
{
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

TEST_OF(running, C6_limits_that_are_negative_are_refused)
{
    int64_t processed = 7;

    assert_int_equal(pawl_runner_tick(world.runner, -1, 0, &processed, &world.error), PAWL_INVALID);
    assert_int_equal(pawl_runner_tick(world.runner, 0, -1, &processed, &world.error), PAWL_INVALID);
    assert_int_equal(pawl_runner_tick(NULL, 0, 0, &processed, &world.error), PAWL_INVALID);

    assert_int_equal(processed, 7);
}

TEST_OF(running, C6_next_wake_at_serves_a_hosts_own_alarm)
{
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

TEST_OF(running, paused_runs_wake_nobody)
{
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

TEST_OF(running, C1_two_ticking_runners_take_different_runs)
{
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

TEST_OF(running, C6_threads_and_ticks_share_one_engine)
{
    tick_beside_threads(false);
}

TEST_OF(running, C6_threads_and_ticks_share_one_engine_on_a_file)
{
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

BODY(take_long)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS, end_ms = lease_end();
    int renewals = 0;
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

WORKFLOW(long_one)
{
    const struct pawl_step_options options = { .timeout = lengthy.expires ? "100 ms" : "1 hour",
                                               .retries = PAWL_NO_RETRIES };
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

TEST_OF(running, C6_a_tick_renews_its_lease_while_a_body_runs)
{
    memset(&lengthy, 0, sizeof lengthy);
    lengthy.renewals_wanted = 6;

    assert_int_equal(tick_long(false).status, PAWL_COMPLETE);

    assert_int_equal(atomic_load(&lengthy.bodies), 1);
    assert_in_range(lengthy.left_ms, 1, LEASE_MS);
}

TEST_OF(running, C6_a_tick_does_not_renew_the_lease_of_a_body_that_outlived_its_timeout)
{
    memset(&lengthy, 0, sizeof lengthy);
    lengthy.expires = true;

    assert_int_equal(tick_long(false).status, PAWL_ERRORED);

    assert_int_equal(atomic_load(&lengthy.bodies), 1);
}

TEST_OF(running, C6_the_lease_of_a_tick_that_is_alone_covers_the_timeout)
{
    memset(&lengthy, 0, sizeof lengthy);

    assert_int_equal(tick_long(true).status, PAWL_COMPLETE);

    /* A slow transaction lengthens the leases in it. */
    assert_in_range(lengthy.left_ms, 3600000, 3600000 + PATIENCE_MS);
}

TEST_OF(running, a_started_runner_is_not_ticked)
{
    int64_t processed = 0;
    assert_ok(pawl_runner_start(world.runner, &world.error), world.error);

    assert_int_equal(pawl_runner_tick(world.runner, 0, 0, &processed, &world.error), PAWL_INVALID);

    pawl_runner_stop(world.runner);
    assert_ok(pawl_runner_tick(world.runner, 0, 0, &processed, &world.error), world.error);
}

/* ---- What happens right before a commit -------------------------------------------------------------------- */

enum meddling { MEDDLE_NOT, END_THE_TARGET, SEND_AT_THE_LAST_MOMENT };

struct meddler {
    struct pw_forward forward; /* first */
    enum meddling next;        /* done once */
    int bodies;
    pawl_status answer; /* what the workflow was answered last, when it was not suspended */
    struct running running;
};

static struct meddler *meddler_of(struct pw_store *store)
{
    return (struct meddler *)(void *)store;
}

static void slip_in(struct meddler *meddler, int64_t instance)
{
    struct pw_store *inner = meddler->forward.inner;
    struct pw_unit unit, *units = &unit;
    struct pawl_error error;
    pw_unit_init(&unit);
    if (meddler->next == END_THE_TARGET) {
        struct pw_op *op = pw_unit_add(&unit, PW_OP_FINISH);
        op->as.finish = (struct pw_op_finish){ .instance = instance, .outcome = PW_OUTCOME_TERMINATED };
    } else {
        struct pw_op *op = pw_unit_add(&unit, PW_OP_EVENT);
        op->as.event =
            (struct pw_op_event){ .instance = instance, .run = 1, .id = pw_text_of("e"), .type = pw_text_of("go") };
    }
    meddler->next = MEDDLE_NOT;
    (void)inner->ops->apply(inner, &units, 1, &error);
    pw_unit_clear(&unit);
}

static pawl_status meddle_and_apply(struct pw_store *store, struct pw_unit **units, size_t count,
                                    struct pawl_error *error)
{
    struct meddler *meddler = meddler_of(store);
    struct pw_store *inner = meddler->forward.inner;
    for (size_t i = 0; i < count; i++) {
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next) {
            const int64_t target = 1; /* was made first */
            if (meddler->next == END_THE_TARGET && op->kind == PW_OP_EVENT)
                slip_in(meddler, target);
            else if (meddler->next == SEND_AT_THE_LAST_MOMENT && op->kind == PW_OP_FENCE &&
                     op->as.fence.unless_new_events)
                slip_in(meddler, op->as.fence.at.instance);
        }
    }
    return inner->ops->apply(inner, units, count, error);
}

static struct pw_store *wrap(struct pw_store *inner, void *user)
{
    struct meddler *meddler = user;
    pw_forward_init(&meddler->forward, inner);
    meddler->forward.ops.apply = meddle_and_apply;
    return &meddler->forward.store;
}

static void open_meddled(struct meddler *meddler)
{
    struct running *running = &meddler->running;
    struct store_place place = database_place("");
    struct pawl_options options = PAWL_OPTIONS_INIT;
    memset(meddler, 0, sizeof *meddler);
    options.store_url = place.url;
    options.clock = (struct pawl_clock){ .now_ms = running_stopped_ms, .user = running };
    assert_ok(pw_engine_open(&options, wrap, meddler, &running->engine, &running->error), running->error);
    assert_ok(pawl_runner_open(running->engine, NULL, &running->runner, &running->error), running->error);
    running->scope = pawl_scope_new();
    assert_non_null(running->scope);
}

static void tick_after(struct running *running, int64_t ms)
{
    atomic_fetch_add(&running->skew_ms, ms);
    assert_ok(pawl_runner_tick(running->runner, 0, 0, NULL, &running->error), running->error);
}

WORKFLOW(wait_to_go)
{
    return pawl_wait_for_event(run, "wait", "go", "10 s", NULL);
}

BODY(send_to_target)
{
    struct meddler *meddler = pawl_step_user(step);
    enum meddling then = meddler->next;
    meddler->bodies++;
    meddler->next = MEDDLE_NOT; /* from here on the trouble is to come */
    PAWL_TRY(pawl_step_send_event(step, "target", "t", "go", NULL));
    meddler->next = then;
    return PAWL_OK;
}

WORKFLOW(send_and_look)
{
    struct meddler *meddler = pawl_run_user(run);
    pawl_status status = pawl_do(run, "send", NULL, send_to_target, NULL, out_result);
    if (status == PAWL_SUSPENDED)
        return status;
    meddler->answer = status;
    return PAWL_OK;
}

static void open_sender_and_target(struct meddler *meddler, enum meddling meddling)
{
    struct running *running = &meddler->running;
    open_meddled(meddler);
    running_register(running, "w", send_and_look, meddler);
    running_register(running, "target", wait_to_go, meddler);
    running_create(running, "target", "t");
    tick_after(running, 0);
    running_create(running, "w", "r");
    meddler->next = meddling;
}

TEST(an_event_to_a_target_that_just_ended_fails_its_step_for_good)
{
    struct meddler meddler;
    open_sender_and_target(&meddler, END_THE_TARGET);

    tick_after(&meddler.running, 0);

    const struct pawl_step_record *step = running_step(&meddler.running, "w", "r", "send");
    assert_int_equal(meddler.next, MEDDLE_NOT);
    assert_int_equal(meddler.answer, PAWL_FAILED);
    assert_non_null(step);
    assert_int_equal(step->status, PAWL_STEP_ERRORED);
    assert_string_equal(step->error_name, "INSTANCE_TERMINAL");
    assert_int_equal(meddler.bodies, 1);
    running_close(&meddler.running);
}

TEST(an_event_at_the_instant_of_the_timeout_leaves_no_word_of_the_timeout)
{
    struct meddler meddler;
    open_meddled(&meddler);
    running_register(&meddler.running, "w", wait_to_go, &meddler);
    running_create(&meddler.running, "w", "r");
    tick_after(&meddler.running, 0);
    meddler.next = SEND_AT_THE_LAST_MOMENT;

    tick_after(&meddler.running, 10 * 1000);

    assert_int_equal(meddler.next, MEDDLE_NOT);
    assert_int_equal(running_get(&meddler.running, "w", "r").status, PAWL_COMPLETE);
    assert_int_equal(running_lines(&meddler.running, "w", "r", "came in time"), 0);
    running_close(&meddler.running);
}

/* ---- Ticking and polling with one runner ------------------------------------------------------------------------- */

WORKFLOW(one_step)
{
    return note(run, "1");
}

TEST_OF(running, a_polled_turn_gets_its_steps_after_a_tick_that_was_allowed_few)
{
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    struct running own;
    pawl_turn *turn = NULL;
    struct pawl_answer answer;
    bool again = true;
    running_open(&own, false);
    running_register(&own, "w", one_step, NULL);
    assert_ok(pawl_define(own.engine, &polled, &own.error), own.error);
    assert_ok(pawl_runner_open(own.engine, NULL, &own.runner, &own.error), own.error);
    running_create(&own, "w", "r");
    assert_ok(pawl_runner_tick(own.runner, 0, 1, NULL, &own.error), own.error);
    running_create(&own, "polled", "p");

    assert_ok(pawl_turn_poll(own.runner, &turn, &own.error), own.error);
    assert_non_null(turn);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "x", 1, NULL, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    pawl_turn_finish(turn, NULL, 0);
    assert_ok(pawl_turn_done(own.runner, turn, &again, &own.error), own.error);

    assert_int_equal(running_get(&own, "w", "r").status, PAWL_COMPLETE);
    assert_int_equal(running_get(&own, "polled", "p").status, PAWL_COMPLETE);
    running_close(&own);
}
