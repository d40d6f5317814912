/* test_runner_trouble.c - a runner that the system gives no threads, that the store refuses for a while or withholds runs from,
 * or whose bodies are late beside others: it says so or goes on, and loses nothing.
 *
 * The linker sends the library's calls of pthread_create() here. */
#include "kit/running.h"

#include <errno.h>

#include "engine/engine.h"
#include "runner/runner.h"
#include "turn/inside.h"

/* ---- Threads that the system refuses ------------------------------------------------------------------------------- */

static atomic_int refused_thread; /* how many more may be made, and one: 0 is all */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    if (atomic_load(&refused_thread) > 0 && atomic_fetch_sub(&refused_thread, 1) == 1)
        return EAGAIN;
    return __real_pthread_create(thread, attributes, run, argument);
}

BODY(count_body)
{
    return pawl_result(step, out_result, "i", atomic_fetch_add((atomic_int *)pawl_step_user(step), 1) + 1);
}

WORKFLOW(one_step)
{
    return pawl_do(run, "count", NULL, count_body, params, out_result);
}

TEST(a_runner_that_gets_no_thread_says_so_and_can_be_started_later)
{
    enum { WORKERS = 2 };
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    atomic_int bodies = 0;
    options.workers = WORKERS;
    running_open(&running, false);
    running_register(&running, "w", one_step, &bodies);
    running_start(&running, &options);
    pawl_runner_stop(running.runner);
    int threads = count_threads();      /* a sanitizer's own is there once there was another */
    running_create(&running, "w", "i"); /* due already: it must not be claimed for workers that never come */

    int wanted = WORKERS + 1 + (int)pw_commit_threads(running.engine->commit);
    char said[64];
    snprintf(said, sizeof said, "refuses to start %d threads", wanted);
    for (int nth = 1; nth <= wanted; nth++) {
        atomic_store(&refused_thread, nth);
        pawl_status status = pawl_runner_start(running.runner, &running.error);
        assert_int_equal(atomic_load(&refused_thread), 0);
        assert_int_equal(status, PAWL_NOMEM);
        assert_non_null(strstr(running.error.text, said));
        assert_true(await_threads(threads));
    }

    assert_ok(pawl_runner_start(running.runner, &running.error), running.error);
    assert_string_equal(running_await(&running, "w", "i", PAWL_COMPLETE).output_json, "1");
    running_close(&running);
}

WORKFLOW(block)
{
    return gate_pass(pawl_run_user(run)) ? PAWL_OK : PAWL_FAILED;
}

TEST(a_worker_that_the_system_refuses_to_start_in_place_of_a_blocked_one_is_started_later)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    struct gate gate;
    atomic_int bodies = 0;
    options.workers = 1;
    options.code_ms_max = 200;
    gate_init(&gate);
    running_open(&running, false);
    running_register(&running, "block", block, &gate);
    running_register(&running, "w", one_step, &bodies);
    running_start(&running, &options);
    running_create(&running, "block", "i");
    gate_await(&gate, 1);

    atomic_store(&refused_thread, 1);
    running_create(&running, "w", "i");
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);

    assert_int_equal(atomic_load(&refused_thread), 0);
    gate_open(&gate);
    running_close(&running);
    gate_clear(&gate);
}

/* ---- A store in trouble ------------------------------------------------------------------------------------------------ */

static struct pw_store_ops ops;
static const struct pw_store_ops *true_ops;
static enum pw_op_kind refused_op;
static atomic_int refusals_left;

/* Refuses what holds such an op, as often as that. */
static pawl_status apply_unless_refused(struct pw_store *store, struct pw_unit **units, size_t count,
                                        struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct pw_op *op = units[i]->first; op != NULL; op = op->next) {
            if (op->kind == refused_op && atomic_load(&refusals_left) > 0) {
                atomic_fetch_sub(&refusals_left, 1);
                *error = (struct pawl_error){ PAWL_STORE_UNAVAILABLE, "the disk is being looked at" };
                return PAWL_STORE_UNAVAILABLE;
            }
        }
    }
    return true_ops->apply(store, units, count, error);
}

static void refuse(struct pw_store *store, enum pw_op_kind kind, int times)
{
    true_ops = store->ops;
    ops = *true_ops;
    ops.apply = apply_unless_refused;
    store->ops = &ops;
    refused_op = kind;
    atomic_store(&refusals_left, times);
}

TEST(C8_a_started_runner_that_cannot_claim_tries_again)
{
    struct running running;
    atomic_int bodies = 0;
    running_open(&running, false);
    running_register(&running, "w", one_step, &bodies);
    running_create(&running, "w", "i");

    refuse(running.engine->store, PW_OP_CLAIM, 2);
    running_start(&running, NULL);

    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&refusals_left), 0);
    assert_int_equal(atomic_load(&bodies), 1);
    running_stop(&running);
    running.engine->store->ops = true_ops;
    running_close(&running);
}

static int64_t now_of(void *user)
{
    return *(int64_t *)user;
}

/* A body whose outcome cannot be recorded has run in vain, so the store is left alone for longer each time. */
TEST(C8_a_run_that_the_store_fails_is_put_off_for_longer_up_to_16_seconds)
{
    static const int64_t delays_ms[] = { 1000, 2000, 4000, 8000, 16000, 16000 };
    struct running running = { .engine = NULL };
    struct store_place place = database_place("");
    struct pawl_options options = PAWL_OPTIONS_INIT;
    atomic_int bodies = 0;
    int64_t now_ms = INT64_C(1700000000000), next_ms;
    options.store_url = place.url;
    options.clock = (struct pawl_clock){ .now_ms = now_of, .user = &now_ms };
    assert_ok(pawl_open(&options, &running.engine, &running.error), running.error);
    running.scope = pawl_scope_new();
    running_register(&running, "w", one_step, &bodies);
    running_create(&running, "w", "i");
    assert_ok(pawl_runner_open(running.engine, NULL, &running.runner, &running.error), running.error);

    refuse(running.engine->store, PW_OP_STEP, (int)LENGTH(delays_ms));
    for (size_t i = 0; i < LENGTH(delays_ms); i++) {
        assert_ok(pawl_runner_tick(running.runner, 1, 0, NULL, &running.error), running.error);
        assert_ok(pawl_runner_next_wake_at(running.runner, &next_ms, &running.error), running.error);
        assert_int_equal(next_ms - now_ms, delays_ms[i]);
        now_ms = next_ms;
    }

    assert_ok(pawl_runner_tick(running.runner, 1, 0, NULL, &running.error), running.error);
    assert_int_equal(running_get(&running, "w", "i").status, PAWL_COMPLETE);
    assert_int_equal(atomic_load(&bodies), (int)LENGTH(delays_ms) + 1);
    running.engine->store->ops = true_ops;
    running_close(&running);
}

/* ---- A row that is locked ------------------------------------------------------------------------------------------------ */

static atomic_int claims;
static atomic_bool is_withheld;

/* As a database that passes over the rows that somebody has locked. */
static pawl_status apply_withholding(struct pw_store *store, struct pw_unit **units, size_t count,
                                     struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++) {
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next) {
            if (op->kind != PW_OP_CLAIM)
                continue;
            atomic_fetch_add(&claims, 1);
            if (atomic_load(&is_withheld))
                op->as.claim.max = 0;
        }
    }
    return true_ops->apply(store, units, count, error);
}

TEST(a_run_that_is_due_and_locked_is_not_claimed_again_and_again) /* C8 */
{
    enum { CLAIMS = 12, LEAST_MS = 300 }; /* the waits are 1, 3, 7, 15, 31 ms, and then 50 ms each */
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    atomic_int bodies = 0;
    options.poll_ms = PATIENCE_MS;
    running_open(&running, false);
    running_register(&running, "w", one_step, &bodies);
    running_create(&running, "w", "i");
    refuse(running.engine->store, PW_OP_CLAIM, 0);
    ops.apply = apply_withholding;
    atomic_store(&claims, 0);
    atomic_store(&is_withheld, true);
    int64_t began_ms = monotonic_ms();
    running_start(&running, &options);

    while (atomic_load(&claims) < CLAIMS && monotonic_ms() - began_ms < PATIENCE_MS)
        rest_a_little();

    assert_true(atomic_load(&claims) >= CLAIMS);
    assert_true(monotonic_ms() - began_ms >= LEAST_MS);
    atomic_store(&is_withheld, false);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE); /* long before the next poll */
    assert_true(monotonic_ms() - began_ms < PATIENCE_MS);
    running_stop(&running);
    running.engine->store->ops = true_ops;
    running_close(&running);
}

static int64_t frozen_now(void *user)
{
    return atomic_load((_Atomic int64_t *)user);
}

/* As a database where somebody has locked all rows of "locked". */
static pawl_status apply_passing_over_locked(struct pw_store *store, struct pw_unit **units, size_t count,
                                             struct pawl_error *error)
{
    static const struct pw_text others[] = { { "nap", 3 } };
    for (size_t i = 0; i < count; i++) {
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next) {
            if (op->kind != PW_OP_CLAIM)
                continue;
            atomic_fetch_add(&claims, 1);
            op->as.claim.workflows = others;
            op->as.claim.workflow_count = LENGTH(others);
        }
    }
    return true_ops->apply(store, units, count, error);
}

WORKFLOW(nap)
{
    return pawl_sleep_ms(run, "nap", 20);
}

/* When the keeper means to claim next, once it sleeps and has claimed. */
static int64_t next_claim_of_sleeping_keeper(pawl_runner *runner)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS, next_ms = 0;
    for (bool sleeps = false; !sleeps;) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
        pthread_mutex_lock(&runner->lock);
        sleeps = atomic_load(&claims) > 0 && runner->keeper_until_ms != INT64_MIN;
        next_ms = runner->next_due_ms;
        pthread_mutex_unlock(&runner->lock);
    }
    return next_ms;
}

/* Time stands still: so it is known for when the keeper sets its alarm, however slow the machine. */
TEST(C8_a_timer_is_in_time_beside_a_run_that_is_due_and_locked)
{
    struct running running = { .engine = NULL };
    struct store_place place = database_place("");
    struct pawl_options options = PAWL_OPTIONS_INIT;
    _Atomic int64_t now_ms = INT64_C(1700000000000);
    atomic_int bodies = 0;
    options.store_url = place.url;
    options.clock = (struct pawl_clock){ .now_ms = frozen_now, .user = (void *)&now_ms };
    assert_ok(pawl_open(&options, &running.engine, &running.error), running.error);
    running.scope = pawl_scope_new();
    running_register(&running, "nap", nap, NULL);
    running_register(&running, "locked", one_step, &bodies);
    assert_ok(pawl_runner_open(running.engine, NULL, &running.runner, &running.error), running.error);
    running_create(&running, "nap", "i");
    assert_ok(pawl_runner_tick(running.runner, 1, 0, NULL, &running.error), running.error); /* it sleeps */
    running_create(&running, "locked", "i");
    refuse(running.engine->store, PW_OP_CLAIM, 0);
    ops.apply = apply_passing_over_locked;
    atomic_store(&claims, 0);
    running.runner->withheld_ms = 50; /* as if it had been locked for a while */

    assert_ok(pawl_runner_start(running.runner, &running.error), running.error);

    assert_int_equal(next_claim_of_sleeping_keeper(running.runner) - atomic_load(&now_ms), 20);
    atomic_fetch_add(&now_ms, 20);
    (void)running_await(&running, "nap", "i", PAWL_COMPLETE);
    assert_int_equal(atomic_load(&bodies), 0);
    running_stop(&running);
    running.engine->store->ops = true_ops;
    running_close(&running);
}

/* ---- A store that is slow to tell the time ------------------------------------------------------------------------------- */

static pawl_runner *watched;
static atomic_int times_told, times_held;

/* Others hold the runner's lock for a moment; who asks while he holds it himself will not see it free. */
static int64_t now_and_look_at_the_lock(struct pw_store *store)
{
    bool is_free = false;
    for (int i = 0; i < 1000 && !is_free; i++) {
        is_free = pthread_mutex_trylock(&watched->lock) == 0;
        if (!is_free)
            rest_a_little();
    }
    if (is_free)
        pthread_mutex_unlock(&watched->lock);
    else
        atomic_fetch_add(&times_held, 1);
    atomic_fetch_add(&times_told, 1);
    return true_ops->now_ms(store);
}

TEST(nobody_waits_for_a_runner_that_asks_the_store_what_time_it_is) /* C8 */
{
    struct running running;
    atomic_int bodies = 0;
    running_open(&running, false);
    running_register(&running, "w", one_step, &bodies);
    running_create(&running, "w", "i");
    assert_ok(pawl_runner_open(running.engine, NULL, &running.runner, &running.error), running.error);
    watched = running.runner;
    refuse(running.engine->store, PW_OP_CLAIM, 0);
    ops.now_ms = now_and_look_at_the_lock;
    atomic_store(&times_told, 0);
    atomic_store(&times_held, 0);

    assert_ok(pawl_runner_start(running.runner, &running.error), running.error);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    running_stop(&running);

    assert_true(atomic_load(&times_told) > 0);
    assert_int_equal(atomic_load(&times_held), 0);
    running.engine->store->ops = true_ops;
    running_close(&running);
}

/* ---- A late body beside another ------------------------------------------------------------------------------------------ */

struct pair {
    struct gate late, live;
};

static pawl_status stand(pawl_step *step, struct gate *gate)
{
    return gate_pass(gate) ? PAWL_OK : pawl_fail_for_good(step, "GateStayedShut", "nobody opened it");
}

BODY(stand_late)
{
    return stand(step, &((struct pair *)pawl_step_user(step))->late);
}

BODY(stand_live)
{
    return stand(step, &((struct pair *)pawl_step_user(step))->live);
}

BRANCH(late_branch)
{
    const struct pawl_step_options options = { .retries = PAWL_NO_RETRIES, .timeout = "100 ms" };
    return pawl_do(run, "late", &options, stand_late, input, out_result);
}

BRANCH(live_branch)
{
    return pawl_do(run, "live", NULL, stand_live, input, out_result);
}

WORKFLOW(both)
{
    struct pawl_branch branches[] = { { .run = late_branch }, { .run = live_branch } };
    return pawl_all(run, "all", branches, 2, 0);
}

static void await_recorded(struct running *running, const char *step)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    const struct pawl_step_record *record = NULL;
    while ((record == NULL || record->status == PAWL_STEP_WAITING) && monotonic_ms() < until_ms) {
        rest_a_little();
        record = running_step(running, "both", "i", step);
    }
    assert_non_null(record);
    assert_int_not_equal(record->status, PAWL_STEP_WAITING);
}

/* The turn waits for the live one; once that has ended nothing but the late body keeps it, and it goes on without. */
TEST(A7_a_body_that_is_late_does_not_cut_short_the_one_beside_it)
{
    struct running running;
    struct pair pair;
    gate_init(&pair.late);
    gate_init(&pair.live);
    running_open(&running, false);
    running_register(&running, "both", both, &pair);
    running_start(&running, NULL);
    running_create(&running, "both", "i");
    gate_await(&pair.late, 1);
    gate_await(&pair.live, 1);

    await_recorded(&running, "late");
    assert_int_equal(running_get(&running, "both", "i").status, PAWL_ACTIVE);
    gate_open(&pair.live);
    struct pawl_instance instance = running_await(&running, "both", "i", PAWL_ERRORED);

    assert_string_equal(instance.error_name, "STEP_TIMEOUT");
    assert_int_equal(running_step(&running, "both", "i", "live")->status, PAWL_STEP_COMPLETED);
    gate_open(&pair.late);
    assert_int_equal(gate_entered(&pair.live), 1); /* what it did in time was taken, whenever the watchdog looked */
    running_close(&running);
    gate_clear(&pair.late);
    gate_clear(&pair.live);
}

static void await_spares(pawl_runner *runner, int32_t expected)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    int32_t spares = -1;
    while (spares != expected && monotonic_ms() < until_ms) {
        rest_a_little();
        pthread_mutex_lock(&runner->lock);
        spares = runner->spares;
        pthread_mutex_unlock(&runner->lock);
    }
    assert_int_equal(spares, expected);
}

TEST(A7_spare_workers_leave_when_the_body_of_a_turn_that_was_given_up_returns)
{
    struct running running;
    struct pair pair;
    gate_init(&pair.late);
    running_open(&running, false);
    running_register(&running, "late", late_branch, &pair);
    running_start(&running, NULL);
    running_create(&running, "late", "i");
    gate_await(&pair.late, 1);
    (void)running_await(&running, "late", "i", PAWL_ERRORED);
    await_spares(running.runner, 1);

    gate_open(&pair.late);

    await_spares(running.runner, 0);
    running_close(&running);
    gate_clear(&pair.late);
}

/* ---- Locks -------------------------------------------------------------------------------------------------------------- */

WORKFLOW(call_child)
{
    return pawl_run_child(run, "child", "block", NULL, params, out_result);
}

/* With the runner's lock held. */
static pawl_turn *held_of(pawl_runner *runner, const char *workflow)
{
    pawl_turn *turn = runner->held;
    while (turn != NULL && !pw_text_equal(turn->claim.workflow, pw_text_of(workflow)))
        turn = turn->hosted.held_next;
    return turn;
}

/* A thread that holds the runner's lock may wait for a turn's lock: that is how events, pauses and demands reach a turn. */
static bool await_closing(pawl_turn *turn)
{
    bool is_closing = false;
    int64_t until_ms = monotonic_ms() + 5000;
    while (!is_closing && monotonic_ms() < until_ms) {
        rest_a_little();
        if (pthread_mutex_trylock(&turn->lock) != 0)
            continue;
        is_closing = turn->phase == PW_TURN_CLOSING;
        pthread_mutex_unlock(&turn->lock);
    }
    return is_closing;
}

TEST(a_child_that_ends_does_not_wait_for_its_runner_with_the_lock_of_its_turn)
{
    struct running running;
    struct gate gate;
    gate_init(&gate);
    running_open(&running, false);
    running_register(&running, "block", block, &gate);
    running_register(&running, "w", call_child, NULL);
    running_start(&running, NULL);
    running_create(&running, "w", "i");
    gate_await(&gate, 1);

    pthread_mutex_lock(&running.runner->lock);
    pawl_turn *turn = held_of(running.runner, "block");
    gate_open(&gate);
    bool is_closing = turn != NULL && await_closing(turn);
    pthread_mutex_unlock(&running.runner->lock);

    assert_true(is_closing);
    (void)running_await(&running, "w", "i", PAWL_COMPLETE);
    running_close(&running);
    gate_clear(&gate);
}

/* ---- Places ------------------------------------------------------------------------------------------------------------- */

/* Until the keeper sleeps, and for long: it looks neither for the dead nor for what others made due. */
static void put_keeper_to_sleep(struct running *running)
{
    pawl_runner *runner = running->runner;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    bool sleeps = false;
    while (!sleeps && monotonic_ms() < until_ms) {
        rest_a_little();
        pthread_mutex_lock(&runner->lock);
        runner->reap_at_ms = runner->poll_at_ms = INT64_MAX / 2;
        sleeps = runner->keeper_until_ms > pawl_now_ms(running->engine) + PATIENCE_MS;
        pthread_mutex_unlock(&runner->lock);
    }
    assert_true(sleeps);
}

TEST(a_place_that_is_given_back_is_for_whatever_was_due_meanwhile)
{
    struct running running;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    atomic_int bodies = 0;
    int64_t lease_ms;
    options.workers = 1;
    options.lease_ms = 10 * PATIENCE_MS;
    running_open(&running, false);
    running_register(&running, "w", one_step, &bodies);
    running_start(&running, &options);
    running_create(&running, "w", "first");
    (void)running_await(&running, "w", "first", PAWL_COMPLETE);

    pthread_mutex_lock(&running.runner->lock);
    running.runner->window = 1; /* it has grown */
    pthread_mutex_unlock(&running.runner->lock);
    while (pw_local_reserve(running.engine, pw_text_of("w"), &lease_ms) == 0) /* until the first has gone */
        rest_a_little();
    running_create(&running, "w", "second"); /* for which there is no room */
    put_keeper_to_sleep(&running);
    pw_local_deliver(running.engine, NULL);

    (void)running_await(&running, "w", "second", PAWL_COMPLETE);
    running_close(&running);
}
