/* test_runner_lanes.c - parallel branches on several workers: they really run at once, and nobody holds up another. */
#include "kit/running.h"

enum { BRANCHES = 4, HANGING = 8 };

struct stage {
    struct gate gate;    /* of bodies that block */
    struct gate meeting; /* opened by the body that makes the number complete */
    int expected;        /* how many meet */
    atomic_int bodies, inside, most_inside;
    atomic_int woke;      /* steps behind a sleep, or behind a retry */
    atomic_int cancelled; /* losers that noticed */
    atomic_int calls;     /* of a branch */
    atomic_int begun[HANGING];
};

/* Never given back: when a test fails, its threads are still about. */
static struct stage stages[20];
static size_t stages_used;

static int set_up(void **state)
{
    assert_true(stages_used < LENGTH(stages));
    struct stage *stage = &stages[stages_used++];
    gate_init(&stage->gate);
    gate_init(&stage->meeting);
    *state = stage;
    return 0;
}

static const struct test_setting stage_setting = { set_up, NULL, 0 };

static void start(struct running *running, struct stage *stage, pawl_workflow_fn *workflow, int32_t workers)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    running_open(running, false);
    running_register(running, "w", workflow, stage);
    options.workers = workers;
    running_start(running, &options);
    running_create(running, "w", "r");
}

/* ---- Bodies ---------------------------------------------------------------------------------------------------------------- */

BODY(meet)
{
    struct stage *stage = pawl_step_user(step);
    if (atomic_fetch_add(&stage->bodies, 1) + 1 == stage->expected)
        gate_open(&stage->meeting);
    if (!gate_pass(&stage->meeting))
        return pawl_fail_for_good(step, "Alone", "the others did not come");
    return pawl_result(step, out_result, "b", 1);
}

BODY(be_counted)
{
    struct stage *stage = pawl_step_user(step);
    int inside = atomic_fetch_add(&stage->inside, 1) + 1;
    int most = atomic_load(&stage->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&stage->most_inside, &most, inside))
        continue;
    for (int i = 0; i < 3; i++)
        rest_a_little(); /* gives others the time to be wrong in */
    atomic_fetch_sub(&stage->inside, 1);
    atomic_fetch_add(&stage->bodies, 1);
    return PAWL_OK;
}

BODY(block)
{
    struct stage *stage = pawl_step_user(step);
    atomic_fetch_add(&stage->bodies, 1);
    return gate_pass(&stage->gate) ? PAWL_OK : pawl_fail_for_good(step, "GateStayedShut", "nobody opened it");
}

BODY(block_until_cancelled)
{
    struct stage *stage = pawl_step_user(step);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    atomic_fetch_add(&stage->bodies, 1);
    gate_open(&stage->gate); /* the winner may go now */
    while (!pawl_step_cancelled(step) && monotonic_ms() < until_ms)
        rest_a_little();
    if (pawl_step_cancelled(step))
        atomic_fetch_add(&stage->cancelled, 1);
    return PAWL_OK;
}

BODY(note_woke)
{
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->woke, 1);
    return PAWL_OK;
}

BODY(fail_once)
{
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Oops", "the first time");
    return note_woke(step, input, out_result);
}

/* ---- Branches -------------------------------------------------------------------------------------------------------------- */

static const char *own_name(pawl_run *run, const char *what, const pawl_value *params)
{
    return pawl_run_format(run, "%s %d", what, (int)pawl_value_int(params, NULL, 0));
}

WORKFLOW(meeting_branch)
{
    return pawl_do(run, own_name(run, "meet", params), NULL, meet, NULL, out_result);
}

WORKFLOW(counted_branch)
{
    PAWL_TRY(pawl_do(run, own_name(run, "one", params), NULL, be_counted, NULL, out_result));
    return pawl_do(run, own_name(run, "two", params), NULL, be_counted, NULL, out_result);
}

WORKFLOW(slow_branch)
{
    return pawl_do(run, own_name(run, "slow", params), NULL, block, NULL, out_result);
}

WORKFLOW(sleeping_branch)
{
    PAWL_TRY(pawl_sleep(run, "nap", "20 ms"));
    return pawl_do(run, "woke", NULL, note_woke, NULL, out_result);
}

WORKFLOW(retrying_branch)
{
    const struct pawl_step_options options = { .retries = 3, .delay = "20 ms" };
    return pawl_do(run, "retried", &options, fail_once, NULL, out_result);
}

WORKFLOW(stubborn_branch)
{
    return pawl_do(run, "stubborn", NULL, block_until_cancelled, NULL, out_result);
}

static pawl_status run_alike(pawl_run *run, pawl_workflow_fn *branch, size_t count, size_t limit)
{
    struct pawl_branch branches[2 * BRANCHES];
    memset(branches, 0, sizeof branches);
    for (size_t i = 0; i < count; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", (int)i));
        branches[i] = (struct pawl_branch){ .run = branch, .input = number };
    }
    return pawl_all(run, "all", branches, count, limit);
}

WORKFLOW(all_meet)
{
    return run_alike(run, meeting_branch, BRANCHES, 0);
}

WORKFLOW(limited)
{
    return run_alike(run, counted_branch, 2 * BRANCHES, 2);
}

WORKFLOW(slow_one_first)
{
    struct pawl_branch branches[] = { { .run = slow_branch }, { .run = sleeping_branch }, { .run = retrying_branch } };
    return pawl_all(run, "all", branches, 3, 0);
}

WORKFLOW(slow_one_last)
{
    struct pawl_branch branches[] = { { .run = sleeping_branch }, { .run = retrying_branch }, { .run = slow_branch } };
    return pawl_all(run, "all", branches, 3, 0);
}

WORKFLOW(nap_branch)
{
    const char *nap = pawl_run_format(run, "%d ms", (int)pawl_value_int(params, NULL, 0));
    PAWL_TRY(pawl_sleep(run, own_name(run, "nap", params), nap));
    return pawl_do(run, own_name(run, "woke", params), NULL, note_woke, NULL, out_result);
}

/* The later one is said by nobody once the sooner one is over. */
WORKFLOW(slow_one_and_two_naps)
{
    pawl_value *sooner, *later;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &sooner, "i", 10));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &later, "i", 60));
    struct pawl_branch branches[] = { { .run = slow_branch },
                                      { .run = nap_branch, .input = sooner },
                                      { .run = nap_branch, .input = later } };
    return pawl_all(run, "all", branches, 3, 0);
}

WORKFLOW(winning_branch)
{
    return pawl_do(run, "winner", NULL, block, NULL, out_result); /* not before the loser stands in its body */
}

WORKFLOW(race)
{
    struct pawl_branch branches[] = { { .run = stubborn_branch }, { .run = winning_branch } };
    size_t winner = 99;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    PAWL_TRY(pawl_sleep(run, "nap", "5 ms")); /* so that the winner is replayed */
    PAWL_TRY(pawl_do(run, "woke", NULL, note_woke, NULL, NULL));
    return pawl_return(run, out_result, "i", (int)winner);
}

WORKFLOW(inner)
{
    struct pawl_branch branches[2];
    memset(branches, 0, sizeof branches);
    for (int i = 0; i < 2; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", (int)pawl_value_int(params, NULL, 0) * 2 + i));
        branches[i] = (struct pawl_branch){ .run = meeting_branch, .input = number };
    }
    return pawl_all(run, "all", branches, 2, 0);
}

WORKFLOW(nested)
{
    return run_alike(run, inner, 2, 0);
}

/* ---- At random ------------------------------------------------------------------------------------------------------------- */

enum { WANDERERS = 5, ROUNDS = 25 };

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

BODY(fail_first)
{
    return pawl_step_attempt(step) == 1 ? pawl_fail(step, "Oops", "the first time") : PAWL_OK;
}

WORKFLOW(wandering_branch)
{
    uint32_t seed = (uint32_t)pawl_value_int(params, NULL, 0);
    for (int i = 0; i < 3; i++) {
        const char *name = pawl_run_format(run, "%d, %d", (int)pawl_value_int(params, NULL, 0), i);
        const char *nap = pawl_run_format(run, "%u ms", (unsigned)(draw(&seed) % 30));
        const struct pawl_step_options options = { .retries = 1, .delay = nap };
        PAWL_TRY(draw(&seed) % 2 == 0 ? pawl_sleep(run, name, nap)
                                      : pawl_do(run, name, &options, fail_first, NULL, NULL));
    }
    return pawl_do(run, own_name(run, "woke", params), NULL, note_woke, NULL, out_result);
}

/* The stage's number is the seed. */
WORKFLOW(wander)
{
    const struct stage *stage = pawl_run_user(run);
    struct pawl_branch branches[WANDERERS + 1];
    for (int i = 0; i <= WANDERERS; i++) {
        pawl_value *seed;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &seed, "i", stage->expected * 100 + i));
        branches[i] =
            (struct pawl_branch){ .run = i == stage->expected % (WANDERERS + 1) ? slow_branch : wandering_branch,
                                  .input = seed };
    }
    return pawl_all(run, "all", branches, WANDERERS + 1, 0);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------------------- */

TEST_OF(stage, A11_branches_run_at_once_on_several_workers)
{
    struct running running;
    stage->expected = BRANCHES;
    start(&running, stage, all_meet, BRANCHES);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), BRANCHES);
    running_close(&running);
}

TEST_OF(stage, A11_branches_of_branches_run_at_once_on_several_workers)
{
    struct running running;
    stage->expected = BRANCHES;
    /* Whoever opened a fork may find its branches taken by others, and wait for them: a worker more for each of the three. */
    start(&running, stage, nested, BRANCHES + 3);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), BRANCHES);
    running_close(&running);
}

TEST_OF(stage, A11_no_more_branches_than_the_limit_are_under_way)
{
    struct running running;
    start(&running, stage, limited, 6);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), 4 * BRANCHES);
    assert_int_equal(atomic_load(&stage->most_inside), 2);
    running_close(&running);
}

static int await_woke(struct stage *stage, int expected)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(&stage->woke) < expected && monotonic_ms() < until_ms)
        rest_a_little();
    return atomic_load(&stage->woke);
}

/* All but one end, while that one blocks. */
static void hold_up_all(struct stage *stage, pawl_workflow_fn *workflow, int others, int32_t workers)
{
    struct running running;
    start(&running, stage, workflow, workers);
    gate_await(&stage->gate, 1);

    int woke = await_woke(stage, others);
    gate_open(&stage->gate);
    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(woke, others);
    assert_int_equal(atomic_load(&stage->bodies), 1);
    running_close(&running);
}

static void hold_up(struct stage *stage, pawl_workflow_fn *workflow)
{
    hold_up_all(stage, workflow, 2, BRANCHES);
}

TEST_OF(stage, A11_a_slow_branch_begun_first_holds_up_no_sleep_and_no_retry)
{
    hold_up(stage, slow_one_first);
}

TEST_OF(stage, A11_a_slow_branch_begun_last_holds_up_no_sleep_and_no_retry)
{
    hold_up(stage, slow_one_last);
}

TEST_OF(stage, A11_sleeps_of_different_lengths_end_beside_a_slow_branch_each_in_its_time)
{
    hold_up(stage, slow_one_and_two_naps);
}

TEST_OF(stage, A11_whatever_branches_wait_for_they_go_on_beside_one_that_blocks)
{
    for (int round = 0; round < ROUNDS; round++) {
        gate_init(&stage->gate);
        atomic_store(&stage->woke, 0);
        atomic_store(&stage->bodies, 0);
        stage->expected = round;
        hold_up_all(stage, wander, WANDERERS, 2 + round % 3);
    }
}

TEST_OF(stage, A11_a_loser_that_blocks_sees_itself_cancelled_and_the_winner_is_kept)
{
    struct running running;
    start(&running, stage, race, BRANCHES);

    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "1");
    assert_int_equal(atomic_load(&stage->cancelled), 1);
    assert_int_equal(atomic_load(&stage->bodies), 2); /* neither ran again in the replay */
    assert_int_equal(atomic_load(&stage->woke), 1);
    running_close(&running);
}

TEST_OF(stage, parallel_branches_finish_with_one_worker_too)
{
    struct running running;
    start(&running, stage, limited, 1);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), 4 * BRANCHES);
    assert_int_equal(atomic_load(&stage->most_inside), 1);
    running_close(&running);
}

TEST_OF(stage, many_runs_with_branches_share_the_workers)
{
    struct running running;
    enum { RUNS = 30 };
    start(&running, stage, limited, BRANCHES);
    for (int i = 1; i < RUNS; i++) {
        char id[16];
        snprintf(id, sizeof id, "r-%d", i);
        running_create(&running, "w", id);
    }

    bool all = running_await_all(&running, "w");

    assert_true(all);
    assert_int_equal(running_count(&running, "w", PAWL_COMPLETE), RUNS);
    assert_int_equal(atomic_load(&stage->bodies), RUNS * 4 * BRANCHES);
    running_close(&running);
}

static bool await_count(atomic_int *counter, int expected)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (atomic_load(counter) < expected && monotonic_ms() < until_ms)
        rest_a_little();
    return atomic_load(counter) >= expected;
}

BODY(do_nothing)
{
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->bodies, 1);
    return PAWL_OK;
}

/* The result is the number of the winner. */
static pawl_status race_of(pawl_run *run, pawl_workflow_fn *zero, pawl_workflow_fn *one, pawl_value **out_result)
{
    struct pawl_branch branches[] = { { .run = zero }, { .run = one } };
    size_t winner = 99;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    return pawl_return(run, out_result, "i", (int)winner);
}

/* ---- Branches inside a loser ------------------------------------------------------------------------------------- */

enum { NAP_MS = 40 };

/* Is still in its body when its neighbour's nap is over. */
BODY(outlast_the_nap)
{
    pawl_status status = block_until_cancelled(step, input, out_result);
    int64_t until_ms = monotonic_ms() + 2 * NAP_MS;
    while (monotonic_ms() < until_ms)
        rest_a_little();
    return status;
}

BODY(win_when_the_others_are_there)
{
    struct stage *stage = pawl_step_user(step);
    if (!await_count(&stage->bodies, 2))
        return pawl_fail_for_good(step, "Alone", "the others did not come");
    return PAWL_OK;
}

WORKFLOW(napping_branch)
{
    PAWL_TRY(pawl_do(run, "come", NULL, do_nothing, NULL, out_result));
    return pawl_sleep_ms(run, "nap", NAP_MS);
}

WORKFLOW(outlasting_branch)
{
    return pawl_do(run, "outlast", NULL, outlast_the_nap, NULL, out_result);
}

WORKFLOW(branch_of_branches)
{
    struct pawl_branch branches[] = { { .run = napping_branch }, { .run = outlasting_branch } };
    return pawl_all(run, "all", branches, 2, 0);
}

WORKFLOW(branch_that_waits_to_win)
{
    return pawl_do(run, "win", NULL, win_when_the_others_are_there, NULL, out_result);
}

WORKFLOW(race_with_branches_inside)
{
    return race_of(run, branch_of_branches, branch_that_waits_to_win, out_result);
}

WORKFLOW(finish_at_once)
{
    return PAWL_OK;
}

TEST_OF(stage, branches_inside_a_branch_that_lost_a_race_end_with_it)
{
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

/* ---- A branch that is called again in one pass ------------------------------------------------------------------- */

WORKFLOW(talking_branch)
{
    struct stage *stage = pawl_run_user(run);
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

WORKFLOW(blocking_branch)
{
    return pawl_do(run, "block", NULL, block, NULL, out_result);
}

WORKFLOW(talk_beside_a_long_body)
{
    struct pawl_branch branches[] = { { .run = talking_branch }, { .run = blocking_branch } };
    return pawl_all(run, "all", branches, 2, 0);
}

TEST_OF(stage, a_branch_that_is_called_again_in_a_pass_logs_each_line_once_as_new)
{
    struct running running;
    start(&running, stage, talk_beside_a_long_body, 4);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(running_lines(&running, "w", "r", "one:"), 1);
    assert_int_equal(running_lines(&running, "w", "r", "two:"), 1);
    assert_int_equal(running_lines(&running, "w", "r", "three:"), 1);
    assert_int_equal(running_lines(&running, "w", "r", "four:"), 1);
    running_close(&running);
}

/* ---- Races ------------------------------------------------------------------------------------------------------- */

WORKFLOW(waiting_branch)
{
    return pawl_wait_for_event(run, "event", "cancel", "1 hour", NULL);
}

WORKFLOW(staying_branch)
{
    return pawl_do(run, "stay", NULL, block_until_cancelled, NULL, out_result);
}

WORKFLOW(event_against_body)
{
    return race_of(run, waiting_branch, staying_branch, out_result);
}

TEST_OF(stage, an_event_wins_its_race_while_the_other_body_runs)
{
    struct running running;
    start(&running, stage, event_against_body, 4);
    assert_true(await_count(&stage->bodies, 1));

    running_send(&running, "w", "r", "cancel", NULL);
    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "0");
    assert_int_equal(atomic_load(&stage->cancelled), 1);
    running_close(&running);
}

WORKFLOW(branch_without_memory)
{
    struct stage *stage = pawl_run_user(run);
    if (atomic_fetch_add(&stage->calls, 1) == 0)
        return PAWL_NOMEM;
    return pawl_wait_for_event(run, "never", "x", "24 hours", NULL);
}

WORKFLOW(quick_branch)
{
    return pawl_do(run, "quick", NULL, do_nothing, NULL, out_result);
}

WORKFLOW(race_without_memory)
{
    return race_of(run, branch_without_memory, quick_branch, out_result);
}

TEST_OF(stage, a_branch_that_got_no_memory_decides_no_race)
{
    struct running running;
    start(&running, stage, race_without_memory, 2);

    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "1");
    assert_int_equal(atomic_load(&stage->bodies), 1);
    running_close(&running);
}

/* ---- Bodies that hang ---------------------------------------------------------------------------------------------- */

BODY(hang)
{
    struct stage *stage = pawl_step_user(step);
    atomic_fetch_add(&stage->begun[pawl_value_int(input, NULL, 0)], 1);
    (void)gate_pass(&stage->gate);
    return PAWL_OK;
}

WORKFLOW(hanging_branch)
{
    const struct pawl_step_options options = { .timeout = "100 ms", .retries = PAWL_NO_RETRIES };
    const char *name = pawl_run_format(run, "hang %d", (int)pawl_value_int(params, NULL, 0));
    return pawl_do(run, name, &options, hang, params, out_result);
}

WORKFLOW(hang_side_by_side)
{
    struct pawl_branch branches[HANGING];
    memset(branches, 0, sizeof branches);
    for (int i = 0; i < HANGING; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        branches[i] = (struct pawl_branch){ .run = hanging_branch, .input = number };
    }
    return pawl_all(run, "all", branches, HANGING, 0);
}

TEST_OF(stage, bodies_that_hang_side_by_side_begin_once_each_and_time_out)
{
    struct running running;
    start(&running, stage, hang_side_by_side, HANGING);

    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_ERRORED);
    gate_open(&stage->gate);

    assert_string_equal(instance.error_name, "STEP_TIMEOUT");
    for (int i = 0; i < HANGING; i++)
        assert_int_equal(atomic_load(&stage->begun[i]), 1);
    running_close(&running);
}
