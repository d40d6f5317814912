/* hook_ops.c - finds and loads deliveries to hooks.  The core decides what becomes of them.
 *
 * A claim looks only at next_at.  While an attempt is under way, next_at is the end of its lease.  So a delivery
 * whose attempt never comes back becomes due again by itself. */
#include "base/error.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/read.h"

/* How many deliveries without an attempt left a claim finds beyond its max.  More are left to later claims. */
enum { SPENT_MORE = 64 };

/* Adds the deliveries that the query finds (struct pw_core_delivery *). */
static pawl_status collect(struct pw_batch *batch, struct pw_query *query, struct pw_rows *found)
{
    while (pw_query_step(query)) {
        struct pw_hook_row row = { .key = 0 };
        pw_read_hook_row(query, &batch->core.arena, &row);
        struct pw_core_delivery *delivery = pw_note_delivery(&batch->core, &row);
        struct pw_core_delivery **place = delivery != NULL ? pw_rows_add(found) : NULL;
        if (place == NULL) {
            query->code = SQLITE_NOMEM;
            break;
        }
        *place = delivery;
    }
    return pw_query_end(query, batch->core.error);
}

static struct pw_rows no_deliveries(struct pw_batch *batch)
{
    return (struct pw_rows){ .arena = &batch->core.arena, .row_size = sizeof(struct pw_core_delivery *) };
}

pawl_status pw_sqlite_load_hooks(struct pw_batch *batch)
{
    const struct pw_op_hook_resend *const *resends = batch->core.resends.rows;
    struct pw_core_delivery **deliveries = batch->core.deliveries.list.rows;
    size_t count = batch->core.deliveries.list.count; /* of those known by their keys */
    struct pw_rows found = no_deliveries(batch);
    struct pw_query query;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        pw_query_start(&query, batch->connection, PW_QUERY_HOOK_LOAD, PW_VALUES(pw_int(deliveries[i]->key)));
        status = collect(batch, &query, &found);
    }
    for (size_t i = 0; i < batch->core.resends.count && status == PAWL_OK; i++) {
        pw_query_start(&query, batch->connection, PW_QUERY_HOOK_LOAD_BY_ID, PW_VALUES(pw_str(resends[i]->id)));
        status = collect(batch, &query, &found);
    }
    return status;
}

static pawl_status find_due(struct pw_batch *batch, enum pw_query_name name, struct pw_text hook, size_t max,
                            struct pw_rows *found)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, name, PW_VALUES(pw_str(hook), pw_int(batch->core.now_ms), pw_size(max)));
    return collect(batch, &query, found);
}

pawl_status pw_sqlite_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    struct pw_rows found = no_deliveries(batch);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < op->wanted_count && status == PAWL_OK; i++) {
        status = find_due(batch, PW_QUERY_HOOK_DUE, op->wanted[i].hook, op->max, &found);
        if (status == PAWL_OK)
            status = find_due(batch, PW_QUERY_HOOK_SPENT, op->wanted[i].hook, op->max + SPENT_MORE, &found);
    }
    return status == PAWL_OK ? pw_core_claim_hooks(core, op, &found) : status;
}
