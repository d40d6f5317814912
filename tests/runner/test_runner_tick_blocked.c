/* test_runner_tick_blocked.c - workflow code that does not return in a tick: its lease is not renewed for ever, and the run goes
 * on elsewhere.  The thread that ticks is its host's, so nobody takes its place. */
#include "kit/running.h"

#include "engine/engine.h"

enum { CODE_MS = 100 };

struct story {
    struct gate gate;      /* at which code blocks */
    atomic_bool may_block; /* otherwise it does not stop there */
    atomic_int after;      /* bodies of the step behind it */
    struct running running;
    int64_t processed;
    pthread_t thread;
};

BODY(do_nothing)
{
    return PAWL_OK;
}

BODY(count_after)
{
    struct story *story = pawl_step_user(step);
    return pawl_result(step, out_result, "i", atomic_fetch_add(&story->after, 1) + 1);
}

WORKFLOW(block_first)
{
    struct story *story = pawl_run_user(run);
    if (atomic_load(&story->may_block))
        (void)gate_pass(&story->gate);
    return pawl_do(run, "after", NULL, count_after, params, out_result);
}

WORKFLOW(block_later)
{
    PAWL_TRY(pawl_do(run, "before", NULL, do_nothing, params, NULL));
    return block_first(run, params, out_result);
}

/* ---- Ticking ----------------------------------------------------------------------------------------------------------- */

static void *tick(void *user)
{
    struct story *story = user;
    struct running *running = &story->running;
    assert_ok(pawl_runner_tick(running->runner, 0, 0, &story->processed, &running->error), running->error);
    return NULL;
}

/* Another thread ticks, and stands at the gate. */
static struct story *begin(pawl_workflow_fn *run, int64_t code_ms_max)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct story *story = calloc(1, sizeof *story);
    assert_non_null(story);
    gate_init(&story->gate);
    atomic_store(&story->may_block, true);
    options.code_ms_max = code_ms_max;
    options.lease_ms = 300; /* it is renewed some times before the code is late */
    running_open(&story->running, true);
    running_register(&story->running, "w", run, story);
    running_create(&story->running, "w", "i");
    assert_ok(pawl_runner_open(story->running.engine, &options, &story->running.runner, &story->running.error),
              story->running.error);
    assert_int_equal(pthread_create(&story->thread, NULL, tick, story), 0);
    gate_await(&story->gate, 1);
    return story;
}

static void let_go(struct story *story)
{
    atomic_store(&story->may_block, false);
    gate_open(&story->gate);
    assert_int_equal(pthread_join(story->thread, NULL), 0);
}

static void end(struct story *story)
{
    running_close(&story->running);
    gate_clear(&story->gate);
    free(story);
}

static struct pawl_runner_stats stats_of(const struct story *story)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(story->running.runner, &stats);
    return stats;
}

static void await_given_back(const struct story *story)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(story).in_flight > 0) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

static int count_lines(struct story *story, const char *text)
{
    struct pawl_history history = running_history(&story->running, "w", "i", 1);
    int count = 0;
    for (size_t i = 0; i < history.log_count; i++)
        count += strstr(history.logs[i].message, text) != NULL;
    return count;
}

/* Another process, started, in which the code does not block. */
static void carry_elsewhere(struct story *story, pawl_workflow_fn *run)
{
    struct running other = { .engine = NULL };
    struct story theirs = { .processed = 0 };
    running_open_path(&other, story->running.path);
    running_register(&other, "w", run, &theirs);
    running_start(&other, NULL);
    (void)running_await(&other, "w", "i", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&theirs.after), 1);
    running_stop(&other);
    pawl_scope_free(other.scope);
    pawl_close(other.engine);
}

static void given_up_and_carried_elsewhere(pawl_workflow_fn *run)
{
    const struct pawl_blocked_call *calls;
    size_t count;
    struct story *story = begin(run, CODE_MS);
    struct running *running = &story->running;
    await_given_back(story);
    assert_ok(pawl_list_blocked(running->engine, running->scope, &calls, &count, &running->error), running->error);
    assert_int_equal(count, 1);
    assert_string_equal(calls[0].instance_id, "i");
    assert_false(calls[0].in_body);
    assert_int_equal(stats_of(story).code_blocked, 1);
    assert_int_equal(stats_of(story).threads_blocked, 1);
    assert_int_equal(count_lines(story, "has blocked its thread"), 1);
    carry_elsewhere(story, run);

    let_go(story);
    assert_int_equal(story->processed, 1);
    assert_int_equal(atomic_load(&story->after), 0); /* what it did once it was back is dropped */
    assert_int_equal(stats_of(story).threads_blocked, 0);
    end(story);
}

TEST(code_that_blocks_behind_a_step_is_given_up)
{
    given_up_and_carried_elsewhere(block_later);
}

TEST(code_that_blocks_before_any_step_is_given_up)
{
    given_up_and_carried_elsewhere(block_first);
}

/* The tick goes on with what is due, which the run itself is once the call is back. */
TEST(the_tick_goes_on_when_the_code_returns)
{
    struct story *story = begin(block_later, CODE_MS);
    await_given_back(story);
    let_go(story);
    assert_int_equal(story->processed, 2);
    assert_int_equal(atomic_load(&story->after), 1);
    assert_int_equal(running_get(&story->running, "w", "i").status, PAWL_COMPLETE);
    end(story);
}

TEST(a_host_may_let_code_run_for_any_time)
{
    struct story *story = begin(block_later, -1);
    int64_t until_ms = monotonic_ms() + 3 * CODE_MS;
    while (monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(stats_of(story).in_flight, 1);
    let_go(story);
    assert_int_equal(story->processed, 1);
    assert_int_equal(stats_of(story).code_blocked, 0);
    assert_int_equal(running_get(&story->running, "w", "i").status, PAWL_COMPLETE);
    end(story);
}
