/* hook_ops.c - finds and loads deliveries to hooks.  The core decides what becomes of them. */
#include "store/postgres/fields.h"
#include "store/postgres/read.h"
#include "store/postgres/transaction.h"

enum { CLAIM_MAX = 100000, CANDIDATES_MORE = 64 };

/* of: the find, or NULL. */
static bool take_delivery(void *user, void *of, struct pw_fields *fields)
{
    struct pw_transaction *transaction = user;
    struct pw_hook_row row = { .key = 0 };
    pw_pg_read_hook_row(fields, &row);
    struct pw_core_delivery *delivery = pw_note_delivery(&transaction->core, &row);
    return delivery != NULL && (of == NULL || pw_add_found(of, delivery));
}

/* ---- Claiming ------------------------------------------------------------------------------------------------ */

struct pw_pg_find *pw_send_hook_find(struct pw_transaction *transaction, const struct pw_op_hook_claim *op,
                                     size_t ahead)
{
    int64_t max = op->max < CLAIM_MAX - ahead ? (int64_t)(op->max + ahead) : CLAIM_MAX;
    struct pw_pg_find *find = pw_begin_find(transaction, op);
    struct pw_columns hooks = { .arena = &transaction->core.arena };
    struct pw_call call;
    if (find == NULL)
        return NULL;
    for (size_t i = 0; i < op->wanted_count; i++)
        pw_columns_row(&hooks, PW_VALUES(pw_str(op->wanted[i].hook)));
    pw_call_init(&call, PW_PG_HOOK_CLAIM, PW_NO_VALUES);
    pw_call_columns(&call, &hooks);
    pw_call_add(&call, PW_VALUES(pw_int(transaction->core.now_ms), pw_int(max), pw_int(2 * max + CANDIDATES_MORE)));
    pw_ask(transaction, &call, take_delivery, find);
    return find;
}

/* The find that went out with the look counts, unless a unit has made a delivery due that it did not find.
 * Deliveries that are no longer due do no harm, because the find allowed for them. */
static struct pw_pg_find *find_of_look(const struct pw_transaction *transaction, const struct pw_op_hook_claim *op)
{
    struct pw_core_delivery *const *deliveries = transaction->core.deliveries.list.rows;
    for (size_t i = 0; i < transaction->core.deliveries.list.count; i++) {
        const struct pw_hook_row *row = &deliveries[i]->row;
        if (deliveries[i]->saved_in != 0 && row->next_at_ms != 0 && row->next_at_ms <= transaction->core.now_ms)
            return NULL;
    }
    return pw_find_of_look(transaction, op);
}

pawl_status pw_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_transaction *transaction = pw_transaction_of(core);
    struct pw_pg_find *find = find_of_look(transaction, op);
    pawl_status status = PAWL_OK;
    op->rows = NULL;
    op->row_count = 0;
    if (op->wanted_count == 0 || op->max == 0)
        return PAWL_OK;
    if (find == NULL) {
        find = pw_send_hook_find(transaction, op, 0);
        status = find != NULL ? pw_settle(transaction) : pw_no_memory(transaction);
    }
    return status == PAWL_OK ? pw_core_claim_hooks(core, op, &find->rows) : status;
}

/* ---- Settling ------------------------------------------------------------------------------------------------ */

void pw_lock_hooks(struct pw_transaction *transaction)
{
    const struct pw_op_hook_resend *const *resends = transaction->core.resends.rows;
    struct pw_core_delivery *const *deliveries = transaction->core.deliveries.list.rows;
    struct pw_columns keys = { .arena = &transaction->core.arena }, ids = keys;
    struct pw_call call;
    if (transaction->core.deliveries.list.count == 0 && transaction->core.resends.count == 0)
        return;
    for (size_t i = 0; i < transaction->core.deliveries.list.count; i++)
        pw_columns_row(&keys, PW_VALUES(pw_int(deliveries[i]->key)));
    for (size_t i = 0; i < transaction->core.resends.count; i++)
        pw_columns_row(&ids, PW_VALUES(pw_str(resends[i]->id)));
    pw_call_init(&call, PW_PG_HOOK_LOCK, PW_NO_VALUES);
    pw_call_columns_or_null(&call, &keys, 1);
    pw_call_columns_or_null(&call, &ids, 1);
    pw_ask(transaction, &call, take_delivery, NULL);
}
