/* hooks.h (internal) - carrying deliveries out.
 *
 * An errand is one claimed delivery: claimed, called, settled.  Settling one and claiming the next is one unit of work,
 * so a busy thread commits once for each delivery.  They are claimed one by one, because the lease of an attempt begins
 * with its claim.
 *
 *  H1. An attempt is counted when it is claimed.  A crash, or a settling that did not succeed, is followed by another
 *      attempt when the lease has ended, or, after the last one, by the row's failing for good.
 *      What is claimed and then not even tried, because memory is out or the lease may be over (H3), is given back and not
 *      counted.
 *  H2. A settling that comes after the lease was taken by somebody else changes nothing.
 *  H3. A hook is called only while the lease is known to hold for another third of its length by the monotonic clock, and has not
 *      ended by the store's time.  So a process that was stopped after its claim, or whose clock jumped, gives the delivery back.
 *      A hook may still be told twice: if its process is stopped between this look and the call, if the store's time jumped
 *      ahead and was set back meanwhile, or if it is the time of a database that has not answered since it jumped. */
#ifndef PW_HOOKS_HOOKS_H
#define PW_HOOKS_HOOKS_H

#include "engine/engine.h"
#include "value/value.h"

/* All zero is none. */
struct pw_errand {
    struct pw_arena arena; /* of the row */
    struct pw_hook_row row;
    struct pw_hook *hook;    /* NULL: none is held; counts it as under way */
    int64_t leased_until_ms; /* by the monotonic clock, counted from when it was asked for */

    /* How it went, once it was called. */
    bool delivered, untried;
    bool came_late;     /* untried, because the lease may be over */
    int64_t next_at_ms; /* not delivered: as it is settled; 0: for good */
    struct pawl_error failure;
};
void pw_errand_clear(struct pw_errand *errand);

/* Settles the errand that was called, if one is held, and claims another one that is due.  Claims nothing for a hook that has
 * `most` deliveries under way; 0: for no hook.  What was claimed is held afterwards.  On failure the errand is held as before. */
pawl_status pw_errand_exchange(pawl_engine *engine, struct pw_errand *errand, int most,
                               struct pawl_error *error) PAWL_MUST_CHECK;

/* Calls the hook, if memory and the lease allow. */
void pw_errand_call(pawl_engine *engine, struct pw_errand *errand);

/* When the next delivery of a hook of this engine is due, or a lease ends; INT64_MAX: never.  Hooks that have `most` deliveries
 * under way do not count. */
pawl_status pw_errand_next_at(pawl_engine *engine, int most, int64_t *out_at_ms,
                              struct pawl_error *error) PAWL_MUST_CHECK;

/* What a hook is told of a row; everything lives in the scope.  PAWL_NOMEM, or PAWL_STORE_CORRUPT. */
pawl_status pw_delivery_of_row(pawl_scope *scope, const struct pw_hook_row *row,
                               struct pawl_delivery *out_delivery) PAWL_MUST_CHECK;

#endif
