/* instance_ops.c - the ops that begin and end runs.  While a run is open its task row lives; the instance row takes
 * part only at both ends. */
#include "base/error.h"
#include "store/sqlite/batch.h"

/* Of a row that is gone: 0, and nothing will be made of it. */
static pawl_status read_shard(struct pw_batch *batch, int64_t instance, int *out_shard)
{
    struct pw_query query;
    struct pw_text workflow, id;
    *out_shard = 0;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_NAME);
    pw_bind_integer(&query, instance);
    if (pw_query_step(&query)) {
        workflow = pw_column_text(&query, &batch->unit->arena);
        id = pw_column_text(&query, &batch->unit->arena);
        *out_shard = pw_shard_of(workflow, id);
    }
    return pw_query_end(&query, batch->error);
}

/* A task that is claimed at its birth has epoch 1 and has started; others have epoch 0. */
static void bind_new_task(struct pw_batch *batch, struct pw_query *query, int64_t hold_owner, int64_t hold_lease_ms)
{
    bool held = hold_owner != 0;
    pw_bind_integer(query, batch->now_ms);
    pw_bind_integer(query, held);
    pw_bind_time(query, hold_owner);
    pw_bind_time(query, held ? batch->now_ms + hold_lease_ms : 0);
    pw_bind_time(query, held ? batch->now_ms : 0);
}

static pawl_status insert_task(struct pw_batch *batch, struct pw_op_create *op)
{
    op->fence = (struct pw_fence){ .instance = sqlite3_last_insert_rowid(batch->connection->db),
                                   .run = 1,
                                   .epoch = op->hold_owner != 0 ? 1 : 0 };
    op->created_at_ms = batch->now_ms;

    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_INSERT);
    pw_bind_integer(&query, op->fence.instance);
    pw_bind_text(&query, op->workflow);
    pw_bind_integer(&query, pw_shard_of(op->workflow, op->id));
    bind_new_task(batch, &query, op->hold_owner, op->hold_lease_ms);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_create(struct pw_batch *batch, struct pw_op_create *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_INSERT);
    pw_bind_text(&query, op->workflow);
    pw_bind_text(&query, op->id);
    pw_bind_text(&query, op->params);
    pw_bind_integer(&query, batch->now_ms);
    pawl_status status = pw_query_run(&query, batch->error);
    if (status != PAWL_OK)
        return status;

    op->created = sqlite3_changes64(batch->connection->db) != 0;
    if (op->created)
        return insert_task(batch, op);
    if (op->skip_existing)
        return PAWL_OK;
    return pw_refuse(batch, pw_error(&batch->unit->error, PAWL_INSTANCE_ID_ALREADY_EXISTS,
                                     "workflow %.*s has an instance %.*s already", (int)op->workflow.size,
                                     op->workflow.data, (int)op->id.size, op->id.data));
}

pawl_status pw_apply_restart(struct pw_batch *batch, const struct pw_op_restart *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_RESTART);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, batch->now_ms);
    int shard = 0;
    pawl_status status = pw_run_on_task(batch, &query);
    if (status == PAWL_OK)
        status = read_shard(batch, op->instance, &shard);
    if (status != PAWL_OK)
        return status;

    pw_query_start(&query, batch->connection, PW_QUERY_TASK_RENEW_RUN);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, shard);
    bind_new_task(batch, &query, op->hold_owner, op->hold_lease_ms);
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_finish(struct pw_batch *batch, struct pw_op_finish *op)
{
    struct pw_look look;
    pawl_status status = pw_look_at_task(batch, op->instance, &look);
    if (status != PAWL_OK)
        return status;
    if (!look.found)
        return pw_refuse_moved(batch);
    op->started_at_ms = look.started_at_ms;
    op->completed_at_ms = batch->now_ms;

    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_FINISH);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->outcome);
    pw_bind_text(&query, op->output);
    pw_bind_text(&query, op->error_name);
    pw_bind_text(&query, op->error_message);
    pw_bind_integer(&query, batch->now_ms);
    pw_bind_time(&query, op->started_at_ms);
    status = pw_query_run(&query, batch->error);
    if (status != PAWL_OK)
        return status;

    pw_query_start(&query, batch->connection, PW_QUERY_TASK_DELETE);
    pw_bind_integer(&query, op->instance);
    return pw_query_run(&query, batch->error);
}
