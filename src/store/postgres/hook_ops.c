/* hook_ops.c - what hooks are to be told, claimed for an attempt and settled.  The database decides; nothing here can be
 * refused, so the answers need not be waited for. */
#include "store/postgres/fields.h"
#include "store/postgres/read.h"
#include "store/postgres/transaction.h"

enum { CLAIM_MAX = 100000, CANDIDATES_MORE = 64 };

struct claiming {
    struct pw_op_hook_claim *op;
    struct pw_arena *arena; /* the unit's */
};

/* As it was before this attempt, and until when the attempt has it. */
static void read_claimed(struct pw_fields *fields, void *row)
{
    struct pw_hook_row *hook = row;
    pw_pg_read_hook_row(fields, hook);
    hook->attempts++;
    hook->epoch++;
    hook->next_at_ms = hook->locked_until_ms = pw_field_time(fields);
}

static pawl_status take_claims(void *user, void *of, const PGresult *result)
{
    const struct claiming *claiming = of;
    struct pw_rows rows = { .arena = claiming->arena, .row_size = sizeof(struct pw_hook_row) };
    (void)user;
    pawl_status status = pw_pg_read_rows(result, &rows, read_claimed);
    claiming->op->rows = rows.rows;
    claiming->op->row_count = rows.count;
    return status;
}

/* Of as many as the claim behind it looks at: who looked at all would be slower the more there are. */
static void send_give_up(struct pw_transaction *transaction, const struct pw_op_hook_claim *op, int64_t candidates)
{
    struct pw_columns hooks;
    struct pw_call call;
    pw_columns_init(&hooks, &transaction->core.arena);
    for (size_t i = 0; i < op->wanted_count; i++) {
        pw_columns_row(&hooks);
        pw_put_text(&hooks, op->wanted[i].hook);
    }
    pw_call_init(&call, PW_PG_HOOK_GIVE_UP);
    pw_call_columns(&call, &hooks);
    pw_call_integer(&call, transaction->core.now_ms);
    pw_call_text(&call, pw_text_of("the last attempt was not heard of again before its lease ended"));
    pw_call_integer(&call, candidates);
    pw_pg_send(transaction->connection, &call, NULL, NULL, NULL);
}

pawl_status pw_send_hook_claim(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    transaction->answers_due++;
    struct pw_columns wanted;
    struct pw_call call;
    struct claiming *claiming = pw_arena_take(&transaction->core.arena, sizeof *claiming);
    if (claiming == NULL)
        return pw_no_memory(transaction);
    *claiming = (struct claiming){ op, &transaction->core.unit->arena };
    op->rows = NULL;
    op->row_count = 0;
    if (op->wanted_count == 0 || op->max == 0)
        return PAWL_OK;
    int64_t max = op->max < CLAIM_MAX ? (int64_t)op->max : CLAIM_MAX, candidates = 2 * max + CANDIDATES_MORE;
    send_give_up(transaction, op, candidates);
    pw_columns_init(&wanted, &transaction->core.arena);
    for (size_t i = 0; i < op->wanted_count; i++) {
        pw_columns_row(&wanted);
        pw_put_text(&wanted, op->wanted[i].hook);
        pw_put_integer(&wanted, op->wanted[i].lease_ms);
    }
    pw_call_init(&call, PW_PG_HOOK_CLAIM);
    pw_call_columns(&call, &wanted);
    pw_call_integer(&call, transaction->core.now_ms);
    pw_call_integer(&call, max);
    pw_call_integer(&call, candidates);
    pw_pg_send(transaction->connection, &call, take_claims, transaction, claiming);
    return PAWL_OK;
}

/* ---- Settling ------------------------------------------------------------------------------------------------ */

static pawl_status take_found(void *user, void *of, const PGresult *result)
{
    bool *found = of;
    (void)user;
    *found = PQntuples(result) > 0;
    return PAWL_OK;
}

static pawl_status take_lost(void *user, void *of, const PGresult *result)
{
    bool *lost = of;
    (void)user;
    *lost = PQntuples(result) == 0;
    return PAWL_OK;
}

pawl_status pw_send_hook_settle(struct pw_core *core, struct pw_op_hook_settle *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    transaction->answers_due++;
    struct pw_call call;
    pw_call_init(&call, op->delivered ? PW_PG_HOOK_DELIVERED : PW_PG_HOOK_FAILED);
    pw_call_integer(&call, op->key);
    pw_call_integer(&call, op->epoch);
    if (!op->delivered) {
        if (op->next_at_ms != 0)
            pw_call_integer(&call, op->next_at_ms);
        else
            pw_call_text(&call, (struct pw_text){ NULL, 0 });
        pw_call_text(&call, op->last_error);
        pw_call_integer(&call, op->untried);
    }
    pw_pg_send(transaction->connection, &call, take_lost, transaction, &op->lost);
    return PAWL_OK;
}

pawl_status pw_send_hook_resend(struct pw_core *core, struct pw_op_hook_resend *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    transaction->answers_due++;
    struct pw_call call;
    pw_call_init(&call, PW_PG_HOOK_RESEND);
    pw_call_text(&call, op->id);
    pw_call_integer(&call, transaction->core.now_ms);
    pw_pg_send(transaction->connection, &call, take_found, transaction, &op->found);
    return PAWL_OK;
}
