/* test_regressions.c - what a review once found wrong, each kept right by the smallest story that showed it.
 *
 * Where a story needs something to happen between a read and a commit, the engine gets a store that lets it happen. */
#include "kit/running.h"

#include "engine/engine.h"
#include "testing/forward.h"

enum { HANGING = 8, BACKLOG = 400, BATCH = 100 };

struct stage {
    struct gate gate;
    atomic_int bodies, calls, cancelled;
    atomic_int begun[HANGING];
    _Atomic(pawl_status) answer; /* what the workflow was answered last, when it was not suspended */
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

static void start(struct running *running, struct stage *stage, pawl_workflow_fn *workflow, int32_t workers)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_open(running, false);
    running_register(running, "w", workflow, stage);
    options.workers = workers;
    running_start(running, &options);
    running_create(running, "w", "r");
}

static bool await_count(atomic_int *counter, int expected)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(counter) < expected && monotonic_ms() < until_ms)
        rest_a_little();
    return atomic_load(counter) >= expected;
}

/* How many lines of the run's log say that, for the first time. */
static int count_lines(struct running *running, const char *words)
{
    struct pawl_history history = running_history(running, "w", "r", 0);
    int count = 0;
    for (size_t i = 0; i < history.log_count; i++) {
        if (!history.logs[i].is_replay && strstr(history.logs[i].message, words) != NULL)
            count++;
    }
    return count;
}

static pawl_status do_nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->bodies, 1);
    return PAWL_OK;
}

static pawl_status stay_until_cancelled(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    (void)input;
    (void)out_result;
    atomic_fetch_add(&stage->bodies, 1);
    while (!pawl_step_cancelled(step) && monotonic_ms() < until_ms)
        rest_a_little();
    if (pawl_step_cancelled(step))
        atomic_fetch_add(&stage->cancelled, 1);
    return PAWL_OK;
}

/* The result is the number of the winner. */
static pawl_status race(pawl_run *run, pawl_workflow_fn *zero, pawl_workflow_fn *one, pawl_value **out_result)
{
    struct pawl_branch branches[] = { { .run = zero }, { .run = one } };
    size_t winner = 99;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "i", (int)winner);
}

/* ---- Branches inside a loser ------------------------------------------------------------------------------------- */

enum { NAP_MS = 40 };

/* Is still in its body when its neighbour's nap is over. */
static pawl_status outlast_the_nap(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    pawl_status status = stay_until_cancelled(step, input, out_result);
    int64_t until_ms = monotonic_ms() + 2 * NAP_MS;
    while (monotonic_ms() < until_ms)
        rest_a_little();
    return status;
}

static pawl_status win_when_the_others_are_there(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
    if (!await_count(&stage->bodies, 2))
        return pawl_fail_for_good(step, "Alone", "the others did not come");
    return PAWL_OK;
}

static pawl_status napping_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "come", NULL, do_nothing, NULL, out_result));
    return pawl_sleep_ms(run, "nap", NAP_MS);
}

static pawl_status outlasting_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "outlast", NULL, outlast_the_nap, NULL, out_result);
}

static pawl_status branch_of_branches(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    struct pawl_branch branches[] = { { .run = napping_branch }, { .run = outlasting_branch } };
    return pawl_all(run, "all", branches, 2, 0);
}

static pawl_status winning_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "win", NULL, win_when_the_others_are_there, NULL, out_result);
}

static pawl_status race_with_branches_inside(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return race(run, branch_of_branches, winning_branch, out_result);
}

static pawl_status finish_at_once(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    (void)params;
    (void)out_result;
    return PAWL_OK;
}

static void branches_inside_a_branch_that_lost_a_race_end_with_it(void **state)
{
    struct stage *stage = *state;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct running running;
    running_open(&running, false);
    running_register(&running, "w", race_with_branches_inside, stage);
    running_register(&running, "next", finish_at_once, stage);
    options.workers = 6;
    running_start(&running, &options);

    running_create(&running, "w", "r");
    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);
    running_create(&running, "next", "n");

    running_await(&running, "next", "n", PAWL_COMPLETE);
    assert_string_equal(instance.output_json, "1");
    assert_int_equal(atomic_load(&stage->cancelled), 1);
    running_close(&running);
}

/* ---- A pause while something fails ------------------------------------------------------------------------------- */

static pawl_status insert_what_is_there(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO one VALUES($1)", "[i]", 1));
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT INTO failures VALUES($1)", "[s]", "failed"));
    atomic_fetch_add(&stage->bodies, 1);
    return gate_pass(&stage->gate) ? PAWL_OK : pawl_fail(step, "GateStayedShut", "nobody opened it");
}

static pawl_status insert_once(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "insert", NULL, insert_what_is_there, NULL, out_result);
}

static void a_refused_change_is_recorded_before_the_run_pauses(void **state)
{
    struct stage *stage = *state;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct running running;
    running_open(&running, true);
    struct store_place place = database_place(running.path);
    store_place_execute(&place, "CREATE TABLE one(x INTEGER PRIMARY KEY); INSERT INTO one VALUES(1)");
    store_place_execute(&place, "CREATE TABLE failures(x TEXT)");
    running_register(&running, "w", insert_once, stage);
    options.workers = 2;
    running_start(&running, &options);
    running_create(&running, "w", "r");
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

static pawl_status fail_behind_the_gate(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct stage *stage = pawl_run_user(run);
    (void)params;
    PAWL_TRY(pawl_do(run, "step", NULL, do_nothing, NULL, out_result));
    (void)gate_pass(&stage->gate);
    return pawl_run_fail(run, "Boom", "no");
}

static void a_run_that_fails_while_a_pause_is_asked_for_says_so_only_when_it_ends(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, fail_behind_the_gate, 2);
    gate_await(&stage->gate, 1);

    assert_ok(pawl_pause(running.engine, "w", "r", &running.error), running.error);
    gate_open(&stage->gate);
    running_await(&running, "w", "r", PAWL_PAUSED);
    int lines_when_paused = count_lines(&running, "the run failed");
    assert_ok(pawl_resume(running.engine, "w", "r", &running.error), running.error);
    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_ERRORED);

    assert_string_equal(instance.error_name, "Boom");
    assert_int_equal(lines_when_paused, 0);
    assert_int_equal(count_lines(&running, "the run failed"), 1);
    running_close(&running);
}

/* ---- A branch that is called again in one pass ------------------------------------------------------------------- */

static pawl_status talking_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct stage *stage = pawl_run_user(run);
    (void)params;
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "one: begun"));
    PAWL_TRY(pawl_do(run, "quick", NULL, do_nothing, NULL, out_result));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "two: behind the step"));
    PAWL_TRY(pawl_sleep_ms(run, "nap", 10));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "three: behind the nap"));
    PAWL_TRY(pawl_sleep_ms(run, "second nap", 10));
    PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "four: at the end"));
    gate_open(&stage->gate);
    return PAWL_OK;
}

static pawl_status block(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
    return gate_pass(&stage->gate) ? PAWL_OK : pawl_fail_for_good(step, "GateStayedShut", "nobody opened it");
}

static pawl_status blocking_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "block", NULL, block, NULL, out_result);
}

static pawl_status talk_beside_a_long_body(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    struct pawl_branch branches[] = { { .run = talking_branch }, { .run = blocking_branch } };
    return pawl_all(run, "all", branches, 2, 0);
}

static void a_branch_that_is_called_again_in_a_pass_logs_each_line_once_as_new(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, talk_beside_a_long_body, 4);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(count_lines(&running, "one:"), 1);
    assert_int_equal(count_lines(&running, "two:"), 1);
    assert_int_equal(count_lines(&running, "three:"), 1);
    assert_int_equal(count_lines(&running, "four:"), 1);
    running_close(&running);
}

/* ---- Races ------------------------------------------------------------------------------------------------------- */

static pawl_status waiting_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_wait_for_event(run, "event", "cancel", "1 hour", NULL);
}

static pawl_status staying_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "stay", NULL, stay_until_cancelled, NULL, out_result);
}

static pawl_status event_against_body(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return race(run, waiting_branch, staying_branch, out_result);
}

static void an_event_wins_its_race_while_the_other_body_runs(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, event_against_body, 4);
    assert_true(await_count(&stage->bodies, 1));

    running_send(&running, "w", "r", "cancel");
    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "0");
    assert_int_equal(atomic_load(&stage->cancelled), 1);
    running_close(&running);
}

static pawl_status branch_without_memory(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct stage *stage = pawl_run_user(run);
    (void)params;
    (void)out_result;
    if (atomic_fetch_add(&stage->calls, 1) == 0)
        return PAWL_NOMEM;
    return pawl_wait_for_event(run, "never", "x", "24 hours", NULL);
}

static pawl_status quick_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "quick", NULL, do_nothing, NULL, out_result);
}

static pawl_status race_without_memory(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return race(run, branch_without_memory, quick_branch, out_result);
}

static void a_branch_that_got_no_memory_decides_no_race(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, race_without_memory, 2);

    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "1");
    assert_int_equal(atomic_load(&stage->bodies), 1);
    running_close(&running);
}

/* ---- Many at once ------------------------------------------------------------------------------------------------ */

static pawl_status sleep_long(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
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

static void runs_that_park_make_room_for_a_backlog(void **state)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_runner_stats stats = { .turns = 0 };
    struct running running;
    running_open(&running, false);
    running_register(&running, "w", sleep_long, *state);
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

static pawl_status hang(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)out_result;
    atomic_fetch_add(&stage->begun[pawl_value_int(input, NULL, 0)], 1);
    (void)gate_pass(&stage->gate);
    return PAWL_OK;
}

static pawl_status hanging_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct pawl_step_options options = { .timeout = "100 ms", .retries = PAWL_NO_RETRIES };
    const char *name = pawl_run_format(run, "hang %d", (int)pawl_value_int(params, NULL, 0));
    return pawl_do(run, name, &options, hang, params, out_result);
}

static pawl_status hang_side_by_side(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[HANGING];
    (void)params;
    (void)out_result;
    memset(branches, 0, sizeof branches);
    for (int i = 0; i < HANGING; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        branches[i] = (struct pawl_branch){ .run = hanging_branch, .input = number };
    }
    return pawl_all(run, "all", branches, HANGING, 0);
}

static void bodies_that_hang_side_by_side_begin_once_each_and_time_out(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, hang_side_by_side, HANGING);

    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_ERRORED);
    gate_open(&stage->gate);

    assert_string_equal(instance.error_name, "STEP_TIMEOUT");
    for (int i = 0; i < HANGING; i++)
        assert_int_equal(atomic_load(&stage->begun[i]), 1);
    running_close(&running);
}

/* ---- Revoking ---------------------------------------------------------------------------------------------------- */

static pawl_status ask_whether_cancelled(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
    atomic_fetch_add(&stage->bodies, 1);
    (void)gate_pass(&stage->gate);
    if (pawl_step_cancelled(step))
        atomic_fetch_add(&stage->cancelled, 1);
    return PAWL_OK;
}

static pawl_status work_in_the_second_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
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

static void revoking_an_older_run_does_not_cancel_the_newer_one(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, work_in_the_second_run, 2);
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

/* ---- What happens right before a commit -------------------------------------------------------------------- */

enum meddling { MEDDLE_NOT, END_THE_TARGET, SEND_AT_THE_LAST_MOMENT };

struct meddler {
    struct pw_forward forward; /* first */
    enum meddling next;        /* done once */
    struct stage *stage;
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

static int64_t simulated_now(void *user)
{
    return INT64_C(1700000000000) + atomic_load(&((struct running *)user)->skew_ms);
}

static void open_meddled(struct meddler *meddler, struct stage *stage)
{
    struct running *running = &meddler->running;
    struct store_place place = database_place("");
    struct pawl_options options = PAWL_OPTIONS_INIT;
    memset(meddler, 0, sizeof *meddler);
    meddler->stage = stage;
    options.store_url = place.url;
    options.clock = (struct pawl_clock){ .now_ms = simulated_now, .user = running };
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

static pawl_status wait_to_go(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return pawl_wait_for_event(run, "wait", "go", "10 s", NULL);
}

static pawl_status send_to_target(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct meddler *meddler = pawl_step_user(step);
    enum meddling then = meddler->next;
    (void)input;
    (void)out_result;
    atomic_fetch_add(&meddler->stage->bodies, 1);
    meddler->next = MEDDLE_NOT; /* from here on the trouble is to come */
    PAWL_TRY(pawl_step_send_event(step, "target", "t", "go", NULL));
    meddler->next = then;
    return PAWL_OK;
}

static pawl_status send_and_look(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct meddler *meddler = pawl_run_user(run);
    (void)params;
    pawl_status status = pawl_do(run, "send", NULL, send_to_target, NULL, out_result);
    if (status == PAWL_SUSPENDED)
        return status;
    atomic_store(&meddler->stage->answer, status);
    return PAWL_OK;
}

static void open_sender_and_target(struct meddler *meddler, struct stage *stage, enum meddling meddling)
{
    struct running *running = &meddler->running;
    open_meddled(meddler, stage);
    running_register(running, "w", send_and_look, meddler);
    running_register(running, "target", wait_to_go, meddler);
    running_create(running, "target", "t");
    tick_after(running, 0);
    running_create(running, "w", "r");
    meddler->next = meddling;
}

static void an_event_to_a_target_that_just_ended_fails_its_step_for_good(void **state)
{
    struct stage *stage = *state;
    struct meddler meddler;
    open_sender_and_target(&meddler, stage, END_THE_TARGET);

    tick_after(&meddler.running, 0);

    const struct pawl_step_record *step = running_step(&meddler.running, "w", "r", "send");
    assert_int_equal(meddler.next, MEDDLE_NOT);
    assert_int_equal(atomic_load(&stage->answer), PAWL_FAILED);
    assert_non_null(step);
    assert_int_equal(step->status, PAWL_STEP_ERRORED);
    assert_string_equal(step->error_name, "INSTANCE_TERMINAL");
    assert_int_equal(atomic_load(&stage->bodies), 1);
    running_close(&meddler.running);
}

static void an_event_at_the_instant_of_the_timeout_leaves_no_word_of_the_timeout(void **state)
{
    struct meddler meddler;
    open_meddled(&meddler, *state);
    running_register(&meddler.running, "w", wait_to_go, &meddler);
    running_create(&meddler.running, "w", "r");
    tick_after(&meddler.running, 0);
    meddler.next = SEND_AT_THE_LAST_MOMENT;

    tick_after(&meddler.running, 10 * 1000);

    assert_int_equal(meddler.next, MEDDLE_NOT);
    assert_int_equal(running_get(&meddler.running, "w", "r").status, PAWL_COMPLETE);
    assert_int_equal(count_lines(&meddler.running, "came in time"), 0);
    running_close(&meddler.running);
}

/* ---- Ticking and polling with one runner ------------------------------------------------------------------------- */

static void a_polled_turn_gets_its_steps_after_a_tick_that_was_allowed_few(void **state)
{
    const struct pawl_definition polled = { .struct_size = sizeof polled, .name = "polled" };
    struct running running;
    pawl_turn *turn = NULL;
    struct pawl_answer answer;
    bool again = true;
    running_open(&running, false);
    running_register(&running, "w", quick_branch, *state);
    assert_ok(pawl_define(running.engine, &polled, &running.error), running.error);
    assert_ok(pawl_runner_open(running.engine, NULL, &running.runner, &running.error), running.error);
    running_create(&running, "w", "r");
    assert_ok(pawl_runner_tick(running.runner, 0, 1, NULL, &running.error), running.error);
    running_create(&running, "polled", "p");

    assert_ok(pawl_turn_poll(running.runner, &turn, &running.error), running.error);
    assert_non_null(turn);
    assert_int_equal(pawl_recall_step(pawl_turn_lane(turn), "x", 1, NULL, &answer), PAWL_OK);
    assert_int_equal(pawl_attempt_complete(answer.attempt, NULL, 0), PAWL_OK);
    pawl_turn_finish(turn, NULL, 0);
    assert_ok(pawl_turn_done(running.runner, turn, &again, &running.error), running.error);

    assert_int_equal(running_get(&running, "w", "r").status, PAWL_COMPLETE);
    assert_int_equal(running_get(&running, "polled", "p").status, PAWL_COMPLETE);
    running_close(&running);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(branches_inside_a_branch_that_lost_a_race_end_with_it),
        TEST(a_refused_change_is_recorded_before_the_run_pauses),
        TEST(a_run_that_fails_while_a_pause_is_asked_for_says_so_only_when_it_ends),
        TEST(a_branch_that_is_called_again_in_a_pass_logs_each_line_once_as_new),
        TEST(an_event_wins_its_race_while_the_other_body_runs),
        TEST(a_branch_that_got_no_memory_decides_no_race),
        TEST(runs_that_park_make_room_for_a_backlog),
        TEST(revoking_an_older_run_does_not_cancel_the_newer_one),
        TEST(an_event_to_a_target_that_just_ended_fails_its_step_for_good),
        TEST(an_event_at_the_instant_of_the_timeout_leaves_no_word_of_the_timeout),
        TEST(a_polled_turn_gets_its_steps_after_a_tick_that_was_allowed_few),
        TEST(bodies_that_hang_side_by_side_begin_once_each_and_time_out),
    };
    return cmocka_run_group_tests_name("regressions", tests, NULL, NULL);
}
