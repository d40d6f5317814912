/* test_runner_lanes.c - parallel branches on several workers: they really run at once, and nobody holds up another. */
#include "kit/running.h"

enum { BRANCHES = 4 };

struct stage {
    struct gate gate;    /* of bodies that block */
    struct gate meeting; /* opened by the body that makes the number complete */
    int expected;        /* how many meet */
    atomic_int bodies, inside, most_inside;
    atomic_int woke;      /* steps behind a sleep, or behind a retry */
    atomic_int cancelled; /* losers that noticed */
};

/* Never given back: when a test fails, its threads are still about. */
static struct stage stages[16];
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

static pawl_status meet(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    if (atomic_fetch_add(&stage->bodies, 1) + 1 == stage->expected)
        gate_open(&stage->meeting);
    if (!gate_pass(&stage->meeting))
        return pawl_fail_for_good(step, "Alone", "the others did not come");
    return pawl_result(step, out_result, "b", 1);
}

static pawl_status be_counted(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
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

static pawl_status block(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
    atomic_fetch_add(&stage->bodies, 1);
    return gate_pass(&stage->gate) ? PAWL_OK : pawl_fail_for_good(step, "GateStayedShut", "nobody opened it");
}

static pawl_status block_until_cancelled(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct stage *stage = pawl_step_user(step);
    (void)input;
    (void)out_result;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    atomic_fetch_add(&stage->bodies, 1);
    gate_open(&stage->gate); /* the winner may go now */
    while (!pawl_step_cancelled(step) && monotonic_ms() < until_ms)
        rest_a_little();
    if (pawl_step_cancelled(step))
        atomic_fetch_add(&stage->cancelled, 1);
    return PAWL_OK;
}

static pawl_status note_woke(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    atomic_fetch_add(&((struct stage *)pawl_step_user(step))->woke, 1);
    return PAWL_OK;
}

static pawl_status fail_once(pawl_step *step, const pawl_value *input, pawl_value **out_result)
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

static pawl_status meeting_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, own_name(run, "meet", params), NULL, meet, NULL, out_result);
}

static pawl_status counted_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, own_name(run, "one", params), NULL, be_counted, NULL, out_result));
    return pawl_do(run, own_name(run, "two", params), NULL, be_counted, NULL, out_result);
}

static pawl_status slow_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, own_name(run, "slow", params), NULL, block, NULL, out_result);
}

static pawl_status sleeping_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_sleep(run, "nap", "20 ms"));
    return pawl_do(run, "woke", NULL, note_woke, NULL, out_result);
}

static pawl_status retrying_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    const struct pawl_step_options options = { .retries = 3, .delay = "20 ms" };
    return pawl_do(run, "retried", &options, fail_once, NULL, out_result);
}

static pawl_status stubborn_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
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

static pawl_status all_meet(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return run_alike(run, meeting_branch, BRANCHES, 0);
}

static pawl_status limited(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return run_alike(run, counted_branch, 2 * BRANCHES, 2);
}

static pawl_status slow_one_first(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    struct pawl_branch branches[] = { { .run = slow_branch }, { .run = sleeping_branch }, { .run = retrying_branch } };
    return pawl_all(run, "all", branches, 3, 0);
}

static pawl_status slow_one_last(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    struct pawl_branch branches[] = { { .run = sleeping_branch }, { .run = retrying_branch }, { .run = slow_branch } };
    return pawl_all(run, "all", branches, 3, 0);
}

static pawl_status nap_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const char *nap = pawl_run_format(run, "%d ms", (int)pawl_value_int(params, NULL, 0));
    PAWL_TRY(pawl_sleep(run, own_name(run, "nap", params), nap));
    return pawl_do(run, own_name(run, "woke", params), NULL, note_woke, NULL, out_result);
}

/* The later one is said by nobody once the sooner one is over. */
static pawl_status slow_one_and_two_naps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *sooner, *later;
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &sooner, "i", 10));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &later, "i", 60));
    struct pawl_branch branches[] = { { .run = slow_branch },
                                      { .run = nap_branch, .input = sooner },
                                      { .run = nap_branch, .input = later } };
    return pawl_all(run, "all", branches, 3, 0);
}

static pawl_status winning_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_do(run, "winner", NULL, block, NULL, out_result); /* not before the loser stands in its body */
}

static pawl_status race(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    struct pawl_branch branches[] = { { .run = stubborn_branch }, { .run = winning_branch } };
    size_t winner = 99;
    PAWL_TRY(pawl_first(run, "race", branches, 2, &winner));
    PAWL_TRY(pawl_sleep(run, "nap", "5 ms")); /* so that the winner is replayed */
    PAWL_TRY(pawl_do(run, "woke", NULL, note_woke, NULL, NULL));
    return pawl_return(run, out_result, "i", (int)winner);
}

static pawl_status inner(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[2];
    (void)out_result;
    memset(branches, 0, sizeof branches);
    for (int i = 0; i < 2; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", (int)pawl_value_int(params, NULL, 0) * 2 + i));
        branches[i] = (struct pawl_branch){ .run = meeting_branch, .input = number };
    }
    return pawl_all(run, "all", branches, 2, 0);
}

static pawl_status nested(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    return run_alike(run, inner, 2, 0);
}

/* ---- At random ------------------------------------------------------------------------------------------------------------- */

enum { WANDERERS = 5, ROUNDS = 25 };

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

static pawl_status fail_first(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_step_attempt(step) == 1 ? pawl_fail(step, "Oops", "the first time") : PAWL_OK;
}

static pawl_status wandering_branch(pawl_run *run, const pawl_value *params, pawl_value **out_result)
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
static pawl_status wander(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    const struct stage *stage = pawl_run_user(run);
    struct pawl_branch branches[WANDERERS + 1];
    (void)params;
    (void)out_result;
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

static void A11_branches_run_at_once_on_several_workers(void **state)
{
    struct stage *stage = *state;
    struct running running;
    stage->expected = BRANCHES;
    start(&running, stage, all_meet, BRANCHES);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), BRANCHES);
    running_close(&running);
}

static void A11_branches_of_branches_run_at_once_on_several_workers(void **state)
{
    struct stage *stage = *state;
    struct running running;
    stage->expected = BRANCHES;
    /* Whoever opened a fork may find its branches taken by others, and wait for them: a worker more for each of the three. */
    start(&running, stage, nested, BRANCHES + 3);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), BRANCHES);
    running_close(&running);
}

static void A11_no_more_branches_than_the_limit_are_under_way(void **state)
{
    struct stage *stage = *state;
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

static void A11_a_slow_branch_begun_first_holds_up_no_sleep_and_no_retry(void **state)
{
    hold_up(*state, slow_one_first);
}

static void A11_a_slow_branch_begun_last_holds_up_no_sleep_and_no_retry(void **state)
{
    hold_up(*state, slow_one_last);
}

static void A11_sleeps_of_different_lengths_end_beside_a_slow_branch_each_in_its_time(void **state)
{
    hold_up(*state, slow_one_and_two_naps);
}

static void A11_whatever_branches_wait_for_they_go_on_beside_one_that_blocks(void **state)
{
    struct stage *stage = *state;
    for (int round = 0; round < ROUNDS; round++) {
        gate_init(&stage->gate);
        atomic_store(&stage->woke, 0);
        atomic_store(&stage->bodies, 0);
        stage->expected = round;
        hold_up_all(stage, wander, WANDERERS, 2 + round % 3);
    }
}

static void A11_a_loser_that_blocks_sees_itself_cancelled_and_the_winner_is_kept(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, race, BRANCHES);

    struct pawl_instance instance = running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "1");
    assert_int_equal(atomic_load(&stage->cancelled), 1);
    assert_int_equal(atomic_load(&stage->bodies), 2); /* neither ran again in the replay */
    assert_int_equal(atomic_load(&stage->woke), 1);
    running_close(&running);
}

static void parallel_branches_finish_with_one_worker_too(void **state)
{
    struct stage *stage = *state;
    struct running running;
    start(&running, stage, limited, 1);

    running_await(&running, "w", "r", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&stage->bodies), 4 * BRANCHES);
    assert_int_equal(atomic_load(&stage->most_inside), 1);
    running_close(&running);
}

static void many_runs_with_branches_share_the_workers(void **state)
{
    struct stage *stage = *state;
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

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(A11_branches_run_at_once_on_several_workers),
        TEST(A11_branches_of_branches_run_at_once_on_several_workers),
        TEST(A11_no_more_branches_than_the_limit_are_under_way),
        TEST(A11_a_slow_branch_begun_first_holds_up_no_sleep_and_no_retry),
        TEST(A11_a_slow_branch_begun_last_holds_up_no_sleep_and_no_retry),
        TEST(A11_sleeps_of_different_lengths_end_beside_a_slow_branch_each_in_its_time),
        TEST(A11_whatever_branches_wait_for_they_go_on_beside_one_that_blocks),
        TEST(A11_a_loser_that_blocks_sees_itself_cancelled_and_the_winner_is_kept),
        TEST(parallel_branches_finish_with_one_worker_too),
        TEST(many_runs_with_branches_share_the_workers),
    };
    return cmocka_run_group_tests_name("runner, lanes", tests, NULL, NULL);
}
