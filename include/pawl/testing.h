/* testing.h - a small world in which workflows are tested: simulated time, seeded chance, no threads, no real waiting.
 *
 *     pawl_world *world;
 *     pawl_world_open(NULL, &world, &error);
 *     pawl_register(pawl_world_engine(world), &order, &error);
 *     pawl_world_create(world, "order", "o-1", "{\"sku\": \"teapot\"}", &error);
 *     pawl_world_run_until_idle(world, &error);
 *     pawl_world_advance(world, "1 hour", &error);           ... and what was due has run
 *     pawl_world_get(world, "order", "o-1", &instance, &error);
 *
 * The engine inside is the real one: everything of service.h and runner.h works on it.  The same seed gives the same ids
 * and the same order of everything.  Answers live in the world's scope, until it is closed. */
#ifndef PAWL_TESTING_H
#define PAWL_TESTING_H

#include "runner.h"
#include "service.h"
#include "workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_world pawl_world;

struct pawl_world_options {
    size_t struct_size;
    uint64_t seed;
    const char *store_url;     /* NULL: "sqlite::memory:" */
    int64_t start_ms;          /* 0: 2026-01-01T00:00:00.000Z */
    bool always_replay;        /* every turn replays from the store, so that nondeterminism shows */
    bool disable_sleeps;       /* sleeps are done at once */
    struct pawl_limits limits; /* zero: the defaults */
};
/* clang-format off */
#define PAWL_WORLD_OPTIONS_INIT { sizeof(struct pawl_world_options), 0, NULL, 0, false, false, { 0, 0 } }
/* clang-format on */

/* options NULL: all defaults. */
PAWL_API pawl_status pawl_world_open(const struct pawl_world_options *options, pawl_world **out_world,
                                     struct pawl_error *error) PAWL_MUST_CHECK;
/* NULL is fine. */
PAWL_API void pawl_world_close(pawl_world *world);

/* Borrowed until the world is closed. */
PAWL_API pawl_engine *pawl_world_engine(pawl_world *world);
PAWL_API pawl_runner *pawl_world_runner(pawl_world *world);
PAWL_API pawl_scope *pawl_world_scope(pawl_world *world);

/* ---- Time ------------------------------------------------------------------------------------------------------- */

PAWL_API int64_t pawl_world_now_ms(const pawl_world *world);

/* Moves the clock by a duration ("1 hour", "250 ms"), stopping at every moment at which something is due, so that all of
 * it runs at its time; then runs what is due at the end. */
PAWL_API pawl_status pawl_world_advance(pawl_world *world, const char *duration,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* Moves the clock and runs nothing; backwards, too. */
PAWL_API void pawl_world_jump_ms(pawl_world *world, int64_t by_ms);

/* ---- Running ------------------------------------------------------------------------------------------------------ */

/* One due turn.  out_processed (or NULL): 0 when none was due. */
PAWL_API pawl_status pawl_world_tick(pawl_world *world, int64_t *out_processed,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* Until nothing is due now.  PAWL_BUSY when that does not come within 100,000 turns. */
PAWL_API pawl_status pawl_world_run_until_idle(pawl_world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same, then on to the next moment at which something is due, until nothing is due ever. */
PAWL_API pawl_status pawl_world_run_to_end(pawl_world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Shorthands of service.h ---------------------------------------------------------------------------------------- */

/* id and params may be NULL.  Returns once created; runs nothing. */
PAWL_API pawl_status pawl_world_create(pawl_world *world, const char *workflow, const char *id, const char *params_json,
                                       struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_send_event(pawl_world *world, const char *workflow, const char *id, const char *type,
                                           const char *payload_json, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_get(pawl_world *world, const char *workflow, const char *id,
                                    struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;
/* All steps, events and logs of the run (0: the current one), however many. */
PAWL_API pawl_status pawl_world_history(pawl_world *world, const char *workflow, const char *id, int64_t run_number,
                                        struct pawl_history *out_history, struct pawl_error *error) PAWL_MUST_CHECK;
/* The step of that name in the current run; NULL when there is none, or on an error. */
PAWL_API const struct pawl_step_record *pawl_world_step(pawl_world *world, const char *workflow, const char *id,
                                                        const char *step);

/* ---- Mocks: what a step does instead of running its body.  All texts are copied. --------------------------------------- */

/* For `times` attempts (0: always), of this workflow (NULL: any), the newest mock of a step first. */
PAWL_API pawl_status pawl_world_mock_result(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                            const char *result_json, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_mock_failure(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                             const char *error_name, const char *error_message, bool may_retry,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_mock_timeout(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_world_unmock(pawl_world *world);

/* ---- Trace --------------------------------------------------------------------------------------------------------------- */

/* Everything that was committed, refused or woken, a line each with its time, to be read afterwards.  Valid until the next
 * call on the world. */
PAWL_API const char *pawl_world_trace(pawl_world *world);

#ifdef __cplusplus
}
#endif
#endif
