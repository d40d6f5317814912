/* write.c - writes every row that was changed, once.  The rules have checked everything, so no statement here looks first. */
#include "base/error.h"
#include "store/sqlite/batch.h"

static pawl_status run(struct pw_batch *batch, struct pw_query *query)
{
    return pw_query_run(query, batch->core.error);
}

/* ---- Instances --------------------------------------------------------------------------------------------------------- */

static pawl_status insert_instance(struct pw_batch *batch, const struct pw_core_run *record)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_INSERT);
    pw_bind_integer(&query, record->key);
    pw_bind_text(&query, record->workflow);
    pw_bind_text(&query, record->id);
    pw_bind_text(&query, record->params);
    pw_bind_integer(&query, record->created_at_ms);
    pw_bind_time(&query, record->link.parent); /* none is NULL, as are the next two */
    pw_bind_time(&query, record->link.run);
    pw_bind_time(&query, record->link.relation);
    return run(batch, &query);
}

static pawl_status update_instance(struct pw_batch *batch, const struct pw_core_run *record)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_UPDATE);
    pw_bind_integer(&query, record->key);
    pw_bind_integer(&query, record->instance_run);
    pw_bind_time(&query, record->outcome); /* OPEN is NULL */
    pw_bind_text(&query, record->output);
    pw_bind_text(&query, record->error_name);
    pw_bind_text(&query, record->error_message);
    pw_bind_integer(&query, record->updated_at_ms);
    pw_bind_time(&query, record->started_at_ms);
    pw_bind_time(&query, record->completed_at_ms);
    return run(batch, &query);
}

/* An instance may begin again, or end, in the batch that makes it. */
static bool has_moved_since_birth(const struct pw_core_run *record)
{
    return record->outcome != PW_OUTCOME_OPEN || record->instance_run != 1;
}

static pawl_status write_instance(struct pw_batch *batch, const struct pw_core_run *record)
{
    if (record->change == PW_CORE_CHANGED)
        return update_instance(batch, record);
    pawl_status status = insert_instance(batch, record);
    return status == PAWL_OK && has_moved_since_birth(record) ? update_instance(batch, record) : status;
}

/* ---- Tasks --------------------------------------------------------------------------------------------------------------- */

/* SQLite takes a row out of an index and puts it back whenever a statement names one of the index's columns.  So statements for
 * the common small changes name none, or only the lease's end. */
static enum pw_query_name task_update(const struct pw_core_run *record)
{
    const struct pw_task *now = &record->task, *was = &record->stored;
    if (now->status != was->status || now->kind != was->kind || now->due_at_ms != was->due_at_ms ||
        now->processing != was->processing || now->owner != was->owner)
        return PW_QUERY_TASK_UPDATE;
    return now->locked_until_ms != was->locked_until_ms ? PW_QUERY_TASK_UPDATE_LEASE : PW_QUERY_TASK_UPDATE_REST;
}

static void bind_lease(struct pw_query *query, const struct pw_task *task)
{
    pw_bind_time(query, task->locked_until_ms);
}

static void bind_place(struct pw_query *query, const struct pw_task *task)
{
    bind_lease(query, task);
    pw_bind_integer(query, task->status);
    pw_bind_integer(query, task->kind);
    pw_bind_integer(query, task->due_at_ms);
    pw_bind_integer(query, task->processing);
    pw_bind_time(query, task->owner); /* none is NULL */
}

static pawl_status put_task(struct pw_batch *batch, const struct pw_core_run *record)
{
    const struct pw_task *task = &record->task;
    enum pw_query_name name = record->is_stored ? task_update(record) : PW_QUERY_TASK_INSERT;
    struct pw_query query;
    pw_query_start(&query, batch->connection, name);
    pw_bind_integer(&query, record->key);
    pw_bind_integer(&query, record->run);
    pw_bind_integer(&query, task->epoch);
    pw_bind_integer(&query, task->pause_requested);
    pw_bind_integer(&query, task->demand);
    pw_bind_time(&query, task->started_at_ms);
    pw_bind_integer(&query, task->updated_at_ms);
    pw_bind_integer(&query, task->event_seq);
    if (name == PW_QUERY_TASK_UPDATE_LEASE)
        bind_lease(&query, task);
    if (name == PW_QUERY_TASK_UPDATE || name == PW_QUERY_TASK_INSERT)
        bind_place(&query, task);
    if (name == PW_QUERY_TASK_INSERT) {
        pw_bind_text(&query, record->workflow);
        pw_bind_integer(&query, pw_shard_of(record->workflow, record->id));
    }
    return run(batch, &query);
}

static pawl_status write_task(struct pw_batch *batch, const struct pw_core_run *record)
{
    if (record->has_task)
        return put_task(batch, record);
    if (!record->is_stored)
        return PAWL_OK;
    struct pw_query query;
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

/* ---- Steps --------------------------------------------------------------------------------------------------------------- */

/* Insert and update take the same parameters in the same order; what only the insert has comes last.  The name, kind and time of
 * birth of a new step are the insert's, and the rest is what came last. */
static pawl_status write_step(struct pw_batch *batch, const struct pw_core_step *step)
{
    const struct pw_op_step *last = step->update != NULL ? step->update : step->insert;
    const struct pw_step_row *row = &last->row;
    struct pw_query query;
    pw_query_start(&query, batch->connection, step->insert != NULL ? PW_QUERY_STEP_INSERT : PW_QUERY_STEP_UPDATE);
    pw_bind_integer(&query, last->instance);
    pw_bind_integer(&query, last->run);
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
    pw_bind_integer(&query, pw_time_or_now(&batch->core, row->updated_at_ms));
    pw_bind_text(&query, row->description);
    if (step->insert != NULL) {
        pw_bind_text(&query, step->insert->row.name);
        pw_bind_integer(&query, step->insert->row.kind);
        pw_bind_integer(&query, pw_time_or_now(&batch->core, step->insert->row.created_at_ms));
    }
    return run(batch, &query);
}

static pawl_status write_steps(struct pw_batch *batch)
{
    struct pw_core_step **steps = batch->core.steps.list.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.steps.list.count && status == PAWL_OK; i++)
        if (steps[i]->insert != NULL || steps[i]->update != NULL)
            status = write_step(batch, steps[i]);
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
    pw_bind_text(&query, op->keep_except_error);
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

/* ---- Events, logs, hooks ------------------------------------------------------------------------------------------------- */

static pawl_status insert_event(struct pw_batch *batch, const struct pw_core_event *event)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_INSERT);
    for (size_t part = 0; part < 3; part++)
        pw_bind_integer(&query, event->place[part]);
    pw_bind_text(&query, event->insert->id);
    pw_bind_text(&query, event->insert->type);
    pw_bind_text(&query, event->insert->payload);
    pw_bind_integer(&query, event->created_at_ms);
    return run(batch, &query);
}

static pawl_status consume_event(struct pw_batch *batch, const struct pw_core_event *event)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_CONSUME);
    for (size_t part = 0; part < 3; part++)
        pw_bind_integer(&query, event->place[part]);
    pw_bind_text(&query, event->consume->step);
    pw_bind_integer(&query, pw_time_or_now(&batch->core, event->consume->delivered_at_ms));
    return run(batch, &query);
}

static pawl_status write_events(struct pw_batch *batch)
{
    struct pw_core_event **events = batch->core.events.list.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.events.list.count && status == PAWL_OK; i++) {
        if (events[i]->insert != NULL)
            status = insert_event(batch, events[i]);
        if (status == PAWL_OK && events[i]->consume != NULL)
            status = consume_event(batch, events[i]);
    }
    return status;
}

static pawl_status write_log(struct pw_batch *batch, const struct pw_core_log *log)
{
    const struct pw_log_row *row = &log->op->row;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_LOG_INSERT);
    pw_bind_integer(&query, log->op->instance);
    pw_bind_integer(&query, log->op->run);
    pw_bind_integer(&query, log->seq);
    pw_bind_text(&query, row->step);
    pw_bind_integer(&query, row->attempt);
    pw_bind_integer(&query, row->level);
    pw_bind_text(&query, row->category);
    pw_bind_text(&query, row->message);
    pw_bind_text(&query, row->data);
    pw_bind_integer(&query, row->is_replay);
    pw_bind_integer(&query, log->created_at_ms);
    return run(batch, &query);
}

static pawl_status write_hook(struct pw_batch *batch, const struct pw_core_hook *hook)
{
    static const struct pw_op_finish unfinished = { .outcome = PW_OUTCOME_OPEN };
    const struct pw_op_hook *op = hook->op;
    const struct pw_op_finish *finish = op->cause->kind == PW_OP_FINISH ? &op->cause->as.finish : &unfinished;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_HOOK_INSERT);
    pw_bind_text(&query, hook->id);
    pw_bind_text(&query, op->hook);
    pw_bind_integer(&query, op->event);
    pw_bind_time(&query, op->reason); /* none is NULL */
    pw_bind_time(&query, finish->outcome);
    pw_bind_integer(&query, hook->instance);
    pw_bind_integer(&query, hook->run);
    pw_bind_time(&query, pw_hook_due_at_ms(op));
    pw_bind_text(&query, finish->error_name);
    pw_bind_text(&query, finish->error_message);
    pw_bind_integer(&query, op->attempts_max);
    pw_bind_integer(&query, batch->core.now_ms);
    return run(batch, &query);
}

static pawl_status write_lines(struct pw_batch *batch)
{
    const struct pw_core_log *logs = batch->core.logs.rows;
    const struct pw_core_hook *hooks = batch->core.hooks.rows;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < batch->core.logs.count && status == PAWL_OK; i++)
        status = write_log(batch, &logs[i]);
    for (size_t i = 0; i < batch->core.hooks.count && status == PAWL_OK; i++)
        status = write_hook(batch, &hooks[i]);
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------------------------- */

pawl_status pw_sqlite_write(struct pw_core *core)
{
    struct pw_batch *batch = pw_batch_of(core);
    pawl_status (*const parts[])(struct pw_batch *) = { write_runs, write_steps, write_kept, write_events,
                                                        write_lines };
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == PAWL_OK; i++)
        status = parts[i](batch);
    if (status == PAWL_OK && !pw_core_note_written(core))
        return pw_error_plain(core->error, PAWL_NOMEM);
    return status;
}
