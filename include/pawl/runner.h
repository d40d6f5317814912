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
    int64_t code_ms_max; /* 60000: how long workflow code may run between two durable calls; -1: any time.  See below */
    int32_t blocked_max; /* 64: threads that such code and late bodies may keep before nothing new is taken */
    /* A tick makes no thread of its own.  Its leases are then not renewed while a body runs; instead each covers the timeout
     * of the step's attempt, and a little more. */
    bool tick_alone;
};
#define PAWL_RUNNER_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct pawl_runner_options), 0, 0, 0, 0, 0, false, NULL, 0, 0, false                                    \
    }

/* options NULL: all defaults.  Takes part in nothing until started or ticked. */
PAWL_API pawl_status pawl_runner_open(pawl_engine *engine, const struct pawl_runner_options *options,
                                      pawl_runner **out_runner, struct pawl_error *error) PAWL_MUST_CHECK;
/* Stops first if need be.  NULL is fine. */
PAWL_API void pawl_runner_close(pawl_runner *runner);

/* Starts the threads.  One started runner per engine. */
PAWL_API pawl_status pawl_runner_start(pawl_runner *runner, struct pawl_error *error) PAWL_MUST_CHECK;

/* No new claims; bodies under way are waited for and their boundaries committed; leases are released at once.  Bodies and
 * workflow code that block are waited for as well, however long that takes: their threads cannot be ended. */
PAWL_API void pawl_runner_stop(pawl_runner *runner);

/* Does what is due now in the calling thread: at most max_instances turns (0: 100) and max_steps bodies (0: no limit).
 * out_processed (or NULL): turns taken.  PAWL_STORE_TOO_NEW: see pawl_check_schema().
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
    int64_t turns;                        /* claimed and ended */
    int64_t steps;                        /* bodies run */
    int64_t leases_lost;                  /* turns that found their fence gone */
    int64_t commits;                      /* transactions of this engine */
    int64_t units;                        /* units of work in them */
    int64_t in_flight;                    /* runs held now */
    int64_t cached_bytes;                 /* of warm runs now */
    int64_t threads_blocked;              /* now, in the whole engine */
    int64_t code_blocked, bodies_blocked; /* calls that were found to block a thread, so far */
    bool is_full;                         /* blocked_max is reached: nothing new is taken */
    /* Not 0: a newer Pawl has migrated the database to this version, which this one does not know.  Nothing new is taken, and what
     * is held is finished.  Found by a started runner within a second or two. */
    int64_t newer_schema;
};
PAWL_API void pawl_runner_stats_read(pawl_runner *runner, struct pawl_runner_stats *out_stats);

/* ---- Calls that do not return ---------------------------------------------------------------------------------- */

/* A call of the author's code that keeps its thread: workflow code that has run for code_ms_max between two durable calls, or
 * a body that has outlived its timeout and has not returned.
 *
 * A started runner looks for them and starts a worker in place of each.  Workflow code that blocks also loses its run: the
 * lease is given back, other processes may take the run at once, and no runner of this engine takes it again before the
 * call has returned.  Whatever the code does from then on is dropped.  At blocked_max such threads the engine's runners, ticks
 * included, take nothing new; they go on when calls return.  Turns that are driven by hand are not watched.  In a tick workflow
 * code is watched, and loses its run in the same way; but the thread is the host's, and the tick ends when the call returns. */
struct pawl_blocked_call {
    int64_t number; /* from 1, in the order in which they were found: what is above the last number seen is new */
    const char *workflow, *instance_id;
    int64_t run_number;
    const char
        *step; /* in_body: whose body it is.  Otherwise the durable call that came before; NULL: there was none */
    bool in_body;
    int64_t began_at_ms;
};
/* Those of now, the newest last.  For the log of a host: the library writes none. */
PAWL_API pawl_status pawl_list_blocked(pawl_engine *engine, struct pawl_scope *scope,
                                       const struct pawl_blocked_call **out_calls, size_t *out_count,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

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
