/* clock.h - the database's time, so that machines whose clocks disagree still agree about what is due.
 *
 * Each answer of the database's clock was read between sending and receiving, so it bounds the offset to our
 * monotonic clock.  The offset moves only if it lies outside these bounds, so a slow answer does no harm.  A test
 * may bring a clock of its own, which is used instead. */
#ifndef PW_STORE_POSTGRES_CLOCK_H
#define PW_STORE_POSTGRES_CLOCK_H

#include <pthread.h>
#include <stdatomic.h>

#include "pawl/engine.h"

struct pw_pg_clock {
    struct pawl_clock given; /* now_ms NULL: the database's is used */
    pthread_mutex_t lock;    /* held while correcting the offset */
    atomic_llong offset_us;  /* database time minus monotonic time */
    atomic_llong read_at_us; /* when the database was last asked, by the monotonic clock; 0: never */
    atomic_llong told_ms;    /* the latest time that was given out */
    atomic_bool being_read;
};

/* False when the system refuses. */
bool pw_pg_clock_init(struct pw_pg_clock *clock, struct pawl_clock given);
void pw_pg_clock_clear(struct pw_pg_clock *clock);

bool pw_pg_clock_is_ours(const struct pw_pg_clock *clock); /* a test's own clock */

/* Corrects the offset: the database said `database_us` between these two readings of the monotonic clock. */
void pw_pg_clock_correct(struct pw_pg_clock *clock, int64_t sent_us, int64_t received_us, int64_t database_us);

int64_t pw_pg_clock_now_ms(struct pw_pg_clock *clock);

/* True if it was read a moment ago, so that transactions in quick succession need not each ask. */
bool pw_pg_clock_is_fresh(const struct pw_pg_clock *clock);
/* True, for one caller at a time, if nobody has asked the database for long.  That caller ends with
 * pw_pg_clock_was_read(). */
bool pw_pg_clock_wants_reading(struct pw_pg_clock *clock);
void pw_pg_clock_was_read(struct pw_pg_clock *clock);

#endif
