/* apply.c - units of work, in order, in one transaction.
 *
 * A unit that may be refused after it has written runs inside a savepoint.  The others are refused before their first
 * write, so there is nothing to undo; should one break that rule (an op on a task that no fence has looked at), the
 * whole transaction is given up, because that is then the only way to apply it wholly or not at all. */
#include "base/error.h"
#include "store/sqlite/batch.h"

static bool is_refused(const struct pw_batch *batch)
{
    return batch->unit->refusal != PW_REFUSED_NOT;
}

static pawl_status apply_op(struct pw_batch *batch, struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        return pw_apply_fence(batch, &op->as.fence);
    case PW_OP_CREATE:
        return pw_apply_create(batch, &op->as.create);
    case PW_OP_RESTART:
        return pw_apply_restart(batch, &op->as.restart);
    case PW_OP_STEP:
        return pw_apply_step(batch, &op->as.step);
    case PW_OP_EVENT:
        return pw_apply_event(batch, &op->as.event);
    case PW_OP_CONSUME:
        return pw_apply_consume(batch, &op->as.consume);
    case PW_OP_LOG:
        return pw_apply_log(batch, &op->as.log);
    case PW_OP_PARK:
        return pw_apply_park(batch, &op->as.park);
    case PW_OP_HOLD:
        return pw_apply_hold(batch, &op->as.hold);
    case PW_OP_PAUSE:
        return pw_apply_pause(batch, &op->as.pause);
    case PW_OP_DEMAND:
        return pw_apply_demand(batch, &op->as.demand);
    case PW_OP_REACH:
        return pw_apply_reach(batch, &op->as.reach);
    case PW_OP_FINISH:
        return pw_apply_finish(batch, &op->as.finish);
    case PW_OP_END:
        return pw_apply_end(batch, &op->as.end);
    case PW_OP_CLAIM:
        return pw_apply_claim(batch, &op->as.claim);
    case PW_OP_RENEW:
        return pw_apply_renew(batch, &op->as.renew);
    case PW_OP_REAP:
        return pw_apply_reap(batch, &op->as.reap);
    case PW_OP_SQL:
        return pw_apply_sql(batch, &op->as.sql);
    case PW_OP_MUTATE:
        return pw_apply_mutate(batch, &op->as.mutate);
    case PW_OP_HOOK:
        return pw_apply_hook(batch, &op->as.hook);
    case PW_OP_HOOK_CLAIM:
        return pw_apply_hook_claim(batch, &op->as.hook_claim);
    case PW_OP_HOOK_SETTLE:
        return pw_apply_hook_settle(batch, &op->as.hook_settle);
    case PW_OP_HOOK_RESEND:
        return pw_apply_hook_resend(batch, &op->as.hook_resend);
    }
    return pw_error(batch->error, PAWL_INVALID, "a unit of work holds an op of unknown kind %d", (int)op->kind);
}

static pawl_status apply_ops(struct pw_batch *batch)
{
    pawl_status status = PAWL_OK;
    for (struct pw_op *op = batch->unit->first; op != NULL && status == PAWL_OK; op = op->next)
        status = apply_op(batch, op);
    return status;
}

static pawl_status apply_undoable(struct pw_batch *batch)
{
    pawl_status status = pw_query_simple(batch->connection, PW_QUERY_UNIT_BEGIN, batch->error);
    if (status != PAWL_OK)
        return status;
    status = apply_ops(batch);
    if (status != PAWL_OK && !is_refused(batch))
        return status;
    status = PAWL_OK;
    if (is_refused(batch))
        status = pw_query_simple(batch->connection, PW_QUERY_UNIT_UNDO, batch->error);
    if (status == PAWL_OK)
        status = pw_query_simple(batch->connection, PW_QUERY_UNIT_END, batch->error);
    return status;
}

static pawl_status apply_plain(struct pw_batch *batch)
{
    sqlite3_int64 changes = sqlite3_total_changes64(batch->connection->db);
    pawl_status status = apply_ops(batch);
    if (!is_refused(batch))
        return status;
    if (sqlite3_total_changes64(batch->connection->db) != changes)
        return pw_error(batch->error, status, "%s", batch->unit->error.text);
    return PAWL_OK;
}

static pawl_status apply_units(struct pw_batch *batch, struct pw_unit **units, size_t count)
{
    pawl_status status = PAWL_OK;
    for (size_t position = 0; position < count && status == PAWL_OK; position++) {
        batch->unit = units[position];
        pw_unit_begin(batch->unit);
        status = pw_unit_needs_undo(batch->unit) ? apply_undoable(batch) : apply_plain(batch);
    }
    return status;
}

static void answer(struct pw_unit **units, size_t count, pawl_status status)
{
    for (size_t position = 0; position < count; position++) {
        pw_unit_answer(units[position], status);
        units[position]->undone = status != PAWL_OK; /* a failed COMMIT was rolled back: readers never see it */
    }
}

/* A busy database is told apart from other trouble: it has taken its time already, and may be better later. */
static pawl_status begin_transaction(struct pw_sqlite_connection *connection, struct pawl_error *error)
{
    pw_sqlite_rollback(connection); /* what could not be rolled back when it failed */
    pawl_status status = pw_query_simple(connection, PW_QUERY_BEGIN, error);
    if (status == PAWL_OK || (sqlite3_errcode(connection->db) & 0xff) != SQLITE_BUSY)
        return status;
    if (error != NULL)
        error->status = PAWL_BUSY;
    return PAWL_BUSY;
}

pawl_status pw_sqlite_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_batch batch = { .sqlite = sqlite, .error = error };
    batch.connection = pw_sqlite_take_writer(sqlite);
    pawl_status status = begin_transaction(batch.connection, error);
    batch.now_ms = store->ops->now_ms(store); /* only now: whoever had the lock before us has an earlier one */
    if (status == PAWL_OK)
        status = apply_units(&batch, units, count);
    if (status == PAWL_OK)
        status = pw_sqlite_file_check(&sqlite->file, error); /* nobody finds again what is written to a lost file */
    if (status == PAWL_OK)
        status = pw_query_simple(batch.connection, PW_QUERY_COMMIT, error);
    if (status != PAWL_OK)
        pw_sqlite_rollback(batch.connection);
    pw_sqlite_give_writer(sqlite);
    answer(units, count, status);
    return status;
}
