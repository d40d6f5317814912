/* task_ops.c - the ops on the task row: the fence, which goes before every write of a turn, parking, pausing and
 * what is demanded of it. */
#include "base/error.h"
#include "store/sqlite/batch.h"

pawl_status pw_refuse_moved(struct pw_batch *batch)
{
    return pw_unit_refuse(batch->unit, PW_REFUSED_MOVED);
}

pawl_status pw_run_on_task(struct pw_batch *batch, struct pw_query *query)
{
    pawl_status status = pw_query_run(query, batch->error);
    if (status == PAWL_OK && sqlite3_changes64(batch->connection->db) == 0)
        return pw_refuse_moved(batch);
    return status;
}

static void read_look(struct pw_query *query, struct pw_look *look)
{
    look->run = pw_column_count(query);
    look->epoch = pw_column_count(query);
    look->due_at_ms = pw_column_integer(query);
    look->pause_requested = pw_column_integer(query) != 0;
    look->demand = (enum pw_demand)pw_column_choice(query, PW_DEMAND_TERMINATE);
    look->started_at_ms = pw_column_time(query);
    look->event_seq = pw_column_count(query);
    look->updated_at_ms = pw_column_time(query);
}

pawl_status pw_look_at_task(struct pw_batch *batch, int64_t instance, struct pw_look *out_look)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_LOOK);
    pw_bind_integer(&query, instance);
    out_look->found = pw_query_step(&query);
    if (out_look->found)
        read_look(&query, out_look);
    return pw_query_end(&query, batch->error);
}

pawl_status pw_look_at_lease(struct pw_batch *batch, int64_t instance, struct pw_look *out_look)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_LOOK_AT_LEASE);
    pw_bind_integer(&query, instance);
    out_look->found = pw_query_step(&query);
    if (out_look->found) {
        read_look(&query, out_look);
        out_look->status = (enum pw_task_status)pw_column_choice(&query, PW_TASK_PAUSED);
        out_look->processing = pw_column_integer(&query) != 0;
        out_look->owner = pw_column_integer(&query);
        out_look->locked_until_ms = pw_column_time(&query);
    }
    return pw_query_end(&query, batch->error);
}

pawl_status pw_apply_fence(struct pw_batch *batch, struct pw_op_fence *op)
{
    struct pw_look look;
    pawl_status status = pw_look_at_task(batch, op->at.instance, &look);
    if (status != PAWL_OK)
        return status;
    if (!look.found || look.run != op->at.run || look.epoch != op->at.epoch)
        return pw_unit_refuse(batch->unit, op->is_foreign ? PW_REFUSED_OTHER_MOVED : PW_REFUSED_MOVED);
    op->pause_requested = look.pause_requested;
    op->demand = look.demand;
    op->event_seq = look.event_seq;
    if (op->unless_pause && look.pause_requested)
        return pw_unit_refuse(batch->unit, PW_REFUSED_PAUSE_REQUESTED);
    if (op->unless_new_events && look.event_seq > op->event_seq_seen)
        return pw_unit_refuse(batch->unit, PW_REFUSED_NEW_EVENTS);
    return op->lease_ms != 0 ? pw_set_lease(batch, op->at.instance, batch->now_ms + op->lease_ms) : PAWL_OK;
}

static int64_t due_of_park(const struct pw_batch *batch, const struct pw_op_park *op, const struct pw_look *look,
                           bool goes_on)
{
    if (op->due_at_ms == PW_NOW || goes_on || (op->event_seq_seen >= 0 && look->event_seq > op->event_seq_seen))
        return batch->now_ms;
    return op->due_at_ms != 0 ? op->due_at_ms : look->due_at_ms;
}

pawl_status pw_apply_park(struct pw_batch *batch, struct pw_op_park *op)
{
    struct pw_look look;
    pawl_status status = pw_look_at_task(batch, op->instance, &look);
    if (status != PAWL_OK)
        return status;
    if (!look.found)
        return pw_refuse_moved(batch);
    bool goes_on = pw_park_goes_on(op, look.pause_requested, look.demand);
    op->due_at_ms_set = due_of_park(batch, op, &look, goes_on);
    op->status_set = look.pause_requested ? PW_TASK_PAUSED : goes_on ? PW_TASK_ACTIVE : op->status;

    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_PARK);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->status_set);
    pw_bind_integer(&query, goes_on ? PW_TASK_RESUME : op->kind);
    pw_bind_integer(&query, op->due_at_ms_set);
    pw_bind_integer(&query, pw_not_before(pw_not_before(batch->now_ms, op->newest_ms), look.updated_at_ms));
    return pw_query_run(&query, batch->error);
}

pawl_status pw_apply_pause(struct pw_batch *batch, const struct pw_op_pause *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_PAUSE);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->requested);
    pw_bind_integer(&query, batch->now_ms);
    return pw_run_on_task(batch, &query);
}

pawl_status pw_apply_demand(struct pw_batch *batch, const struct pw_op_demand *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_DEMAND);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->demand);
    pw_bind_integer(&query, batch->now_ms);
    return pw_run_on_task(batch, &query);
}
