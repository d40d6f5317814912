/* rules_history.c - what is recorded of a run: steps, events and answers, log lines (R7, R9). */
#include "base/error.h"
#include "core/rules.h"

/* ---- Steps and logs ------------------------------------------------------------------------------------------------ */

/* Steps that a new run begins with are copied before either run gets another one. */
static pawl_status settle_kept(struct pw_core *core, const struct pw_op_step *op)
{
    struct pw_op_restart **kept = core->kept.rows;
    bool is_of_it = false;
    for (size_t i = 0; i < core->kept.count && !is_of_it; i++)
        is_of_it = kept[i]->instance == op->instance;
    if (!is_of_it)
        return PAWL_OK;
    core->has_acted = true;
    return core->frame->write(core);
}

pawl_status pw_rule_step(struct pw_core *core, const struct pw_op_step *op)
{
    pawl_status status = settle_kept(core, op);
    if (status != PAWL_OK)
        return status;
    struct pw_core_step *step = pw_want_step(core, op->instance, op->run, op->row.seq);
    if (step == NULL)
        return pw_rule_no_memory(core);
    bool is_there = step->exists || step->insert != NULL;
    if (!op->is_new && !is_there)
        return pw_rule_moved(core);
    if (op->is_new && is_there)
        return pw_error(core->error, PAWL_STORE_UNAVAILABLE, "the run has a step of this number already");
    if (!PW_SAVE(core, step))
        return pw_rule_no_memory(core);
    if (op->is_new)
        step->insert = op;
    else
        step->update = op;
    struct pw_effect *effect = pw_unit_tell(core->unit, PW_EFFECT_STEP, op->instance, op->run);
    if (effect == NULL)
        return pw_rule_no_memory(core);
    effect->as.step = &op->row;
    return PAWL_OK;
}

pawl_status pw_rule_consume(struct pw_core *core, const struct pw_op_consume *op)
{
    struct pw_core_event *event = pw_want_event(core, op->instance, op->run, op->seq);
    if (event == NULL)
        return pw_rule_no_memory(core);
    if (!event->exists && event->insert == NULL)
        return pw_rule_moved(core);
    if (!PW_SAVE(core, event))
        return pw_rule_no_memory(core);
    event->consume = op;
    return pw_rule_tell(core, PW_EFFECT_CHANGED, op->instance, op->run);
}

pawl_status pw_rule_log(struct pw_core *core, const struct pw_op_log *op)
{
    struct pw_core_tail *tail = pw_want_tail(core, op->instance, op->run);
    struct pw_core_log *log = tail != NULL && PW_SAVE(core, tail) ? pw_rows_add(&core->logs) : NULL;
    if (log == NULL)
        return pw_rule_no_memory(core);
    tail->created_at_ms = pw_not_before(pw_time_or_now(core, op->row.created_at_ms), tail->created_at_ms);
    *log = (struct pw_core_log){ op, ++tail->seq, tail->created_at_ms };
    return pw_rule_tell(core, PW_EFFECT_CHANGED, op->instance, op->run);
}

/* ---- Events and answers ---------------------------------------------------------------------------------------- */

/* A run that waits and is held by nobody goes on (R9). */
static bool wake(const struct pw_core *core, struct pw_task *task)
{
    if (task->processing || task->status != PW_TASK_WAITING)
        return false;
    task->status = PW_TASK_ACTIVE;
    task->kind = PW_TASK_WAKE;
    task->due_at_ms = core->now_ms;
    task->epoch++;
    return true;
}

static pawl_status tell_of_event(struct pw_core *core, const struct pw_op_event *op, const struct pw_core_run *run)
{
    struct pw_effect *effect = pw_unit_tell(core->unit, PW_EFFECT_EVENT, run->key, run->run);
    if (effect == NULL)
        return pw_rule_no_memory(core);
    effect->as.event.seq = op->seq;
    effect->as.event.is_answer = op->is_answer;
    effect->as.event.has_woken = op->woke;
    return op->woke ? pw_rule_tell_due(core, PW_EFFECT_WOKEN, run, PW_REASON_EVENT, 0) : PAWL_OK;
}

static pawl_status record_event(struct pw_core *core, struct pw_op_event *op, struct pw_core_run *run,
                                struct pw_core_event_id *id)
{
    struct pw_core_event *event = pw_want_event(core, op->instance, run->run, op->seq);
    if (event == NULL || !PW_SAVE(core, event) || !PW_SAVE(core, run) || (id != NULL && !PW_SAVE(core, id)))
        return pw_rule_no_memory(core);
    event->insert = op;
    event->consume = NULL;
    if (id != NULL)
        id->taken = true;
    run->task.event_seq = op->seq;
    /* It comes after everything that the run has, also by its time (R7). */
    run->task.updated_at_ms = event->created_at_ms = pw_run_time(core, run);
    op->recorded = true;
    if (op->is_answer) {
        op->run_told = run->run;
        op->is_paused = run->task.status == PW_TASK_PAUSED || run->task.pause_requested;
        op->woke = wake(core, &run->task);
    }
    pw_rule_changed(run);
    return tell_of_event(core, op, run);
}

/* What the batch has done to the run's events that is not written yet. */
struct unwritten {
    int64_t added;    /* undelivered ones */
    bool is_consumed; /* one that the store has */
};

static struct unwritten look_at_unwritten(const struct pw_core *core, const struct pw_core_run *run)
{
    struct pw_core_event *const *events = core->events.list.rows;
    struct unwritten unwritten = { 0, false };
    for (size_t i = 0; i < core->events.list.count; i++) {
        if (events[i]->place[0] != run->key || events[i]->place[1] != run->run)
            continue;
        unwritten.added += events[i]->insert != NULL && events[i]->consume == NULL;
        unwritten.is_consumed |= events[i]->insert == NULL && events[i]->consume != NULL;
    }
    return unwritten;
}

/* A run has at most as many events as the number of the newest.  While that is small, nothing is counted, so counting costs a
 * round trip only for a run that had many events.  Only the store knows whether an event was delivered before the batch
 * consumed it, so that consumption is written first. */
static pawl_status check_unread(struct pw_core *core, const struct pw_op_event *op, const struct pw_core_run *run)
{
    int64_t unread = 0;
    pawl_status status = PAWL_OK;
    if (op->is_answer || op->unread_max == 0 || op->seq <= op->unread_max)
        return PAWL_OK;
    if (look_at_unwritten(core, run).is_consumed) {
        core->has_acted = true;
        status = core->frame->write(core);
    }
    if (status == PAWL_OK)
        status = core->frame->count_unread(core, run, op->unread_max, &unread);
    if (status != PAWL_OK || unread + look_at_unwritten(core, run).added < op->unread_max)
        return status;
    return pw_unit_refuse_event(core->unit, op);
}

pawl_status pw_rule_event(struct pw_core *core, struct pw_op_event *op)
{
    struct pw_core_run *run = pw_find_task(core, op->instance);
    struct pw_core_event_id *id = NULL;
    op->recorded = op->woke = false;
    if (run == NULL || (!op->is_answer && run->run != op->run))
        return op->is_answer ? PAWL_OK : pw_rule_moved(core);
    op->seq = run->task.event_seq + 1;
    if (op->id.data != NULL) {
        id = pw_want_event_id(core, op->instance, run->run, op->id);
        if (id == NULL)
            return pw_rule_no_memory(core);
        if (id->taken && !op->is_answer)
            return pw_unit_refuse(core->unit, PW_REFUSED_EVENT_EXISTS);
        if (id->taken)
            return PAWL_OK;
    }
    pawl_status status = check_unread(core, op, run);
    if (status != PAWL_OK)
        return status;
    return record_event(core, op, run, id);
}
