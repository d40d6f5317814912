/* claim.c - what a runner asks of the store: to claim due tasks, when the next one is due, and to renew leases. */
#include "base/error.h"
#include "engine/functions.h"
#include "engine/shards.h"
#include "runner/runner.h"

static enum pw_names class_of(pawl_engine *engine, const struct pw_definition *definition)
{
    if (definition->advance == NULL)
        return PW_NAMES_POLLED;
    bool is_limited = definition->is_function && pw_function_limit(engine, definition->name) > 0;
    return is_limited ? PW_NAMES_LIMITED : PW_NAMES_FREE;
}

/* Definitions are never removed, and a runner that claims has sealed the registry.  So the list can be read without
 * the engine's lock. */
struct pw_text *pw_runner_names(pawl_engine *engine, enum pw_names which, struct pw_arena *arena, size_t *out_count)
{
    pthread_mutex_lock(&engine->lock);
    size_t all = engine->definition_count, count = 0;
    struct pw_definition **list = engine->list;
    pthread_mutex_unlock(&engine->lock);
    struct pw_text *names = pw_arena_take(arena, (all + 1) * sizeof *names);
    for (size_t i = 0; names != NULL && i < all; i++) {
        if ((class_of(engine, list[i]) & which) != 0)
            names[count++] = list[i]->name;
    }
    *out_count = count;
    return names;
}

/* A share of all runs, except those whose code still blocks a thread here.  False when memory runs out. */
static bool share_all(pawl_runner *runner, struct pw_arena *arena, struct pw_share *out_share)
{
    int64_t *except;
    *out_share = (struct pw_share){ .owned = NULL };
    bool complete = pw_blocked_instances(&runner->engine->blocked, arena, &except, &out_share->except_count);
    out_share->except = except;
    return complete;
}

/* Narrows the share to the runner's own shards.  The registry is sealed, so the view has the same workflows in the
 * same order. */
static void take_own(const pawl_runner *runner, size_t count, struct pw_share *share)
{
    const struct pw_view *view = &runner->view;
    share->owned = view->count == count ? view->owned : NULL;
    share->grace_ms = PW_SHARD_GRACE_MS;
}

pawl_status pw_runner_claim(pawl_runner *runner, struct pw_unit *unit, enum pw_claim_of what,
                            const struct pw_text *limited, size_t max, struct pw_op_claim **out_claim,
                            struct pawl_error *error)
{
    pawl_engine *engine = runner->engine;
    bool reaps = what == PW_CLAIM_ALL || what == PW_CLAIM_POLLED, is_own = what == PW_CLAIM_DUE || what == PW_CLAIM_ALL;
    enum pw_names which = what == PW_CLAIM_POLLED ? PW_NAMES_POLLED : PW_NAMES_FREE;
    size_t count = 1;
    const struct pw_text *names = limited != NULL ? limited : pw_runner_names(engine, which, &unit->arena, &count);
    struct pw_share share;
    bool complete =
        names != NULL && share_all(runner, &unit->arena, &share) && (!reaps || pw_unit_add(unit, PW_OP_REAP) != NULL);
    struct pw_op *op = complete ? pw_unit_add(unit, PW_OP_CLAIM) : NULL;
    if (op == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    if (is_own && limited == NULL)
        take_own(runner, count, &share);
    struct pw_op_claim *claim = *out_claim = &op->as.claim;
    *claim = (struct pw_op_claim){ .workflows = names,
                                   .workflow_count = count,
                                   .share = share,
                                   .max = max,
                                   .leased_max = limited != NULL ? pw_function_limit(engine, *limited) : 0,
                                   .owner = runner->owner,
                                   .lease_ms = runner->options.lease_ms };
    pawl_status status = count > 0 || reaps ? pw_engine_run(engine, unit) : PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < claim->claim_count; i++)
        claim->claims[i].leased_from_ms = unit->begun_ms; /* a lease counts from when it was asked for */
    if (status != PAWL_OK && unit->error.status == status)
        return pw_error(error, status, "%s", unit->error.text);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}

/* ---- What is due next -------------------------------------------------------------------------------------------- */

pawl_status pw_runner_next_of(pawl_runner *runner, struct pw_arena *arena, const struct pw_text *names, size_t count,
                              bool is_own, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_share share;
    if (names == NULL || !share_all(runner, arena, &share))
        return pw_error_plain(error, PAWL_NOMEM);
    if (is_own)
        take_own(runner, count, &share);
    return pw_next_due(runner->engine->store, names, count, &share, after_ms, out_at_ms, error);
}

pawl_status pw_runner_next_due(pawl_runner *runner, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    size_t count;
    const struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_FREE, &arena, &count);
    pawl_status status = pw_runner_next_of(runner, &arena, names, count, true, after_ms, out_at_ms, error);
    pw_arena_clear(&arena);
    return status;
}

/* A job that was due at the last tick and is still there was kept from it by its function's limit.  Such a job hides
 * what is due later: the end of a lease that counts toward the limit, maybe before poll_ms. */
static pawl_status limited_wake(pawl_runner *runner, struct pw_arena *arena, const struct pw_text *name,
                                int64_t *out_at_ms, struct pawl_error *error)
{
    int64_t met_at_ms = atomic_load(&runner->limits_met_ms), poll_at_ms = met_at_ms + runner->options.poll_ms;
    pawl_status status = pw_runner_next_of(runner, arena, name, 1, false, PW_EVER, out_at_ms, error);
    bool is_kept = status == PAWL_OK && *out_at_ms <= met_at_ms &&
                   met_at_ms <= pawl_now_ms(runner->engine); /* unless the clock was set back */
    if (is_kept)
        status = pw_runner_next_of(runner, arena, name, 1, false, met_at_ms, out_at_ms, error);
    if (is_kept && poll_at_ms < *out_at_ms)
        *out_at_ms = poll_at_ms;
    return status;
}

/* Considers all workflows and all shares.  A job that a limit kept from the last tick is worth another tick after
 * poll_ms, or when something else of the function is due, because other processes do not tell when their jobs end. */
pawl_status pawl_runner_next_wake_at(pawl_runner *runner, int64_t *out_at_ms, struct pawl_error *error)
{
    if (runner == NULL || runner->engine == NULL || out_at_ms == NULL)
        return pw_error_plain(error, PAWL_INVALID);
    struct pw_arena arena = { 0 };
    size_t count, limited_count;
    int64_t at_ms = INT64_MAX;
    const struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_UNLIMITED, &arena, &count);
    const struct pw_text *limited = pw_runner_names(runner->engine, PW_NAMES_LIMITED, &arena, &limited_count);
    pawl_status status = limited != NULL
                             ? pw_runner_next_of(runner, &arena, names, count, false, PW_EVER, &at_ms, error)
                             : pw_error_plain(error, PAWL_NOMEM);
    for (size_t i = 0; status == PAWL_OK && i < limited_count; i++) {
        int64_t due_at_ms = INT64_MAX;
        status = limited_wake(runner, &arena, &limited[i], &due_at_ms, error);
        at_ms = due_at_ms < at_ms ? due_at_ms : at_ms;
    }
    if (status == PAWL_OK)
        *out_at_ms = at_ms;
    pw_arena_clear(&arena);
    return status;
}

/* ---- Renewing leases --------------------------------------------------------------------------------------------- */

/* With the lock held.  A lease that covers a body is longer than a renewed one would be, so it is left alone.  A
 * tick has no watchdog for bodies: a turn whose body has outlived its timeout there is left to other runners. */
static bool wants_renewal(const pawl_runner *runner, pawl_turn *turn)
{
    bool is_ticked = !runner->threaded && pw_turn_definition(turn)->advance != NULL;
    int64_t renewed_until_ms = pw_engine_monotonic_ms(runner->engine) + runner->options.lease_ms;
    return pw_turn_leased_until(turn) <= renewed_until_ms && !(is_ticked && pw_turn_has_late_body(turn));
}

/* Collects the turns whose leases need renewal, referenced, and their leases in the same order.  False when memory
 * runs out. */
static bool collect(pawl_runner *runner, struct pw_arena *arena, struct pw_op_renew *renew, pawl_turn ***out_turns)
{
    pthread_mutex_lock(&runner->lock);
    size_t room = (size_t)runner->held_count + 1;
    pawl_turn **turns = pw_arena_take(arena, room * sizeof(pawl_turn *));
    renew->leases = pw_arena_zero(arena, room * sizeof *renew->leases);
    bool complete = turns != NULL && renew->leases != NULL;
    for (pawl_turn *turn = runner->held; complete && turn != NULL; turn = pw_turn_hosted(turn)->held_next) {
        if (!wants_renewal(runner, turn))
            continue;
        pw_turn_ref(turn);
        renew->leases[renew->count].fence = pw_turn_claim(turn)->fence;
        turns[renew->count++] = turn;
    }
    pthread_mutex_unlock(&runner->lock);
    *out_turns = turns;
    return complete;
}

/* Tells a turn how long its lease holds now or that it is lost, and what is demanded of its run. */
static void tell(pawl_turn *turn, const struct pw_lease *lease, const struct pw_unit *unit, int64_t lease_ms)
{
    if (lease->renewed)
        pw_turn_note_lease(turn, unit->begun_ms, lease_ms);
    if (lease->lost)
        pw_turn_revoke(turn);
    else if (lease->demand != PW_DEMAND_NONE)
        pw_turn_demand(turn, lease->demand);
}

pawl_status pawl_runner_renew(pawl_runner *runner, struct pawl_error *error)
{
    if (runner == NULL)
        return pw_error_plain(error, PAWL_INVALID);
    struct pw_unit unit;
    pawl_turn **turns;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_RENEW);
    if (op == NULL || !collect(runner, &unit.arena, &op->as.renew, &turns)) {
        pw_unit_clear(&unit);
        return pw_error_plain(error, PAWL_NOMEM);
    }
    struct pw_op_renew *renew = &op->as.renew;
    renew->owner = runner->owner;
    renew->lease_ms = runner->options.lease_ms;
    pawl_status status = renew->count > 0 ? pw_engine_run(runner->engine, &unit) : PAWL_OK;
    for (size_t i = 0; i < renew->count; i++) {
        if (status == PAWL_OK)
            tell(turns[i], &renew->leases[i], &unit, renew->lease_ms);
        pw_turn_unref(turns[i]);
    }
    pw_unit_clear(&unit);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}
