/* frame.c - the frame: what the rules ask of PostgreSQL while they run (struct pw_frame in core.h).
 *
 * Each question costs a round trip, so rules ask only in rare cases.  Writing only sends; it does not wait. */
#include "base/error.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"

static pawl_status write_decided(struct pw_core *core)
{
    return pw_write(pw_transaction_of(core));
}

/* ---- Questions -------------------------------------------------------------------------------------------------------- */

static pawl_status ask_number(struct pw_core *core, const struct pw_call *call, int64_t *out_number)
{
    struct pw_numbers numbers = { .is_found = false };
    pw_pg_send(pw_transaction_of(core)->connection, call, pw_numbers_take, &numbers);
    pawl_status status = pw_settle(pw_transaction_of(core));
    *out_number = numbers.of[0];
    return status;
}

static pawl_status count_unread(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_EVENTS_UNREAD, PW_VALUES(pw_int(run->key), pw_int(run->run), pw_int(max)));
    pawl_status status = ask_number(core, &call, out_count);
    *out_count = pw_count_of(*out_count);
    return status;
}

static pawl_status find_wait(struct pw_core *core, const struct pw_core_run *run, struct pw_text type,
                             int64_t *out_until_ms)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_STEP_AWAITING, PW_VALUES(pw_int(run->key), pw_int(run->run), pw_str(type)));
    pawl_status status = ask_number(core, &call, out_until_ms);
    *out_until_ms = pw_time_of(*out_until_ms);
    return status;
}

/* ---- The user's code --------------------------------------------------------------------------------------------------- */

/* The user's code must see everything that was sent before it, so that is waited for first. */
static pawl_status run_sql(struct pw_core *core, struct pw_op_sql *op)
{
    pawl_status status = pw_settle(pw_transaction_of(core));
    return status == PAWL_OK ? pw_run_sql(pw_transaction_of(core), op) : status;
}

static pawl_status run_mutation(struct pw_core *core, struct pw_op_mutate *op)
{
    pawl_status status = pw_settle(pw_transaction_of(core));
    return status == PAWL_OK ? pw_run_mutation(pw_transaction_of(core), op) : status;
}

static pawl_status begin_savepoint(struct pw_core *core)
{
    pw_transaction_of(core)->has_users_code = true;
    pw_pg_send_simple(pw_transaction_of(core)->connection, PW_PG_UNIT_BEGIN);
    return PAWL_OK;
}

static pawl_status end_savepoint(struct pw_core *core, bool keeps)
{
    if (!keeps)
        pw_pg_send_simple(pw_transaction_of(core)->connection, PW_PG_UNIT_UNDO);
    pw_pg_send_simple(pw_transaction_of(core)->connection, PW_PG_UNIT_END);
    return PAWL_OK;
}

/* ---- Beginning and end -------------------------------------------------------------------------------------------------- */

void pw_transaction_init(struct pw_transaction *transaction, struct pw_postgres *postgres,
                         struct pw_pg_connection *connection, struct pawl_error *error)
{
    static const struct pw_frame frame = { .write = write_decided,
                                           .count_unread = count_unread,
                                           .find_wait = find_wait,
                                           .owe = pw_owe,
                                           .claim = pw_claim,
                                           .reap = pw_reap,
                                           .claim_hooks = pw_claim_hooks,
                                           .run_sql = run_sql,
                                           .run_mutation = run_mutation,
                                           .begin_savepoint = begin_savepoint,
                                           .end_savepoint = end_savepoint };
    *transaction = (struct pw_transaction){ .postgres = postgres, .connection = connection };
    pw_core_init(&transaction->core, &frame, error);
    struct pw_arena *arena = &transaction->core.arena;
    transaction->paid = (struct pw_rows){ .arena = arena, .row_size = sizeof(struct pw_pg_debt) };
    transaction->gates = (struct pw_rows){ .arena = arena, .row_size = sizeof(struct pw_pg_gate) };
}

void pw_transaction_clear(struct pw_transaction *transaction)
{
    pw_core_clear(&transaction->core);
}
