/* test_runner.c - a started runner: runs finish, creates are run at once, stopping is graceful, nothing is left behind. */
#include "kit/running.h"

#include "runner/runner.h"

enum { MANY = RUNNING_SLOWLY ? 100 : 200, BACKLOG = 400, BATCH = 100 };

struct stage {
    struct gate gate;
    atomic_int bodies;
    atomic_int entered; /* a body that does not wait at the gate came by */
};

/* Never given back: when a test fails, its threads are still about. */
static struct stage stages[20];
static size_t stages_used;

static int set_up(void **state)
{
    assert_true(stages_used < LENGTH(stages));
    struct stage *stage = &stages[stages_used++];
    gate_init(&stage->gate);
    *state = stage;
    return 0;
}

static const struct test_setting stage_setting = { set_up, NULL, 0 };

BODY(add_one)
{
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->bodies, 1);
    return pawl_result(step, out_result, "i", (int)pawl_value_int(input, NULL, 0) + 1);
}

/* Counts to five, with a short sleep on the way. */
WORKFLOW(count_up)
{
    pawl_value *count = NULL;
    for (int i = 0; i < 5; i++) {
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "count %d", i), NULL, add_one, count, &count));
        if (i == 2)
            PAWL_TRY(pawl_sleep(run, "rest", "5 ms"));
    }
    *out_result = count;
    return PAWL_OK;
}

BODY(stand_at_gate)
{
    struct stage *stage = pawl_step_user(step);
    atomic_fetch_add(&stage->bodies, 1);
    if (!gate_pass(&stage->gate))
        return pawl_fail_for_good(step, "GateStayedShut", "nobody opened it");
    return pawl_result(step, out_result, "s", "passed");
}

BODY(note_entered)
{
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->entered, 1);
    return PAWL_OK;
}

/* A step that waits at the gate, then one that does not. */
WORKFLOW(gated)
{
    PAWL_TRY(pawl_do(run, "gate", NULL, stand_at_gate, NULL, out_result));
    return pawl_do(run, "after", NULL, note_entered, NULL, NULL);
}

static void create_many(struct running *running, const char *workflow, int count)
{
    for (int i = 0; i < count; i++) {
        char id[32];
        snprintf(id, sizeof id, "run-%d", i);
        running_create(running, workflow, id);
    }
}

static void many_runs_finish(struct stage *stage, bool in_file)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_runner_stats stats;
    running_open(&running, in_file);
    running_register(&running, "count", count_up, stage);
    options.workers = 4;
    running_start(&running, &options);

    create_many(&running, "count", MANY);
    bool all = running_await_all(&running, "count");

    assert_true(all);
    assert_int_equal(running_count(&running, "count", PAWL_COMPLETE), MANY);
    assert_string_equal(running_get(&running, "count", "run-7").output_json, "5");
    assert_int_equal(atomic_load(&stage->bodies), 5 * MANY);
    pawl_runner_stop(running.runner);
    pawl_runner_stats_read(running.runner, &stats);
    assert_int_equal(stats.steps, 5 * MANY);
    assert_int_equal(stats.in_flight, 0);
    assert_int_equal(stats.leases_lost, 0);
    assert_true(stats.turns >= 2 * MANY); /* each sleeps once */
    assert_true(stats.commits > 0 && stats.units >= stats.commits);
    running_close(&running);
}

TEST_OF(stage, many_runs_of_several_steps_finish_on_a_store_in_memory)
{
    many_runs_finish(stage, false);
}

TEST_OF(stage, many_runs_of_several_steps_finish_on_a_store_in_a_file)
{
    many_runs_finish(stage, true);
}

TEST_OF(stage, a_create_is_run_at_once_without_waiting_for_a_poll)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_open(&running, false);
    running_register(&running, "gated", gated, stage);
    options.poll_ms = 1000 * PATIENCE_MS; /* nothing is found by looking */
    running_start(&running, &options);

    running_create(&running, "gated", "r");
    gate_await(&stage->gate, 1);

    assert_int_equal(running_get(&running, "gated", "r").phase, PAWL_PHASE_RUNNING);
    gate_open(&stage->gate);
    running_await(&running, "gated", "r", PAWL_COMPLETE);
    running_close(&running);
}

WORKFLOW(wait_and_count)
{
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, NULL));
    return pawl_do(run, "count", NULL, add_one, NULL, NULL);
}

TEST_OF(stage, an_event_wakes_its_run_at_once_without_waiting_for_a_poll)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_open(&running, false);
    running_register(&running, "wait", wait_and_count, stage);
    options.poll_ms = 1000 * PATIENCE_MS;
    running_start(&running, &options);
    running_create(&running, "wait", "r");
    running_await(&running, "wait", "r", PAWL_WAITING);

    running_send(&running, "wait", "r", "go", NULL);

    running_await(&running, "wait", "r", PAWL_COMPLETE);
    running_close(&running);
}

TEST_OF(stage, the_workers_bound_how_many_bodies_run_at_once)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_open(&running, false);
    running_register(&running, "gated", gated, stage);
    options.workers = 3;
    running_start(&running, &options);

    create_many(&running, "gated", 12);
    gate_await(&stage->gate, 3);
    int at_once = gate_entered(&stage->gate);
    gate_open(&stage->gate);

    assert_int_equal(at_once, 3);
    assert_true(running_await_all(&running, "gated"));
    assert_int_equal(running_count(&running, "gated", PAWL_COMPLETE), 12);
    running_close(&running);
}

/* ---- Stopping ----------------------------------------------------------------------------------------------------------- */

static void *stop_runner(void *runner)
{
    pawl_runner_stop(runner);
    return NULL;
}

/* The step that is under way ends and is recorded; the next is not begun; the run can be claimed at once. */
TEST_OF(stage, stopping_waits_for_bodies_records_them_and_lets_go_of_the_runs)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pawl_runner *second;
    pthread_t stopper;
    int64_t processed = 0;
    running_open(&running, false); /* here a lease ends only by its time */
    running_register(&running, "gated", gated, stage);
    options.lease_ms = 1000 * PATIENCE_MS;
    running_start(&running, &options);
    running_create(&running, "gated", "r");
    gate_await(&stage->gate, 1);

    pthread_create(&stopper, NULL, stop_runner, running.runner);
    while (running_get(&running, "gated", "r").phase == PAWL_PHASE_QUEUED)
        rest_a_little();
    gate_open(&stage->gate);
    pthread_join(stopper, NULL);

    const struct pawl_step_record *step = running_step(&running, "gated", "r", "gate");
    assert_non_null(step);
    assert_int_equal(step->status, PAWL_STEP_COMPLETED);
    assert_ok(pawl_runner_open(running.engine, NULL, &second, &running.error), running.error);
    assert_ok(pawl_runner_tick(second, 0, 0, &processed, &running.error), running.error);
    pawl_runner_close(second);
    assert_int_equal(running_get(&running, "gated", "r").status, PAWL_COMPLETE);
    assert_int_equal(atomic_load(&stage->bodies), 1);
    running_close(&running);
}

static void stop_in_flight(struct stage *stage, bool in_file)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_runner_stats stats;
    running_open(&running, in_file);
    running_register(&running, "count", count_up, stage);
    options.workers = 4;
    running_start(&running, &options);
    create_many(&running, "count", 100);

    pawl_runner_stop(running.runner);

    pawl_runner_stats_read(running.runner, &stats);
    assert_int_equal(stats.in_flight, 0);
    int64_t steps = stats.steps;
    assert_int_equal(atomic_load(&stage->bodies), steps);
    assert_ok(pawl_runner_start(running.runner, &running.error), running.error);
    assert_true(running_await_all(&running, "count"));
    assert_int_equal(running_count(&running, "count", PAWL_COMPLETE), 100);
    assert_int_equal(atomic_load(&stage->bodies), 500);
    running_close(&running);
}

TEST_OF(stage, a_runner_stopped_with_100_runs_in_flight_goes_on_when_started_again)
{
    stop_in_flight(stage, false);
}

TEST_OF(stage, the_same_in_a_file)
{
    stop_in_flight(stage, true);
}

TEST_OF(stage, no_thread_and_no_descriptor_is_left_behind)
{
    struct running running;
    int threads = count_threads(), descriptors = count_descriptors();
    for (int i = 0; i < 3; i++) {
        running_open(&running, true);
        running_register(&running, "count", count_up, stage);
        running_start(&running, NULL);
        create_many(&running, "count", 20);
        assert_true(running_await_all(&running, "count"));
        running_close(&running);
    }

    assert_true(await_threads(threads));
    assert_int_equal(count_descriptors(), descriptors);
}

TEST_OF(stage, an_idle_runner_stops_at_once_and_twice)
{
    struct running running;
    running_open(&running, false);
    running_register(&running, "count", count_up, stage);
    running_start(&running, NULL);

    pawl_runner_stop(running.runner);
    pawl_runner_stop(running.runner);
    pawl_runner_stop(NULL);

    running_close(&running);
}

TEST_OF(stage, an_engine_has_one_started_runner)
{
    struct running running;
    pawl_runner *second;
    running_open(&running, false);
    running_register(&running, "count", count_up, stage);
    running_start(&running, NULL);
    assert_ok(pawl_runner_open(running.engine, NULL, &second, &running.error), running.error);

    assert_int_equal(pawl_runner_start(second, &running.error), PAWL_INVALID);
    assert_int_equal(pawl_runner_start(running.runner, &running.error), PAWL_INVALID);
    running_stop(&running);
    assert_ok(pawl_runner_start(second, &running.error), running.error);
    running_create(&running, "count", "r");
    running_await(&running, "count", "r", PAWL_COMPLETE);

    pawl_runner_close(second);
    running_close(&running);
}

struct waker {
    pawl_runner *runner;
    atomic_bool stop;
};

static void *wake_often(void *user)
{
    struct waker *waker = user;
    while (!atomic_load(&waker->stop))
        pawl_runner_wake(waker->runner);
    return NULL;
}

/* "From any thread, at any time": for the thread sanitizer to look at. */
TEST_OF(stage, a_runner_may_be_woken_while_it_starts_and_stops)
{
    struct running running;
    struct waker waker;
    pthread_t thread;
    running_open(&running, false);
    running_register(&running, "count", count_up, stage);
    assert_ok(pawl_runner_open(running.engine, NULL, &running.runner, &running.error), running.error);
    waker.runner = running.runner;
    atomic_init(&waker.stop, false);
    pthread_create(&thread, NULL, wake_often, &waker);

    for (int i = 0; i < 5; i++) {
        assert_ok(pawl_runner_start(running.runner, &running.error), running.error);
        pawl_runner_stop(running.runner);
    }

    atomic_store(&waker.stop, true);
    pthread_join(thread, NULL);
    running_close(&running);
}

struct creator {
    struct running *running;
    int from, count;
    pthread_t thread;
    int created;
};

static void *create_some(void *user)
{
    struct creator *creator = user;
    for (int i = 0; i < creator->count; i++) {
        struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
        struct pawl_instance instance;
        char id[32];
        pawl_scope *scope = pawl_scope_new();
        snprintf(id, sizeof id, "run-%d", creator->from + i);
        options.id = id;
        if (pawl_create(creator->running->engine, scope, "count", &options, &instance, NULL) == PAWL_OK)
            creator->created++;
        pawl_scope_free(scope);
    }
    return NULL;
}

TEST_OF(stage, creates_of_many_threads_meet_a_runner_that_stops_and_starts)
{
    struct running running;
    struct creator creators[4];
    running_open(&running, true);
    running_register(&running, "count", count_up, stage);
    running_start(&running, NULL);
    for (int i = 0; i < 4; i++) {
        creators[i] = (struct creator){ .running = &running, .from = i * 50, .count = 50 };
        pthread_create(&creators[i].thread, NULL, create_some, &creators[i]);
    }

    for (int i = 0; i < 5; i++) {
        pawl_runner_stop(running.runner);
        assert_ok(pawl_runner_start(running.runner, &running.error), running.error);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(creators[i].thread, NULL);
        assert_int_equal(creators[i].created, 50);
    }

    assert_true(running_await_all(&running, "count"));
    assert_int_equal(running_count(&running, "count", PAWL_COMPLETE), 200);
    assert_int_equal(atomic_load(&stage->bodies), 1000);
    running_close(&running);
}

/* ---- A create that is under way while the runner stops -------------------------------------------------------------------- */

static struct pw_store_ops slow_ops;
static const struct pw_store_ops *true_ops;
static struct gate *slow_gate;

/* Stands at the gate with the first create that hands its run to the runner. */
static pawl_status apply_slowly(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (units[i]->first->kind == PW_OP_CREATE && units[i]->first->as.create.hold_owner != 0)
            (void)gate_pass(slow_gate);
    }
    return true_ops->apply(store, units, count, error);
}

static void await_stopping(pawl_runner *runner)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (!atomic_load(&runner->stopping) && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(atomic_load(&runner->stopping));
    for (int i = 0; i < 50; i++)
        rest_a_little(); /* gives its threads the time to leave too early in */
}

TEST_OF(stage, stopping_waits_for_a_run_that_was_promised_to_the_runner)
{
    struct running running;
    struct pawl_runner_stats stats;
    pthread_t stopper;
    int64_t processed = 0;
    running_open(&running, false);
    running_register(&running, "count", count_up, stage);
    true_ops = running.engine->store->ops;
    slow_ops = *true_ops;
    slow_ops.apply = apply_slowly;
    slow_gate = &stage->gate;
    running.engine->store->ops = &slow_ops;
    running_start(&running, NULL);
    struct creator creator = { .running = &running, .from = 0, .count = 1 };
    pthread_create(&creator.thread, NULL, create_some, &creator);
    gate_await(&stage->gate, 1);

    pthread_create(&stopper, NULL, stop_runner, running.runner);
    await_stopping(running.runner);
    gate_open(&stage->gate);
    pthread_join(creator.thread, NULL);
    pthread_join(stopper, NULL);

    running.engine->store->ops = true_ops;
    pawl_runner_stats_read(running.runner, &stats);
    assert_int_equal(creator.created, 1);
    assert_int_equal(stats.in_flight, 0);
    assert_ok(pawl_runner_tick(running.runner, 0, 0, &processed, &running.error), running.error);
    assert_in_range(processed, 1, 2); /* its lease was given back; its rest may be over when the first turn has ended */
    running_close(&running);
}

/* ---- A store that fails for a moment ----------------------------------------------------------------------------------------- */

/* No first turn gets a step recorded: one piece of trouble for all of them together. */
static pawl_status apply_at_second_turns_only(struct pw_store *store, struct pw_unit **units, size_t count,
                                              struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct pw_op *first = units[i]->first;
        if (first->kind == PW_OP_FENCE && first->as.fence.at.epoch == 1 && first->next != NULL &&
            first->next->kind == PW_OP_STEP) {
            snprintf(error->text, sizeof error->text, "the disk is being looked at");
            return PAWL_STORE_UNAVAILABLE;
        }
    }
    return true_ops->apply(store, units, count, error);
}

TEST_OF(stage, C8_runs_that_a_passing_trouble_of_the_store_hit_together_go_on_soon)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    enum { HIT = 12, DOUBLED_MS = 16000 }; /* the delay of the last, had each doubled that of the one before */
    running_open(&running, false);
    running_register(&running, "gated", gated, stage);
    true_ops = running.engine->store->ops;
    slow_ops = *true_ops;
    slow_ops.apply = apply_at_second_turns_only;
    running.engine->store->ops = &slow_ops;
    options.workers = HIT;
    running_start(&running, &options);
    create_many(&running, "gated", HIT);
    gate_await(&stage->gate, HIT);

    int64_t begun_ms = monotonic_ms();
    gate_open(&stage->gate);
    bool all = running_await_all(&running, "gated");
    int64_t took_ms = monotonic_ms() - begun_ms;

    assert_true(all);
    assert_int_equal(running_count(&running, "gated", PAWL_COMPLETE), HIT);
    assert_int_equal(atomic_load(&stage->bodies), 2 * HIT); /* the step in flight again */
    assert_true(took_ms < DOUBLED_MS);
    running_stop(&running);
    running.engine->store->ops = true_ops;
    running_close(&running);
}

/* ---- Workflows that nobody has ------------------------------------------------------------------------------------------- */

TEST_OF(stage, A17_a_run_whose_workflow_nobody_has_stays_due_and_goes_on_when_it_is_back)
{
    struct running running;
    char path[64];
    database_name(path, sizeof path);
    running_open_path(&running, path);
    running_register(&running, "count", count_up, stage);
    running_register(&running, "gone", count_up, stage);
    running_create(&running, "gone", "r");
    pawl_close(running.engine);
    pawl_scope_free(running.scope);

    running_open_path(&running, path);
    running_register(&running, "count", count_up, stage);
    running_start(&running, NULL);
    running_create(&running, "count", "other");
    running_await(&running, "count", "other", PAWL_COMPLETE);
    running_stop(&running);
    pawl_close(running.engine);
    pawl_scope_free(running.scope);
    running_open_path(&running, path);
    running_register(&running, "gone", count_up, stage);
    struct pawl_instance meanwhile = running_get(&running, "gone", "r");
    running_start(&running, NULL);

    assert_int_equal(meanwhile.status, PAWL_ACTIVE);
    assert_int_equal(meanwhile.phase, PAWL_PHASE_QUEUED);
    running_await(&running, "gone", "r", PAWL_COMPLETE);
    running_close(&running);
}

WORKFLOW(sleep_long)
{
    return pawl_sleep(run, "long", "1 hour");
}

static void create_backlog(struct running *running)
{
    for (int i = 0; i < BACKLOG / BATCH; i++) {
        struct pawl_batch_item items[BATCH];
        char ids[BATCH][16];
        struct pawl_instance *instances;
        size_t count;
        for (int j = 0; j < BATCH; j++) {
            snprintf(ids[j], sizeof ids[j], "r-%d", i * BATCH + j);
            items[j] = (struct pawl_batch_item){ .id = ids[j] };
        }
        assert_ok(
            pawl_create_batch(running->engine, running->scope, "w", items, BATCH, &instances, &count, &running->error),
            running->error);
        assert_int_equal(count, BATCH);
    }
}

TEST_OF(stage, runs_that_park_make_room_for_a_backlog)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_runner_stats stats = { .turns = 0 };
    struct running running;
    running_open(&running, false);
    running_register(&running, "w", sleep_long, stage);
    create_backlog(&running);
    options.poll_ms = 1000 * PATIENCE_MS;
    options.lease_ms = 1000 * PATIENCE_MS;
    options.in_flight_max = BACKLOG / 8;

    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    running_start(&running, &options);
    runner_look_no_more(running.runner);
    while (stats.turns < BACKLOG && monotonic_ms() < until_ms) {
        rest_a_little();
        pawl_runner_stats_read(running.runner, &stats);
    }

    assert_int_equal(stats.turns, BACKLOG);
    assert_int_equal(running_count(&running, "w", PAWL_WAITING), BACKLOG);
    running_close(&running);
}
