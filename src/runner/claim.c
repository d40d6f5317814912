/* claim.c - what a runner asks of the store: due tasks, when the next is due, longer leases. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/functions.h"
#include "engine/shards.h"
#include "runner/runner.h"

static bool is_among(pawl_engine *engine, const struct pw_definition *definition, enum pw_names which)
{
    bool is_polled = definition->advance == NULL;
    bool is_limited = pw_is_job_workflow(definition->name) && pw_function_limit(engine, definition->name) > 0;
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

/* Workflows cannot come any more once a runner was started, so the view is of the same ones. */
static struct pw_share share_of(const pawl_runner *runner, size_t count)
{
    const struct pw_view *view = &runner->view;
    return (struct pw_share){ .owned = view->count == count ? view->owned : NULL, .grace_ms = PW_SHARD_GRACE_MS };
}

pawl_status pw_runner_claim(pawl_runner *runner, struct pw_unit *unit, enum pw_claim_of what, size_t max,
                            struct pw_op_claim **out_claim, struct pawl_error *error)
{
    size_t count;
    struct pw_text *names =
        pw_runner_names(runner->engine, what == PW_CLAIM_POLLED ? PW_NAMES_POLLED : PW_NAMES_FREE, &count);
    bool reaping = what == PW_CLAIM_ALL || what == PW_CLAIM_POLLED;
    bool complete = !reaping || pw_unit_add(unit, PW_OP_REAP) != NULL;
    struct pw_op *op = pw_unit_add(unit, PW_OP_CLAIM);
    pawl_status status = PAWL_NOMEM;
    if (names != NULL && complete && op != NULL) {
        op->as.claim = (struct pw_op_claim){ .workflows = names,
                                             .workflow_count = count,
                                             .max = max,
                                             .owner = runner->owner,
                                             .lease_ms = runner->options.lease_ms };
        if (what == PW_CLAIM_DUE || what == PW_CLAIM_ALL)
            op->as.claim.share = share_of(runner, count);
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
    struct pw_op *op = pw_unit_add(unit, PW_OP_CLAIM);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.claim = (struct pw_op_claim){ .workflows = &name,
                                         .workflow_count = 1,
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
    if (names == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    struct pw_share share = share_of(runner, count);
    pawl_status status = store->ops->next_due(store, names, count, &share, after_ms, out_at_ms, error);
    free(names);
    return status;
}

/* A job that was due when the last tick asked, and is there still, was kept from it by its function's limit.  It hides what is
 * due later: the end of the lease that meets the limit, maybe before poll_ms. */
static pawl_status limited_wake(pawl_runner *runner, struct pw_text name, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_store *store = runner->engine->store;
    const struct pw_share all = { .owned = NULL };
    int64_t met_at_ms = atomic_load(&runner->limits_met_ms), poll_at_ms = met_at_ms + runner->options.poll_ms, at_ms;
    pawl_status status = pw_ops(store)->next_due(store, &name, 1, all, PW_EVER, &at_ms, error);
    bool is_kept = status == PAWL_OK && at_ms <= met_at_ms &&
                   met_at_ms <= pawl_now_ms(runner->engine); /* unless the clock was set back */
    if (is_kept)
        status = pw_ops(store)->next_due(store, &name, 1, all, met_at_ms, &at_ms, error);
    if (status != PAWL_OK)
        return status;
    *out_at_ms = is_kept && poll_at_ms < at_ms ? poll_at_ms : at_ms;
    return PAWL_OK;
}

pawl_status pw_runner_next_wake(pawl_runner *runner, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_store *store = runner->engine->store;
    const struct pw_share all = { .owned = NULL };
    size_t count, limited_count;
    int64_t at_ms = INT64_MAX, due_at_ms;
    struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_UNLIMITED, &count);
    struct pw_text *limited = pw_runner_names(runner->engine, PW_NAMES_LIMITED, &limited_count);
    pawl_status status = names != NULL && limited != NULL ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK)
        status = pw_ops(store)->next_due(store, names, count, &all, PW_EVER, &at_ms, error);
    for (size_t i = 0; status == PAWL_OK && i < limited_count; i++) {
        status = limited_wake(runner, limited[i], &due_at_ms, error);
        if (status == PAWL_OK && due_at_ms < at_ms)
            at_ms = due_at_ms;
    }
    if (status == PAWL_OK)
        *out_at_ms = at_ms;
    free(limited);
    free(names);
    return status;
}

static struct pw_lease *collect_leases(pawl_runner *runner, size_t *out_count)
{
    for (const pawl_attempt *attempt = runner->attempts; attempt != NULL && !runner->threaded;
         attempt = attempt->next) {
        if (attempt->turn == turn && pw_attempt_is_late(attempt))
            return true;
    }
    return false;
}

static bool is_of(const struct pw_fence *fence, const pawl_turn *turn)
{
    const struct pw_fence *own = &turn->claim.fence;
    return fence->instance == own->instance && fence->run == own->run && fence->epoch == own->epoch;
}

/* Tells the turns whose lease is lost, and those of which something is demanded. */
static void tell_turns(pawl_runner *runner, const struct pw_lease *leases, size_t count)
{
    pthread_mutex_lock(&runner->lock);
    for (pawl_turn *turn = runner->held; turn != NULL; turn = turn->held_next) {
        for (size_t i = 0; i < count; i++) {
            if (!(leases[i].lost || leases[i].demand != PW_DEMAND_NONE) || !is_of(&leases[i].fence, turn))
                continue;
            if (leases[i].lost)
                pw_turn_revoke(turn);
            else
                pw_turn_demand(turn, leases[i].demand);
        }
    }
    pthread_mutex_unlock(&runner->lock);
}

pawl_status pw_runner_renew_leases(pawl_runner *runner, struct pawl_error *error)
{
    size_t count, told = 0;
    struct pw_unit unit;
    struct pw_lease *leases = collect_leases(runner, &count);
    pawl_status status = leases != NULL ? PAWL_OK : PAWL_NOMEM;
    pw_unit_init(&unit);
    struct pw_op *op = status == PAWL_OK && count > 0 ? pw_unit_add(&unit, PW_OP_RENEW) : NULL;
    if (op != NULL) {
        op->as.renew = (struct pw_op_renew){
            .owner = runner->owner, .lease_ms = runner->options.lease_ms, .leases = leases, .count = count
        };
        status = pw_commit_run(runner->engine->commit, &unit);
        for (size_t i = 0; status == PAWL_OK && i < count; i++)
            told += leases[i].lost || leases[i].demand != PW_DEMAND_NONE;
        if (told > 0)
            tell_turns(runner, leases, count);
    }
    pw_unit_clear(&unit);
    free(leases);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}
