/* claim.c - finds tasks that may be claimed, and leases whose runners are dead.  The core decides what becomes of
 * them.
 *
 * A lease that has ended by the clock is not always over: if its runner lives, this process must have seen it
 * unrenewed for a whole lease (sightings.h). */
#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/read.h"

/* ---- Expired leases ---------------------------------------------------------------------------------------------------- */

static struct pw_moment moment_of(const struct pw_batch *batch)
{
    return (struct pw_moment){ .wall_ms = batch->core.now_ms, .monotonic_ms = pw_sqlite_monotonic_ms(batch->sqlite) };
}

/* True if the lease may be taken: it has ended, and its runner is dead or was seen not to renew it for lease_ms
 * (sightings.h). */
static bool is_over(struct pw_batch *batch, const struct pw_held *held, int64_t lease_ms)
{
    if (held->locked_until_ms > batch->core.now_ms)
        return false;
    if (!pw_sqlite_may_live(batch->sqlite, held->owner))
        return true;
    return pw_sightings_see(&batch->sqlite->sightings, held, lease_ms, moment_of(batch)) == 0;
}

/* Adds the leases (struct pw_held) that the query finds.  With lease_ms, only those that may be taken. */
static pawl_status collect_leases(struct pw_batch *batch, struct pw_query *query, int64_t lease_ms,
                                  struct pw_rows *leases)
{
    while (pw_query_step(query)) {
        struct pw_held held, *row;
        pw_read_held(query, &held);
        if (lease_ms != 0 && !is_over(batch, &held, lease_ms))
            continue;
        if ((row = pw_rows_add(leases)) != NULL)
            *row = held;
        else
            query->code = SQLITE_NOMEM;
    }
    return pw_query_end(query, batch->core.error);
}

static struct pw_rows rows_of_leases(struct pw_batch *batch)
{
    return (struct pw_rows){ .arena = &batch->core.arena, .row_size = sizeof(struct pw_held) };
}

/* ---- Due tasks ---------------------------------------------------------------------------------------------------------- */

/* A query that finds due tasks, and the variant for a share of them. */
struct finder {
    enum pw_query_name all, shared;
};

/* Starts the query for one workflow of the claim.  With a share it also binds the owned shards, and the time before
 * which tasks of other shards must have been due. */
static void start(struct pw_query *query, struct pw_batch *batch, const struct pw_op_claim *op, struct finder finder,
                  size_t position, const struct pw_value *values, size_t count)
{
    bool is_shared = op->share.owned != NULL && op->share.owned[position].data != NULL;
    pw_query_start(query, batch->connection, is_shared ? finder.shared : finder.all,
                   PW_VALUES(pw_str(op->workflows[position]), pw_int(batch->core.now_ms)));
    pw_query_bind(query, values, count);
    if (is_shared)
        pw_query_bind(query,
                      PW_VALUES(pw_str(op->share.owned[position]), pw_int(batch->core.now_ms - op->share.grace_ms)));
}

/* Also finds tasks that the share leaves out.  They are skipped later. */
static pawl_status find_tasks(struct pw_batch *batch, const struct pw_op_claim *op, struct finder finder,
                              size_t position, size_t room, struct pw_rows *dues)
{
    struct pw_query query;
    struct pw_core_due *due;
    if (room == 0)
        return PAWL_OK;
    start(&query, batch, op, finder, position, PW_VALUES(pw_size(room + op->share.except_count)));
    while ((due = pw_query_next(&query, dues)) != NULL) {
        due->key = pw_column_integer(&query);
        due->since_ms = pw_column_integer(&query);
    }
    return pw_query_end(&query, batch->core.error);
}

/* Adds at most `room` leases that may be taken.  Looks at every ended lease all the same, so that each is seen. */
static pawl_status find_expired(struct pw_batch *batch, const struct pw_op_claim *op, size_t position, size_t room,
                                struct pw_rows *dues)
{
    static const struct finder finder = { PW_QUERY_CLAIM_EXPIRED, PW_QUERY_CLAIM_EXPIRED_SHARED };
    struct pw_rows leases = rows_of_leases(batch);
    struct pw_query query;
    start(&query, batch, op, finder, position, PW_NO_VALUES);
    pawl_status status = collect_leases(batch, &query, op->lease_ms, &leases);
    const struct pw_held *held = leases.rows;
    for (size_t i = 0, added = 0; i < leases.count && added < room && status == PAWL_OK; i++) {
        if (pw_share_excepts(&op->share, held[i].instance))
            continue;
        struct pw_core_due *due = pw_rows_add(dues);
        if (due == NULL)
            return pw_error_plain(batch->core.error, PAWL_NOMEM);
        *due = (struct pw_core_due){ held[i].instance, held[i].locked_until_ms };
        added++;
    }
    return status;
}

/* ---- Claiming ------------------------------------------------------------------------------------------------------------ */

/* Claims wakes, retries, resumes and expired leases, of all workflows together. */
static pawl_status claim_resumable(struct pw_batch *batch, struct pw_op_claim *op, size_t max, struct pw_rows *claims)
{
    static const struct finder finder = { PW_QUERY_CLAIM_RESUMABLE, PW_QUERY_CLAIM_RESUMABLE_SHARED };
    struct pw_rows dues = { .arena = &batch->core.arena, .row_size = sizeof(struct pw_core_due) };
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && status == PAWL_OK; position++) {
        status = find_tasks(batch, op, finder, position, max, &dues);
        if (status == PAWL_OK)
            status = find_expired(batch, op, position, max, &dues);
    }
    return status == PAWL_OK ? pw_core_claim(&batch->core, op, &dues, max, claims) : status;
}

/* Claims runs that have not started. */
static pawl_status claim_startable(struct pw_batch *batch, struct pw_op_claim *op, size_t max, struct pw_rows *claims)
{
    static const struct finder finder = { PW_QUERY_CLAIM_STARTABLE, PW_QUERY_CLAIM_STARTABLE_SHARED };
    struct pw_rows dues = { .arena = &batch->core.arena, .row_size = sizeof(struct pw_core_due) };
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && status == PAWL_OK; position++)
        status = find_tasks(batch, op, finder, position, max - claims->count, &dues);
    return status == PAWL_OK ? pw_core_claim(&batch->core, op, &dues, max, claims) : status;
}

static pawl_status load_lease(struct pw_batch *batch, int64_t instance, struct pw_core_run **out_run)
{
    struct pw_core_run *run = pw_want_run(&batch->core, instance);
    if (run == NULL)
        return pw_error_plain(batch->core.error, PAWL_NOMEM);
    *out_run = run;
    return pw_sqlite_load_claimable(&batch->core, run, false);
}

/* If a pause was requested of a run whose lease is over, the run is paused before anybody can claim it. */
static pawl_status pause_expired(struct pw_batch *batch, const struct pw_op_claim *op)
{
    struct pw_rows leases = rows_of_leases(batch);
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < op->workflow_count && status == PAWL_OK; position++) {
        struct pw_query query;
        pw_query_start(&query, batch->connection, PW_QUERY_CLAIM_PAUSABLE,
                       PW_VALUES(pw_str(op->workflows[position]), pw_int(batch->core.now_ms)));
        status = collect_leases(batch, &query, op->lease_ms, &leases);
    }
    for (size_t i = 0; i < leases.count && status == PAWL_OK; i++) {
        struct pw_core_run *run = NULL;
        status = load_lease(batch, ((const struct pw_held *)leases.rows)[i].instance, &run);
        if (status == PAWL_OK)
            status = pw_core_pause_expired(&batch->core, run);
    }
    /* Written at once, so that the following finds do not find these tasks again. */
    return status == PAWL_OK && leases.count > 0 ? pw_sqlite_write(&batch->core) : status;
}

/* How many tasks the claim may take: as many as it asks for, unless the limit of leases leaves fewer.  A lease that
 * has ended but may not be taken yet counts as leased. */
static pawl_status find_room(struct pw_batch *batch, const struct pw_op_claim *op, size_t *out_max)
{
    struct pw_rows leases = rows_of_leases(batch);
    struct pw_query query;
    size_t leased = 0;
    *out_max = op->max;
    if (op->leased_max == 0 || op->workflow_count == 0)
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_CLAIM_LEASED, PW_VALUES(pw_str(op->workflows[0])));
    pawl_status status = collect_leases(batch, &query, 0, &leases);
    for (size_t i = 0; i < leases.count; i++)
        leased += !is_over(batch, (const struct pw_held *)leases.rows + i, op->lease_ms);
    size_t room = leased < op->leased_max ? op->leased_max - leased : 0;
    if (room < *out_max)
        *out_max = room;
    return status;
}

/* Pauses expired leases first, then claims tasks to resume, and with the room that is left tasks to start. */
pawl_status pw_sqlite_claim(struct pw_core *core, struct pw_op_claim *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    struct pw_rows claims = { .arena = &batch->core.unit->arena, .row_size = sizeof(struct pw_claim) };
    size_t max = 0;
    op->bytes = 0;
    op->kept_out = false; /* nobody else writes meanwhile */
    pawl_status status = pause_expired(batch, op);
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

/* ---- Reaping ------------------------------------------------------------------------------------------------------------- */

static int compare_owners(const void *left, const void *right)
{
    const struct pw_held *first = left, *second = right;
    return (first->owner > second->owner) - (first->owner < second->owner);
}

/* Reaping looks at every lease.  So if a runner stops renewing a lease, this process has seen it for long enough by
 * the time it ends. */
static void see_leases(struct pw_batch *batch, const struct pw_rows *leases)
{
    struct pw_sightings *sightings = &batch->sqlite->sightings;
    pw_sightings_begin_round(sightings);
    for (size_t i = 0; i < leases->count; i++)
        (void)pw_sightings_see(sightings, (const struct pw_held *)leases->rows + i, 0, moment_of(batch));
    pw_sightings_end_round(sightings);
}

static pawl_status reap(struct pw_batch *batch, const struct pw_held *held, struct pw_op_reap *op)
{
    struct pw_core_run *run = NULL;
    pawl_status status = load_lease(batch, held->instance, &run);
    return status == PAWL_OK ? pw_core_reap(&batch->core, op, run) : status;
}

/* Sees every lease, forgets dead runners, and ends the leases of those whose lock is gone.  In memory no runner is
 * dead. */
pawl_status pw_sqlite_reap(struct pw_core *core, struct pw_op_reap *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    struct pw_rows leases = rows_of_leases(batch);
    struct pw_query query;
    op->reaped = 0;
    pw_query_start(&query, batch->connection, PW_QUERY_REAP_LEASES, PW_NO_VALUES);
    pawl_status status = collect_leases(batch, &query, 0, &leases);
    if (status == PAWL_OK)
        see_leases(batch, &leases);
    if (status != PAWL_OK || batch->sqlite->url.in_memory)
        return status;
    status = pw_sqlite_forget_runners(batch->sqlite, batch->connection, &batch->core.arena, batch->core.error);
    if (leases.count == 0)
        return status;

    /* Sorted by owner, so that each owner is checked once. */
    struct pw_held *held = leases.rows;
    qsort(held, leases.count, sizeof *held, compare_owners);
    bool is_dead = false;
    for (size_t i = 0; i < leases.count && status == PAWL_OK; i++) {
        if (i == 0 || held[i].owner != held[i - 1].owner)
            is_dead = pw_sqlite_is_dead(batch->sqlite, held[i].owner);
        if (is_dead && held[i].locked_until_ms > batch->core.now_ms)
            status = reap(batch, &held[i], op);
    }
    return status;
}
