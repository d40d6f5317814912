/* world.h (internal) - a world: an engine with simulated time and seeded randomness, and a runner that only ticks. */
#ifndef PW_TESTING_WORLD_H
#define PW_TESTING_WORLD_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "pawl/testing.h"
#include "testing/mocks.h"
#include "testing/trace.h"

enum { PW_WORLD_TURNS_MAX = 100000 };

struct pawl_world {
    _Atomic int64_t now_ms;       /* wall time */
    _Atomic int64_t monotonic_ms; /* the monotonic clock */
    atomic_ullong chance;         /* the state of the random generator */
    int64_t turns_max;            /* the most turns in one call; a run that has not ended by then never will */
    struct pw_trace trace;
    struct pw_recorder recorder; /* writes into the trace */
    struct pw_mock_list mocks;
    pawl_scope *scope;
    pawl_engine *engine;
    pawl_runner *runner;
};

/* Commits a unit with only this op. */
pawl_status pw_world_apply(pawl_world *world, const struct pw_op *wanted, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
