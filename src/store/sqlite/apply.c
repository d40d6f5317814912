/* apply.c - applies units in one SQLite transaction, and has the frame for the core's rules; see batch.h.
 *
 * BEGIN IMMEDIATE takes the write lock, so nobody else writes until the end.  Rows are loaded, the rules decide in
 * memory, changed rows are written, and COMMIT makes them durable.  A failed transaction is rolled back, so its fate
 * is always known. */
#include "base/error.h"
#include "store/sqlite/batch.h"

/* ---- The frame ------------------------------------------------------------------------------------------------------- */

/* Never called: while we write, nobody else can have a row locked. */
static pawl_status owe(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms)
{
    (void)at, (void)owner, (void)until_ms;
    return pw_error(core->error, PAWL_INVALID,
                    "a lease is owed a renewal in a database that one process writes at a time");
}

static pawl_status begin_savepoint(struct pw_core *core)
{
    return pw_query_simple(pw_batch_of(core)->connection, PW_QUERY_UNIT_BEGIN, core->error);
}

static pawl_status end_savepoint(struct pw_core *core, bool keeps)
{
    struct pw_sqlite_connection *connection = pw_batch_of(core)->connection;
    pawl_status status = keeps ? PAWL_OK : pw_query_simple(connection, PW_QUERY_UNIT_UNDO, core->error);
    return status == PAWL_OK ? pw_query_simple(connection, PW_QUERY_UNIT_END, core->error) : status;
}

static const struct pw_frame frame = { .write = pw_sqlite_write,
                                       .count_unread = pw_sqlite_count_unread,
                                       .owe = owe,
                                       .claim = pw_sqlite_claim,
                                       .reap = pw_sqlite_reap,
                                       .claim_hooks = pw_sqlite_claim_hooks,
                                       .find_wait = pw_sqlite_find_wait,
                                       .run_sql = pw_sqlite_run_sql,
                                       .run_mutation = pw_sqlite_run_mutation,
                                       .begin_savepoint = begin_savepoint,
                                       .end_savepoint = end_savepoint,
                                       .load_claimable = pw_sqlite_load_claimable };

/* Most transactions are small and need no more memory than this, which is on the stack. */
enum { BATCH_MEMORY = 8 * 1024 };

/* ---- The transaction --------------------------------------------------------------------------------------------------- */

/* A busy database is reported as PAWL_BUSY, because the wait has taken its time already, and it may be better later. */
static pawl_status begin_transaction(struct pw_sqlite_connection *connection, struct pawl_error *error)
{
    pw_sqlite_rollback(connection); /* in case the last one could not be rolled back */
    pawl_status status = pw_query_simple(connection, PW_QUERY_BEGIN, error);
    if (status == PAWL_OK || (sqlite3_errcode(connection->db) & 0xff) != SQLITE_BUSY)
        return status;
    if (error != NULL)
        error->status = PAWL_BUSY;
    return PAWL_BUSY;
}

static pawl_status carry_out(struct pw_batch *batch, struct pw_unit **units, size_t count)
{
    pw_hot_begin(&batch->sqlite->hot, batch->connection->db);
    pawl_status status = pw_sqlite_load(batch, units, count);
    for (size_t position = 0; position < count && status == PAWL_OK; position++)
        status = pw_core_apply(&batch->core, units[position]);
    if (status == PAWL_OK)
        status = pw_sqlite_write(&batch->core);
    if (status == PAWL_OK) /* what is written to a lost file would never be found again */
        status = pw_sqlite_file_check(&batch->sqlite->file, batch->core.error);
    if (status == PAWL_OK)
        status = pw_query_simple(batch->connection, PW_QUERY_COMMIT, batch->core.error);
    if (status == PAWL_OK)
        pw_hot_keep(&batch->sqlite->hot, batch->connection->db, &batch->core);
    return status;
}

static void answer(struct pw_unit **units, size_t count, pawl_status status)
{
    for (size_t position = 0; position < count; position++) {
        pw_unit_answer(units[position], status);
        units[position]->undone = status != PAWL_OK; /* a failed COMMIT was rolled back, so readers never see it */
    }
}

pawl_status pw_sqlite_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct pw_sqlite *sqlite = (struct pw_sqlite *)store;
    struct pw_batch batch = { .sqlite = sqlite };
    _Alignas(max_align_t) unsigned char memory[BATCH_MEMORY];
    pw_core_init(&batch.core, &frame, error);
    pw_arena_lend(&batch.core.arena, memory, sizeof memory);
    batch.connection = pw_sqlite_take_writer(sqlite);
    pawl_status status = begin_transaction(batch.connection, error);
    batch.core.now_ms = store->ops->now_ms(store); /* only now: not before the time of those who had the lock */
    if (status == PAWL_OK)
        status = carry_out(&batch, units, count);
    if (status != PAWL_OK)
        pw_sqlite_rollback(batch.connection);
    pw_sqlite_give_writer(sqlite);
    answer(units, count, status);
    pw_core_clear(&batch.core);
    return status;
}
