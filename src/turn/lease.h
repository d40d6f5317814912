/* lease.h (internal) - what a turn knows of its lease.
 *
 *  L1. A lease is known to hold up to its length after the moment at which the unit that took or renewed it was begun, read
 *      from the monotonic clock before the store was asked.  When the answer came says nothing: it may have been long under
 *      way.
 *  L2. A body begins only while the lease is known to hold for another third of the runner's lease_ms.  Otherwise the store is
 *      asked first, by a unit that renews the lease and is refused if the run was taken.  So a process that was stopped finds
 *      out, before it does anything, that others went on without it.
 *  L3. Where nobody renews leases while a body runs, the lease is lengthened by the body's timeout.  That alone does not let
 *      another body begin: others who saw wall time jump need not know how long it is (store/sqlite/sightings.h).
 *  L4. A boundary renews the lease as well, once less than half of it is left. */
#ifndef PW_TURN_LEASE_H
#define PW_TURN_LEASE_H

#include "turn/inside.h"

/* For how long a lease must be taken so that a body with this timeout may begin; 0: what it has will do (L2, L3). */
int64_t pw_turn_lease_wanted(const pawl_turn *turn, int64_t timeout_ms);

/* The same for a boundary (L4). */
int64_t pw_turn_lease_due(const pawl_turn *turn);

#endif
