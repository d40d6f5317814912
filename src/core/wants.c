/* wants.c - which rows each op needs.  The store loads and locks them before any rule runs. */
#include "core/rules.h"

/* The store waits for the lock of this task. */
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

/* An answer goes to whatever run the parent is in by then.  The instance row is locked even if it has no task.
 * Otherwise a run that begins meanwhile could look at the child before the child's end is committed, and then wait
 * for ever. */
static bool want_answer(struct pw_core *core, const struct pw_op_event *op)
{
    struct pw_core_run *run = want_task(core, op->instance);
    if (run == NULL)
        return false;
    run->wants_lock = run->is_told = true;
    return true;
}

/* The store finds and locks the task by the instance's name. */
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
        name->is_found_otherwise = true;
    return name != NULL && remember(&core->sends, op);
}

bool pw_wants_event(struct pw_core *core, struct pw_op_event *op)
{
    op->awaited_until_ms = 0; /* the unit may be tried a second time */
    if (op->to.data != NULL)
        return want_target(core, op);
    if (op->is_answer)
        return want_answer(core, op);
    return want_task(core, op->instance) != NULL &&
           (op->id.data == NULL || pw_want_event_id(core, op->instance, op->run, op->id) != NULL);
}

/* Children and jobs are created under the lock of their parent, so a transaction that has this lock finds all of
 * them. */
static bool want_children(struct pw_core *core, const struct pw_reach *op)
{
    return want_task(core, op->parent) != NULL && remember(&core->reaches, op);
}

bool pw_wants_restart(struct pw_core *core, struct pw_op_restart *op)
{
    struct pw_core_run *run = want_task(core, op->instance);
    if (run == NULL)
        return false;
    run->wants_lock = run->wants_instance = true;
    run->wants_params = true; /* in case the new run is held from the start */
    op->reach = (struct pw_reach){ .parent = op->instance, .run = op->run, .demand = PW_DEMAND_TERMINATE };
    return want_children(core, &op->reach);
}

bool pw_wants_hold(struct pw_core *core, struct pw_op_hold *op)
{
    struct pw_core_run *run = want_task(core, op->instance);
    if (run != NULL)
        run->wants_facts = true;
    return run != NULL;
}

/* A renewal waits for no lock.  Leases on rows that others have locked are renewed later. */
bool pw_wants_renew(struct pw_core *core, struct pw_op_renew *op)
{
    for (size_t i = 0; i < op->count; i++)
        if (pw_want_run(core, op->leases[i].fence.instance) == NULL)
            return false;
    return true;
}

bool pw_wants_create(struct pw_core *core, struct pw_op_create *op)
{
    core->keys_wanted++;
    return pw_want_name(core, op->workflow, op->id) != NULL;
}

bool pw_wants_fence(struct pw_core *core, struct pw_op_fence *op)
{
    return want_task(core, op->at.instance) != NULL;
}

bool pw_wants_step(struct pw_core *core, struct pw_op_step *op)
{
    return op->is_new || pw_want_step(core, op->instance, op->run, op->row.seq) != NULL;
}

bool pw_wants_consume(struct pw_core *core, struct pw_op_consume *op)
{
    return pw_want_event(core, op->instance, op->run, op->seq) != NULL;
}

bool pw_wants_log(struct pw_core *core, struct pw_op_log *op)
{
    return pw_want_tail(core, op->instance, op->run) != NULL;
}

bool pw_wants_park(struct pw_core *core, struct pw_op_park *op)
{
    return want_task(core, op->instance) != NULL;
}

bool pw_wants_demand(struct pw_core *core, struct pw_op_demand *op)
{
    return want_task(core, op->instance) != NULL;
}

bool pw_wants_finish(struct pw_core *core, struct pw_op_finish *op)
{
    return want_task(core, op->instance) != NULL && (op->reach.parent == 0 || want_children(core, &op->reach)) &&
           (op->answer == NULL || want_answer(core, op->answer));
}

bool pw_wants_end(struct pw_core *core, struct pw_op_end *op)
{
    return want_named(core, op->workflow, op->id) != NULL;
}

bool pw_wants_hook_settle(struct pw_core *core, struct pw_op_hook_settle *op)
{
    return pw_want_delivery(core, op->key) != NULL;
}

bool pw_wants_hook_resend(struct pw_core *core, struct pw_op_hook_resend *op)
{
    return remember(&core->resends, op);
}

/* ---- Controls --------------------------------------------------------------------------------------------------- */

bool pw_wants_control(struct pw_core *core, struct pw_op_control *op)
{
    struct pw_core_name *name = want_named(core, op->workflow, op->id);
    if (name == NULL)
        return false;
    name->is_found_otherwise = true;
    op->newest_step_ms = 0; /* the unit may be tried a second time */
    op->finish.reach = (struct pw_reach){ .parent = 0 };
    if (op->finish.answer != NULL)
        op->finish.answer->instance = 0;
    return remember(&core->controls, op);
}

enum pw_relation pw_control_reaches(const struct pw_op_control *op)
{
    switch (op->what) {
    case PAWL_CONTROL_INTERRUPT:
    case PAWL_CONTROL_ROLLBACK:
        return PW_RELATION_JOB;
    case PAWL_CONTROL_TERMINATE:
        return PW_RELATION_ATTACHED;
    case PAWL_CONTROL_PAUSE:
    case PAWL_CONTROL_RESUME:
    case PAWL_CONTROL_RESTART:
    case PAWL_CONTROL_RETRY:
        break;
    }
    return PW_RELATION_NONE;
}

bool pw_core_want_family(struct pw_core *core, struct pw_op_control *op, const struct pw_core_run *run)
{
    struct pw_op_event *answer = op->finish.answer;
    bool ends = op->what == PAWL_CONTROL_TERMINATE;
    if (pw_control_reaches(op) == PW_RELATION_NONE)
        return true;
    op->finish.reach = (struct pw_reach){ .parent = run->key,
                                          .run = run->instance_run,
                                          .demand = ends ? PW_DEMAND_TERMINATE : PW_DEMAND_NONE };
    if (pw_want_tail(core, run->key, run->instance_run) == NULL || !want_children(core, &op->finish.reach))
        return false;
    if (!ends || answer == NULL || run->link.relation == PW_RELATION_NONE)
        return true;
    answer->instance = run->link.parent;
    return want_answer(core, answer);
}
