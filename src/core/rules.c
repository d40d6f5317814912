/* rules.c - dispatches ops to their rules, and has what the rules share. */
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

pawl_status pw_rule_refuse_unknown(struct pw_core *core, struct pw_text workflow, struct pw_text id)
{
    return pw_unit_refuse_saying(core->unit, PW_REFUSED_NO_INSTANCE, "workflow \"%.*s\" has no instance \"%.*s\"",
                                 (int)workflow.size, workflow.data, (int)id.size, id.data);
}

pawl_status pw_rule_refuse_ended(struct pw_core *core, const struct pw_core_run *run, struct pw_text workflow,
                                 struct pw_text id)
{
    static const char *const words[] = { [PW_OUTCOME_OPEN] = "open",
                                         [PW_OUTCOME_COMPLETE] = "complete",
                                         [PW_OUTCOME_TERMINATED] = "terminated",
                                         [PW_OUTCOME_ERRORED] = "errored" };
    return pw_unit_refuse_saying(core->unit, PW_REFUSED_ENDED,
                                 "instance \"%.*s\" of workflow \"%.*s\" has finished: it is %s", (int)id.size, id.data,
                                 (int)workflow.size, workflow.data, words[run->outcome]);
}

void pw_rule_changed(struct pw_core_run *run)
{
    run->is_changed = true;
    pw_core_check(run);
}

void pw_core_check(const struct pw_core_run *run)
{
    const struct pw_task *task = &run->task;
    (void)task; /* unused without assertions */
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

/* ---- What the store finds or runs ------------------------------------------------------------------------------------ */

/* The store is about to find and take rows, so everything before is written first. */
static pawl_status write_before(struct pw_core *core)
{
    core->has_acted = true;
    return core->frame->write(core);
}

#define FINDS(member, function)                                                                                        \
    pawl_status pw_rule_##member(struct pw_core *core, struct pw_op_##member *op)                                      \
    {                                                                                                                  \
        pawl_status status = write_before(core);                                                                       \
        return status == PAWL_OK ? core->frame->function(core, op) : status;                                           \
    }
FINDS(claim, claim)
FINDS(reap, reap)
FINDS(hook_claim, claim_hooks)
#undef FINDS

/* The user's code must see everything that was decided before it. */
pawl_status pw_rule_sql(struct pw_core *core, struct pw_op_sql *op)
{
    pawl_status status = core->frame->write(core);
    return status == PAWL_OK ? core->frame->run_sql(core, op) : status;
}

pawl_status pw_rule_mutate(struct pw_core *core, struct pw_op_mutate *op)
{
    pawl_status status = core->frame->write(core);
    return status == PAWL_OK ? core->frame->run_mutation(core, op) : status;
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

bool pw_core_want(struct pw_core *core, struct pw_op *op)
{
    switch (op->kind) {
#define WANT_LOADS(member) pw_wants_##member(core, &op->as.member)
#define WANT_FINDS(member) true
#define WANT_RUNS(member) true
#define WANT(KIND, member, how)                                                                                        \
    case PW_OP_##KIND:                                                                                                 \
        return WANT_##how(member);
        PW_OP_LIST(WANT)
#undef WANT
    }
    return true;
}

/* The rule of the op, from PW_OP_LIST. */
pawl_status pw_core_decide(struct pw_core *core, struct pw_op *op)
{
    switch (op->kind) {
#define DECIDE(KIND, member, how)                                                                                      \
    case PW_OP_##KIND:                                                                                                 \
        return pw_rule_##member(core, &op->as.member);
        PW_OP_LIST(DECIDE)
#undef DECIDE
    }
    return pw_error(core->error, PAWL_INVALID, "a unit of work holds an op of unknown kind %d", (int)op->kind);
}
