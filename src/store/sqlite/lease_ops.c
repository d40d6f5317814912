/* lease_ops.c - who works on which task: holding, claiming, renewing, and ending the leases of the dead. */
#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/read.h"

/* Of a task that is gone nothing is found. */
static pawl_status read_claim(struct pw_batch *batch, int64_t instance, struct pw_claim *claim, bool *out_found)
{
    struct pw_arena *arena = &batch->unit->arena;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_CLAIMABLE);
    pw_bind_integer(&query, instance);
    *out_found = pw_query_step(&query);
    if (*out_found) {
        claim->fence.instance = instance;
        claim->fence.run = pw_column_count(&query);
        claim->fence.epoch = pw_column_count(&query) + 1;
        claim->workflow = pw_column_text(&query, arena);
        claim->id = pw_column_text(&query, arena);
        claim->kind = (enum pw_task_kind)pw_column_choice(&query, PW_TASK_REPAIR);
        claim->demand = (enum pw_demand)pw_column_choice(&query, PW_DEMAND_TERMINATE);
        claim->event_seq = pw_column_count(&query);
        claim->taken_over = pw_column_integer(&query) != 0;
        claim->is_first = pw_column_integer(&query) != 0;
        claim->has_instance = claim->is_first; /* later turns have more to read anyhow, and params can be large */
        claim->updated_at_ms = pw_not_before(batch->now_ms, pw_column_time(&query));
        claim->created_at_ms = pw_column_integer(&query);
        claim->params = pw_column_text(&query, arena);
        if (claim->has_instance)
            pw_read_link(&query, &claim->link);
    }
    return pw_query_end(&query, batch->error);
}

static pawl_status take_task(struct pw_batch *batch, int64_t instance, int64_t owner, int64_t lease_ms,
                             bool keep_pause_request)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_TAKE);
    pw_bind_integer(&query, instance);
    pw_bind_integer(&query, owner);
    pw_bind_integer(&query, batch->now_ms + lease_ms);
    pw_bind_integer(&query, keep_pause_request);
    pw_bind_integer(&query, batch->now_ms);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_hold(struct pw_batch *batch, struct pw_op_hold *op)
{
    bool found = false;
    pawl_status status = read_claim(batch, op->instance, &op->claim, &found);
    if (status != PAWL_OK)
        return status;
    if (!found)
        return pw_refuse_moved(batch);
    return take_task(batch, op->instance, op->owner, op->lease_ms, false);
}

/* ---- Claiming ------------------------------------------------------------------------------------------------ */

static int compare_due(const void *left, const void *right)
{
    const struct pw_due *first = left, *second = right;
    if (first->due_at_ms != second->due_at_ms)
        return first->due_at_ms < second->due_at_ms ? -1 : 1;
    return (first->key > second->key) - (first->key < second->key);
}

void pw_sort_due(struct pw_rows *dues)
{
    if (dues->count > 1)
        qsort(dues->rows, dues->count, dues->row_size, compare_due);
}

static pawl_status collect_due(struct pw_batch *batch, struct pw_query *query, struct pw_rows *dues)
{
    while (pw_query_step(query)) {
        struct pw_due *due = pw_rows_add(dues);
        if (due == NULL) {
            query->code = SQLITE_NOMEM;
            break;
        }
        due->key = pw_column_integer(query);
        due->due_at_ms = pw_column_integer(query);
    }
    return pw_query_end(query, batch->error);
}

static void start_due(struct pw_batch *batch, struct pw_query *query, enum pw_query_name name, struct pw_text of,
                      size_t max)
{
    pw_query_start(query, batch->connection, name);
    pw_bind_text(query, of);
    pw_bind_integer(query, batch->now_ms);
    pw_bind_size(query, max);
}

pawl_status pw_find_due(struct pw_batch *batch, enum pw_query_name name, struct pw_text of, size_t max,
                        struct pw_rows *dues)
{
    struct pw_query query;
    start_due(batch, &query, name, of, max);
    return collect_due(batch, &query, dues);
}

static pawl_status claim_candidates(struct pw_batch *batch, const struct pw_op_claim *op, struct pw_rows *candidates,
                                    size_t max, struct pw_rows *claims)
{
    pawl_status status = PAWL_OK;
    pw_sort_due(candidates);
    for (size_t position = 0; position < candidates->count && claims->count < max && status == PAWL_OK; position++) {
        int64_t instance = ((const struct pw_due *)candidates->rows)[position].key;
        bool exists = false;
        struct pw_claim *claim = pw_rows_add(claims);
        if (claim == NULL)
            return pw_error_plain(batch->error, PAWL_NOMEM);
        status = read_claim(batch, instance, claim, &exists);
        if (status == PAWL_OK)
            status = take_task(batch, instance, op->owner, op->lease_ms, true);
        if (!exists)
            claims->count--; /* a task without an instance: kept out of the way by the lease, given to nobody */
    }
    return status;
}

/* A query that finds due tasks, and its like for a share of them. */
struct finder {
    enum pw_query_name all, shared;
};

static pawl_status find_tasks(struct pw_batch *batch, const struct pw_op_claim *op, const struct finder *finder,
                              size_t position, size_t max, struct pw_rows *dues)
{
    struct pw_text workflow = op->workflows[position];
    struct pw_query query;
    if (op->share.owned == NULL || op->share.owned[position].data == NULL)
        return pw_find_due(batch, finder->all, workflow, max, dues);
    start_due(batch, &query, finder->shared, workflow, max);
    pw_bind_text(&query, op->share.owned[position]);
    pw_bind_integer(&query, batch->now_ms - op->share.grace_ms);
    return collect_due(batch, &query, dues);
}

/* One group of C2: what the given queries find, of all workflows together, oldest first. */
static pawl_status claim_group(struct pw_batch *batch, const struct pw_op_claim *op, const struct finder *finders,
                               size_t finder_count, size_t max, struct pw_rows *claims)
{
    struct pw_rows candidates = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_due) };
    size_t room = max - claims->count;
    for (size_t position = 0; position < op->workflow_count && room > 0; position++) {
        for (size_t i = 0; i < finder_count; i++) {
            pawl_status status = find_tasks(batch, op, &finders[i], position, room, &candidates);
            if (status != PAWL_OK)
                return status;
        }
    }
    return claim_candidates(batch, op, &candidates, max, claims);
}

static pawl_status pause_expired(struct pw_batch *batch, const struct pw_op_claim *op)
{
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && status == PAWL_OK; position++) {
        struct pw_query query;
        pw_query_start(&query, batch->connection, PW_QUERY_CLAIM_PAUSE_EXPIRED);
        pw_bind_text(&query, op->workflows[position]);
        pw_bind_integer(&query, batch->now_ms);
        status = pw_query_run(&query, batch->error);
    }
    return status;
}

/* As many as are asked for, unless all that may be leased at once are fewer. */
static pawl_status find_room(struct pw_batch *batch, const struct pw_op_claim *op, size_t *out_max)
{
    *out_max = op->max;
    if (op->leased_max == 0 || op->workflow_count == 0)
        return PAWL_OK;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_CLAIM_LEASED);
    pw_bind_text(&query, op->workflows[0]);
    pw_bind_integer(&query, batch->now_ms);
    size_t leased = pw_query_step(&query) ? (size_t)pw_column_count(&query) : 0;
    size_t room = leased < op->leased_max ? op->leased_max - leased : 0;
    if (room < *out_max)
        *out_max = room;
    return pw_query_end(&query, batch->error);
}

pawl_status pw_apply_claim(struct pw_batch *batch, struct pw_op_claim *op)
{
    static const struct finder before[] = { { PW_QUERY_CLAIM_RESUMABLE, PW_QUERY_CLAIM_RESUMABLE_SHARED },
                                            { PW_QUERY_CLAIM_EXPIRED, PW_QUERY_CLAIM_EXPIRED_SHARED } };
    static const struct finder after[] = { { PW_QUERY_CLAIM_STARTABLE, PW_QUERY_CLAIM_STARTABLE_SHARED } };

    struct pw_rows claims = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_claim) };
    size_t max = 0;
    pawl_status status = pause_expired(batch, op);
    op->kept_out = false; /* nobody else writes meanwhile */
    if (status == PAWL_OK)
        status = find_room(batch, op, &max);
    if (status == PAWL_OK)
        status = claim_group(batch, op, before, sizeof before / sizeof before[0], max, &claims);
    if (status == PAWL_OK)
        status = claim_group(batch, op, after, sizeof after / sizeof after[0], max, &claims);
    if (status == PAWL_OK) {
        op->claims = claims.rows;
        op->claim_count = claims.count;
    }
    return status;
}

/* ---- Renewing and reaping ------------------------------------------------------------------------------------ */

static pawl_status set_lease(struct pw_batch *batch, int64_t instance, int64_t locked_until_ms)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_LEASE);
    pw_bind_integer(&query, instance);
    pw_bind_integer(&query, locked_until_ms);
    return pw_query_run(&query, batch->error);
}

static pawl_status renew_lease(struct pw_batch *batch, const struct pw_op_renew *op, struct pw_lease *lease)
{
    struct pw_look look;
    pawl_status status = pw_look_at_lease(batch, lease->fence.instance, &look);
    if (status != PAWL_OK)
        return status;
    lease->lost = !look.found || !look.processing || look.owner != op->owner || look.run != lease->fence.run ||
                  look.epoch != lease->fence.epoch;
    lease->pause_requested = !lease->lost && look.pause_requested;
    lease->demand = lease->lost ? PW_DEMAND_NONE : look.demand;
    return lease->lost ? PAWL_OK : set_lease(batch, lease->fence.instance, batch->now_ms + op->lease_ms);
}

pawl_status pw_apply_renew(struct pw_batch *batch, struct pw_op_renew *op)
{
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->count && status == PAWL_OK; position++)
        status = renew_lease(batch, op, &op->leases[position]);
    return status;
}

struct held {
    int64_t instance, owner;
};

static int compare_held(const void *left, const void *right)
{
    const struct held *first = left, *second = right;
    return (first->owner > second->owner) - (first->owner < second->owner);
}

static pawl_status find_leases(struct pw_batch *batch, struct pw_rows *leases)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_REAP_LEASES);
    pw_bind_integer(&query, batch->now_ms);
    while (pw_query_step(&query)) {
        struct held *held = pw_rows_add(leases);
        if (held == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        held->instance = pw_column_integer(&query);
        held->owner = pw_column_integer(&query);
    }
    return pw_query_end(&query, batch->error);
}

pawl_status pw_apply_reap(struct pw_batch *batch, struct pw_op_reap *op)
{
    struct pw_rows leases = { .arena = &batch->unit->arena, .row_size = sizeof(struct held) };
    op->reaped = 0;
    if (batch->sqlite->url.in_memory)
        return PAWL_OK;
    pawl_status status = pw_sqlite_forget_runners(batch->sqlite, batch->connection, &batch->unit->arena, batch->error);
    if (status == PAWL_OK)
        status = find_leases(batch, &leases);
    if (status != PAWL_OK || leases.count == 0)
        return status;

    /* Sorted by owner, so that each is asked about once. */
    struct held *held = leases.rows;
    qsort(held, leases.count, sizeof *held, compare_held);
    bool is_dead = false;
    for (size_t position = 0; position < leases.count && status == PAWL_OK; position++) {
        if (position == 0 || held[position].owner != held[position - 1].owner)
            is_dead = pw_sqlite_is_dead(batch->sqlite, held[position].owner);
        if (!is_dead)
            continue;
        status = set_lease(batch, held[position].instance, batch->now_ms);
        op->reaped++;
    }
    return status;
}
