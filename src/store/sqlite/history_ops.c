/* history_ops.c - the ops that write history: steps, events, log lines. */
#include "base/error.h"
#include "store/sqlite/batch.h"

/* Insert and update take the same parameters in the same order; what only the insert has comes last. */
pawl_status pw_apply_step(struct pw_batch *batch, const struct pw_op_step *op)
{
    const struct pw_step_row *row = &op->row;
    struct pw_query query;
    pw_query_start(&query, batch->connection, op->is_new ? PW_QUERY_STEP_INSERT : PW_QUERY_STEP_UPDATE);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, row->seq);
    pw_bind_integer(&query, row->status);
    pw_bind_integer(&query, row->attempts);
    pw_bind_integer(&query, row->attempts_max);
    pw_bind_integer(&query, row->timeout_ms);
    pw_bind_time(&query, row->next_retry_at_ms);
    pw_bind_time(&query, row->wake_at_ms);
    pw_bind_time(&query, row->event_at_ms);
    pw_bind_text(&query, row->wait_event_type);
    pw_bind_text(&query, row->result);
    pw_bind_text(&query, row->error_name);
    pw_bind_text(&query, row->error_message);
    pw_bind_integer(&query, pw_batch_time(batch, row->updated_at_ms));
    pw_bind_text(&query, row->description);
    if (op->is_new) {
        pw_bind_text(&query, row->name);
        pw_bind_integer(&query, row->kind);
        pw_bind_integer(&query, pw_batch_time(batch, row->created_at_ms));
    }
    return pw_run_on_task(batch, &query);
}

/* An event goes behind all that there is of the run, also by its time: the next one is not before it, because count_event()
 * leaves the same time in the task. */
static int64_t time_of_event(const struct pw_batch *batch, const struct pw_look *look)
{
    return pw_not_before(batch->now_ms, look->updated_at_ms);
}

static pawl_status insert_event(struct pw_batch *batch, struct pw_op_event *op, const struct pw_look *look)
{
    op->seq = look->event_seq + 1;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_INSERT);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, look->run);
    pw_bind_integer(&query, op->seq);
    pw_bind_text(&query, op->id);
    pw_bind_text(&query, op->type);
    pw_bind_text(&query, op->payload);
    pw_bind_integer(&query, time_of_event(batch, look));
    pawl_status status = pw_query_run(&query, batch->error);
    op->recorded = status == PAWL_OK && sqlite3_changes64(batch->connection->db) != 0;
    return status;
}

static pawl_status refuse_known_id(struct pw_batch *batch)
{
    return pw_unit_refuse(batch->unit, PW_REFUSED_EVENT_EXISTS);
}

/* The number that a query answers. */
static pawl_status ask_number(struct pw_batch *batch, struct pw_query *query, int64_t *out_number)
{
    if (pw_query_step(query))
        *out_number = pw_column_count(query);
    return pw_query_end(query, batch->error);
}

/* Before anything is written.  A run has at most as many events as the number of the newest says, so they are counted only
 * where that is large.  One that is sent again is not one too many. */
static pawl_status check_unread(struct pw_batch *batch, const struct pw_op_event *op, const struct pw_look *look)
{
    struct pw_query query;
    int64_t unread = 0, known = 0;
    if (op->unread_max == 0 || look->event_seq < op->unread_max)
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENTS_UNREAD);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, op->unread_max);
    pawl_status status = ask_number(batch, &query, &unread);
    if (status != PAWL_OK || unread < op->unread_max)
        return status;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_KNOWN);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_text(&query, op->id);
    status = ask_number(batch, &query, &known);
    if (status != PAWL_OK)
        return status;
    return known != 0 ? refuse_known_id(batch) : pw_unit_refuse_event(batch->unit, op);
}

static pawl_status count_event(struct pw_batch *batch, const struct pw_op_event *op, const struct pw_look *look)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, op->woke ? PW_QUERY_EVENT_WAKE : PW_QUERY_EVENT_COUNT);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->seq);
    pw_bind_integer(&query, time_of_event(batch, look));
    if (op->woke)
        pw_bind_integer(&query, batch->now_ms);
    return pw_query_run(&query, batch->error);
}

static pawl_status apply_answer(struct pw_batch *batch, struct pw_op_event *op, const struct pw_look *look)
{
    op->recorded = op->woke = false;
    if (!look->found)
        return PAWL_OK;
    pawl_status status = insert_event(batch, op, look);
    if (!op->recorded)
        return status;
    op->run_told = look->run;
    op->woke = look->status == PW_TASK_WAITING && !look->processing;
    op->is_paused = look->status == PW_TASK_PAUSED || look->pause_requested;
    return count_event(batch, op, look);
}

pawl_status pw_apply_event(struct pw_batch *batch, struct pw_op_event *op)
{
    struct pw_look look;
    pawl_status status =
        op->is_answer ? pw_look_at_lease(batch, op->instance, &look) : pw_look_at_task(batch, op->instance, &look);
    if (status != PAWL_OK)
        return status;
    if (op->is_answer)
        return apply_answer(batch, op, &look);
    if (!look.found || look.run != op->run)
        return pw_refuse_moved(batch);
    status = check_unread(batch, op, &look);
    if (status == PAWL_OK)
        status = insert_event(batch, op, &look);
    if (status != PAWL_OK)
        return status;
    return op->recorded ? count_event(batch, op, &look) : refuse_known_id(batch);
}

pawl_status pw_apply_consume(struct pw_batch *batch, const struct pw_op_consume *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_CONSUME);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, op->seq);
    pw_bind_text(&query, op->step);
    pw_bind_integer(&query, pw_batch_time(batch, op->delivered_at_ms));
    return pw_run_on_task(batch, &query);
}

pawl_status pw_apply_log(struct pw_batch *batch, const struct pw_op_log *op)
{
    const struct pw_log_row *row = &op->row;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_LOG_INSERT);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_text(&query, row->step);
    pw_bind_integer(&query, row->attempt);
    pw_bind_integer(&query, row->level);
    pw_bind_text(&query, row->category);
    pw_bind_text(&query, row->message);
    pw_bind_text(&query, row->data);
    pw_bind_integer(&query, row->is_replay);
    pw_bind_integer(&query, pw_batch_time(batch, row->created_at_ms));
    return pw_query_run(&query, batch->error);
}
