/* sightings.h - how long this process has seen leases as they are now.
 *
 * A lease's end is wall time, which may jump.  So the end alone does not show that its runner stopped renewing it.  A runner
 * whose presence lock is held lives, and loses a lease only to a process that has seen the lease unchanged, at the same epoch
 * of the same run with the same end, for a whole lease on the monotonic clock: a runner that renews changes the end three times meanwhile.
 * If the end was still to come when it was seen first, it must also have come by the monotonic clock.
 * Runners that are dead, and workers outside, which have no presence, lose theirs when the time has come.
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
    int64_t since_ms; /* by the monotonic clock */
    int64_t left_ms;  /* how long it was to last when it was seen first */
    int64_t lease_ms; /* how long whoever wants it waits at least; 0: nobody has asked yet */
    bool is_current;  /* seen by the round under way */
};

struct pw_sightings {
    pthread_mutex_t lock;
    struct pw_sighting *rows; /* owned; in the order of the instances */
    size_t count, capacity;
    bool in_round;
    size_t seen_last; /* how many there were when the last round ended */
};

bool pw_sightings_init(struct pw_sightings *sightings); /* false when the system refuses */
void pw_sightings_clear(struct pw_sightings *sightings);

/* The two clocks at one moment. */
struct pw_moment {
    int64_t wall_ms, monotonic_ms;
};

/* Sees a lease.  Answers for how much longer it must be seen as it is by whoever wants it for lease_ms; 0: it may be taken.
 * When memory is out, that is a whole lease. */
int64_t pw_sightings_see(struct pw_sightings *sightings, const struct pw_held *held, int64_t lease_ms,
                         struct pw_moment now);

/* The same, without seeing it, for whoever asked last; 0: at once, or nobody has asked. */
int64_t pw_sightings_wait_ms(struct pw_sightings *sightings, const struct pw_held *held, int64_t monotonic_ms);

/* A round sees every lease there is: what it does not see by its end is forgotten. */
void pw_sightings_begin_round(struct pw_sightings *sightings);
void pw_sightings_end_round(struct pw_sightings *sightings);

#endif
