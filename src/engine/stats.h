/* stats.h - counts what this engine did since it was opened.  Counting takes no lock and loses nothing.  A reader
 * may see one figure of a batch before another. */
#ifndef PW_ENGINE_STATS_H
#define PW_ENGINE_STATS_H

#include <stdatomic.h>

#include "store/store.h"

enum { PW_MILLIONTHS = 1000000 };

/* Sums are in millionths, so that they are whole numbers. */
struct pw_distribution {
    _Atomic int64_t counts[PAWL_CLASSES_MAX];
    _Atomic int64_t sum_millionths;
};

/* A zeroed struct is ready. */
struct pw_stats {
    _Atomic int64_t runs_created, runs_ended[PW_OUTCOME_ERRORED + 1]; /* by outcome */
    _Atomic int64_t steps_ended[PAWL_STEP_ERRORED + 1];               /* by status */
    _Atomic int64_t attempts_failed;
    _Atomic int64_t events_sent, leases_lost;
    _Atomic int64_t commits, commits_failed;
    atomic_int last_commit_failure; /* a pawl_status */
    struct pw_distribution run_seconds, body_seconds, units, commit_seconds;
};

/* A transaction was tried and took took_us.  If it is durable, counts what its units did. */
void pw_stats_batch(struct pw_stats *stats, struct pw_unit **units, size_t count, pawl_status whole, int64_t took_us);
/* A step's body has returned. */
void pw_stats_body(struct pw_stats *stats, int64_t took_us);
/* A turn found its fence gone. */
void pw_stats_lease_lost(struct pw_stats *stats);

#endif
