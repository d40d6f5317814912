/* wants.c - which rows an op needs: the store loads and locks them before any rule runs. */
#include "core/core.h"

/* The store waits for its lock. */
static struct pw_core_run *want_task(struct pw_core *core, int64_t instance)
{
    struct pw_core_run *run = pw_want_run(core, instance);
    if (run != NULL)
        run->wants_task = true;
    return run;
}

static bool remember(struct pw_rows *ops, const void *op)
{
    const void **place = pw_rows_add(ops);
    if (place != NULL)
        *place = op;
    return place != NULL;
}

/* An answer goes to a run that is not known yet.  The instance is locked even if it has no task: otherwise a run that begins
 * meanwhile could look at the child before its end is committed, and wait for ever. */
static bool want_answer(struct pw_core *core, const struct pw_op_event *op)
{
    struct pw_core_run *run = want_task(core, op->instance);
    if (run == NULL)
        return false;
    run->wants_lock = run->is_told = true;
    return op->id.data == NULL || remember(&core->answers, op);
}

/* Its task is found and locked by its name. */
static struct pw_core_name *want_named(struct pw_core *core, struct pw_text workflow, struct pw_text id)
{
    struct pw_core_name *name = pw_want_name(core, workflow, id);
    if (name != NULL)
        name->wants_task = core->locks_by_name = true;
    return name;
}

static bool want_target(struct pw_core *core, struct pw_op_event *op)
{
    struct pw_core_name *name = want_named(core, op->workflow, op->to);
    if (name != NULL)
        name->is_sent_to = true;
    return name != NULL && remember(&core->sends, op);
}

static bool want_event(struct pw_core *core, struct pw_op_event *op)
{
    op->awaited_until_ms = 0; /* it may be the second try */
    if (op->to.data != NULL)
        return want_target(core, op);
    if (op->is_answer)
        return want_answer(core, op);
    return want_task(core, op->instance) != NULL &&
           (op->id.data == NULL || pw_want_event_id(core, op->instance, op->run, op->id) != NULL);
}

static bool want_restart(struct pw_core *core, const struct pw_op_restart *op)
{
    struct pw_core_run *run = want_task(core, op->instance);
    if (run == NULL)
        return false;
    run->wants_lock = run->wants_instance = true;
    run->wants_params = true; /* of a run that begins again, should it be held */
    return true;
}

static bool want_hold(struct pw_core *core, const struct pw_op_hold *op)
{
    struct pw_core_run *run = want_task(core, op->instance);
    if (run != NULL)
        run->wants_facts = true;
    return run != NULL;
}

/* A renewal waits for no lock: what others have locked is renewed later. */
static bool want_leases(struct pw_core *core, const struct pw_op_renew *op)
{
    for (size_t i = 0; i < op->count; i++)
        if (pw_want_run(core, op->leases[i].fence.instance) == NULL)
            return false;
    return true;
}

static bool want_name(struct pw_core *core, const struct pw_op_create *op)
{
    core->keys_wanted++;
    return pw_want_name(core, op->workflow, op->id) != NULL;
}

/* Children and jobs are made under the lock of their parent, so whoever has that lock finds all of them. */
static bool want_children(struct pw_core *core, const struct pw_op_reach *op)
{
    return want_task(core, op->parent) != NULL && remember(&core->reaches, op);
}

bool pw_core_want(struct pw_core *core, struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        return want_task(core, op->as.fence.at.instance) != NULL;
    case PW_OP_CREATE:
        return want_name(core, &op->as.create);
    case PW_OP_RESTART:
        return want_restart(core, &op->as.restart);
    case PW_OP_STEP:
        return op->as.step.is_new ||
               pw_want_step(core, op->as.step.instance, op->as.step.run, op->as.step.row.seq) != NULL;
    case PW_OP_EVENT:
        return want_event(core, &op->as.event);
    case PW_OP_CONSUME:
        return pw_want_event(core, op->as.consume.instance, op->as.consume.run, op->as.consume.seq) != NULL;
    case PW_OP_LOG:
        return pw_want_tail(core, op->as.log.instance, op->as.log.run) != NULL;
    case PW_OP_PARK:
        return want_task(core, op->as.park.instance) != NULL;
    case PW_OP_HOLD:
        return want_hold(core, &op->as.hold);
    case PW_OP_PAUSE:
        return want_task(core, op->as.pause.instance) != NULL;
    case PW_OP_DEMAND:
        return want_task(core, op->as.demand.instance) != NULL;
    case PW_OP_REACH:
        return want_children(core, &op->as.reach);
    case PW_OP_FINISH:
        return want_task(core, op->as.finish.instance) != NULL;
    case PW_OP_END:
        return want_named(core, op->as.end.workflow, op->as.end.id) != NULL;
    case PW_OP_RENEW:
        return want_leases(core, &op->as.renew);
    case PW_OP_CLAIM:
    case PW_OP_REAP:
    case PW_OP_SQL:
    case PW_OP_MUTATE:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        return true;
    }
    return true;
}
