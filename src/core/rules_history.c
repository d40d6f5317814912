/* rules_history.c - records the history of a run: steps, events and answers, log lines (R7, R9).
 *
 * The life of an event: pw_rule_event() finds the run that it is for, refuses a repeated id and a full queue, and
 * gives the event the next number.  record_event() adds the row, raises the task's event_seq, so that a turn which
 * has not seen the event cannot park past it (R4), and wakes the run if one of its steps waits for such an event.
 * The turn later takes the event with CONSUME. */
#include "base/error.h"
#include "core/rules.h"

/* ---- Steps and logs ------------------------------------------------------------------------------------------------ */

/* A restart copies steps into the new run.  The copy must happen before either run gets another step. */
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

pawl_status pw_rule_step(struct pw_core *core, struct pw_op_step *op)
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

/* Marks an event as taken by a step.  Refused (MOVED) if the run has no such event. */
pawl_status pw_rule_consume(struct pw_core *core, struct pw_op_consume *op)
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

/* Log lines get their number here, after the last line of the run, and are never older than it (R7). */
pawl_status pw_rule_log(struct pw_core *core, struct pw_op_log *op)
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

static bool is_waiting(const struct pw_core_run *run)
{
    return !run->task.processing && run->task.status == PW_TASK_WAITING;
}

/* True if the batch has changed a step of the run.  Then what the store found about its waits is out of date. */
static bool has_new_steps(const struct pw_core *core, const struct pw_core_run *run)
{
    struct pw_core_step *const *steps = core->steps.list.rows;
    for (size_t i = 0; i < core->steps.list.count; i++)
        if (steps[i]->place[0] == run->key && steps[i]->place[1] == run->run)
            return true;
    return false;
}

/* Sets *out_awaited if a step waits for the event and has not timed out.  A late event wakes nobody; a later wait
 * may take it. */
static pawl_status is_awaited(struct pw_core *core, const struct pw_op_event *op, const struct pw_core_run *run,
                              bool *out_awaited)
{
    int64_t until_ms = op->awaited_until_ms;
    pawl_status status = PAWL_OK;
    *out_awaited = false;
    if (!is_waiting(run))
        return PAWL_OK;
    if (has_new_steps(core, run)) {
        core->has_acted = true;
        status = core->frame->write(core);
        if (status == PAWL_OK)
            status = core->frame->find_wait(core, run, op->type, &until_ms);
    }
    *out_awaited = until_ms > core->now_ms;
    return status;
}

/* Adds the event behind all events of the run, and wakes the run if a step waits for it.  The task's event_seq rises
 * even if the run is paused or held, so that its turn sees the event before it parks (R4). */
static pawl_status record_event(struct pw_core *core, struct pw_op_event *op, struct pw_core_run *run,
                                struct pw_core_event_id *id)
{
    bool wakes = op->is_answer && is_waiting(run);
    pawl_status status = op->to.data != NULL ? is_awaited(core, op, run, &wakes) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    struct pw_core_event *event = pw_want_event(core, run->key, run->run, op->seq);
    struct pw_effect *effect = pw_unit_tell(core->unit, PW_EFFECT_EVENT, run->key, run->run);
    if (event == NULL || effect == NULL || !PW_SAVE(core, event) || !PW_SAVE(core, run) ||
        (id != NULL && !PW_SAVE(core, id)))
        return pw_rule_no_memory(core);
    event->insert = op;
    event->consume = NULL;
    if (id != NULL)
        id->taken = true;
    run->task.event_seq = effect->as.event.seq = op->seq;
    /* The event comes after everything else of the run, by its time as well (R7). */
    run->task.updated_at_ms = event->created_at_ms = pw_run_time(core, run);
    effect->as.event.is_answer = op->is_answer;
    effect->as.event.has_woken = wakes;
    op->recorded = true;
    op->woke = wakes;
    if (wakes)
        status = pw_rule_go_on(core, run, PW_TASK_WAKE, &op->offer, PW_REASON_EVENT, &op->is_held, &op->claim);
    pw_rule_changed(run);
    op->told = (struct pw_fence){ run->key, run->run, run->task.epoch };
    op->task = run->task;
    return status;
}

/* What the batch has done to the run's events and not written yet. */
struct unwritten {
    int64_t added;    /* undelivered events that were added */
    bool is_consumed; /* an event in the store was consumed */
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

/* A run cannot have more events than the number of its newest.  While that number is small, nothing is counted, so
 * counting costs a round trip only for a run that had many events.  If the batch has consumed an event of the store,
 * that is written first, because only the store knows whether the event was delivered before. */
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

/* The run that an event is for.  NULL: the unit is refused, or the event is an answer to a run that has ended.  A
 * sender that repeats an event because the first answer was lost gets the same answer again (EVENT_EXISTS), even if
 * the run has ended since. */
static struct pw_core_run *find_target(struct pw_core *core, struct pw_op_event *op, pawl_status *out_status)
{
    *out_status = PAWL_OK;
    if (op->to.data == NULL) {
        struct pw_core_run *run = pw_find_task(core, op->instance);
        bool is_there = run != NULL && (op->is_answer || run->run == op->run);
        if (!is_there && !op->is_answer)
            *out_status = pw_rule_moved(core);
        return is_there ? run : NULL;
    }
    const struct pw_core_name *name = pw_want_name(core, op->workflow, op->to);
    struct pw_core_run *run = name != NULL && name->key != 0 ? pw_find_run(core, name->key) : NULL;
    if (name == NULL)
        *out_status = pw_rule_no_memory(core);
    else if (run == NULL)
        *out_status = pw_rule_refuse_unknown(core, op->workflow, op->to);
    if (run == NULL || run->has_task)
        return run;
    const struct pw_core_event_id *id = pw_want_event_id(core, run->key, run->instance_run, op->id);
    *out_status = id == NULL  ? pw_rule_no_memory(core)
                  : id->taken ? pw_unit_refuse(core->unit, PW_REFUSED_EVENT_EXISTS)
                              : pw_rule_refuse_ended(core, run, op->workflow, op->to);
    return NULL;
}

pawl_status pw_rule_event(struct pw_core *core, struct pw_op_event *op)
{
    pawl_status status;
    struct pw_core_event_id *id = NULL;
    op->recorded = op->woke = op->is_held = false;
    struct pw_core_run *run = find_target(core, op, &status);
    if (run == NULL)
        return status;
    op->seq = run->task.event_seq + 1;
    if (op->id.data != NULL && !op->is_answer) { /* no run ends twice, so no answer comes twice */
        id = pw_want_event_id(core, run->key, run->run, op->id);
        if (id == NULL)
            return pw_rule_no_memory(core);
        if (id->taken)
            return pw_unit_refuse(core->unit, PW_REFUSED_EVENT_EXISTS);
    }
    status = check_unread(core, op, run);
    return status == PAWL_OK ? record_event(core, op, run, id) : status;
}
