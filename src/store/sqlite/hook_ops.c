/* hook_ops.c - what hooks are to be told: deliveries are claimed for an attempt, and settled.
 *
 * A row's next_at is all that a claim looks at.  While an attempt is under way it is the end of its lease, so one that
 * never comes back is due again by itself. */
#include "base/error.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/read.h"

/* A claim looks again for what it did not give out; but in a damaged file it could find the same for ever. */
enum { ROUNDS_MAX = 100 };

/* ---- Claiming ------------------------------------------------------------------------------------------------ */

static pawl_status read_row(struct pw_batch *batch, int64_t key, struct pw_hook_row *row, bool *out_found)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_HOOK_READ);
    pw_bind_integer(&query, key);
    *out_found = pw_query_step(&query);
    if (*out_found)
        pw_read_hook_row(&query, &batch->core.unit->arena, row);
    return pw_query_end(&query, batch->core.error);
}

static pawl_status give_up(struct pw_batch *batch, int64_t key)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_HOOK_GIVE_UP);
    pw_bind_integer(&query, key);
    pw_bind_text(&query, pw_text_of("the last attempt was not heard of again before its lease ended"));
    return pw_query_run(&query, batch->core.error);
}

static pawl_status take(struct pw_batch *batch, int64_t key, int64_t lease_ms, struct pw_hook_row *row)
{
    struct pw_query query;
    row->attempts++;
    row->epoch++;
    row->next_at_ms = row->locked_until_ms = batch->core.now_ms + lease_ms;
    pw_query_start(&query, batch->connection, PW_QUERY_HOOK_TAKE);
    pw_bind_integer(&query, key);
    pw_bind_integer(&query, row->next_at_ms);
    return pw_query_run(&query, batch->core.error);
}

static int64_t lease_of(const struct pw_op_hook_claim *op, struct pw_text hook)
{
    size_t position = 0;
    while (position + 1 < op->wanted_count && !pw_text_equal(op->wanted[position].hook, hook))
        position++; /* by one of them it was found */
    return op->wanted[position].lease_ms;
}

/* A row of an instance that is gone has nothing to tell: it is kept out of the way, and given to nobody. */
static pawl_status claim_row(struct pw_batch *batch, const struct pw_op_hook_claim *op, int64_t key,
                             struct pw_rows *claimed)
{
    bool found = false;
    struct pw_hook_row *row = pw_rows_add(claimed);
    if (row == NULL)
        return pw_error_plain(batch->core.error, PAWL_NOMEM);
    pawl_status status = read_row(batch, key, row, &found);
    if (status != PAWL_OK)
        return status;
    bool used_up = found && row->attempts >= row->attempts_max;
    status = used_up || !found ? give_up(batch, key) : take(batch, key, lease_of(op, row->hook), row);
    if (used_up || !found)
        claimed->count--;
    return status;
}

/* What is found is due no more afterwards, whatever became of it. */
static pawl_status claim_round(struct pw_batch *batch, const struct pw_op_hook_claim *op, struct pw_rows *claimed,
                               bool *out_found)
{
    struct pw_rows dues = { .arena = &batch->core.unit->arena, .row_size = sizeof(struct pw_core_due) };
    pawl_status status = PAWL_OK;
    size_t room = op->max - claimed->count;
    for (size_t position = 0; position < op->wanted_count && status == PAWL_OK; position++)
        status = pw_sqlite_find_due(batch, PW_QUERY_HOOK_DUE, op->wanted[position].hook, room, &dues);
    pw_core_sort_dues(&dues);
    bool all_taken = true; /* one that is given up leaves its place to the next of its hook: that needs another round */
    for (size_t position = 0; position < dues.count && claimed->count < op->max && all_taken && status == PAWL_OK;
         position++) {
        size_t count = claimed->count;
        status = claim_row(batch, op, ((const struct pw_core_due *)dues.rows)[position].key, claimed);
        all_taken = claimed->count > count;
    }
    *out_found = dues.count > 0;
    return status;
}

pawl_status pw_sqlite_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    struct pw_rows claimed = { .arena = &batch->core.unit->arena, .row_size = sizeof(struct pw_hook_row) };
    pawl_status status = PAWL_OK;
    bool found = true;
    for (int round = 0; round < ROUNDS_MAX && status == PAWL_OK && found && claimed.count < op->max; round++)
        status = claim_round(batch, op, &claimed, &found);
    if (status == PAWL_OK) {
        op->rows = claimed.rows;
        op->row_count = claimed.count;
    }
    return status;
}

/* ---- Settling ------------------------------------------------------------------------------------------------ */

static pawl_status run_on_row(struct pw_batch *batch, struct pw_query *query, bool *out_found)
{
    pawl_status status = pw_query_run(query, batch->core.error);
    *out_found = status == PAWL_OK && sqlite3_changes64(batch->connection->db) != 0;
    return status;
}

pawl_status pw_sqlite_settle_hook(struct pw_core *core, struct pw_op_hook_settle *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    struct pw_query query;
    bool found = false;
    pw_query_start(&query, batch->connection, op->delivered ? PW_QUERY_HOOK_DELIVERED : PW_QUERY_HOOK_FAILED);
    pw_bind_integer(&query, op->key);
    pw_bind_integer(&query, op->epoch);
    if (!op->delivered) {
        pw_bind_time(&query, op->next_at_ms);
        pw_bind_text(&query, op->last_error);
        pw_bind_integer(&query, op->untried);
    }
    pawl_status status = run_on_row(batch, &query, &found);
    op->lost = !found;
    return status;
}

pawl_status pw_sqlite_resend_hook(struct pw_core *core, struct pw_op_hook_resend *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_HOOK_RESEND);
    pw_bind_text(&query, op->id);
    pw_bind_integer(&query, batch->core.now_ms);
    return run_on_row(batch, &query, &op->found);
}
