/* clock.c - adds an offset to the monotonic clock, and corrects it whenever the database tells its time; see
 * clock.h. */
#include "store/postgres/clock.h"

#include "base/clock.h"

enum { READ_EVERY_US = 5000000, FRESH_US = 100000, HELD_BACK_MS_MAX = 1000 };

bool pw_pg_clock_init(struct pw_pg_clock *clock, struct pawl_clock given)
{
    *clock = (struct pw_pg_clock){ .given = given };
    if (given.now_ms == pw_system_now_ms)
        clock->given.now_ms = NULL;
    atomic_init(&clock->offset_us, 0);
    atomic_init(&clock->read_at_us, 0);
    atomic_init(&clock->told_ms, 0);
    atomic_init(&clock->being_read, false);
    return pthread_mutex_init(&clock->lock, NULL) == 0;
}

void pw_pg_clock_clear(struct pw_pg_clock *clock)
{
    (void)pthread_mutex_destroy(&clock->lock);
}

bool pw_pg_clock_is_ours(const struct pw_pg_clock *clock)
{
    return clock->given.now_ms != NULL;
}

void pw_pg_clock_correct(struct pw_pg_clock *clock, int64_t sent_us, int64_t received_us, int64_t database_us)
{
    int64_t least = database_us - received_us, most = database_us - sent_us;
    (void)pthread_mutex_lock(&clock->lock);
    int64_t offset_us = atomic_load(&clock->offset_us);
    if (atomic_load(&clock->read_at_us) == 0)
        offset_us = least + (most - least) / 2;
    else if (offset_us < least)
        offset_us = least;
    else if (offset_us > most)
        offset_us = most;
    atomic_store(&clock->offset_us, offset_us);
    atomic_store(&clock->read_at_us, received_us);
    (void)pthread_mutex_unlock(&clock->lock);
}

/* A small step back is hidden until the clock has caught up.  A large one means that the clock was set, and is
 * followed. */
int64_t pw_pg_clock_now_ms(struct pw_pg_clock *clock)
{
    if (clock->given.now_ms != NULL)
        return clock->given.now_ms(clock->given.user);
    int64_t now_ms = (pw_system_monotonic_us() + atomic_load(&clock->offset_us)) / 1000;
    long long told_ms = atomic_load(&clock->told_ms);
    while (told_ms < now_ms || told_ms - now_ms > HELD_BACK_MS_MAX) {
        if (atomic_compare_exchange_weak(&clock->told_ms, &told_ms, now_ms))
            return now_ms;
    }
    return told_ms;
}

bool pw_pg_clock_is_fresh(const struct pw_pg_clock *clock)
{
    return pw_system_monotonic_us() - atomic_load(&clock->read_at_us) < FRESH_US;
}

bool pw_pg_clock_wants_reading(struct pw_pg_clock *clock)
{
    if (clock->given.now_ms != NULL || pw_system_monotonic_us() - atomic_load(&clock->read_at_us) < READ_EVERY_US)
        return false;
    return !atomic_exchange(&clock->being_read, true);
}

void pw_pg_clock_was_read(struct pw_pg_clock *clock)
{
    /* Also after a failure, so that a database in trouble is not asked again at once. */
    atomic_store(&clock->read_at_us, pw_system_monotonic_us());
    atomic_store(&clock->being_read, false);
}
