/* world.c - opens and closes a world; its time, its randomness, and running what is due.  See
 * include/pawl/testing.h. */
#include "testing/world.h"

#include <stdlib.h>

#include "common/duration.h"
#include "base/error.h"
#include "base/limits.h"

#define START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00.000Z */

/* ---- Time and chance, as the engine sees them ---------------------------------------------------------------- */

static int64_t world_now_ms(void *user)
{
    return atomic_load(&((pawl_world *)user)->now_ms);
}

static int64_t world_monotonic_ms(void *user)
{
    return atomic_load(&((pawl_world *)user)->monotonic_ms);
}

/* Lets time pass on both clocks. */
static void pass_until(pawl_world *world, int64_t until_ms)
{
    atomic_fetch_add(&world->monotonic_ms, until_ms - atomic_load(&world->now_ms));
    atomic_store(&world->now_ms, until_ms);
}

/* SplitMix64: a counter with an odd step, whose value is mixed.  The counter is the whole state, so one atomic
 * addition draws a number. */
static uint64_t draw(pawl_world *world)
{
    const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = atomic_fetch_add(&world->chance, step) + step;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

static void fill_by_chance(void *user, void *bytes, size_t size)
{
    unsigned char *at = bytes;
    while (size > 0) {
        uint64_t drawn = draw(user);
        size_t part = size < sizeof drawn ? size : sizeof drawn;
        memcpy(at, &drawn, part);
        at += part;
        size -= part;
    }
}

/* ---- Opening and closing ------------------------------------------------------------------------------------- */

static pawl_status open_engine(pawl_world *world, const struct pawl_world_options *options, struct pawl_error *error)
{
    struct pawl_options inner = PAWL_OPTIONS_INIT;
    struct pawl_runner_options runner = PAWL_RUNNER_OPTIONS_INIT;
    inner.store_url = options->store_url != NULL ? options->store_url : "sqlite::memory:";
    inner.limits = options->limits;
    inner.clock = (struct pawl_clock){ .now_ms = world_now_ms, .user = world, .monotonic_ms = world_monotonic_ms };
    inner.random = (struct pawl_random){ fill_by_chance, world };
    runner.always_replay = options->always_replay;
    PAWL_TRY(pw_engine_open(&inner, pw_trace_wrap, &world->trace, &world->engine, error));
    world->engine->mocks = &world->mocks.hooks;
    world->recorder = (struct pw_recorder){ &world->trace, pw_trace_note };
    world->engine->recorder = &world->recorder;
    return pawl_runner_open(world->engine, &runner, &world->runner, error);
}

pawl_status pawl_world_open(const struct pawl_world_options *given, pawl_world **out_world, struct pawl_error *error)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    if (out_world == NULL || !pw_options_copy(&options, sizeof options, given))
        return pw_error(error, PAWL_INVALID, "a world needs out_world, and options made by PAWL_WORLD_OPTIONS_INIT");
    if (options.start_ms < 0 || options.start_ms > PW_TIME_MS_MAX)
        return pw_error(error, PAWL_INVALID, "a world starts between the years 1970 and 9999, not at %lld ms",
                        (long long)options.start_ms);
    pawl_world *world = calloc(1, sizeof *world);
    pawl_scope *scope = pawl_scope_new();
    if (world == NULL || scope == NULL) {
        free(world);
        pawl_scope_free(scope);
        return pw_error_plain(error, PAWL_NOMEM);
    }
    atomic_init(&world->now_ms, options.start_ms != 0 ? options.start_ms : START_MS);
    atomic_init(&world->chance, options.seed);
    world->turns_max = PW_WORLD_TURNS_MAX;
    world->scope = scope;
    pw_trace_init(&world->trace);
    pw_mock_list_init(&world->mocks, scope, options.disable_sleeps);
    pawl_status status = open_engine(world, &options, error);
    if (status != PAWL_OK) {
        pawl_world_close(world);
        return status;
    }
    *out_world = world;
    return PAWL_OK;
}

void pawl_world_close(pawl_world *world)
{
    if (world == NULL)
        return;
    pawl_runner_close(world->runner);
    pawl_close(world->engine);
    pw_mock_list_free(&world->mocks);
    pw_trace_free(&world->trace);
    pawl_scope_free(world->scope);
    free(world);
}

pawl_engine *pawl_world_engine(pawl_world *world)
{
    return world != NULL ? world->engine : NULL;
}

pawl_runner *pawl_world_runner(pawl_world *world)
{
    return world != NULL ? world->runner : NULL;
}

pawl_scope *pawl_world_scope(pawl_world *world)
{
    return world != NULL ? world->scope : NULL;
}

const char *pawl_world_trace(pawl_world *world)
{
    return world != NULL ? pw_trace_read(&world->trace) : "";
}

/* ---- Running ------------------------------------------------------------------------------------------------- */

static pawl_status refuse_no_world(struct pawl_error *error)
{
    return pw_error(error, PAWL_INVALID, "the world is missing (NULL)");
}

static pawl_status refuse_endless(const pawl_world *world, struct pawl_error *error)
{
    return pw_error(error, PAWL_BUSY, "after %lld turns there is still something due; does a workflow go on forever?",
                    (long long)world->turns_max);
}

/* Runs everything that is due now, and reports when something is due next. */
static pawl_status run_due(pawl_world *world, int64_t *turns_left, int64_t *out_next_ms, struct pawl_error *error)
{
    int64_t processed = 0;
    if (*turns_left > 0)
        PAWL_TRY(pawl_runner_tick(world->runner, *turns_left, 0, &processed, error));
    *turns_left -= processed;
    PAWL_TRY(pawl_runner_next_wake_at(world->runner, out_next_ms, error));
    bool is_endless = *turns_left <= 0 && *out_next_ms <= atomic_load(&world->now_ms);
    return is_endless ? refuse_endless(world, error) : PAWL_OK;
}

/* Runs everything up to until_ms, each run when it is due.  A body may move the clock, so the clock is read again
 * each time. */
static pawl_status run_until(pawl_world *world, int64_t until_ms, struct pawl_error *error)
{
    int64_t turns_left = world->turns_max, next_ms = 0;
    for (;;) {
        PAWL_TRY(run_due(world, &turns_left, &next_ms, error));
        if (next_ms == INT64_MAX || next_ms > until_ms)
            return PAWL_OK;
        if (next_ms > atomic_load(&world->now_ms))
            pass_until(world, next_ms);
        else if (--turns_left <= 0) /* due, but no runner took it */
            return refuse_endless(world, error);
    }
}

pawl_status pawl_world_tick(pawl_world *world, int64_t *out_processed, struct pawl_error *error)
{
    if (world == NULL)
        return refuse_no_world(error);
    return pawl_runner_tick(world->runner, 1, 0, out_processed, error);
}

pawl_status pawl_world_run_until_idle(pawl_world *world, struct pawl_error *error)
{
    if (world == NULL)
        return refuse_no_world(error);
    int64_t turns_left = world->turns_max, next_ms;
    return run_due(world, &turns_left, &next_ms, error);
}

pawl_status pawl_world_run_to_end(pawl_world *world, struct pawl_error *error)
{
    if (world == NULL)
        return refuse_no_world(error);
    return run_until(world, INT64_MAX, error);
}

/* ---- Moving the clock ---------------------------------------------------------------------------------------- */

int64_t pawl_world_now_ms(const pawl_world *world)
{
    return world != NULL ? atomic_load(&world->now_ms) : 0;
}

pawl_status pawl_world_advance(pawl_world *world, const char *duration, struct pawl_error *error)
{
    int64_t by_ms, until_ms;
    if (world == NULL)
        return refuse_no_world(error);
    if (!pw_duration_parse(duration, &by_ms))
        return pw_error(error, PAWL_INVALID_DURATION, "\"%.80s\" is not a duration such as \"1 hour\" or \"250 ms\"",
                        duration != NULL ? duration : "");
    if (__builtin_add_overflow(atomic_load(&world->now_ms), by_ms, &until_ms) || until_ms > PW_TIME_MS_MAX)
        return pw_error(error, PAWL_INVALID_DURATION, "\"%.80s\" leads past the year 9999", duration);
    PAWL_TRY(run_until(world, until_ms, error));
    if (atomic_load(&world->now_ms) < until_ms)
        pass_until(world, until_ms);
    return PAWL_OK;
}

/* Stays within the times that a row can hold, where 0 means "no time". */
static int64_t time_after(const pawl_world *world, int64_t by_ms)
{
    int64_t to_ms;
    if (__builtin_add_overflow(atomic_load(&world->now_ms), by_ms, &to_ms))
        to_ms = by_ms > 0 ? PW_TIME_MS_MAX : 1;
    if (to_ms > PW_TIME_MS_MAX)
        return PW_TIME_MS_MAX;
    return to_ms < 1 ? 1 : to_ms;
}

void pawl_world_jump_ms(pawl_world *world, int64_t by_ms)
{
    if (world == NULL)
        return;
    if (by_ms > 0)
        pass_until(world, time_after(world, by_ms));
    else
        pawl_world_set_clock_ms(world, by_ms);
}

void pawl_world_set_clock_ms(pawl_world *world, int64_t by_ms)
{
    if (world != NULL)
        atomic_store(&world->now_ms, time_after(world, by_ms));
}
