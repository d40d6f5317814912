/* runner.h - who carries runs forward.
 *
 * Three ways, all safe at once and in any number of processes on one store:
 *   - pawl_runner_start(): worker threads in this process, until pawl_runner_stop();
 *   - pawl_runner_tick(): the calling thread does what is due, then returns;
 *   - a host's own alarm: tick, then sleep until pawl_runner_next_wake_at().
 *
 * A runner holds what it works on by leases that it renews.  One that dies or loses its lease can finish no write: the
 * run goes on elsewhere, from its last finished step.  Wake calls only shorten the wait; polling finds everything. */
#ifndef PAWL_RUNNER_H
#define PAWL_RUNNER_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_runner pawl_runner;

/* Zero means the default, given behind each. */
struct pawl_runner_options {
    size_t struct_size;
    int32_t workers;       /* 8: how many step bodies run at once, at most; one that waits for its branches runs none */
    int32_t in_flight_max; /* 256: runs claimed at once */
    int64_t lease_ms;      /* 30000; renewed at a third of it */
    int64_t poll_ms;       /* 200: how often to look for other processes' work */
    int64_t cache_bytes;   /* 16 MiB: recent runs kept in memory; -1: none */
    bool always_replay;    /* forget the run after every turn and pass, so that nondeterminism shows */
    const char *name;      /* host and process: how people know it among others (pawl_list_runners); up to 255 bytes */
    /* A tick makes no thread of its own.  Its leases are then not renewed while a body runs; instead each covers the timeout
     * of the step's attempt, and a little more. */
    bool tick_alone;
};
#define PAWL_RUNNER_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct pawl_runner_options), 0, 0, 0, 0, 0, false, NULL                                                 \
    }

/* options NULL: all defaults.  Takes part in nothing until started or ticked. */
PAWL_API pawl_status pawl_runner_open(pawl_engine *engine, const struct pawl_runner_options *options,
                                      pawl_runner **out_runner, struct pawl_error *error) PAWL_MUST_CHECK;
/* Stops first if need be.  NULL is fine. */
PAWL_API void pawl_runner_close(pawl_runner *runner);

/* Starts the threads.  One started runner per engine. */
PAWL_API pawl_status pawl_runner_start(pawl_runner *runner, struct pawl_error *error) PAWL_MUST_CHECK;

/* No new claims; bodies under way are waited for and their boundaries committed; leases are released at once. */
PAWL_API void pawl_runner_stop(pawl_runner *runner);

/* Does what is due now in the calling thread: at most max_instances turns (0: 100) and max_steps bodies (0: no limit).
 * out_processed (or NULL): turns taken.
 *
 * From its first turn to its end a tick has a thread that renews its leases and watches workflow code, as a started runner has;
 * but not with options.tick_alone, nor on a test's own clock.  A body's timeout is noticed when it returns.  The lease of one that has
 * outlived its timeout is not renewed any more: another runner takes the run when it ends. */
PAWL_API pawl_status pawl_runner_tick(pawl_runner *runner, int64_t max_instances, int64_t max_steps,
                                      int64_t *out_processed, struct pawl_error *error) PAWL_MUST_CHECK;

/* When the next registered run is due, or a lease of a dead runner expires; INT64_MAX: never.  A job that only its function's
 * limit kept from the last tick is worth another tick poll_ms after that one. */
PAWL_API pawl_status pawl_runner_next_wake_at(pawl_runner *runner, int64_t *out_at_ms,
                                              struct pawl_error *error) PAWL_MUST_CHECK;

/* A hint that something became due.  From any thread, at any time. */
PAWL_API void pawl_runner_wake(pawl_runner *runner);

struct pawl_runner_stats {
    int64_t turns;        /* claimed and ended */
    int64_t steps;        /* bodies run */
    int64_t leases_lost;  /* turns that found their fence gone */
    int64_t commits;      /* transactions of this engine */
    int64_t units;        /* units of work in them */
    int64_t in_flight;    /* runs held now */
    int64_t cached_bytes; /* of warm runs now */
};
PAWL_API void pawl_runner_stats_read(pawl_runner *runner, struct pawl_runner_stats *out_stats);

/* ---- Taking turns by hand, for bindings of other languages ---------------------------------------------------- */

/* Claims the next due run whose workflow was defined without a turn function.  *out_turn is NULL when none is due.
 * Drive it as engine.h says, end it, then hand it back; until then the runner must be ticked or started elsewhere
 * only to renew its lease: pawl_runner_renew() does that alone. */
PAWL_API pawl_status pawl_turn_poll(pawl_runner *runner, pawl_turn **out_turn,
                                    struct pawl_error *error) PAWL_MUST_CHECK;

/* After the turn was ended.  *out_again: drive it once more from the top (it waited for a commit, which is done);
 * otherwise the turn is gone. */
PAWL_API pawl_status pawl_turn_done(pawl_runner *runner, pawl_turn *turn, bool *out_again,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_runner_renew(pawl_runner *runner, struct pawl_error *error) PAWL_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
