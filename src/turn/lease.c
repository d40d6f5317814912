/* lease.c - see lease.h.  The two times only grow, and are read and raised without the turn's lock. */
#include "turn/lease.h"

static void raise(_Atomic int64_t *time_ms, int64_t to_ms)
{
    int64_t known_ms = atomic_load(time_ms);
    while (to_ms > known_ms && !atomic_compare_exchange_weak(time_ms, &known_ms, to_ms))
        continue;
}

void pw_turn_note_lease(pawl_turn *turn, int64_t begun_ms, int64_t lease_ms)
{
    raise(&turn->leased_at_ms, begun_ms);
    raise(&turn->leased_until_ms, begun_ms + lease_ms);
}

int64_t pw_turn_leased_until(const pawl_turn *turn)
{
    return atomic_load(&turn->leased_until_ms);
}

/* Where runners send heartbeats, others may take a runner with late heartbeats for dead and end its leases at once.
 * A process that was stopped may send a heartbeat before it gets here, so the store also checks that the lease was
 * taken after the gap. */
static bool is_heard(const pawl_turn *turn)
{
    struct pw_store *store = turn->engine->store;
    return store->ops->is_heard == NULL ||
           store->ops->is_heard(store, turn->host->owner, atomic_load(&turn->leased_at_ms));
}

int64_t pw_turn_lease_wanted(const pawl_turn *turn, int64_t timeout_ms)
{
    int64_t covered_ms = turn->host->must_cover(turn->host->runner) ? timeout_ms : 0;
    int64_t now_ms = pw_engine_monotonic_ms(turn->engine), lease_ms = turn->host->lease_ms, margin_ms = lease_ms / 3;
    bool is_fresh = now_ms + margin_ms <= atomic_load(&turn->leased_at_ms) + lease_ms;
    bool is_covered = now_ms + covered_ms + margin_ms <= atomic_load(&turn->leased_until_ms);
    return is_fresh && is_covered && is_heard(turn) ? 0 : lease_ms + covered_ms;
}

int64_t pw_turn_lease_due(const pawl_turn *turn)
{
    int64_t left_ms = atomic_load(&turn->leased_until_ms) - pw_engine_monotonic_ms(turn->engine);
    return left_ms < turn->host->lease_ms / 2 ? turn->host->lease_ms : 0;
}
