/* test_bounds.c - what a run may take, whatever its code does and however slow the store is: boundaries that are not durable
 * yet, sleeps and waits, and the time for which a turn's lock is held. */
#include "kit/running.h"

#include <sys/resource.h>

#include "base/limits.h"
#include "engine/engine.h"
#include "testing/forward.h"

enum { MEBIBYTE = 1024 * 1024 };

/* A store that stands at gates. */
struct slow {
    struct running running;
    struct pw_forward forward;
    struct gate apply_gate;
    atomic_bool stops_applying; /* from the first unit with a step on */
    atomic_int calls;           /* durable calls that came back */
    int64_t count;              /* that are made; 0: without end */
    struct pawl_limits limits;
};

static struct slow *slow_of(struct pw_store *store)
{
    return (struct slow *)((char *)store - offsetof(struct slow, forward));
}

static bool has_step(struct pw_unit **units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct pw_op *op = units[i]->first; op != NULL; op = op->next) {
            if (op->kind == PW_OP_STEP)
                return true;
        }
    }
    return false;
}

static pawl_status slow_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct slow *slow = slow_of(store);
    if (atomic_load(&slow->stops_applying) && has_step(units, count))
        (void)gate_pass(&slow->apply_gate);
    return slow->forward.inner->ops->apply(slow->forward.inner, units, count, error);
}

static struct pw_store *wrap(struct pw_store *inner, void *user)
{
    struct slow *slow = user;
    pw_forward_init(&slow->forward, inner);
    slow->forward.ops.apply = slow_apply;
    return &slow->forward.store;
}

static void open_slow(struct slow *slow, struct pawl_limits limits)
{
    struct running *running = &slow->running;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    memset(slow, 0, sizeof *slow);
    gate_init(&slow->apply_gate);
    struct store_place place = database_place("");
    options.store_url = place.url;
    options.limits = limits;
    assert_ok(pw_engine_open(&options, wrap, slow, &running->engine, &running->error), running->error);
    running->scope = pawl_scope_new();
    assert_non_null(running->scope);
}

static void close_slow(struct slow *slow)
{
    running_close(&slow->running);
    gate_clear(&slow->apply_gate);
}

/* ---- Boundaries that are not durable ------------------------------------------------------------------------------- */

WORKFLOW(sleep_often)
{
    struct slow *slow = pawl_run_user(run);
    for (int64_t i = 0; slow->count == 0 || i < slow->count; i++) {
        PAWL_TRY(pawl_sleep_ms(run, pawl_run_format(run, "nap %lld", (long long)i), 0));
        atomic_fetch_add(&slow->calls, 1);
    }
    return PAWL_OK;
}

static void await_calls(struct slow *slow, int count)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; atomic_load(&slow->calls) < count;) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
}

TEST(a_turn_waits_when_256_of_its_boundaries_are_not_durable)
{
    struct slow slow;
    open_slow(&slow, (struct pawl_limits){ .steps_max = 0 });
    slow.count = 2000;
    atomic_store(&slow.stops_applying, true);
    running_register(&slow.running, "w", sleep_often, &slow);
    running_create(&slow.running, "w", "i");
    running_start(&slow.running, NULL);

    gate_await(&slow.apply_gate, 1);
    await_calls(&slow, PW_TURN_UNDURABLE_MAX);
    for (int i = 0; i < 20; i++)
        rest_a_little(); /* it would go on, if it went on */
    assert_int_equal(atomic_load(&slow.calls), PW_TURN_UNDURABLE_MAX);

    gate_open(&slow.apply_gate);
    (void)running_await(&slow.running, "w", "i", PAWL_COMPLETE);
    close_slow(&slow);
}

TEST(runs_beside_one_that_waits_so_go_on_once_the_store_answers)
{
    enum { RUNS = 20 };
    struct slow slow;
    char id[16];
    open_slow(&slow, (struct pawl_limits){ .steps_max = 0 });
    slow.count = 600;
    atomic_store(&slow.stops_applying, true);
    running_register(&slow.running, "w", sleep_often, &slow);
    for (int i = 0; i < RUNS; i++) {
        snprintf(id, sizeof id, "i%d", i);
        running_create(&slow.running, "w", id);
    }
    running_start(&slow.running, NULL);

    gate_await(&slow.apply_gate, 1);
    gate_open(&slow.apply_gate);

    assert_true(running_await_all(&slow.running, "w"));
    assert_int_equal(running_count(&slow.running, "w", PAWL_COMPLETE), RUNS);
    close_slow(&slow);
}

/* ---- Sleeps without end ---------------------------------------------------------------------------------------------- */

static long peak_bytes(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss * 1024;
}

TEST(a_run_that_sleeps_without_end_and_without_time_ends_in_bounded_memory)
{
    struct slow slow;
    open_slow(&slow, (struct pawl_limits){ .steps_max = 0 });
    running_register(&slow.running, "w", sleep_often, &slow);
    long before = peak_bytes();
    running_start(&slow.running, NULL);
    running_create(&slow.running, "w", "i");

    struct pawl_instance ended = running_await(&slow.running, "w", "i", PAWL_ERRORED);

    assert_string_equal(ended.error_name, "MAX_WAITS_EXCEEDED");
    assert_non_null(strstr(ended.error_message, "16384"));
    assert_true(atomic_load(&slow.calls) >= PW_WAITS_MAX_DEFAULT);
    if (!RUNNING_SLOWLY) /* with a sanitizer memory is not what it is */
        assert_true(peak_bytes() - before < 128L * MEBIBYTE);
    close_slow(&slow);
}

/* ---- Loops that make no progress ----------------------------------------------------------------------------------------- */

BODY(do_nothing)
{
    (void)step, (void)input, (void)out_result;
    return PAWL_OK;
}

WORKFLOW(sleep_under_one_name)
{
    for (;;)
        PAWL_TRY(pawl_sleep_ms(run, "same", 0));
}

WORKFLOW(step_under_one_name)
{
    for (;;)
        PAWL_TRY(pawl_do(run, "same", NULL, do_nothing, NULL, NULL));
}

/* Each call is answered from memory, so nothing is recorded, nobody waits, and no limit of rows is ever reached. */
TEST(a_loop_that_uses_one_name_in_every_round_ends)
{
    struct running running;
    running_open(&running, true);
    running_register(&running, "sleeps", sleep_under_one_name, NULL);
    running_register(&running, "steps", step_under_one_name, NULL);
    running_start(&running, NULL);
    running_create(&running, "sleeps", "i");
    running_create(&running, "steps", "i");

    struct pawl_instance sleeps = running_await(&running, "sleeps", "i", PAWL_ERRORED);
    struct pawl_instance steps = running_await(&running, "steps", "i", PAWL_ERRORED);

    assert_string_equal(sleeps.error_name, "MAX_WAITS_EXCEEDED");
    assert_string_equal(steps.error_name, "MAX_STEPS_EXCEEDED");
    assert_non_null(strstr(steps.error_message, "must change with every round"));
    running_close(&running);
}
