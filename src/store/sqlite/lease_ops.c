/* lease_ops.c - who works on which task: holding, claiming, renewing, and ending the leases of the dead. */
#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/read.h"

/* Of a task that is gone nothing is found.  bytes: is added to by the size of the params; NULL: nobody wants to know. */
static pawl_status read_claim(struct pw_batch *batch, int64_t instance, struct pw_claim *claim, size_t *bytes,
                              bool *out_found)
{
    struct pw_arena *arena = &batch->unit->arena;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_CLAIMABLE);
    pw_bind_integer(&query, instance);
    pw_bind_integer(&query, bytes != NULL);
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
        pw_read_link(&query, &claim->link);
        if (bytes != NULL)
            *bytes += (size_t)pw_column_count(&query);
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
    pawl_status status = read_claim(batch, op->instance, &op->claim, NULL, &found);
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

static bool is_full(const struct pw_op_claim *op, size_t max, const struct pw_rows *claims)
{
    return claims->count >= max || (op->bytes_max != 0 && op->bytes >= op->bytes_max);
}

static pawl_status claim_candidates(struct pw_batch *batch, struct pw_op_claim *op, struct pw_rows *candidates,
                                    size_t max, struct pw_rows *claims)
{
    size_t *bytes = op->bytes_max != 0 ? &op->bytes : NULL;
    pawl_status status = PAWL_OK;
    pw_sort_due(candidates);
    for (size_t position = 0; position < candidates->count && !is_full(op, max, claims) && status == PAWL_OK;
         position++) {
        int64_t instance = ((const struct pw_due *)candidates->rows)[position].key;
        bool exists = false;
        if (pw_share_excepts(&op->share, instance))
            continue;
        struct pw_claim *claim = pw_rows_add(claims);
        if (claim == NULL)
            return pw_error_plain(batch->error, PAWL_NOMEM);
        status = read_claim(batch, instance, claim, bytes, &exists);
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

static bool is_shared(const struct pw_op_claim *op, size_t position)
{
    return op->share.owned != NULL && op->share.owned[position].data != NULL;
}

static pawl_status find_tasks(struct pw_batch *batch, const struct pw_op_claim *op, const struct finder *finder,
                              size_t position, size_t max, struct pw_rows *dues)
{
    struct pw_text workflow = op->workflows[position];
    struct pw_query query;
    if (!is_shared(op, position))
        return pw_find_due(batch, finder->all, workflow, max, dues);
    start_due(batch, &query, finder->shared, workflow, max);
    pw_bind_text(&query, op->share.owned[position]);
    pw_bind_integer(&query, batch->now_ms - op->share.grace_ms);
    return collect_due(batch, &query, dues);
}

/* Expired leases that may be taken.  Those that may not yet are looked at all the same. */
static pawl_status find_expired(struct pw_batch *batch, const struct pw_op_claim *op, size_t position, size_t max,
                                struct pw_rows *dues)
{
    struct pw_query query;
    size_t end = dues->count + max;
    bool shared = is_shared(op, position);
    pw_query_start(&query, batch->connection, shared ? PW_QUERY_CLAIM_EXPIRED_SHARED : PW_QUERY_CLAIM_EXPIRED);
    pw_bind_text(&query, op->workflows[position]);
    pw_bind_integer(&query, batch->now_ms);
    if (shared) {
        pw_bind_text(&query, op->share.owned[position]);
        pw_bind_integer(&query, batch->now_ms - op->share.grace_ms);
    }
    while (pw_query_step(&query)) {
        struct pw_held held;
        pw_read_held(&query, &held);
        bool is_over = pw_lease_is_over(batch, &held, op->lease_ms);
        if (!is_over || dues->count >= end || pw_share_excepts(&op->share, held.instance))
            continue;
        struct pw_due *due = pw_rows_add(dues);
        if (due == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        *due = (struct pw_due){ held.instance, held.locked_until_ms };
    }
    return pw_query_end(&query, batch->error);
}

/* Wakes, retries, resumes and expired leases, of all workflows together, oldest first. */
static pawl_status claim_resumable(struct pw_batch *batch, struct pw_op_claim *op, size_t max, struct pw_rows *claims)
{
    static const struct finder finder = { PW_QUERY_CLAIM_RESUMABLE, PW_QUERY_CLAIM_RESUMABLE_SHARED };
    struct pw_rows candidates = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_due) };
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && status == PAWL_OK; position++) {
        if (max > 0) /* those that the share leaves out are passed over */
            status = find_tasks(batch, op, &finder, position, max + op->share.except_count, &candidates);
        if (status == PAWL_OK)
            status = find_expired(batch, op, position, max, &candidates);
    }
    return status == PAWL_OK ? claim_candidates(batch, op, &candidates, max, claims) : status;
}

/* First runs. */
static pawl_status claim_startable(struct pw_batch *batch, struct pw_op_claim *op, size_t max, struct pw_rows *claims)
{
    static const struct finder finder = { PW_QUERY_CLAIM_STARTABLE, PW_QUERY_CLAIM_STARTABLE_SHARED };
    struct pw_rows candidates = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_due) };
    size_t room = max - claims->count;
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && room > 0 && status == PAWL_OK; position++)
        status = find_tasks(batch, op, &finder, position, room + op->share.except_count, &candidates);
    return status == PAWL_OK ? claim_candidates(batch, op, &candidates, max, claims) : status;
}

static pawl_status find_pausable(struct pw_batch *batch, const struct pw_op_claim *op, size_t position,
                                 struct pw_rows *found)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_CLAIM_PAUSABLE);
    pw_bind_text(&query, op->workflows[position]);
    pw_bind_integer(&query, batch->now_ms);
    while (pw_query_step(&query)) {
        struct pw_held held, *row;
        pw_read_held(&query, &held);
        if (!pw_lease_is_over(batch, &held, op->lease_ms))
            continue;
        if ((row = pw_rows_add(found)) == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        *row = held;
    }
    return pw_query_end(&query, batch->error);
}

static pawl_status pause_expired(struct pw_batch *batch, const struct pw_op_claim *op)
{
    struct pw_rows found = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_held) };
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && status == PAWL_OK; position++)
        status = find_pausable(batch, op, position, &found);
    for (size_t i = 0; i < found.count && status == PAWL_OK; i++) {
        struct pw_query query;
        pw_query_start(&query, batch->connection, PW_QUERY_TASK_PAUSE_EXPIRED);
        pw_bind_integer(&query, ((const struct pw_held *)found.rows)[i].instance);
        pw_bind_integer(&query, batch->now_ms);
        status = pw_query_run(&query, batch->error);
    }
    return status;
}

/* Leases that have expired, and may not be taken yet. */
static pawl_status count_watched(struct pw_batch *batch, const struct pw_op_claim *op, size_t *leased)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_CLAIM_EXPIRED);
    pw_bind_text(&query, op->workflows[0]);
    pw_bind_integer(&query, batch->now_ms);
    while (pw_query_step(&query)) {
        struct pw_held held;
        pw_read_held(&query, &held);
        *leased += !pw_lease_is_over(batch, &held, op->lease_ms);
    }
    return pw_query_end(&query, batch->error);
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
    pawl_status status = pw_query_end(&query, batch->error);
    if (status == PAWL_OK)
        status = count_watched(batch, op, &leased);
    size_t room = leased < op->leased_max ? op->leased_max - leased : 0;
    if (room < *out_max)
        *out_max = room;
    return status;
}

pawl_status pw_apply_claim(struct pw_batch *batch, struct pw_op_claim *op)
{
    struct pw_rows claims = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_claim) };
    size_t max = 0;
    pawl_status status = pause_expired(batch, op);
    op->bytes = 0;
    op->kept_out = false; /* nobody else writes meanwhile */
    if (status == PAWL_OK)
        status = find_room(batch, op, &max);
    if (status == PAWL_OK)
        status = claim_resumable(batch, op, max, &claims);
    if (status == PAWL_OK)
        status = claim_startable(batch, op, max, &claims);
    if (status == PAWL_OK) {
        op->claims = claims.rows;
        op->claim_count = claims.count;
    }
    return status;
}

/* ---- Renewing and reaping ------------------------------------------------------------------------------------ */

bool pw_lease_is_over(struct pw_batch *batch, const struct pw_held *held, int64_t lease_ms)
{
    struct pw_sqlite *sqlite = batch->sqlite;
    if (held->locked_until_ms > batch->now_ms)
        return false;
    if (!pw_sqlite_may_live(sqlite, held->owner))
        return true;
    struct pw_moment now = { .wall_ms = batch->now_ms, .monotonic_ms = pw_sqlite_monotonic_ms(sqlite) };
    return pw_sightings_see(&sqlite->sightings, held, lease_ms, now) == 0;
}

pawl_status pw_set_lease(struct pw_batch *batch, int64_t instance, int64_t locked_until_ms)
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
    lease->renewed = !lease->lost;
    return lease->lost ? PAWL_OK : pw_set_lease(batch, lease->fence.instance, batch->now_ms + op->lease_ms);
}

pawl_status pw_apply_renew(struct pw_batch *batch, struct pw_op_renew *op)
{
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->count && status == PAWL_OK; position++)
        status = renew_lease(batch, op, &op->leases[position]);
    return status;
}

static int compare_held(const void *left, const void *right)
{
    const struct pw_held *first = left, *second = right;
    return (first->owner > second->owner) - (first->owner < second->owner);
}

static pawl_status find_leases(struct pw_batch *batch, struct pw_rows *leases)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_REAP_LEASES);
    while (pw_query_step(&query)) {
        struct pw_held *held = pw_rows_add(leases);
        if (held == NULL) {
            query.code = SQLITE_NOMEM;
            break;
        }
        pw_read_held(&query, held);
    }
    return pw_query_end(&query, batch->error);
}

/* Whoever reaps looks at every lease, so that one which its runner stops to renew is known by the time at which it ends. */
static void see_leases(struct pw_batch *batch, const struct pw_rows *leases)
{
    struct pw_sqlite *sqlite = batch->sqlite;
    struct pw_moment now = { .wall_ms = batch->now_ms, .monotonic_ms = pw_sqlite_monotonic_ms(sqlite) };
    pw_sightings_begin_round(&sqlite->sightings);
    for (size_t i = 0; i < leases->count; i++)
        (void)pw_sightings_see(&sqlite->sightings, (const struct pw_held *)leases->rows + i, 0, now);
    pw_sightings_end_round(&sqlite->sightings);
}

pawl_status pw_apply_reap(struct pw_batch *batch, struct pw_op_reap *op)
{
    struct pw_rows leases = { .arena = &batch->unit->arena, .row_size = sizeof(struct pw_held) };
    op->reaped = 0;
    pawl_status status = find_leases(batch, &leases);
    if (status == PAWL_OK)
        see_leases(batch, &leases);
    if (status != PAWL_OK || batch->sqlite->url.in_memory)
        return status;
    status = pw_sqlite_forget_runners(batch->sqlite, batch->connection, &batch->unit->arena, batch->error);
    if (leases.count == 0)
        return status;

    /* Sorted by owner, so that each is asked about once. */
    struct pw_held *held = leases.rows;
    qsort(held, leases.count, sizeof *held, compare_held);
    bool is_dead = false;
    for (size_t position = 0; position < leases.count && status == PAWL_OK; position++) {
        if (position == 0 || held[position].owner != held[position - 1].owner)
            is_dead = pw_sqlite_is_dead(batch->sqlite, held[position].owner);
        if (!is_dead || held[position].locked_until_ms <= batch->now_ms)
            continue;
        status = pw_set_lease(batch, held[position].instance, batch->now_ms);
        op->reaped++;
    }
    return status;
}
