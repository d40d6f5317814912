/* write.c - writes every changed row once.  The rules have checked everything, so no statement here looks first. */
#include "base/error.h"
#include "store/sqlite/batch.h"

static pawl_status run(struct pw_batch *batch, enum pw_query_name name, const struct pw_value *values, size_t count)
{
    return pw_query_run(batch->connection, name, values, count, batch->core.error);
}

/* ---- Instances and tasks ------------------------------------------------------------------------------------------------- */

static pawl_status write_instance(struct pw_batch *batch, const struct pw_core_run *record)
{
    const struct pw_instance row = pw_core_instance_row(record);
    if (record->change == PW_CORE_NEW)
        return run(batch, PW_QUERY_INSTANCE_INSERT, PW_VALUES(pw_row(&pw_instance_type, &row)));
    return run(batch, PW_QUERY_INSTANCE_UPDATE, PW_VALUES(pw_changes(&pw_instance_type, &row), pw_int(row.key)));
}

/* True if the change touches no indexed column.  SQLite deletes and reinserts an index entry whenever a statement
 * names one of the index's columns, so common small changes have a statement that names none. */
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

static pawl_status write_task(struct pw_batch *batch, const struct pw_core_run *record)
{
    const struct pw_task *task = &record->task;
    const struct pw_value key = pw_int(record->key), number = pw_int(record->run), row = pw_row(&pw_task_type, task);
    if (!record->has_task)
        return record->is_stored ? run(batch, PW_QUERY_TASK_DELETE, PW_VALUES(key)) : PAWL_OK;
    if (!record->is_stored)
        return run(
            batch, PW_QUERY_TASK_INSERT,
            PW_VALUES(key, number, pw_str(record->workflow), pw_int(pw_shard_of(record->workflow, record->id)), row));
    if (!is_in_no_index(record))
        return run(batch, PW_QUERY_TASK_UPDATE, PW_VALUES(row, number, key));
    return run(batch, PW_QUERY_TASK_UPDATE_REST,
               PW_VALUES(pw_int(task->epoch), pw_int(task->pause_requested), pw_int(task->demand),
                         pw_optional(task->started_at_ms), pw_int(task->updated_at_ms), pw_int(task->event_seq), number,
                         key));
}

static pawl_status write_run(struct pw_batch *batch, void *record)
{
    const struct pw_core_run *of = record;
    pawl_status status = of->change != PW_CORE_SAME ? write_instance(batch, of) : PAWL_OK;
    return status == PAWL_OK && of->is_changed ? write_task(batch, of) : status;
}

static pawl_status write_earlier_runs(struct pw_batch *batch)
{
    const struct pw_core_earlier *earlier = batch->core.earlier.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.earlier.count && status == PAWL_OK; i++)
        status = run(batch, PW_QUERY_EARLIER_RUN_INSERT,
                     PW_VALUES(pw_int(earlier[i].instance), pw_row(&pw_earlier_run_type, &earlier[i].row)));
    return status;
}

/* ---- History ------------------------------------------------------------------------------------------------------------- */

/* Rows of a history are identified by instance, run and seq. */
static pawl_status update_at(struct pw_batch *batch, enum pw_query_name name, const int64_t *place,
                             const struct pw_row_type *type, const void *row)
{
    return run(batch, name, PW_VALUES(pw_changes(type, row), pw_int(place[0]), pw_int(place[1]), pw_int(place[2])));
}

static pawl_status insert_at(struct pw_batch *batch, enum pw_query_name name, int64_t instance, int64_t run_number,
                             const struct pw_row_type *type, const void *row)
{
    return run(batch, name, PW_VALUES(pw_int(instance), pw_int(run_number), pw_row(type, row)));
}

static pawl_status write_step(struct pw_batch *batch, void *record)
{
    const struct pw_core_step *step = record;
    if (step->insert == NULL && step->update == NULL)
        return PAWL_OK;
    const struct pw_step_row row = pw_core_step_row(&batch->core, step);
    return step->insert != NULL
               ? insert_at(batch, PW_QUERY_STEP_INSERT, step->place[0], step->place[1], &pw_step_type, &row)
               : update_at(batch, PW_QUERY_STEP_UPDATE, step->place, &pw_step_type, &row);
}

/* Copies the steps that a new run keeps.  Later units of the batch may update them. */
static pawl_status keep_steps(struct pw_batch *batch, void *record)
{
    const struct pw_op_restart *op = record;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_STEPS_KEEP,
                   PW_VALUES(pw_int(op->instance), pw_int(op->run), pw_int(op->keep_before_seq),
                             pw_int(op->keep_except_seq), pw_int(op->keep_except_dropped)));
    while (pw_query_step(&query)) {
        struct pw_core_step *step = pw_want_step(&batch->core, op->instance, op->run + 1, pw_column_key(&query));
        if (step != NULL && PW_SAVE(&batch->core, step))
            step->exists = true;
        else
            query.code = SQLITE_NOMEM;
    }
    return pw_query_end(&query, batch->core.error);
}

static pawl_status write_event(struct pw_batch *batch, void *record)
{
    const struct pw_core_event *event = record;
    if (event->insert == NULL && event->consume == NULL)
        return PAWL_OK;
    const struct pw_event_row row = pw_core_event_row(&batch->core, event);
    return event->insert != NULL
               ? insert_at(batch, PW_QUERY_EVENT_INSERT, event->place[0], event->place[1], &pw_event_type, &row)
               : update_at(batch, PW_QUERY_EVENT_UPDATE, event->place, &pw_event_type, &row);
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
    for (size_t i = 0; i < batch->core.hooks.count && status == PAWL_OK; i++)
        status = run(batch, PW_QUERY_HOOK_INSERT,
                     PW_VALUES(pw_int(hooks[i].instance), pw_int(hooks[i].row.next_at_ms),
                               pw_row(&pw_hook_type, &hooks[i].row)));
    return status;
}

static pawl_status write_delivery(struct pw_batch *batch, void *record)
{
    const struct pw_core_delivery *delivery = record;
    const struct pw_value key = pw_int(delivery->key);
    if (!delivery->is_changed)
        return PAWL_OK;
    return delivery->exists
               ? run(batch, PW_QUERY_HOOK_UPDATE, PW_VALUES(pw_changes(&pw_delivery_type, &delivery->row), key))
               : run(batch, PW_QUERY_HOOK_DELETE, PW_VALUES(key));
}

/* ---- All ----------------------------------------------------------------------------------------------------------------- */

/* The steps that a new run keeps are copied after the steps themselves, one restart at a time, because a run may be
 * restarted more than once in a batch. */
pawl_status pw_sqlite_write(struct pw_core *core)
{
    struct pw_batch *batch = pw_batch_of(core);
    pawl_status status = pw_batch_each(batch, &core->runs.list, write_run);
    if (status == PAWL_OK)
        status = write_earlier_runs(batch);
    if (status == PAWL_OK)
        status = pw_batch_each(batch, &core->steps.list, write_step);
    if (status == PAWL_OK)
        status = pw_batch_each(batch, &core->kept, keep_steps);
    if (status == PAWL_OK)
        status = pw_batch_each(batch, &core->events.list, write_event);
    if (status == PAWL_OK)
        status = write_logs(batch);
    if (status == PAWL_OK)
        status = write_hooks(batch);
    if (status == PAWL_OK)
        status = pw_batch_each(batch, &core->deliveries.list, write_delivery);
    if (status == PAWL_OK && !pw_core_note_written(core))
        return pw_error_plain(core->error, PAWL_NOMEM);
    return status;
}
