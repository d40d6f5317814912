/* clock.h - the database's time, so that machines whose clocks disagree agree about what is due.
 *
 * Each answer of the database's clock bounds how far it is ahead of our monotonic clock: it was read between sending
 * and receiving.  The offset moves only when it lies outside of these bounds, so a slow answer spoils nothing.  A test
 * that brings a clock of its own gets that one instead. */
#ifndef PW_STORE_POSTGRES_CLOCK_H
#define PW_STORE_POSTGRES_CLOCK_H

#include <pthread.h>
#include <stdatomic.h>

#include "pawl/engine.h"

struct pw_pg_clock {
    struct pawl_clock given; /* now_ms NULL: the database's is used */
    pthread_mutex_t lock;    /* of those that correct it */
    atomic_llong offset_us;  /* database's time less monotonic time */
    atomic_llong read_at_us; /* when it was last asked, by the monotonic clock; 0: never */
    atomic_llong told_ms;    /* the latest time that was told */
    atomic_bool being_read;
};

/* False when the system refuses. */
bool pw_pg_clock_init(struct pw_pg_clock *clock, struct pawl_clock given);
void pw_pg_clock_clear(struct pw_pg_clock *clock);

bool pw_pg_clock_is_ours(const struct pw_pg_clock *clock); /* a clock of the test's own */

/* The database said `database_us` between these two readings of the monotonic clock. */
void pw_pg_clock_correct(struct pw_pg_clock *clock, int64_t sent_us, int64_t received_us, int64_t database_us);

int64_t pw_pg_clock_now_ms(struct pw_pg_clock *clock);

/* It was read a moment ago: transactions that follow one another closely need not each ask. */
bool pw_pg_clock_is_fresh(const struct pw_pg_clock *clock);
/* True, for one caller at a time: nobody has asked the database for long.  Ends with pw_pg_clock_was_read(). */
bool pw_pg_clock_wants_reading(struct pw_pg_clock *clock);
void pw_pg_clock_was_read(struct pw_pg_clock *clock);

#endif
