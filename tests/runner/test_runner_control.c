/* test_runner_control.c - a run is controlled while its body runs in a worker (B4, B5), and bodies that take too long (A7). */
#include "kit/running.h"

#include "engine/engine.h"

/* A body stands at the gate of its run number and attempt; there are as many as any test needs. */
struct stage {
    struct gate gates[4], gate;
    atomic_int bodies;
    atomic_int next;      /* which gate the next body goes to */
    atomic_int after;     /* bodies of the step behind */
    atomic_int cancelled; /* bodies that saw themselves cancelled */
    bool watch;           /* the body leaves when it sees itself cancelled */
};

/* Never given back: when a test fails, its threads are still about. */
static struct stage stages[20];
static size_t stages_used;

static int set_up(void **state)
{
    assert_true(stages_used < LENGTH(stages));
    struct stage *stage = &stages[stages_used++];
    for (size_t i = 0; i < LENGTH(stage->gates); i++)
        gate_init(&stage->gates[i]);
    gate_init(&stage->gate);
    *state = stage;
    return 0;
}

static const struct test_setting stage_setting = { set_up, NULL, 0 };

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

BODY(at_gate)
{
    struct stage *stage = pawl_step_user(step);
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

BODY(count_after)
{
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->after, 1);
    return PAWL_OK;
}

WORKFLOW(controlled)
{
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
WORKFLOW(impatient)
{
    PAWL_TRY(try_impatiently(run, 100, out_result));
    return pawl_do(run, "after", NULL, count_after, NULL, NULL);
}

WORKFLOW(doomed)
{
    return try_impatiently(run, 1, out_result);
}

WORKFLOW(single)
{
    return pawl_do(run, "gate", NULL, at_gate, NULL, out_result);
}

WORKFLOW(quick)
{
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

TEST_OF(stage, B4_a_busy_run_pauses_at_its_next_boundary_and_goes_on_when_resumed)
{
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

TEST_OF(stage, B4_a_resume_before_the_boundary_takes_the_pause_back)
{
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

TEST_OF(stage, B4_a_run_asked_to_pause_in_its_last_step_is_paused_and_not_finished)
{
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

TEST_OF(stage, B5_after_a_terminate_the_body_under_way_is_cancelled_and_records_nothing)
{
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

TEST_OF(stage, B5_after_a_restart_only_the_new_run_commits)
{
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

TEST_OF(stage, B5_a_late_body_of_the_old_run_does_not_disturb_a_finished_new_one)
{
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

TEST_OF(stage, A7_a_timeout_is_recorded_and_retried_while_the_body_still_blocks)
{
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

TEST_OF(stage, A7_one_worker_that_is_blocked_past_its_timeout_does_not_stop_the_others_runs)
{
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

TEST_OF(stage, A5_a_body_that_always_outlives_its_timeout_fails_for_good_after_its_attempts)
{
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

TEST_OF(stage, A7_a_timed_out_body_sees_itself_cancelled_and_spare_workers_leave_again)
{
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

TEST_OF(stage, a_timed_out_body_is_waited_for_when_the_runner_stops)
{
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

/* ---- What fails while a pause is asked for ------------------------------------------------------------------------ */

static void begin(struct running *running, struct stage *stage, pawl_workflow_fn *workflow)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_register(running, "w", workflow, stage);
    options.workers = 2;
    running_start(running, &options);
    running_create(running, "w", "r");
}

static void start_one(struct running *running, struct stage *stage, pawl_workflow_fn *workflow)
{
    running_open(running, false);
    begin(running, stage, workflow);
}

BODY(insert_what_is_there)
{
    struct stage *stage = pawl_step_user(step);
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO one VALUES($1)", "[i]", 1));
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO failures VALUES($1)", "[s]", "failed"));
    atomic_fetch_add(&stage->bodies, 1);
    return gate_pass(&stage->gate) ? PAWL_OK : pawl_fail(step, "GateStayedShut", "nobody opened it");
}

WORKFLOW(insert_once)
{
    return pawl_do(run, "insert", NULL, insert_what_is_there, NULL, out_result);
}

TEST_OF(stage, a_refused_change_is_recorded_before_the_run_pauses)
{
    struct running running;
    running_open(&running, true);
    struct store_place place = database_place(running.path);
    store_place_execute(&place, "CREATE TABLE one(x INTEGER PRIMARY KEY); INSERT INTO one VALUES(1)");
    store_place_execute(&place, "CREATE TABLE failures(x TEXT)");
    begin(&running, stage, insert_once);
    gate_await(&stage->gate, 1);

    assert_ok(pawl_pause(running.engine, "w", "r", &running.error), running.error);
    gate_open(&stage->gate);
    running_await(&running, "w", "r", PAWL_PAUSED);
    const struct pawl_step_record *step = running_step(&running, "w", "r", "insert");
    assert_non_null(step);
    int64_t attempts_when_paused = step->attempts;
    assert_ok(pawl_resume(running.engine, "w", "r", &running.error), running.error);
    running_await(&running, "w", "r", PAWL_ERRORED);

    step = running_step(&running, "w", "r", "insert");
    assert_int_equal(attempts_when_paused, 1);
    assert_int_equal(step->status, PAWL_STEP_ERRORED);
    assert_string_equal(step->error_name, "STEP_UNIQUE_CONSTRAINT_VIOLATION");
    assert_int_equal(step->attempts, 1);
    assert_int_equal(atomic_load(&stage->bodies), 1);
    assert_int_equal(store_place_number(&place, "SELECT count(*) FROM failures"), 1);
    running_close(&running);
}

WORKFLOW(fail_behind_the_gate)
{
    struct stage *stage = pawl_run_user(run);
    PAWL_TRY(pawl_do(run, "step", NULL, count_after, NULL, out_result));
    (void)gate_pass(&stage->gate);
    return pawl_run_fail(run, "Boom", "no");
}

TEST_OF(stage, a_run_that_fails_while_a_pause_is_asked_for_says_so_only_when_it_ends)
{
    struct running running;
    start_one(&running, stage, fail_behind_the_gate);
    gate_await(&stage->gate, 1);

    assert_ok(pawl_pause(running.engine, "w", "r", &running.error), running.error);
    gate_open(&stage->gate);
    running_await(&running, "w", "r", PAWL_PAUSED);
    int lines_when_paused = running_lines(&running, "w", "r", "the run failed");
    assert_ok(pawl_resume(running.engine, "w", "r", &running.error), running.error);
    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_ERRORED);

    assert_string_equal(instance.error_name, "Boom");
    assert_int_equal(lines_when_paused, 0);
    assert_int_equal(running_lines(&running, "w", "r", "the run failed"), 1);
    running_close(&running);
}

/* ---- Revoking ---------------------------------------------------------------------------------------------------- */

BODY(ask_whether_cancelled)
{
    struct stage *stage = pawl_step_user(step);
    atomic_fetch_add(&stage->bodies, 1);
    (void)gate_pass(&stage->gate);
    if (pawl_step_cancelled(step))
        atomic_fetch_add(&stage->cancelled, 1);
    return PAWL_OK;
}

WORKFLOW(work_in_the_second_run)
{
    if (pawl_run_number(run) == 1)
        return PAWL_OK;
    return pawl_do(run, "work", NULL, ask_whether_cancelled, NULL, out_result);
}

static struct pw_instance read_row(struct running *running)
{
    struct pw_store *store = running->engine->store;
    struct pw_instance row = { .key = 0 };
    struct pw_arena arena;
    pw_arena_init(&arena);
    assert_ok(pw_read_instance(store, &arena, pw_text_of("w"), pw_text_of("r"), &row, &running->error), running->error);
    pw_arena_clear(&arena);
    return row; /* for its numbers: the texts are gone */
}

TEST_OF(stage, revoking_an_older_run_does_not_cancel_the_newer_one)
{
    struct running running;
    start_one(&running, stage, work_in_the_second_run);
    running_await(&running, "w", "r", PAWL_COMPLETE);
    assert_ok(pawl_restart(running.engine, "w", "r", &running.error), running.error);
    gate_await(&stage->gate, 1);
    struct pw_instance row = read_row(&running);
    assert_int_equal(row.run, 2);

    pw_engine_tell(running.engine, (struct pw_word){ PW_WORD_REVOKED, row.key, row.run - 1, .seq = 0 });
    gate_open(&stage->gate);
    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->cancelled), 0);
    assert_int_equal(atomic_load(&stage->bodies), 1);
    running_close(&running);
}
