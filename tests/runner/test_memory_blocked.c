/* test_memory_blocked.c - memory that runs out while code that blocks is found, listed, or kept out of claims: nothing is lost,
 * and the run is given back all the same. */
#include "kit/running.h"

#include "base/arena.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "fault/plan.h"
#include "runner/runner.h"

enum { HOUR_MS = 3600000 };

WORKFLOW(blocking)
{
    (void)gate_pass(pawl_run_user(run));
    return pawl_return(run, out_result, "s", "done");
}

/* ---- Found --------------------------------------------------------------------------------------------------------- */

/* The watchdog's looks, now and two hours later, in this thread.  In the second one the nth allocation fails.  Returns how often. */
static int64_t look_under_fault(pawl_runner *runner, int64_t nth)
{
    pthread_mutex_lock(&runner->lock);
    runner->watch_at_ms = 0;
    pw_runner_watch(runner, pw_system_monotonic_ms());
    runner->watch_at_ms = 0;
    fault_arm(FAULT_ALLOC, nth, false);
    pw_runner_watch(runner, pw_system_monotonic_ms() + 2 * HOUR_MS);
    int64_t struck = fault_disarm();
    pw_runner_stand_in(runner);
    pthread_mutex_unlock(&runner->lock);
    return struck;
}

static int64_t find_under_fault(int64_t nth)
{
    struct running running;
    struct gate gate;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct pawl_runner_stats stats;
    options.workers = 1;
    options.code_ms_max = HOUR_MS; /* nobody else finds it */
    gate_init(&gate);
    running_open(&running, false);
    running_register(&running, "w", blocking, &gate);
    running_start(&running, &options);
    running_create(&running, "w", "i");
    gate_await(&gate, 1);

    int64_t struck = look_under_fault(running.runner, nth);

    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    do {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
        pawl_runner_stats_read(running.runner, &stats);
    } while (stats.in_flight > 0);
    assert_int_equal(stats.threads_blocked, 1);
    assert_int_equal(stats.code_blocked, 1);
    assert_int_equal(running_get(&running, "w", "i").status, PAWL_ACTIVE);
    assert_int_equal(gate_entered(&gate), 1);
    gate_open(&gate);
    running_close(&running);
    gate_clear(&gate);
    return struck;
}

TEST(code_that_blocks_is_given_up_when_memory_runs_out_meanwhile)
{
    int64_t nth = 1;
    while (find_under_fault(nth) > 0)
        nth++;
    assert_true(nth > 2); /* the line in the run's log, the unit that gives it back */
}

/* ---- Kept out and listed ------------------------------------------------------------------------------------------- */

static pawl_status act(struct running *running, pawl_runner *ticker, int which)
{
    const struct pawl_blocked_call *calls;
    size_t count;
    int64_t number;
    if (which == 0)
        return pawl_list_blocked(running->engine, running->scope, &calls, &count, &running->error);
    if (which == 1)
        return pawl_runner_next_wake_at(ticker, &number, &running->error);
    return pawl_runner_tick(ticker, 0, 0, &number, &running->error);
}

/* Whatever fails, the one that is kept out is not taken, and the other one is in the end. */
TEST(a_run_stays_kept_out_when_memory_runs_out)
{
    struct running running;
    struct gate gate;
    struct pw_blocked_call call = { .run = 1, .workflow = { "w", 1 }, .id = { "out", 3 }, .keeps_out = true };
    struct pw_instance row;
    struct pw_arena arena = { 0 };
    pawl_runner *ticker;
    gate_init(&gate);
    gate_open(&gate);
    running_open(&running, false);
    running_register(&running, "w", blocking, &gate);
    running_create(&running, "w", "out");
    struct pw_store *store = running.engine->store;
    assert_int_equal(pw_read_instance(store, &arena, call.workflow, call.id, &row, NULL), PAWL_OK);
    call.instance = row.key;
    pw_blocked_add(&running.engine->blocked, &call);
    assert_ok(pawl_runner_open(running.engine, NULL, &ticker, &running.error), running.error);

    for (int which = 0; which < 3; which++) {
        int64_t struck = 1;
        for (int64_t nth = 1; struck > 0; nth++) {
            fault_arm(FAULT_ALLOC, nth, false);
            pawl_status status = act(&running, ticker, which);
            struck = fault_disarm();
            assert_true(status == PAWL_OK || (struck > 0 && status == PAWL_NOMEM));
            assert_ok(act(&running, ticker, which), running.error);
        }
    }

    assert_int_equal(gate_entered(&gate), 0);
    pw_blocked_remove(&running.engine->blocked, &call);
    assert_ok(act(&running, ticker, 2), running.error);
    assert_int_equal(gate_entered(&gate), 1);
    pw_arena_clear(&arena);
    pawl_runner_close(ticker);
    running_close(&running);
    gate_clear(&gate);
}
