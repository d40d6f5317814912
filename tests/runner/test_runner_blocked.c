/* test_runner_blocked.c - code that does not return: workflow code outside a step, branches, bodies past their timeout.  Its
 * thread is replaced, its run goes on elsewhere, and what it does later counts for nothing. */
#include "kit/running.h"

#include "engine/engine.h"
#include "runner/runner.h"

/* The monotonic clock moves past the limit when a test says so: no machine is slow enough to take other code for late. */
enum { CODE_MS = 200000, LEASE_MS = 3600000 };

/* ---- What blocks ------------------------------------------------------------------------------------------------- */

/* The user of every workflow here. */
struct story {
    struct gate gate;      /* at which code blocks */
    struct gate body;      /* at which bodies do */
    atomic_int calls;      /* of workflow code that came to the gate */
    atomic_int after;      /* bodies of the step behind it */
    pawl_runner *ticker;   /* or NULL */
    atomic_bool may_block; /* otherwise it does not stop at the gate */
    atomic_int told[2];    /* what the first of these calls was told once the gate was open */
};

static void story_init(struct story *story)
{
    memset(story, 0, sizeof *story);
    gate_init(&story->gate);
    gate_init(&story->body);
    atomic_store(&story->may_block, true);
}

static void story_clear(struct story *story)
{
    gate_clear(&story->gate);
    gate_clear(&story->body);
}

BODY(count_after)
{
    struct story *story = pawl_step_user(step);
    return pawl_result(step, out_result, "i", atomic_fetch_add(&story->after, 1) + 1);
}

BODY(do_nothing)
{
    return PAWL_OK;
}

/* True for the first one. */
static bool block(struct story *story)
{
    if (!atomic_load(&story->may_block))
        return false;
    int before = atomic_fetch_add(&story->calls, 1);
    (void)gate_pass(&story->gate);
    return before == 0;
}

/* One step, the code that blocks, a log line, another step. */
WORKFLOW(blocking)
{
    struct story *story = pawl_run_user(run);
    PAWL_TRY(pawl_do(run, "before", NULL, do_nothing, params, NULL));
    bool is_first = block(story);
    pawl_status logged = pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "back again");
    pawl_status status = pawl_do(run, "after", NULL, count_after, params, out_result);
    if (is_first) {
        atomic_store(&story->told[0], (int)logged);
        atomic_store(&story->told[1], (int)status);
    }
    return status;
}

/* Makes no durable call at all. */
WORKFLOW(blocking_alone)
{
    (void)block(pawl_run_user(run));
    return pawl_return(run, out_result, "s", "done");
}

WORKFLOW(quick)
{
    return pawl_do(run, "quick", NULL, do_nothing, params, out_result);
}

static struct pawl_runner_options short_options(int32_t workers)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.workers = workers;
    options.code_ms_max = CODE_MS;
    options.lease_ms = LEASE_MS;
    options.poll_ms = 10;
    return options;
}

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

static struct pawl_runner_stats stats_of(pawl_runner *runner)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(runner, &stats);
    return stats;
}

static void await_blocked(pawl_runner *runner, int64_t threads)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(runner).threads_blocked != threads) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

/* Moves the clock past the limit.  Returns when the watchdog has looked. */
static void pass_limit(struct running *running)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    atomic_fetch_add(&running->skew_ms, CODE_MS + 1);
    int64_t moved_at_ms = pw_engine_monotonic_ms(running->engine);
    for (bool has_looked = false; !has_looked; rest_a_little()) {
        assert_true(monotonic_ms() < until_ms);
        pthread_mutex_lock(&running->runner->lock);
        has_looked = running->runner->watch_at_ms > moved_at_ms;
        pthread_mutex_unlock(&running->runner->lock);
    }
}

/* What runs between two durable calls now is late.  The watchdog's first look notes that it runs, the next one finds it late. */
static void let_code_be_late(struct running *running)
{
    pass_limit(running);
    pass_limit(running);
}

/* So many calls of workflow code have come to the gate, and the last of them are late. */
static void block_code(struct running *running, struct story *story, int calls)
{
    gate_await(&story->gate, calls);
    let_code_be_late(running);
    await_blocked(running->runner, calls);
}

/* Until the runner has looked for work so often. */
static void await_polls(pawl_runner *runner, int polls)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS, last_ms = 0;
    for (int seen = 0; seen <= polls; rest_a_little()) {
        assert_true(monotonic_ms() < until_ms);
        pthread_mutex_lock(&runner->lock);
        seen += runner->poll_at_ms != last_ms;
        last_ms = runner->poll_at_ms;
        pthread_mutex_unlock(&runner->lock);
    }
}

/* Until the store says that nobody holds it. */
static void await_released(struct running *running, const char *id)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(running->runner).in_flight > 0) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
    assert_int_equal(running_get(running, "w", id).status, PAWL_ACTIVE);
}

static size_t list_blocked(struct running *running, const struct pawl_blocked_call **out_calls)
{
    size_t count;
    assert_ok(pawl_list_blocked(running->engine, running->scope, out_calls, &count, &running->error), running->error);
    return count;
}

static int count_lines(struct running *running, const char *id, const char *text)
{
    struct pawl_history history = running_history(running, "w", id, 1);
    int count = 0;
    for (size_t i = 0; i < history.log_count; i++)
        count += strstr(history.logs[i].message, text) != NULL;
    return count;
}

/* ---- One run --------------------------------------------------------------------------------------------------------- */

static void begin(struct running *running, struct story *story, pawl_workflow_fn *run,
                  const struct pawl_runner_options *options)
{
    char path[64];
    story_init(story);
    database_name(path, sizeof path);
    running_open_moved(running, path);
    running_register(running, "w", run, story);
    running_register(running, "quick", quick, story);
    running_start(running, options);
}

static void end(struct running *running, struct story *story)
{
    gate_open(&story->gate);
    gate_open(&story->body);
    running_close(running);
    story_clear(story);
}

TEST(code_that_blocks_outside_a_step_is_found_and_its_thread_replaced)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    const struct pawl_blocked_call *calls;
    begin(&running, &story, blocking, &options);

    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    running_create(&running, "quick", "q"); /* by the one worker that there is */
    (void)running_await(&running, "quick", "q", PAWL_COMPLETE);

    assert_int_equal(list_blocked(&running, &calls), 1);
    assert_string_equal(calls[0].workflow, "w");
    assert_string_equal(calls[0].instance_id, "i");
    assert_string_equal(calls[0].step, "before");
    assert_int_equal(calls[0].number, 1);
    assert_int_equal(calls[0].run_number, 1);
    assert_false(calls[0].in_body);
    assert_true(calls[0].began_at_ms > 0 && calls[0].began_at_ms <= pawl_now_ms(running.engine) - CODE_MS);
    assert_int_equal(stats_of(running.runner).code_blocked, 1);
    assert_int_equal(stats_of(running.runner).threads_blocked, 1);
    await_released(&running, "i");
    assert_int_equal(count_lines(&running, "i", "has blocked its thread"), 1);
    end(&running, &story);
}

TEST(what_it_does_once_it_is_back_is_dropped_and_the_run_goes_on_here)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(2);
    const struct pawl_blocked_call *calls;
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    await_released(&running, "i");
    for (int i = 0; i < 20; i++) { /* each takes part in a claim, and none takes the blocked run along */
        char id[16];
        (void)snprintf(id, sizeof id, "q%d", i);
        running_create(&running, "quick", id);
        (void)running_await(&running, "quick", id, PAWL_COMPLETE);
    }
    assert_int_equal(atomic_load(&story.calls), 1);
    assert_null(running_step(&running, "w", "i", "after"));

    atomic_store(&story.may_block, false);
    gate_open(&story.gate);
    struct pawl_instance instance = running_await(&running, "w", "i", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "1"); /* the body behind it ran once */
    assert_int_equal(atomic_load(&story.calls), 1);
    assert_int_equal(count_lines(&running, "i", "back again"), 1);
    await_blocked(running.runner, 0);
    assert_int_equal(list_blocked(&running, &calls), 0);
    end(&running, &story);
}

TEST(code_that_was_given_up_is_told_to_unwind)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    await_released(&running, "i");

    gate_open(&story.gate);
    await_blocked(running.runner, 0);
    assert_int_equal(atomic_load(&story.told[0]), PAWL_SUSPENDED);
    assert_int_equal(atomic_load(&story.told[1]), PAWL_SUSPENDED);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&story.after), 1);
    end(&running, &story);
}

TEST(a_result_that_comes_too_late_is_not_the_runs)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    begin(&running, &story, blocking_alone, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    await_released(&running, "i");

    gate_open(&story.gate);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&story.calls), 2); /* the second call ended it, not the first */
    end(&running, &story);
}

/* Plays the watchdog, now and an hour later, between two durable calls of its own run: nothing is recorded of it as yet. */
WORKFLOW(given_up_meanwhile)
{
    struct story *story = pawl_run_user(run);
    pawl_turn *turn = story->ticker->held;
    PAWL_TRY(pawl_do(run, "before", NULL, do_nothing, params, NULL));
    if (atomic_fetch_add(&story->calls, 1) == 0) {
        int64_t now_ms = monotonic_ms();
        assert_int_equal(pw_turn_watch_code(turn, now_ms, 1).given_up, PW_GIVEN_UP_NOT);
        const struct pw_watch watch = pw_turn_watch_code(turn, now_ms + 3600000, 1);
        assert_int_equal(watch.given_up, PW_GIVEN_UP_OPEN);
        assert_int_equal(watch.found, 1);
        assert_int_equal(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "back again"), PAWL_SUSPENDED);
    }
    return pawl_return(run, out_result, "s", "done");
}

TEST(what_code_returns_before_its_turn_is_closed_is_dropped)
{
    struct running running;
    struct story story;
    story_init(&story);
    running_open(&running, true);
    running_register(&running, "w", given_up_meanwhile, &story);
    running_create(&running, "w", "i");
    assert_ok(pawl_runner_open(running.engine, NULL, &running.runner, &running.error), running.error);
    story.ticker = running.runner;

    assert_ok(pawl_runner_tick(running.runner, 1, 0, NULL, &running.error), running.error);
    assert_int_equal(running_get(&running, "w", "i").status, PAWL_ACTIVE);
    assert_int_equal(count_lines(&running, "i", "back again"), 0);
    assert_int_equal(count_lines(&running, "i", "has blocked its thread"), 1);

    assert_ok(pawl_runner_tick(running.runner, 1, 0, NULL, &running.error), running.error);
    assert_int_equal(running_get(&running, "w", "i").status, PAWL_COMPLETE);
    running_close(&running);
    story_clear(&story);
}

/* ---- Who else may take it ---------------------------------------------------------------------------------------------- */

TEST(another_process_takes_the_run_at_once)
{
    struct running running, other = { .engine = NULL };
    struct story story, theirs;
    struct pawl_runner_options options = short_options(1);
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);

    story_init(&theirs);
    atomic_store(&theirs.may_block, false);
    running_open_path(&other, running.path);
    running_register(&other, "w", blocking, &theirs);
    running_start(&other, &options);
    struct pawl_instance instance = running_await(&other, "w", "i", PAWL_COMPLETE);

    assert_string_equal(instance.output_json, "1");
    assert_int_equal(atomic_load(&theirs.after), 1);
    assert_int_equal(atomic_load(&story.after), 0);
    assert_int_equal(atomic_load(&story.calls), 1);
    running_stop(&other);
    pawl_scope_free(other.scope);
    pawl_close(other.engine);
    story_clear(&theirs);
    end(&running, &story);
}

TEST(a_tick_of_this_process_leaves_it_alone_and_next_wake_does_not_tell_of_it)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    pawl_runner *ticker;
    int64_t processed = -1, wake_at_ms = 0;
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    await_released(&running, "i");
    assert_ok(pawl_runner_open(running.engine, NULL, &ticker, &running.error), running.error);

    assert_ok(pawl_runner_next_wake_at(ticker, &wake_at_ms, &running.error), running.error);
    assert_true(wake_at_ms == INT64_MAX);
    assert_ok(pawl_runner_tick(ticker, 0, 0, &processed, &running.error), running.error);
    assert_int_equal(processed, 0);
    pawl_runner_close(ticker);
    end(&running, &story);
}

/* An event and a resume hand a run to the started runner without a claim. */
WORKFLOW(wait_then_block)
{
    PAWL_TRY(pawl_wait_for_event(run, "go", "go", "1 hour", NULL));
    return blocking(run, params, out_result);
}

TEST(services_do_not_hand_it_to_this_process_either)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    begin(&running, &story, wait_then_block, &options);
    running_create(&running, "w", "i");
    (void)running_await(&running, "w", "i", PAWL_WAITING);
    running_send(&running, "w", "i", "go", NULL);
    block_code(&running, &story, 1);
    await_released(&running, "i");

    assert_ok(pawl_pause(running.engine, "w", "i", &running.error), running.error);
    assert_ok(pawl_resume(running.engine, "w", "i", &running.error), running.error);
    running_create(&running, "quick", "q");
    (void)running_await(&running, "quick", "q", PAWL_COMPLETE);
    await_released(&running, "i");
    assert_int_equal(atomic_load(&story.calls), 1);

    atomic_store(&story.may_block, false);
    gate_open(&story.gate);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    end(&running, &story);
}

/* The new run is another one: whoever restarts it means it to go on. */
TEST(a_restart_goes_on_here_although_the_old_runs_code_still_blocks)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    struct pw_arena arena = { 0 };
    int64_t *kept_out;
    size_t count = 1;
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    await_released(&running, "i");

    atomic_store(&story.may_block, false);
    assert_ok(pawl_restart(running.engine, "w", "i", &running.error), running.error);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(stats_of(running.runner).threads_blocked, 1);
    assert_true(pw_blocked_instances(&running.engine->blocked, &arena, &kept_out, &count));
    assert_int_equal(count, 0); /* nor is it kept from claims */
    pw_arena_clear(&arena);
    end(&running, &story);
}

TEST(a_blocked_run_can_be_terminated)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    block_code(&running, &story, 1);
    await_released(&running, "i");

    assert_ok(pawl_terminate(running.engine, "w", "i", &running.error), running.error);
    (void)running_await(&running, "w", "i", PAWL_TERMINATED);
    gate_open(&story.gate);
    await_blocked(running.runner, 0);
    assert_int_equal(running_get(&running, "w", "i").status, PAWL_TERMINATED);
    end(&running, &story);
}

/* ---- Branches ---------------------------------------------------------------------------------------------------------- */

WORKFLOW(block_in_branch)
{
    (void)block(pawl_run_user(run));
    return pawl_do(run, "behind", NULL, count_after, params, out_result);
}

BODY(wait_in_body)
{
    struct story *story = pawl_step_user(step);
    return gate_pass(&story->body) ? PAWL_OK : PAWL_FAILED;
}

WORKFLOW(work_in_branch)
{
    return pawl_do(run, "beside", NULL, wait_in_body, params, out_result);
}

WORKFLOW(in_branches)
{
    struct pawl_branch branches[] = { { .run = work_in_branch, .input = params },
                                      { .run = block_in_branch, .input = params } };
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    return pawl_return(run, out_result, "s", "done");
}

/* The body beside it is not lost: only once it is recorded is the turn given up. */
TEST(a_branch_that_blocks_is_replaced_at_once_and_given_up_with_its_siblings_done)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(2);
    begin(&running, &story, in_branches, &options);
    running_create(&running, "w", "i");
    gate_await(&story.body, 1);
    block_code(&running, &story, 1);
    assert_int_equal(stats_of(running.runner).in_flight, 1);
    running_create(&running, "quick", "q"); /* two are in branches */
    (void)running_await(&running, "quick", "q", PAWL_COMPLETE);

    gate_open(&story.body);
    await_released(&running, "i");
    assert_int_equal(running_step(&running, "w", "i", "beside")->status, PAWL_STEP_COMPLETED);
    assert_true(stats_of(running.runner).threads_blocked <= 2); /* and the one that waits for its branches */

    atomic_store(&story.may_block, false);
    gate_open(&story.gate);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(gate_entered(&story.body), 1);
    assert_int_equal(atomic_load(&story.after), 1);
    await_blocked(running.runner, 0);
    end(&running, &story);
}

/* One that comes back before its siblings are done goes on as if nothing had been. */
TEST(a_branch_that_returns_in_time_goes_on_in_its_turn)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(2);
    begin(&running, &story, in_branches, &options);
    running_create(&running, "w", "i");
    gate_await(&story.body, 1);
    block_code(&running, &story, 1);

    gate_open(&story.gate);
    await_blocked(running.runner, 0);
    gate_open(&story.body);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&story.calls), 1);
    while (stats_of(running.runner).turns == 0) /* counted behind the commit that ends it */
        rest_a_little();
    assert_int_equal(stats_of(running.runner).turns, 1);
    end(&running, &story);
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------------ */

WORKFLOW(late_body)
{
    static const struct pawl_step_options options = { .timeout = "30 ms", .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "late", &options, wait_in_body, params, out_result);
}

TEST(a_body_that_does_not_return_is_listed_and_counted)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    const struct pawl_blocked_call *calls;
    begin(&running, &story, late_body, &options);
    running_create(&running, "w", "i");
    (void)running_await(&running, "w", "i", PAWL_ERRORED); /* by the one that stands in */

    assert_int_equal(list_blocked(&running, &calls), 1);
    assert_string_equal(calls[0].step, "late");
    assert_true(calls[0].in_body);
    int64_t age_ms = pawl_now_ms(running.engine) - calls[0].began_at_ms;
    assert_true(age_ms >= 30 && age_ms < PATIENCE_MS);
    assert_int_equal(stats_of(running.runner).bodies_blocked, 1);
    assert_int_equal(stats_of(running.runner).code_blocked, 0);
    assert_int_equal(stats_of(running.runner).threads_blocked, 1);
    gate_open(&story.body);
    await_blocked(running.runner, 0);
    assert_int_equal(list_blocked(&running, &calls), 0);
    end(&running, &story);
}

/* Time in a body is not the code's, and neither is a wait for a commit. */
WORKFLOW(long_body)
{
    PAWL_TRY(pawl_do(run, "long", NULL, wait_in_body, params, NULL));
    return pawl_do(run, "after", NULL, count_after, params, out_result);
}

TEST(a_long_body_is_not_taken_for_code_that_blocks)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    begin(&running, &story, long_body, &options);
    running_create(&running, "w", "i");
    gate_await(&story.body, 1);
    let_code_be_late(&running);

    assert_int_equal(stats_of(running.runner).code_blocked, 0);
    gate_open(&story.body);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(stats_of(running.runner).turns, 1);
    end(&running, &story);
}

/* ---- Too many ---------------------------------------------------------------------------------------------------------- */

TEST(at_the_limit_nothing_new_is_taken_until_calls_return)
{
    enum { MOST = 3 };
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(2);
    pawl_runner *ticker;
    int64_t processed = -1;
    options.blocked_max = MOST;
    begin(&running, &story, blocking, &options);
    for (int i = 0; i < MOST + 4; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "i%d", i);
        running_create(&running, "w", id);
    }
    block_code(&running, &story, 2);
    block_code(&running, &story, 4);
    assert_true(stats_of(running.runner).is_full);
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(running.runner).in_flight > 0) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }

    int64_t turns = stats_of(running.runner).turns; /* it does not claim and give back, either */
    await_polls(running.runner, 5);
    assert_int_equal(stats_of(running.runner).turns, turns);
    int calls = atomic_load(&story.calls);
    assert_true(calls >= MOST && calls <= MOST + options.workers);
    running_create(&running, "quick", "q");
    assert_ok(pawl_runner_open(running.engine, &options, &ticker, &running.error), running.error);
    assert_ok(pawl_runner_tick(ticker, 0, 0, &processed, &running.error), running.error);
    assert_int_equal(processed, 0);
    assert_int_equal(running_get(&running, "quick", "q").status, PAWL_ACTIVE);
    assert_int_equal(atomic_load(&story.calls), calls);
    pawl_runner_close(ticker);

    atomic_store(&story.may_block, false);
    gate_open(&story.gate);
    (void)running_await(&running, "quick", "q", PAWL_COMPLETE);
    assert_true(running_await_all(&running, "w"));
    await_blocked(running.runner, 0);
    assert_false(stats_of(running.runner).is_full);
    end(&running, &story);
}

/* Workers that stood in go again. */
TEST(threads_are_as_many_as_before_once_all_calls_returned)
{
    enum { RUNS = 6 };
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(2);
    begin(&running, &story, blocking, &options);
    running_create(&running, "quick", "q");
    (void)running_await(&running, "quick", "q", PAWL_COMPLETE);
    int threads = count_threads();
    for (int i = 0; i < RUNS; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "i%d", i);
        running_create(&running, "w", id);
    }
    for (int calls = options.workers; calls <= RUNS; calls += options.workers)
        block_code(&running, &story, calls);
    assert_true(count_threads() >= threads + RUNS);

    atomic_store(&story.may_block, false);
    gate_open(&story.gate);
    assert_true(running_await_all(&running, "w"));
    await_blocked(running.runner, 0);
    assert_true(await_threads(threads));
    end(&running, &story);
}

/* ---- Options ----------------------------------------------------------------------------------------------------------- */

TEST(a_host_may_let_code_run_for_any_time)
{
    struct running running;
    struct story story;
    struct pawl_runner_options options = short_options(1);
    options.code_ms_max = -1;
    begin(&running, &story, blocking, &options);
    running_create(&running, "w", "i");
    gate_await(&story.gate, 1);
    let_code_be_late(&running);
    assert_int_equal(stats_of(running.runner).code_blocked, 0);
    gate_open(&story.gate);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    end(&running, &story);
}

TEST(options_out_of_range_are_refused)
{
    static const struct pawl_runner_options wrong[] = {
        { .struct_size = sizeof wrong[0], .code_ms_max = -2 },
        { .struct_size = sizeof wrong[0], .code_ms_max = INT64_MAX },
        { .struct_size = sizeof wrong[0], .blocked_max = -1 },
    };
    struct running running;
    pawl_runner *runner;
    running_open(&running, false);
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_int_equal(pawl_runner_open(running.engine, &wrong[i], &runner, &running.error), PAWL_INVALID);
        assert_non_null(strstr(running.error.text, "code_ms_max"));
    }
    running_close(&running);
}
