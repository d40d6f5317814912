/* test_runner_control.c - a run is controlled while its body runs in a worker (B4, B5), and bodies that take too long (A7). */
#include "kit/running.h"

/* A body stands at the gate of its run number and attempt; there are as many as any test needs. */
struct stage {
    struct gate gates[4];
    atomic_int next;      /* which gate the next body goes to */
    atomic_int after;     /* bodies of the step behind */
    atomic_int cancelled; /* bodies that saw themselves cancelled */
    bool watch;           /* the body leaves when it sees itself cancelled */
};

/* Never given back: when a test fails, its threads are still about. */
static struct stage stages[16];
static size_t stages_used;

static int set_up(void **state)
{
    assert_true(stages_used < LENGTH(stages));
    struct stage *stage = &stages[stages_used++];
    for (size_t i = 0; i < LENGTH(stage->gates); i++)
        gate_init(&stage->gates[i]);
    *state = stage;
    return 0;
}

static void open_all(struct stage *stage)
{
    for (size_t i = 0; i < LENGTH(stage->gates); i++)
        gate_open(&stage->gates[i]);
}

static bool watch_until_cancelled(pawl_step *step)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (!pawl_step_cancelled(step) && monotonic_ms() < until_ms)
        rest_a_little();
    return pawl_step_cancelled(step);
}

static pawl_status at_gate(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    int gate = atomic_fetch_add(&stage->next, 1) % (int)LENGTH(stage->gates);
    if (stage->watch && gate == 0) {
        gate_open(&stage->gates[0]);
        (void)gate_pass(&stage->gates[0]);
        if (watch_until_cancelled(step))
            atomic_fetch_add(&stage->cancelled, 1);
    } else if (!gate_pass(&stage->gates[gate])) {
        return pawl_fail_for_good(step, "GateStayedShut", "gate %d", gate);
    }
    return pawl_result(step, out_result, "i", gate);
}

static pawl_status count_after(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->after, 1);
    return PAWL_OK;
}

static pawl_status controlled(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "gate", NULL, at_gate, NULL, out_result));
    return pawl_do(run, "after", NULL, count_after, NULL, NULL);
}

/* Retries at once; an attempt may take 150 ms. */
static pawl_status try_impatiently(pawl_run *run, int64_t retries, pawl_value **out_result)
{
    const struct pawl_step_options options = {
        .retries = retries, .delay = "1 ms", .backoff = PAWL_BACKOFF_CONSTANT, .timeout = "150 ms"
    };
    return pawl_do(run, "gate", &options, at_gate, NULL, out_result);
}

/* So many retries that a slow machine does not use them up. */
static pawl_status impatient(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(try_impatiently(run, 100, out_result));
    return pawl_do(run, "after", NULL, count_after, NULL, NULL);
}

static pawl_status doomed(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return try_impatiently(run, 1, out_result);
}

static pawl_status single(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "gate", NULL, at_gate, NULL, out_result);
}

static pawl_status quick(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_do(run, "after", NULL, count_after, NULL, NULL);
}

static void start(struct running *running, struct stage *stage, int32_t workers)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_open(running, false);
    running_register(running, "controlled", controlled, stage);
    running_register(running, "impatient", impatient, stage);
    running_register(running, "doomed", doomed, stage);
    running_register(running, "single", single, stage);
    running_register(running, "quick", quick, stage);
    options.workers = workers;
    running_start(running, &options);
}

/* Until the runner holds nothing: what it did late has been refused by then. */
static void await_idle(struct running *running)
{
    struct pawl_runner_stats stats;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    do {
        rest_a_little();
        pawl_runner_stats_read(running->runner, &stats);
    } while (stats.in_flight > 0 && monotonic_ms() < until_ms);
    assert_int_equal(stats.in_flight, 0);
}

/* ---- Pause ---------------------------------------------------------------------------------------------------------------- */

static void B4_a_busy_run_pauses_at_its_next_boundary_and_goes_on_when_resumed(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 2);
    running_create(&running, "controlled", "r");
    gate_await(&stage->gates[0], 1);

    assert_ok(pawl_pause(running.engine, "controlled", "r", &running.error), running.error);
    enum pawl_phase while_busy = running_get(&running, "controlled", "r").phase;
    gate_open(&stage->gates[0]);
    running_await(&running, "controlled", "r", PAWL_PAUSED);

    assert_int_equal(while_busy, PAWL_PHASE_WAITING_FOR_PAUSE);
    assert_int_equal(running_step(&running, "controlled", "r", "gate")->status, PAWL_STEP_COMPLETED);
    assert_int_equal(atomic_load(&stage->after), 0);
    assert_ok(pawl_resume(running.engine, "controlled", "r", &running.error), running.error);
    running_await(&running, "controlled", "r", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&stage->after), 1);
    assert_int_equal(atomic_load(&stage->next), 1);
    running_close(&running);
}

static void B4_a_resume_before_the_boundary_takes_the_pause_back(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 2);
    running_create(&running, "controlled", "r");
    gate_await(&stage->gates[0], 1);

    assert_ok(pawl_pause(running.engine, "controlled", "r", &running.error), running.error);
    assert_ok(pawl_resume(running.engine, "controlled", "r", &running.error), running.error);
    gate_open(&stage->gates[0]);

    running_await(&running, "controlled", "r", PAWL_COMPLETE);
    running_close(&running);
}

static void B4_a_run_asked_to_pause_in_its_last_step_is_paused_and_not_finished(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 2);
    running_create(&running, "single", "r");
    gate_await(&stage->gates[0], 1);

    assert_ok(pawl_pause(running.engine, "single", "r", &running.error), running.error);
    gate_open(&stage->gates[0]);
    running_await(&running, "single", "r", PAWL_PAUSED);

    assert_ok(pawl_resume(running.engine, "single", "r", &running.error), running.error);
    running_await(&running, "single", "r", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&stage->next), 1);
    running_close(&running);
}

/* ---- Terminate and restart -------------------------------------------------------------------------------------------------- */

static void B5_after_a_terminate_the_body_under_way_is_cancelled_and_records_nothing(void **state)
{
    struct stage *stage = *state;
    struct running running;
    stage->watch = true;
    start(&running, stage, 2);
    running_create(&running, "controlled", "r");
    gate_await(&stage->gates[0], 1);

    assert_ok(pawl_terminate(running.engine, "controlled", "r", &running.error), running.error);
    await_idle(&running);

    assert_int_equal(atomic_load(&stage->cancelled), 1);
    assert_int_equal(running_get(&running, "controlled", "r").status, PAWL_TERMINATED);
    assert_null(running_step(&running, "controlled", "r", "gate"));
    assert_int_equal(atomic_load(&stage->after), 0);
    running_close(&running);
}

static void B5_after_a_restart_only_the_new_run_commits(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 2);
    running_create(&running, "controlled", "r");
    gate_await(&stage->gates[0], 1);

    assert_ok(pawl_restart(running.engine, "controlled", "r", &running.error), running.error);
    gate_await(&stage->gates[1], 1); /* the new run's body runs beside the old one's */
    gate_open(&stage->gates[0]);
    gate_open(&stage->gates[1]);
    struct pawl_instance instance = running_await(&running, "controlled", "r", PAWL_COMPLETE);
    await_idle(&running);

    assert_int_equal(instance.run_number, 2);
    assert_string_equal(instance.output_json, "1");
    assert_int_equal(running_history(&running, "controlled", "r", 1).step_count, 0);
    assert_int_equal(running_history(&running, "controlled", "r", 2).step_count, 2);
    assert_int_equal(atomic_load(&stage->after), 1);
    running_close(&running);
}

static void B5_a_late_body_of_the_old_run_does_not_disturb_a_finished_new_one(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 2);
    running_create(&running, "controlled", "r");
    gate_await(&stage->gates[0], 1);
    assert_ok(pawl_restart(running.engine, "controlled", "r", &running.error), running.error);
    gate_open(&stage->gates[1]);
    running_await(&running, "controlled", "r", PAWL_COMPLETE);

    gate_open(&stage->gates[0]);
    await_idle(&running);

    struct pawl_instance instance = running_get(&running, "controlled", "r");
    assert_int_equal(instance.status, PAWL_COMPLETE);
    assert_string_equal(instance.output_json, "1");
    assert_int_equal(running_history(&running, "controlled", "r", 1).step_count, 0);
    running_close(&running);
}

/* ---- The watchdog ------------------------------------------------------------------------------------------------------------ */

static void await_failed_attempt(struct running *running, const char *id)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    const struct pawl_step_record *step = running_step(running, "impatient", id, "gate");
    while ((step == NULL || step->error_name == NULL) && monotonic_ms() < until_ms) {
        rest_a_little();
        step = running_step(running, "impatient", id, "gate");
    }
    assert_non_null(step);
    assert_non_null(step->error_name);
    assert_string_equal(step->error_name, "STEP_TIMEOUT");
}

static int standing_at(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    int inside = gate->inside;
    pthread_mutex_unlock(&gate->lock);
    return inside;
}

static void A7_a_timeout_is_recorded_and_retried_while_the_body_still_blocks(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 1);
    running_create(&running, "impatient", "r");
    gate_await(&stage->gates[0], 1);

    gate_await(&stage->gates[1], 1); /* the only worker is blocked, yet the second attempt runs */
    await_failed_attempt(&running, "r");
    for (size_t i = 1; i < LENGTH(stage->gates); i++)
        gate_open(&stage->gates[i]);
    const char *output = running_await(&running, "impatient", "r", PAWL_COMPLETE).output_json;

    assert_int_equal(standing_at(&stage->gates[0]), 1);
    assert_string_not_equal(output, "0");
    int64_t attempts = running_step(&running, "impatient", "r", "gate")->attempts;
    assert_true(attempts >= 2);
    gate_open(&stage->gates[0]);
    running_stop(&running); /* waits for the late body, whose result is dropped */
    assert_string_equal(running_get(&running, "impatient", "r").output_json, output);
    assert_int_equal(running_step(&running, "impatient", "r", "gate")->attempts, attempts);
    running_close(&running);
}

static void A7_one_worker_that_is_blocked_past_its_timeout_does_not_stop_the_others_runs(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 1);
    running_create(&running, "impatient", "blocked");
    gate_await(&stage->gates[0], 1);

    for (int i = 0; i < 10; i++) {
        char id[16];
        snprintf(id, sizeof id, "quick-%d", i);
        running_create(&running, "quick", id);
    }
    gate_open(&stage->gates[1]);
    bool all = running_await_all(&running, "quick");

    assert_true(all);
    assert_int_equal(running_count(&running, "quick", PAWL_COMPLETE), 10);
    open_all(stage);
    running_close(&running);
}

static void A5_a_body_that_always_outlives_its_timeout_fails_for_good_after_its_attempts(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, 1);
    running_create(&running, "doomed", "r");

    struct pawl_instance instance = running_await(&running, "doomed", "r", PAWL_ERRORED);

    assert_string_equal(instance.error_name, "STEP_TIMEOUT");
    assert_int_equal(running_step(&running, "doomed", "r", "gate")->attempts, 2);
    assert_int_equal(atomic_load(&stage->next), 2);
    open_all(stage);
    running_close(&running);
}

static void A7_a_timed_out_body_sees_itself_cancelled_and_spare_workers_leave_again(void **state)
{
    struct stage *stage = *state;
    struct running running;
    stage->watch = true;
    start(&running, stage, 2);
    running_create(&running, "quick", "q"); /* all threads are there once something has run */
    running_await(&running, "quick", "q", PAWL_COMPLETE);
    int threads = count_threads();
    for (size_t i = 1; i < LENGTH(stage->gates); i++)
        gate_open(&stage->gates[i]);

    running_create(&running, "impatient", "r");
    running_await(&running, "impatient", "r", PAWL_COMPLETE);

    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(&stage->cancelled) == 0 && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(atomic_load(&stage->cancelled), 1);
    assert_true(await_threads(threads));
    running_close(&running);
}

static void a_timed_out_body_is_waited_for_when_the_runner_stops(void **state)
{
    struct stage *stage = *state;
    struct running running;
    int threads = count_threads();
    stage->watch = true;
    start(&running, stage, 1);
    running_create(&running, "impatient", "r");
    gate_await(&stage->gates[0], 1);
    open_all(stage);

    running_stop(&running);

    assert_true(await_threads(threads));
    assert_true(running_get(&running, "impatient", "r").status != PAWL_ERRORED);
    running_close(&running);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(B4_a_busy_run_pauses_at_its_next_boundary_and_goes_on_when_resumed),
        TEST(B4_a_resume_before_the_boundary_takes_the_pause_back),
        TEST(B4_a_run_asked_to_pause_in_its_last_step_is_paused_and_not_finished),
        TEST(B5_after_a_terminate_the_body_under_way_is_cancelled_and_records_nothing),
        TEST(B5_after_a_restart_only_the_new_run_commits),
        TEST(B5_a_late_body_of_the_old_run_does_not_disturb_a_finished_new_one),
        TEST(A7_a_timeout_is_recorded_and_retried_while_the_body_still_blocks),
        TEST(A7_one_worker_that_is_blocked_past_its_timeout_does_not_stop_the_others_runs),
        TEST(A5_a_body_that_always_outlives_its_timeout_fails_for_good_after_its_attempts),
        TEST(A7_a_timed_out_body_sees_itself_cancelled_and_spare_workers_leave_again),
        TEST(a_timed_out_body_is_waited_for_when_the_runner_stops),
    };
    return cmocka_run_group_tests_name("runner, control", tests, NULL, NULL);
}
