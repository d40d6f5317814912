/* claim.c - what a runner asks of the store: due tasks, when the next is due, longer leases. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/functions.h"
#include "engine/shards.h"
#include "runner/runner.h"
#include "turn/lease.h"

/* Up to when the leases hold is counted from when they were asked for. */
static void stamp(struct pw_op_claim *claim, const struct pw_unit *unit)
{
    for (size_t i = 0; i < claim->claim_count; i++)
        claim->claims[i].leased_from_ms = unit->begun_ms;
}

static bool is_among(pawl_engine *engine, const struct pw_definition *definition, enum pw_names which)
{
    bool is_polled = definition->advance == NULL;
    bool is_limited = definition->is_function && pw_function_limit(engine, definition->name) > 0;
    switch (which) {
    case PW_NAMES_DRIVEN:
        return !is_polled;
    case PW_NAMES_FREE:
        return !is_polled && !is_limited;
    case PW_NAMES_LIMITED:
        return !is_polled && is_limited;
    case PW_NAMES_POLLED:
        return is_polled;
    case PW_NAMES_UNLIMITED:
        return is_polled || !is_limited;
    case PW_NAMES_ALL:
        return true;
    }
    return false;
}

/* Definitions are never taken away, and a runner that asks has kept others from being added; so they are looked at with the
 * engine's lock let go of. */
struct pw_text *pw_runner_names(pawl_engine *engine, enum pw_names which, size_t *out_count)
{
    pthread_mutex_lock(&engine->lock);
    size_t all = engine->definition_count, count = 0;
    struct pw_definition **list = engine->list;
    pthread_mutex_unlock(&engine->lock);
    struct pw_text *names = calloc(all + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < all; i++) {
        if (is_among(engine, list[i], which))
            names[count++] = list[i]->name;
    }
    *out_count = count;
    return names;
}

/* All but the runs whose code has not come back yet.  False when memory is out. */
bool pw_runner_share_all(pawl_runner *runner, struct pw_arena *arena, struct pw_share *out_share)
{
    int64_t *except;
    *out_share = (struct pw_share){ .owned = NULL };
    bool complete = pw_blocked_instances(&runner->engine->blocked, arena, &except, &out_share->except_count);
    out_share->except = except;
    return complete;
}

/* Workflows cannot come any more once a runner was started, so the view is of the same ones. */
static void take_own(const pawl_runner *runner, size_t count, struct pw_share *share)
{
    const struct pw_view *view = &runner->view;
    share->owned = view->count == count ? view->owned : NULL;
    share->grace_ms = PW_SHARD_GRACE_MS;
}

pawl_status pw_runner_claim(pawl_runner *runner, struct pw_unit *unit, enum pw_claim_of what, size_t max,
                            struct pw_op_claim **out_claim, struct pawl_error *error)
{
    size_t count;
    struct pw_text *names =
        pw_runner_names(runner->engine, what == PW_CLAIM_POLLED ? PW_NAMES_POLLED : PW_NAMES_FREE, &count);
    bool reaping = what == PW_CLAIM_ALL || what == PW_CLAIM_POLLED;
    struct pw_share share;
    bool complete =
        pw_runner_share_all(runner, &unit->arena, &share) && (!reaping || pw_unit_add(unit, PW_OP_REAP) != NULL);
    struct pw_op *op = pw_unit_add(unit, PW_OP_CLAIM);
    pawl_status status = PAWL_NOMEM;
    if (names != NULL && complete && op != NULL) {
        op->as.claim = (struct pw_op_claim){ .workflows = names,
                                             .workflow_count = count,
                                             .share = share,
                                             .max = max,
                                             .owner = runner->owner,
                                             .lease_ms = runner->options.lease_ms };
        if (what == PW_CLAIM_DUE || what == PW_CLAIM_ALL)
            take_own(runner, count, &op->as.claim.share);
        status = count > 0 || reaping ? pw_commit_run(runner->engine->commit, unit) : PAWL_OK;
        if (status == PAWL_OK)
            stamp(&op->as.claim, unit);
        *out_claim = &op->as.claim;
    }
    free(names);
    if (status != PAWL_OK && unit->error.status == status)
        return pw_error(error, status, "%s", unit->error.text);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}

pawl_status pw_runner_claim_limited(pawl_runner *runner, struct pw_unit *unit, struct pw_text name, size_t max,
                                    struct pw_op_claim **out_claim)
{
    struct pw_share share;
    struct pw_op *op = pw_unit_add(unit, PW_OP_CLAIM);
    if (op == NULL || !pw_runner_share_all(runner, &unit->arena, &share))
        return PAWL_NOMEM;
    op->as.claim = (struct pw_op_claim){ .workflows = &name,
                                         .workflow_count = 1,
                                         .share = share,
                                         .max = max,
                                         .leased_max = pw_function_limit(runner->engine, name),
                                         .owner = runner->owner,
                                         .lease_ms = runner->options.lease_ms };
    *out_claim = &op->as.claim;
    pawl_status status = pw_commit_run(runner->engine->commit, unit);
    if (status == PAWL_OK)
        stamp(&op->as.claim, unit);
    return status;
}

pawl_status pw_runner_next_due(pawl_runner *runner, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_store *store = runner->engine->store;
    size_t count;
    struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_FREE, &count);
    struct pw_arena arena = { 0 };
    struct pw_share share;
    pawl_status status = PAWL_OK;
    if (names == NULL || !pw_runner_share_all(runner, &arena, &share))
        status = pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK) {
        take_own(runner, count, &share);
        status = pw_next_due(store, names, count, &share, after_ms, out_at_ms, error);
    }
    pw_arena_clear(&arena);
    free(names);
    return status;
}

/* A job that was due when the last tick asked, and is there still, was kept from it by its function's limit.  It hides what is
 * due later: the end of the lease that meets the limit, maybe before poll_ms. */
static pawl_status limited_wake(pawl_runner *runner, struct pw_text name, const struct pw_share *all,
                                int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_store *store = runner->engine->store;
    int64_t met_at_ms = atomic_load(&runner->limits_met_ms), poll_at_ms = met_at_ms + runner->options.poll_ms, at_ms;
    pawl_status status = pw_next_due(store, &name, 1, all, PW_EVER, &at_ms, error);
    bool is_kept = status == PAWL_OK && at_ms <= met_at_ms &&
                   met_at_ms <= pawl_now_ms(runner->engine); /* unless the clock was set back */
    if (is_kept)
        status = pw_next_due(store, &name, 1, all, met_at_ms, &at_ms, error);
    if (status != PAWL_OK)
        return status;
    *out_at_ms = is_kept && poll_at_ms < at_ms ? poll_at_ms : at_ms;
    return PAWL_OK;
}

pawl_status pw_runner_next_wake(pawl_runner *runner, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_store *store = runner->engine->store;
    struct pw_arena arena = { 0 };
    struct pw_share all;
    size_t count, limited_count;
    int64_t at_ms = INT64_MAX, due_at_ms;
    struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_UNLIMITED, &count);
    struct pw_text *limited = pw_runner_names(runner->engine, PW_NAMES_LIMITED, &limited_count);
    bool complete = names != NULL && limited != NULL && pw_runner_share_all(runner, &arena, &all);
    pawl_status status = complete ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK)
        status = pw_next_due(store, names, count, &all, PW_EVER, &at_ms, error);
    for (size_t i = 0; status == PAWL_OK && i < limited_count; i++) {
        status = limited_wake(runner, limited[i], &all, &due_at_ms, error);
        if (status == PAWL_OK && due_at_ms < at_ms)
            at_ms = due_at_ms;
    }
    if (status == PAWL_OK)
        *out_at_ms = at_ms;
    pw_arena_clear(&arena);
    free(limited);
    free(names);
    return status;
}

/* The turns whose leases are to be renewed, referenced, and their leases in the same order. */
struct renewal {
    struct pw_lease *leases;
    pawl_turn **turns;
    size_t count;
};

/* With the lock held.  A tick has no watchdog for bodies: what outlives its timeout there is left to others. */
static bool is_overdue(const pawl_runner *runner, const pawl_turn *turn)
{
    for (const pawl_attempt *attempt = runner->attempts; attempt != NULL && !runner->threaded;
         attempt = attempt->next) {
        if (attempt->turn == turn && pw_attempt_is_late(attempt))
            return true;
    }
    return false;
}

/* A lease that covers a body is longer than one that is renewed: it stays as it is. */
static bool is_longer(const pawl_runner *runner, const pawl_turn *turn)
{
    return atomic_load(&turn->leased_until_ms) > pw_engine_monotonic_ms(runner->engine) + runner->options.lease_ms;
}

static bool collect(pawl_runner *runner, struct renewal *renewal)
{
    pthread_mutex_lock(&runner->lock);
    size_t room = (size_t)runner->held_count + 1;
    renewal->leases = calloc(room, sizeof *renewal->leases);
    renewal->turns = calloc(room, sizeof *renewal->turns);
    bool complete = renewal->leases != NULL && renewal->turns != NULL;
    for (pawl_turn *turn = runner->held; complete && turn != NULL; turn = turn->held_next) {
        if (is_overdue(runner, turn) || is_longer(runner, turn))
            continue;
        pw_turn_ref(turn);
        renewal->leases[renewal->count].fence = turn->claim.fence;
        renewal->turns[renewal->count++] = turn;
    }
    pthread_mutex_unlock(&runner->lock);
    return complete;
}

/* Tells each turn how long its lease is now, or that it is lost, and what is demanded of it. */
static void tell(pawl_turn *turn, const struct pw_lease *lease, const struct pw_unit *unit, int64_t lease_ms)
{
    if (lease->renewed)
        pw_turn_note_lease(turn, unit->begun_ms, lease_ms);
    if (lease->lost)
        pw_turn_revoke(turn);
    else if (lease->demand != PW_DEMAND_NONE)
        pw_turn_demand(turn, lease->demand);
}

pawl_status pw_runner_renew_leases(pawl_runner *runner, struct pawl_error *error)
{
    struct pw_unit unit;
    struct renewal renewal = { .count = 0 };
    pawl_status status = collect(runner, &renewal) ? PAWL_OK : PAWL_NOMEM;
    pw_unit_init(&unit);
    struct pw_op *op = status == PAWL_OK && renewal.count > 0 ? pw_unit_add(&unit, PW_OP_RENEW) : NULL;
    if (op != NULL) {
        op->as.renew = (struct pw_op_renew){ .owner = runner->owner,
                                             .lease_ms = runner->options.lease_ms,
                                             .leases = renewal.leases,
                                             .count = renewal.count };
        status = pw_commit_run(runner->engine->commit, &unit);
        for (size_t i = 0; status == PAWL_OK && i < renewal.count; i++)
            tell(renewal.turns[i], &renewal.leases[i], &unit, runner->options.lease_ms);
    }
    pw_unit_clear(&unit);
    for (size_t i = 0; i < renewal.count; i++)
        pw_turn_unref(renewal.turns[i]);
    free(renewal.turns);
    free(renewal.leases);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}
