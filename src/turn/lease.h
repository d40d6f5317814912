/* lease.h (internal) - what a turn knows about its lease.
 *
 *  L1. A lease is known to hold for its length, counted from the moment at which the unit that took or renewed it
 *      was begun.  That moment is read from the monotonic clock before the store is asked.  The moment of the answer
 *      proves nothing, because the answer may have been delayed.
 *  L2. A body begins only while the lease is known to hold for at least another third of the runner's lease_ms.
 *      Otherwise the turn first submits a unit that renews the lease and is refused if another owner has the run.
 *      So a process that was stopped for a while finds out that others took over before it does anything.
 *  L3. Where nobody renews leases while a body runs, the lease is extended by the body's timeout.  The extension
 *      alone does not let another body begin, because other processes that saw wall time jump need not know how long
 *      the lease is (store/sqlite/sightings.h).
 *  L4. A boundary renews the lease as well, once less than half of it is left. */
#ifndef PW_TURN_LEASE_H
#define PW_TURN_LEASE_H

#include "turn/inside.h"

/* The length for which the lease must be renewed before a body with this timeout may begin; 0: the present lease is
 * enough (L2, L3). */
int64_t pw_turn_lease_wanted(const pawl_turn *turn, int64_t timeout_ms);

/* The length for which a boundary should renew the lease; 0: not at all (L4). */
int64_t pw_turn_lease_due(const pawl_turn *turn);

#endif
