/* rules_task.c - what the holder of a task does with it: fence, park, renew (R2, R4, R5, R6). */
#include "core/rules.h"

/* Holds only at this epoch of this run (R2).  If it holds, the outputs tell the turn what was asked of the run
 * meanwhile, even if one of the flags then refuses the unit. */
pawl_status pw_rule_fence(struct pw_core *core, struct pw_op_fence *op)
{
    struct pw_core_run *run = pw_find_task(core, op->at.instance);
    if (run == NULL || run->run != op->at.run || run->task.epoch != op->at.epoch)
        return pw_rule_moved(core);
    op->pause_requested = run->task.pause_requested;
    op->demand = run->task.demand;
    op->event_seq = run->task.event_seq;
    if (op->unless_pause && run->task.pause_requested)
        return pw_unit_refuse(core->unit, PW_REFUSED_PAUSE_REQUESTED);
    if (op->unless_new_events && run->task.event_seq > op->event_seq_seen)
        return pw_unit_refuse(core->unit, PW_REFUSED_NEW_EVENTS);
    if (op->lease_ms == 0 || !run->task.processing)
        return PAWL_OK;
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    core->leaseholder = run->task.owner;
    run->task.locked_until_ms = core->now_ms + op->lease_ms;
    pw_rule_changed(run);
    return PAWL_OK;
}

/* True if the park would have paused the task, but the reason is gone: the request was withdrawn, or something is
 * demanded. */
static bool goes_on_instead(const struct pw_op_park *op, bool pause_requested, enum pw_demand demand)
{
    bool for_repair = op->status == PW_TASK_PAUSED && op->kind == PW_TASK_REPAIR;
    return !pause_requested && (op->if_requested || (for_repair && demand != PW_DEMAND_NONE));
}

/* Now, if the turn asked for that, if the run goes on instead, or if an event came that the turn has not seen (R4). */
static int64_t due_of_park(const struct pw_core *core, const struct pw_op_park *op, const struct pw_task *task,
                           bool goes_on)
{
    if (op->due_at_ms == PW_NOW || goes_on || (op->event_seq_seen >= 0 && task->event_seq > op->event_seq_seen))
        return core->now_ms;
    return op->due_at_ms != 0 ? op->due_at_ms : task->due_at_ms;
}

static enum pw_hook_reason reason_of_park(const struct pw_op_park *op)
{
    switch (op->kind) {
    case PW_TASK_WAKE:
        return PW_REASON_WAKE;
    case PW_TASK_RETRY:
        return PW_REASON_RETRY;
    case PW_TASK_RESUME:
    case PW_TASK_RUN:
    case PW_TASK_REPAIR: /* of a run that does not wait for repair after all */
        break;
    }
    return PW_REASON_RESUME;
}

static pawl_status tell_of_park(struct pw_core *core, const struct pw_op_park *op, const struct pw_core_run *run)
{
    enum pw_hook_reason reason = op->status_set != PW_TASK_PAUSED ? reason_of_park(op) : 0;
    int64_t at_ms = op->due_at_ms != PW_NOW ? op->due_at_ms_set : 0;
    pawl_status status = pw_rule_tell_due(core, PW_EFFECT_PARKED, run, reason, at_ms);
    if (status == PAWL_OK)
        core->unit->last_effect->is_job = op->is_job;
    return status;
}

/* The holder gives the task up.  What happened while it worked decides where the task goes: a requested pause pauses
 * it, an unseen event or a demand makes it due now (R4, R6), and otherwise it waits as the turn asked. */
pawl_status pw_rule_park(struct pw_core *core, struct pw_op_park *op)
{
    struct pw_core_run *run = pw_find_task(core, op->instance);
    if (run == NULL)
        return pw_rule_moved(core);
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    struct pw_task *task = &run->task;
    bool goes_on = goes_on_instead(op, task->pause_requested, task->demand);
    op->due_at_ms_set = due_of_park(core, op, task, goes_on);
    op->status_set = task->pause_requested ? PW_TASK_PAUSED : goes_on ? PW_TASK_ACTIVE : op->status;
    task->status = op->status_set;
    task->kind = goes_on ? PW_TASK_RESUME : op->kind;
    task->due_at_ms = op->due_at_ms_set;
    task->processing = false;
    task->epoch++;
    task->owner = task->locked_until_ms = 0;
    task->pause_requested = false;
    task->updated_at_ms = pw_not_before(pw_run_time(core, run), op->newest_ms);
    pw_rule_changed(run);
    return tell_of_park(core, op, run);
}

bool pw_core_is_held(const struct pw_core_run *run, struct pw_fence at, int64_t owner)
{
    return (run->has_task || run->is_seen) && run->task.processing && run->task.owner == owner && run->run == at.run &&
           run->task.epoch == at.epoch;
}

/* A lease whose row another transaction has locked is neither lost nor renewed yet. */
static pawl_status renew(struct pw_core *core, const struct pw_op_renew *op, struct pw_lease *lease)
{
    struct pw_core_run *run = pw_find_run(core, lease->fence.instance);
    int64_t until_ms = core->now_ms + op->lease_ms;
    lease->lost = run == NULL || !pw_core_is_held(run, lease->fence, op->owner);
    lease->renewed = false; /* the unit may be tried a second time */
    lease->pause_requested = !lease->lost && run->task.pause_requested;
    lease->demand = lease->lost ? PW_DEMAND_NONE : run->task.demand;
    if (lease->lost)
        return PAWL_OK;
    if (!run->has_task)
        return core->frame->owe(core, &lease->fence, op->owner, until_ms);
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    run->task.locked_until_ms = until_ms;
    pw_rule_changed(run);
    lease->renewed = true;
    return PAWL_OK;
}

pawl_status pw_rule_renew(struct pw_core *core, struct pw_op_renew *op)
{
    pawl_status status = PAWL_OK;
    if (!pw_owner_is_outside(op->owner))
        core->leaseholder = op->owner;
    for (size_t i = 0; i < op->count && status == PAWL_OK; i++)
        status = renew(core, op, &op->leases[i]);
    return status;
}
