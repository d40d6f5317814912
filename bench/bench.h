/* bench.h - what the benchmarks share: time, a scratch store, an engine with a started runner, and the line of JSON.
 *
 * A benchmark measures the engine and the limit (limit.h) alternately and in the same process, so that other load on
 * the machine affects both.  It ends at the first error, with a message and exit code 1. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <pawl/pawl.h>
#include <semaphore.h>

/* Checks each call of the library: ends the program unless the status is PAWL_OK. */
void bench_check(pawl_status status, const struct pawl_error *error);
/* The same for other conditions. */
void bench_require(bool holds, const char *what);

double bench_now_us(void);
void bench_pause_us(long pause_us);

/* Sorts the values.  share 0.5 is the median. */
double bench_percentile(double *values, size_t count, double share);

/* ---- A directory for one measurement, in $TMPDIR, else in the current one ---- */

struct bench_place {
    char directory[400];
    char store_url[480];  /* the engine's store */
    char store_path[440]; /* the same as a path */
    char limit_path[440]; /* the raw writer's file */
};
void bench_place_make(struct bench_place *place);
void bench_place_remove(const struct bench_place *place);

/* ---- An engine as a host has it: all options at their defaults, one workflow ---- */

struct bench_host {
    pawl_engine *engine;
    pawl_runner *runner;
    bool started;
    const char *workflow; /* its name */
};
void bench_host_open(struct bench_host *host, const struct bench_place *place, const struct pawl_workflow *workflow);
/* Like bench_host_open(), but does not start the runner. clock may be NULL for the system's. */
void bench_host_prepare(struct bench_host *host, const struct bench_place *place, const struct pawl_workflow *workflow,
                        const struct pawl_clock *clock);
/* Lets the store's write-ahead log grow to its full size, as in long-lived stores, because commits are cheaper then. */
void bench_warm_up(const struct bench_host *host);
void bench_host_close(struct bench_host *host);

/* A step's body that does nothing. */
pawl_step_fn bench_no_op;

/* Creates a run; id is 1-100 of [a-zA-Z0-9_-]. */
void bench_create(const struct bench_host *host, const char *id);
/* Creates up to 100 in one call: run-<first> and so on. */
enum { BENCH_BATCH_MAX = 100 };
void bench_create_batch(const struct bench_host *host, int first, int count);
/* Polls like a host, every 20 us, until the run has the wanted status. */
void bench_await(const struct bench_host *host, const char *id, enum pawl_instance_status wanted);
/* Waits until the run is complete.  Polling costs the engine time, so it begins only when the workflow is about to
 * return and calls bench_say_ready() on the same semaphore. */
void bench_await_end(const struct bench_host *host, const char *id, sem_t *ready);
void bench_say_ready(sem_t *ready);
void bench_await_ready(sem_t *ready);
/* Waits until no run is active: all have finished or wait. */
void bench_await_idle(const struct bench_host *host);

/* ---- The result ---- */

enum bench_kind { BENCH_RATE, BENCH_TIME }; /* for a rate more is better, for a time less */

struct bench_result {
    const char *name;
    const char *store; /* NULL: sqlite */
    enum bench_kind kind;
    double value;
    const char *unit;
    double limit; /* in the same unit */
};

/* Prints one line of JSON.  `more` holds further members, printf-style, without a leading comma; "" for none. */
void bench_print(const struct bench_result *result, const char *more, ...) PAWL_PRINTF(2, 3);

#endif
