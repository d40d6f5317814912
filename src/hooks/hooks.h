/* hooks.h (internal) - makes deliveries.
 *
 * An errand is one delivery: claimed, called, settled.  Settling one and claiming the next is one unit of work, so a
 * busy thread commits once for each delivery.  Deliveries are claimed one by one, because the lease of an attempt
 * begins with its claim.
 *
 *  H1. An attempt is counted when it is claimed.  After a crash, or if it could not be settled, another attempt
 *      follows when the lease has ended; after the last attempt the delivery fails for good.  An attempt that was
 *      claimed but not made, because memory ran out or the lease may be over (H3), is given back and not counted.
 *  H2. Settling changes nothing after another owner has taken the lease.
 *  H3. A hook is called only while the lease is known to hold for another third of its length by the monotonic
 *      clock, and has not ended by the store's time.  So a process that was stopped after its claim, or whose clock
 *      jumped, gives the delivery back.  A hook may still be called twice: if its process is stopped between this
 *      check and the call, if the store's time jumped ahead and was set back meanwhile, or if that time comes from a
 *      database that has not answered since it jumped. */
#ifndef PW_HOOKS_HOOKS_H
#define PW_HOOKS_HOOKS_H

#include "engine/engine.h"
#include "value/value.h"

/* A zeroed errand holds no delivery. */
struct pw_errand {
    struct pw_arena arena; /* holds the row's texts */
    struct pw_hook_row row;
    struct pw_hook *hook;    /* NULL: no delivery is held; otherwise counted in hook->under_way */
    int64_t leased_until_ms; /* by the monotonic clock, counted from when the claim was submitted */

    /* The result, once the hook was called. */
    bool delivered, untried;
    bool came_late;     /* not tried because the lease may be over */
    int64_t next_at_ms; /* not delivered: the time of the next attempt; 0: failed for good */
    struct pawl_error failure;
};
void pw_errand_clear(struct pw_errand *errand);

/* Settles the errand, if one is held, and claims another one that is due.  Claims nothing for a hook that has `most`
 * running deliveries; most 0: for no hook.  Afterwards the errand holds what was claimed.  On failure it holds what
 * it held before. */
pawl_status pw_errand_exchange(pawl_engine *engine, struct pw_errand *errand, int most,
                               struct pawl_error *error) PAWL_MUST_CHECK;

/* Calls the hook, if memory and the lease allow it. */
void pw_errand_call(pawl_engine *engine, struct pw_errand *errand);

/* The time at which the next delivery for a hook of this engine is due, or a lease ends; INT64_MAX: never.  Ignores
 * hooks that have `most` running deliveries. */
pawl_status pw_errand_next_at(pawl_engine *engine, int most, int64_t *out_at_ms,
                              struct pawl_error *error) PAWL_MUST_CHECK;

/* Makes what a hook is told from a row; everything lives in the scope.  PAWL_NOMEM or PAWL_STORE_CORRUPT on failure. */
pawl_status pw_delivery_of_row(pawl_scope *scope, const struct pw_hook_row *row,
                               struct pawl_delivery *out_delivery) PAWL_MUST_CHECK;

#endif
