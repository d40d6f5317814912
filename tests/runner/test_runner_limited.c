/* test_runner_limited.c - runners and the functions that may have only so many jobs under way (C1, C2, C6, G1).  Time is
 * simulated: it stands still unless a test moves it.
 *
 * Runs of "caller" make the jobs, by an engine that has only these; another engine, as of another process, is to carry them. */
#include "kit/running.h"

#include "engine/functions.h"
#include "runner/runner.h"

enum { DEAD_OWNER = 4711, DEAD_MS = 11000, LONG_LEASE_MS = 600000, POLL_MS = 300, BACKLOG = 30 };

struct limited {
    struct store_place place;
    struct running host, worker;
    _Atomic int64_t now_ms;
    char text[512]; /* what bodies wrote down, in order */
};

static int64_t now(void *user)
{
    return atomic_load(&((struct limited *)user)->now_ms);
}

/* ---- Bodies and workflows ---------------------------------------------------------------------------------------------- */

static pawl_status write_down(pawl_step *step, const char *what)
{
    struct limited *limited = pawl_step_user(step);
    size_t used = strlen(limited->text);
    snprintf(limited->text + used, sizeof limited->text - used, "%s ", what);
    return PAWL_OK;
}

BODY(one)
{
    return write_down(step, "one");
}

BODY(other)
{
    return write_down(step, "other");
}

BODY(be_busy)
{
    return write_down(step, "busy");
}

WORKFLOW(run_caller)
{
    return pawl_call(run, "call", pawl_value_string(params, NULL, ""), NULL, NULL, out_result);
}

WORKFLOW(run_busy)
{
    return pawl_do(run, "busy", NULL, be_busy, NULL, NULL);
}

/* ---- The world --------------------------------------------------------------------------------------------------------- */

static void open_engine(struct limited *limited, struct running *running)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = limited->place.url;
    options.clock = (struct pawl_clock){ .now_ms = now, .user = limited };
    *running = (struct running){ .scope = pawl_scope_new() };
    assert_ok(pawl_open(&options, &running->engine, &running->error), running->error);
}

static void open_runner_that_polls(struct running *running, int64_t poll_ms)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.poll_ms = poll_ms;
    assert_ok(pawl_runner_open(running->engine, &options, &running->runner, &running->error), running->error);
}

static void open_runner(struct running *running)
{
    open_runner_that_polls(running, POLL_MS);
}

static void add_function(struct limited *limited, const char *name, pawl_step_fn *run, int32_t limit)
{
    struct running *worker = &limited->worker;
    const struct pawl_function function = { .name = name, .run = run, .user = limited };
    assert_ok(pawl_register_function(worker->engine, &function, &worker->error), worker->error);
    assert_ok(pawl_limit_function(worker->engine, name, limit, &worker->error), worker->error);
}

static int set_up(void **state)
{
    struct limited *limited = calloc(1, sizeof *limited);
    assert_non_null(limited);
    store_place_make(&limited->place, store_asked_for(STORE_IN_FILE));
    atomic_store(&limited->now_ms, INT64_C(1700000000000));
    open_engine(limited, &limited->host);
    running_register(&limited->host, "caller", run_caller, limited);
    open_runner(&limited->host);
    open_engine(limited, &limited->worker);
    *state = limited;
    return 0;
}

static void close_engine(struct running *running)
{
    pawl_runner_close(running->runner);
    pawl_close(running->engine);
    pawl_scope_free(running->scope);
}

static int tear_down(void **state)
{
    struct limited *limited = *state;
    close_engine(&limited->worker);
    close_engine(&limited->host);
    store_place_remove(&limited->place);
    free(limited);
    return 0;
}

static const struct test_setting limited_setting = { set_up, tear_down, 0 };

static int64_t tick(struct running *running, int64_t instances)
{
    int64_t processed = -1;
    assert_ok(pawl_runner_tick(running->runner, instances, 0, &processed, &running->error), running->error);
    return processed;
}

/* Runs that call the function, and wait: so many jobs of it are due. */
static void make_jobs(struct limited *limited, const char *function, int count)
{
    for (int i = 0; i < count; i++) {
        char id[32], params[32];
        snprintf(id, sizeof id, "%s-%d", function, i);
        snprintf(params, sizeof params, "\"%s\"", function);
        running_create_with(&limited->host, "caller", id, params);
        assert_int_equal(tick(&limited->host, 1), 1);
    }
}

static int64_t next_wake_in_ms(struct limited *limited)
{
    struct running *worker = &limited->worker;
    int64_t at_ms = 0;
    assert_ok(pawl_runner_next_wake_at(worker->runner, &at_ms, &worker->error), worker->error);
    return at_ms == INT64_MAX ? INT64_MAX : at_ms - now(limited);
}

/* ---- What the dead left ------------------------------------------------------------------------------------------------ */

/* A worker that claims the job for long, and dies. */
static void lose_job(struct limited *limited, const char *function)
{
    struct running dead;
    struct pw_unit unit;
    char buffer[PW_JOB_WORKFLOW_SIZE];
    const struct pw_text name = pw_function_workflow(function, buffer);
    open_engine(limited, &dead);
    struct pw_store *store = dead.engine->store;
    assert_ok(store->ops->announce(store, DEAD_OWNER, &dead.error), dead.error);
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_CLAIM);
    assert_non_null(op);
    op->as.claim = (struct pw_op_claim){
        .workflows = &name, .workflow_count = 1, .max = 1, .owner = DEAD_OWNER, .lease_ms = LONG_LEASE_MS
    };
    assert_int_equal(pw_commit_run(dead.engine->commit, &unit), PAWL_OK);
    assert_int_equal(op->as.claim.claim_count, 1);
    pw_unit_clear(&unit);
    close_engine(&dead);
    atomic_fetch_add(&limited->now_ms, DEAD_MS);
}

TEST_OF(limited, C1_a_worker_that_has_only_limited_functions_takes_up_what_a_dead_one_left)
{
    add_function(limited, "one", one, 1);
    open_runner(&limited->worker);
    make_jobs(limited, "one", 1);
    lose_job(limited, "one");

    assert_int_equal(tick(&limited->worker, 0), 1);

    assert_string_equal(limited->text, "one ");
}

/* ---- Order ------------------------------------------------------------------------------------------------------------- */

static void make_busy(struct limited *limited)
{
    for (int i = 0; i < BACKLOG; i++) {
        char id[16];
        snprintf(id, sizeof id, "b%d", i);
        running_create_with(&limited->worker, "busy", id, NULL);
    }
}

TEST_OF(limited, C2_a_job_of_a_limited_function_does_not_wait_for_a_backlog_of_runs)
{
    running_register(&limited->worker, "busy", run_busy, limited);
    add_function(limited, "one", one, 1);
    open_runner(&limited->worker);
    make_jobs(limited, "one", 2);
    make_busy(limited);

    assert_int_equal(tick(&limited->worker, 4), 4);

    assert_string_equal(limited->text, "busy one busy one ");
}

TEST_OF(limited, C2_nor_does_a_run_wait_for_a_backlog_of_such_jobs)
{
    running_register(&limited->worker, "busy", run_busy, limited);
    add_function(limited, "one", one, 1);
    open_runner(&limited->worker);
    make_jobs(limited, "one", BACKLOG);
    running_create_with(&limited->worker, "busy", "a", NULL);
    running_create_with(&limited->worker, "busy", "b", NULL);

    for (int i = 0; i < 4; i++)
        assert_int_equal(tick(&limited->worker, 1), 1);

    assert_string_equal(limited->text, "busy one busy one ");
}

TEST_OF(limited, C2_of_two_limited_functions_neither_waits_for_the_others_backlog)
{
    add_function(limited, "one", one, 1);
    add_function(limited, "other", other, 1);
    open_runner(&limited->worker);
    make_jobs(limited, "one", BACKLOG);
    make_jobs(limited, "other", 2);

    assert_int_equal(tick(&limited->worker, 4), 4);

    assert_string_equal(limited->text, "one other one other ");
}

/* ---- A host's own alarm ------------------------------------------------------------------------------------------------ */

/* By a worker outside, for long. */
static void claim_outside(struct limited *limited, const char *function, const char **out_token)
{
    struct running *worker = &limited->worker;
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs;
    size_t count = 0;
    options.functions = &function;
    options.function_count = 1;
    options.lease_ms = LONG_LEASE_MS;
    assert_ok(pawl_job_claim(worker->engine, worker->scope, &options, &jobs, &count, &worker->error), worker->error);
    assert_int_equal(count, 1);
    *out_token = jobs[0].token;
}

TEST_OF(limited, C6_next_wake_at_is_not_now_while_a_function_is_at_its_limit)
{
    struct running *worker = &limited->worker;
    const char *token;
    add_function(limited, "one", one, 1);
    open_runner(worker);
    make_jobs(limited, "one", 2);
    claim_outside(limited, "one", &token);
    assert_int_equal(next_wake_in_ms(limited), 0); /* it has not tried yet */

    for (int i = 0; i < 3; i++) {
        assert_int_equal(tick(worker, 0), 0);
        assert_int_equal(next_wake_in_ms(limited), POLL_MS);
        atomic_fetch_add(&limited->now_ms, POLL_MS);
    }

    assert_ok(pawl_job_complete(worker->engine, token, NULL, &worker->error), worker->error);
    assert_int_equal(next_wake_in_ms(limited), 0);
    assert_int_equal(tick(worker, 0), 1);
    assert_string_equal(limited->text, "one ");
    assert_int_equal(next_wake_in_ms(limited), INT64_MAX);
}

TEST_OF(limited, C6_a_limit_that_is_met_delays_no_other_function)
{
    struct running *worker = &limited->worker;
    const char *token;
    add_function(limited, "one", one, 1);
    add_function(limited, "other", other, 1);
    open_runner(worker);
    make_jobs(limited, "one", 2);
    claim_outside(limited, "one", &token);
    assert_int_equal(tick(worker, 0), 0);
    atomic_fetch_add(&limited->now_ms, 1);

    make_jobs(limited, "other", 1);

    assert_int_equal(next_wake_in_ms(limited), 0);
    assert_int_equal(tick(worker, 0), 1);
    assert_string_equal(limited->text, "other ");
    assert_int_equal(next_wake_in_ms(limited), POLL_MS);
}

/* A clock that was set back would otherwise keep the alarm for as long. */
TEST_OF(limited, C6_next_wake_at_does_not_go_by_a_time_that_is_yet_to_come)
{
    const char *token;
    add_function(limited, "one", one, 1);
    open_runner(&limited->worker);
    make_jobs(limited, "one", 2);
    claim_outside(limited, "one", &token);
    atomic_fetch_add(&limited->now_ms, 60000);
    assert_int_equal(tick(&limited->worker, 0), 0);

    atomic_fetch_sub(&limited->now_ms, 50000);

    assert_true(next_wake_in_ms(limited) <= 0);
}

/* Not the limit keeps the third job from the last tick. */
TEST_OF(limited, C6_what_only_max_instances_kept_from_the_last_tick_is_due_at_once)
{
    struct running *worker = &limited->worker;
    const char *token;
    add_function(limited, "one", one, 1);
    open_runner(worker);
    make_jobs(limited, "one", 3);
    claim_outside(limited, "one", &token);
    assert_int_equal(tick(worker, 0), 0);
    atomic_fetch_add(&limited->now_ms, 10);
    assert_ok(pawl_job_complete(worker->engine, token, NULL, &worker->error), worker->error);

    assert_int_equal(tick(worker, 1), 1);

    assert_true(next_wake_in_ms(limited) <= 0);
}

/* The job that waits for it does not hide when the lease of the one under way ends. */
TEST_OF(limited, C6_next_wake_at_is_no_later_than_the_end_of_a_lease_that_meets_the_limit)
{
    const char *token;
    add_function(limited, "one", one, 1);
    open_runner_that_polls(&limited->worker, 2 * LONG_LEASE_MS);
    make_jobs(limited, "one", 2);
    claim_outside(limited, "one", &token);
    assert_int_equal(tick(&limited->worker, 0), 0);

    assert_int_equal(next_wake_in_ms(limited), LONG_LEASE_MS);

    atomic_fetch_add(&limited->now_ms, LONG_LEASE_MS);
    assert_int_equal(tick(&limited->worker, 0), 2);
}

/* ---- Another process that is claiming -------------------------------------------------------------------------------------- */

static const struct pw_store_ops *true_ops;
static struct pw_store_ops keeping_ops;
static atomic_int kept_out;

/* As PostgreSQL, while another process claims of the same function. */
static pawl_status apply_keeping_out(struct pw_store *store, struct pw_unit **units, size_t count,
                                     struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next)
            if (op->kind == PW_OP_CLAIM && op->as.claim.leased_max > 0)
                op->as.claim.max = 0;
    pawl_status status = true_ops->apply(store, units, count, error);
    for (size_t i = 0; i < count; i++)
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next)
            if (op->kind == PW_OP_CLAIM && op->as.claim.leased_max > 0) {
                op->as.claim.kept_out = true;
                atomic_fetch_add(&kept_out, 1);
            }
    return status;
}

static void keep_out(struct limited *limited)
{
    struct pw_store *store = limited->worker.engine->store;
    true_ops = store->ops;
    keeping_ops = *true_ops;
    keeping_ops.apply = apply_keeping_out;
    atomic_store(&kept_out, 0);
    store->ops = &keeping_ops;
}

TEST_OF(limited, C6_who_is_kept_out_by_another_claim_is_to_come_again_at_once)
{
    struct running *worker = &limited->worker;
    add_function(limited, "one", one, 1);
    open_runner(worker);
    make_jobs(limited, "one", 1);
    keep_out(limited);
    assert_int_equal(tick(worker, 0), 0);
    assert_int_equal(atomic_load(&kept_out), 1);
    assert_true(next_wake_in_ms(limited) <= 0);
    worker->engine->store->ops = true_ops;
    assert_int_equal(tick(worker, 0), 1);
}

/* Its alarm is set for ten milliseconds from now, where time stands still, and not for the next poll. */
TEST_OF(limited, C8_and_a_keeper_does)
{
    struct running *worker = &limited->worker;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS, next_ms = INT64_MAX;
    add_function(limited, "one", one, 1);
    open_runner_that_polls(worker, PATIENCE_MS);
    make_jobs(limited, "one", 1);
    keep_out(limited);
    assert_ok(pawl_runner_start(worker->runner, &worker->error), worker->error);
    while (monotonic_ms() < until_ms && next_ms - now(limited) != 10) {
        rest_a_little();
        pthread_mutex_lock(&worker->runner->lock);
        next_ms = worker->runner->next_due_ms;
        pthread_mutex_unlock(&worker->runner->lock);
    }
    assert_true(atomic_load(&kept_out) > 0);
    assert_int_equal(next_ms - now(limited), 10);
    pawl_runner_close(worker->runner);
    worker->runner = NULL;
    worker->engine->store->ops = true_ops;
}
