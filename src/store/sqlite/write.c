/* write.c - writes every row that was changed, once.  The rules have checked everything, so no statement here looks first. */
#include "base/error.h"
#include "store/sqlite/batch.h"

static pawl_status run(struct pw_batch *batch, struct pw_query *query)
{
    return pw_query_run(query, batch->core.error);
}

/* ---- Instances and tasks ------------------------------------------------------------------------------------------------- */

static pawl_status write_instance(struct pw_batch *batch, const struct pw_core_run *record)
{
    const struct pw_instance row = pw_core_instance_row(record);
    struct pw_query query;
    if (record->change == PW_CORE_NEW) {
        pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_INSERT);
        pw_bind_row(&query, &pw_instance_type, &row);
    } else {
        pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_UPDATE);
        pw_bind_changes(&query, &pw_instance_type, &row);
        pw_bind_integer(&query, row.key);
    }
    return run(batch, &query);
}

/* SQLite takes a row out of an index and puts it back whenever a statement names one of the index's columns.  So the common
 * small changes have a statement that names none of them. */
static bool is_in_no_index(const struct pw_core_run *record)
{
    const struct pw_task *now = &record->task;
    struct pw_task was = record->stored;
    was.epoch = now->epoch;
    was.pause_requested = now->pause_requested;
    was.demand = now->demand;
    was.started_at_ms = now->started_at_ms;
    was.updated_at_ms = now->updated_at_ms;
    was.event_seq = now->event_seq;
    return pw_rows_equal(&pw_task_type, now, &was);
}

static pawl_status insert_task(struct pw_batch *batch, const struct pw_core_run *record)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_INSERT);
    pw_bind_integer(&query, record->key);
    pw_bind_integer(&query, record->run);
    pw_bind_text(&query, record->workflow);
    pw_bind_integer(&query, pw_shard_of(record->workflow, record->id));
    pw_bind_row(&query, &pw_task_type, &record->task);
    return run(batch, &query);
}

static pawl_status update_task(struct pw_batch *batch, const struct pw_core_run *record)
{
    const struct pw_task *task = &record->task;
    struct pw_query query;
    if (is_in_no_index(record)) {
        pw_query_start(&query, batch->connection, PW_QUERY_TASK_UPDATE_REST);
        pw_bind_integer(&query, task->epoch);
        pw_bind_integer(&query, task->pause_requested);
        pw_bind_integer(&query, task->demand);
        pw_bind_time(&query, task->started_at_ms);
        pw_bind_integer(&query, task->updated_at_ms);
        pw_bind_integer(&query, task->event_seq);
    } else {
        pw_query_start(&query, batch->connection, PW_QUERY_TASK_UPDATE);
        pw_bind_row(&query, &pw_task_type, task);
    }
    pw_bind_integer(&query, record->run);
    pw_bind_integer(&query, record->key);
    return run(batch, &query);
}

static pawl_status write_task(struct pw_batch *batch, const struct pw_core_run *record)
{
    struct pw_query query;
    if (record->has_task)
        return record->is_stored ? update_task(batch, record) : insert_task(batch, record);
    if (!record->is_stored)
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_DELETE);
    pw_bind_integer(&query, record->key);
    return run(batch, &query);
}

static pawl_status write_runs(struct pw_batch *batch)
{
    struct pw_core_run **records = batch->core.runs.list.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.runs.list.count && status == PAWL_OK; i++) {
        if (records[i]->change != PW_CORE_SAME)
            status = write_instance(batch, records[i]);
        if (status == PAWL_OK && records[i]->is_changed)
            status = write_task(batch, records[i]);
    }
    return status;
}

static pawl_status write_earlier_runs(struct pw_batch *batch)
{
    const struct pw_core_earlier *earlier = batch->core.earlier.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.earlier.count && status == PAWL_OK; i++) {
        struct pw_query query;
        pw_query_start(&query, batch->connection, PW_QUERY_EARLIER_RUN_INSERT);
        pw_bind_integer(&query, earlier[i].instance);
        pw_bind_row(&query, &pw_earlier_run_type, &earlier[i].row);
        status = run(batch, &query);
    }
    return status;
}

/* ---- History ------------------------------------------------------------------------------------------------------------- */

/* Rows of a history are found by instance, run and seq. */
static pawl_status insert_at(struct pw_batch *batch, enum pw_query_name name, int64_t instance, int64_t run_number,
                             const struct pw_row_type *type, const void *row)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, name);
    pw_bind_integer(&query, instance);
    pw_bind_integer(&query, run_number);
    pw_bind_row(&query, type, row);
    return run(batch, &query);
}

static pawl_status update_at(struct pw_batch *batch, enum pw_query_name name, const int64_t *place,
                             const struct pw_row_type *type, const void *row)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, name);
    pw_bind_changes(&query, type, row);
    for (size_t part = 0; part < 3; part++)
        pw_bind_integer(&query, place[part]);
    return run(batch, &query);
}

static pawl_status write_steps(struct pw_batch *batch)
{
    struct pw_core_step **steps = batch->core.steps.list.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.steps.list.count && status == PAWL_OK; i++) {
        const struct pw_core_step *step = steps[i];
        if (step->insert == NULL && step->update == NULL)
            continue;
        const struct pw_step_row row = pw_core_step_row(&batch->core, step);
        status = step->insert != NULL
                     ? insert_at(batch, PW_QUERY_STEP_INSERT, step->place[0], step->place[1], &pw_step_type, &row)
                     : update_at(batch, PW_QUERY_STEP_UPDATE, step->place, &pw_step_type, &row);
    }
    return status;
}

/* Copies the steps that a new run begins with.  Later units of the batch may update them. */
static pawl_status keep_steps(struct pw_batch *batch, const struct pw_op_restart *op)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_STEPS_KEEP);
    pw_bind_integer(&query, op->instance);
    pw_bind_integer(&query, op->run);
    pw_bind_integer(&query, op->keep_before_seq);
    pw_bind_integer(&query, op->keep_except_seq);
    pw_bind_integer(&query, op->keep_except_dropped);
    while (pw_query_step(&query)) {
        struct pw_core_step *step = pw_want_step(&batch->core, op->instance, op->run + 1, pw_column_place(&query));
        if (step == NULL || !PW_SAVE(&batch->core, step)) {
            query.code = SQLITE_NOMEM;
            break;
        }
        step->exists = true;
    }
    return pw_query_end(&query, batch->core.error);
}

/* One by one and behind the steps themselves, because a run may begin again more than once. */
static pawl_status write_kept(struct pw_batch *batch)
{
    struct pw_op_restart **ops = batch->core.kept.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.kept.count && status == PAWL_OK; i++)
        status = keep_steps(batch, ops[i]);
    return status;
}

static pawl_status write_events(struct pw_batch *batch)
{
    struct pw_core_event **events = batch->core.events.list.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.events.list.count && status == PAWL_OK; i++) {
        const struct pw_core_event *event = events[i];
        if (event->insert == NULL && event->consume == NULL)
            continue;
        const struct pw_event_row row = pw_core_event_row(&batch->core, event);
        status = event->insert != NULL
                     ? insert_at(batch, PW_QUERY_EVENT_INSERT, event->place[0], event->place[1], &pw_event_type, &row)
                     : update_at(batch, PW_QUERY_EVENT_UPDATE, event->place, &pw_event_type, &row);
    }
    return status;
}

static pawl_status write_logs(struct pw_batch *batch)
{
    const struct pw_core_log *logs = batch->core.logs.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.logs.count && status == PAWL_OK; i++) {
        const struct pw_log_row row = pw_core_log_row(&logs[i]);
        status = insert_at(batch, PW_QUERY_LOG_INSERT, logs[i].op->instance, logs[i].op->run, &pw_log_type, &row);
    }
    return status;
}

static pawl_status write_hooks(struct pw_batch *batch)
{
    const struct pw_core_hook *hooks = batch->core.hooks.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.hooks.count && status == PAWL_OK; i++) {
        struct pw_query query;
        pw_query_start(&query, batch->connection, PW_QUERY_HOOK_INSERT);
        pw_bind_integer(&query, hooks[i].instance);
        pw_bind_integer(&query, hooks[i].row.next_at_ms);
        pw_bind_row(&query, &pw_hook_type, &hooks[i].row);
        status = run(batch, &query);
    }
    return status;
}

static pawl_status write_deliveries(struct pw_batch *batch)
{
    struct pw_core_delivery **deliveries = batch->core.deliveries.list.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.deliveries.list.count && status == PAWL_OK; i++) {
        const struct pw_core_delivery *delivery = deliveries[i];
        struct pw_query query;
        if (!delivery->is_changed)
            continue;
        pw_query_start(&query, batch->connection, delivery->exists ? PW_QUERY_HOOK_UPDATE : PW_QUERY_HOOK_DELETE);
        if (delivery->exists)
            pw_bind_changes(&query, &pw_delivery_type, &delivery->row);
        pw_bind_integer(&query, delivery->key);
        status = run(batch, &query);
    }
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------------------------- */

pawl_status pw_sqlite_write(struct pw_core *core)
{
    struct pw_batch *batch = pw_batch_of(core);
    pawl_status (*const parts[])(struct pw_batch *) = {
        write_runs, write_earlier_runs, write_steps, write_kept, write_events, write_logs, write_hooks, write_deliveries
    };
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == PAWL_OK; i++)
        status = parts[i](batch);
    if (status == PAWL_OK && !pw_core_note_written(core))
        return pw_error_plain(core->error, PAWL_NOMEM);
    return status;
}
