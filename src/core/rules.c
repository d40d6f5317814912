/* rules.c - which rule decides which op, and what the rules share. */
#include "core/rules.h"

#include <assert.h>

#include "base/error.h"

pawl_status pw_rule_no_memory(struct pw_core *core)
{
    return pw_error_plain(core->error, PAWL_NOMEM);
}

pawl_status pw_rule_moved(struct pw_core *core)
{
    return pw_unit_refuse(core->unit, PW_REFUSED_MOVED);
}

void pw_rule_changed(struct pw_core_run *run)
{
    run->is_changed = true;
    pw_core_check(run);
}

void pw_core_check(const struct pw_core_run *run)
{
    const struct pw_task *task = &run->task;
    (void)task; /* without assertions */
    assert(run->key != 0);
    assert(run->has_task || run->change == PW_CORE_SAME || run->outcome != PW_OUTCOME_OPEN);  /* R1 */
    assert(!run->has_task || run->change == PW_CORE_SAME || run->outcome == PW_OUTCOME_OPEN); /* R1 */
    assert(!run->has_task || run->change == PW_CORE_SAME || run->instance_run == run->run);   /* R1 */
    assert(!run->has_task || run->run >= 1);
    assert(!run->has_task || task->epoch >= 0);                                                          /* R2 */
    assert(!run->has_task || !task->processing || (task->owner != 0 && task->status == PW_TASK_ACTIVE)); /* R5 */
    assert(!run->has_task || task->kind != PW_TASK_REPAIR || task->status == PW_TASK_PAUSED);            /* R6 */
    assert(!run->has_task || task->started_at_ms <= task->updated_at_ms);                                /* R7 */
}

/* R5, R6 and R7. */
void pw_task_mend(struct pw_task *task)
{
    task->processing = task->processing && task->owner != 0 && task->status == PW_TASK_ACTIVE;
    if (!task->processing)
        task->owner = task->locked_until_ms = 0;
    if (task->kind == PW_TASK_REPAIR && task->status != PW_TASK_PAUSED)
        task->kind = PW_TASK_RESUME;
    task->updated_at_ms = pw_not_before(task->updated_at_ms, task->started_at_ms);
}

/* ---- What finds have changed ---------------------------------------------------------------------------------------- */

void pw_core_note_claimed(struct pw_core *core, const struct pw_claim *claim, int64_t owner, int64_t locked_until_ms,
                          int64_t started_at_ms)
{
    struct pw_core_run *run = pw_find_run(core, claim->fence.instance);
    if (run == NULL)
        return;
    run->task.status = PW_TASK_ACTIVE;
    run->task.processing = true;
    run->task.epoch = claim->fence.epoch;
    run->task.owner = owner;
    run->task.locked_until_ms = locked_until_ms;
    run->task.started_at_ms = started_at_ms;
    run->task.updated_at_ms = claim->updated_at_ms;
}

void pw_core_note_paused(struct pw_core *core, int64_t instance)
{
    struct pw_core_run *run = pw_find_run(core, instance);
    if (run == NULL)
        return;
    run->task.status = PW_TASK_PAUSED;
    run->task.processing = run->task.pause_requested = false;
    run->task.epoch++;
    run->task.owner = run->task.locked_until_ms = 0;
    run->task.updated_at_ms = pw_run_time(core, run);
}

void pw_core_note_reaped(struct pw_core *core, int64_t instance)
{
    struct pw_core_run *run = pw_find_run(core, instance);
    if (run != NULL)
        run->task.locked_until_ms = core->now_ms;
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

/* The store is about to find and take rows: everything before it is written first. */
static pawl_status write_before(struct pw_core *core)
{
    core->has_acted = true;
    return core->frame->write(core);
}

static pawl_status run_users_code(struct pw_core *core, struct pw_op *op)
{
    pawl_status status = core->frame->write(core);
    return status == PAWL_OK ? core->frame->run_users_code(core, op) : status;
}

pawl_status pw_core_decide(struct pw_core *core, struct pw_op *op)
{
    pawl_status status;
    switch (op->kind) {
    case PW_OP_FENCE:
        return pw_rule_fence(core, &op->as.fence);
    case PW_OP_CREATE:
        return pw_rule_create(core, &op->as.create);
    case PW_OP_RESTART:
        return pw_rule_restart(core, &op->as.restart);
    case PW_OP_STEP:
        return pw_rule_step(core, &op->as.step);
    case PW_OP_EVENT:
        return pw_rule_event(core, &op->as.event);
    case PW_OP_CONSUME:
        return pw_rule_consume(core, &op->as.consume);
    case PW_OP_LOG:
        return pw_rule_log(core, &op->as.log);
    case PW_OP_PARK:
        return pw_rule_park(core, &op->as.park);
    case PW_OP_HOLD:
        return pw_rule_hold(core, &op->as.hold);
    case PW_OP_PAUSE:
        return pw_rule_pause(core, &op->as.pause);
    case PW_OP_DEMAND:
        return pw_rule_demand(core, &op->as.demand);
    case PW_OP_REACH:
        return pw_rule_reach(core, &op->as.reach);
    case PW_OP_FINISH:
        return pw_rule_finish(core, &op->as.finish);
    case PW_OP_END:
        return pw_rule_end(core, &op->as.end);
    case PW_OP_RENEW:
        return pw_rule_renew(core, &op->as.renew);
    case PW_OP_CLAIM:
        status = write_before(core);
        return status == PAWL_OK ? core->frame->claim(core, &op->as.claim) : status;
    case PW_OP_REAP:
        status = write_before(core);
        return status == PAWL_OK ? core->frame->reap(core, &op->as.reap) : status;
    case PW_OP_HOOK_CLAIM:
        status = write_before(core);
        return status == PAWL_OK ? core->frame->claim_hooks(core, &op->as.hook_claim) : status;
    case PW_OP_HOOK_SETTLE:
        status = write_before(core);
        return status == PAWL_OK ? core->frame->settle_hook(core, &op->as.hook_settle) : status;
    case PW_OP_HOOK_RESEND:
        status = write_before(core);
        return status == PAWL_OK ? core->frame->resend_hook(core, &op->as.hook_resend) : status;
    case PW_OP_SQL:
    case PW_OP_MUTATE:
        return run_users_code(core, op);
    }
    return pw_error(core->error, PAWL_INVALID, "a unit of work holds an op of unknown kind %d", (int)op->kind);
}
