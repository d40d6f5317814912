/* sightings.h - how long this process has seen each lease unchanged.
 *
 * The end of a lease is wall time, which may jump.  So the end alone does not show that its runner stopped renewing
 * it.  A runner whose presence lock is held lives.  It loses a lease only to a process that has seen the lease
 * unchanged (same run, same epoch, same end) for a whole lease by the monotonic clock.  A runner that renews changes
 * the end three times in that time.  If the end was still to come when the lease was first seen, it must also have
 * come by the monotonic clock.  Dead runners, and external workers, which have no presence, lose their leases when
 * these end.
 *
 * Sightings are kept in memory only.  A process that loses them waits longer before it takes a lease. */
#ifndef PW_STORE_SQLITE_SIGHTINGS_H
#define PW_STORE_SQLITE_SIGHTINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lease as its task row shows it. */
struct pw_held {
    int64_t instance, owner, run, epoch, locked_until_ms;
};

struct pw_sighting {
    struct pw_held held;
    int64_t since_ms; /* when it was first seen like this, by the monotonic clock */
    int64_t left_ms;  /* how long it was to last when it was first seen */
    int64_t lease_ms; /* how long a claimer has to wait at least; 0: nobody has asked yet */
    bool is_current;  /* seen in the current round */
};

struct pw_sightings {
    pthread_mutex_t lock;
    struct pw_sighting *rows; /* owned; ordered by instance */
    size_t count, capacity;
    bool in_round;
    size_t seen_last; /* how many there were at the end of the last round */
};

bool pw_sightings_init(struct pw_sightings *sightings); /* false when the system refuses */
void pw_sightings_clear(struct pw_sightings *sightings);

/* The two clocks at one moment. */
struct pw_moment {
    int64_t wall_ms, monotonic_ms;
};

/* Sees a lease.  Returns how much longer it must be seen unchanged by a caller that wants it for lease_ms; 0: it may
 * be taken.  When memory is out, that is a whole lease. */
int64_t pw_sightings_see(struct pw_sightings *sightings, const struct pw_held *held, int64_t lease_ms,
                         struct pw_moment now);

/* The same without seeing it, for the last caller that asked.  0: at once, or nobody has asked. */
int64_t pw_sightings_wait_ms(struct pw_sightings *sightings, const struct pw_held *held, int64_t monotonic_ms);

/* A round sees every existing lease.  Rows that it has not seen by its end are forgotten. */
void pw_sightings_begin_round(struct pw_sightings *sightings);
void pw_sightings_end_round(struct pw_sightings *sightings);

#endif
