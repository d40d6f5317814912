/* runner.h - runners, which carry runs forward.
 *
 * There are three ways to run one.  They can be mixed, in any number of processes on one store:
 *   - pawl_runner_start(): worker threads in this process, until pawl_runner_stop();
 *   - pawl_runner_tick(): the calling thread does what is due, then returns;
 *   - the host's own timer: tick, then sleep until pawl_runner_next_wake_at().
 *
 * A runner holds each run that it works on under a lease, which it renews.  A runner that dies or loses its lease
 * can commit nothing more for the run.  The run goes on elsewhere from its last finished step.  Wake calls only
 * shorten the wait, because polling finds everything. */
#ifndef PAWL_RUNNER_H
#define PAWL_RUNNER_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_runner pawl_runner;

/* Zero means the default, which stands first in each comment. */
struct pawl_runner_options {
    size_t struct_size;
    int32_t workers; /* 8: how many step bodies run at once; a worker that waits for its branches does not count */
    int32_t in_flight_max; /* 256: how many runs are claimed at once */
    int64_t lease_ms;      /* 30000; renewed after a third of it */
    int64_t poll_ms;       /* 200: how often to look for other processes' work */
    int64_t cache_bytes;   /* 16 MiB: recent runs kept in memory; -1: none */
    bool always_replay;    /* forget the run after every turn and pass, so that nondeterminism shows */
    const char *name;      /* host and process id; shown by pawl_list_runners(); up to 255 bytes */
    int64_t
        code_ms_max; /* 60000: how long workflow code may run between two durable calls; -1: unlimited.  See below */
    int32_t
        blocked_max; /* 64: how many threads such code and late bodies may block before the runner takes nothing new */
    /* A tick starts no thread of its own.  Then leases are not renewed while a body runs.  Instead each lease lasts
     * a little longer than the timeout of the step's attempt. */
    bool tick_alone;
};
#define PAWL_RUNNER_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct pawl_runner_options), 0, 0, 0, 0, 0, false, NULL, 0, 0, false                                    \
    }

/* options NULL: all defaults.  Does nothing until it is started or ticked. */
PAWL_API pawl_status pawl_runner_open(pawl_engine *engine, const struct pawl_runner_options *options,
                                      pawl_runner **out_runner, struct pawl_error *error) PAWL_MUST_CHECK;
/* Stops the runner first if it is running.  NULL is fine. */
PAWL_API void pawl_runner_close(pawl_runner *runner);

/* Starts the threads.  Each engine can have one started runner. */
PAWL_API pawl_status pawl_runner_start(pawl_runner *runner, struct pawl_error *error) PAWL_MUST_CHECK;

/* Takes no new runs, waits for the bodies under way, commits their results, and releases all leases.  It waits for
 * blocked bodies and blocked workflow code as well, however long that takes, because their threads cannot be ended. */
PAWL_API void pawl_runner_stop(pawl_runner *runner);

/* Does what is due now, in the calling thread: at most max_instances turns (0: 100) and max_steps bodies (0: no
 * limit). out_processed (or NULL): the number of turns.  PAWL_STORE_TOO_NEW: see pawl_check_schema().
 *
 * From its first turn to its end, a tick has a thread that renews its leases and watches workflow code, as a started
 * runner does.  It has none with options.tick_alone, or on a test's clock.  A body's timeout is noticed when the
 * body returns.  The lease of a body that has outlived its timeout is no longer renewed, so another runner takes the
 * run when the lease ends. */
PAWL_API pawl_status pawl_runner_tick(pawl_runner *runner, int64_t max_instances, int64_t max_steps,
                                      int64_t *out_processed, struct pawl_error *error) PAWL_MUST_CHECK;

/* When the next run that this runner serves is due, or the lease of a dead runner expires.  INT64_MAX: never.  If
 * only a function's limit kept a job from the last tick, another tick is worthwhile after poll_ms. */
PAWL_API pawl_status pawl_runner_next_wake_at(pawl_runner *runner, int64_t *out_at_ms,
                                              struct pawl_error *error) PAWL_MUST_CHECK;

/* Hints that something became due.  May be called from any thread at any time. */
PAWL_API void pawl_runner_wake(pawl_runner *runner);

struct pawl_runner_stats {
    int64_t turns;                        /* claimed and ended */
    int64_t steps;                        /* bodies run */
    int64_t leases_lost;                  /* turns that lost their lease and could commit nothing more */
    int64_t commits;                      /* transactions of this engine */
    int64_t units;                        /* units of work in them */
    int64_t in_flight;                    /* runs claimed now */
    int64_t cached_bytes;                 /* memory of cached runs now */
    int64_t threads_blocked;              /* now, in the whole engine */
    int64_t code_blocked, bodies_blocked; /* calls found to block a thread, so far */
    bool is_full;                         /* blocked_max is reached: the runner takes nothing new */
    /* Not 0: a newer Pawl has migrated the database to this schema version, which this library does not know.  The
     * runner takes nothing new and finishes the runs that it holds.  A started runner notices within a second or
     * two. */
    int64_t newer_schema;
};
PAWL_API void pawl_runner_stats_read(pawl_runner *runner, struct pawl_runner_stats *out_stats);

/* ---- Calls that do not return ---------------------------------------------------------------------------------- */

/* A call of the author's code that blocks its thread: workflow code that has run for code_ms_max between two durable
 * calls, or a body that has outlived its timeout and has not returned.  The time of workflow code counts from the
 * watchdog's first look, which comes at most a second after the code began.
 *
 * A started runner finds such calls and starts another worker for each.  Workflow code that blocks also loses its
 * run: the lease is given back, other processes may take the run at once, and no runner of this engine takes it
 * again before the call has returned.  Whatever the code does from then on is dropped.  When blocked_max threads are
 * blocked, the engine's runners, ticks included, take nothing new until calls return.  Turns that are driven by hand
 * are not watched.  A tick watches workflow code, which loses its run in the same way, but the thread belongs to the
 * host, so the tick ends only when the call returns. */
struct pawl_blocked_call {
    int64_t number; /* from 1, in the order in which they were found; a number above the last one seen is new */
    const char *workflow, *instance_id;
    int64_t run_number;
    /* in_body: the step whose body it is.  Otherwise the durable call before it; NULL: there was none. */
    const char *step;
    bool in_body;
    int64_t began_at_ms;
};
/* Lists the calls that are blocked now, newest last, so that the host can log them.  The library itself logs
 * nothing. */
PAWL_API pawl_status pawl_list_blocked(pawl_engine *engine, struct pawl_scope *scope,
                                       const struct pawl_blocked_call **out_calls, size_t *out_count,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Driving turns by hand, for bindings of other languages ---------------------------------------------------- */

/* Claims the next due run whose workflow was defined without a turn function.  *out_turn is NULL if none is due.
 * Drive the turn as engine.h says, end it, then hand it back with pawl_turn_done().  Until then its lease must be
 * renewed with pawl_runner_renew(), unless the runner is started or ticked meanwhile. */
PAWL_API pawl_status pawl_turn_poll(pawl_runner *runner, pawl_turn **out_turn,
                                    struct pawl_error *error) PAWL_MUST_CHECK;

/* Hands a turn back after it was ended.  *out_again true: drive it once more from the top, because it waited for a
 * commit that is done now.  Otherwise the turn is gone. */
PAWL_API pawl_status pawl_turn_done(pawl_runner *runner, pawl_turn *turn, bool *out_again,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_runner_renew(pawl_runner *runner, struct pawl_error *error) PAWL_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
