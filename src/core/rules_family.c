/* rules_family.c - demands, and what the end of a run does to its children and jobs (R3, R6). */
#include <stdlib.h>

#include "core/rules.h"

/* ---- Demands ----------------------------------------------------------------------------------------------------- */

/* A turn that has not seen it does not park past the number (R3). */
static void demand(const struct pw_core *core, struct pw_core_run *run, enum pw_demand least)
{
    if (run->task.demand < least)
        run->task.demand = least;
    run->task.event_seq++;
    if (least != PW_DEMAND_NONE)
        run->task.pause_requested = false;
    run->task.updated_at_ms = pw_run_time(core, run);
}

pawl_status pw_rule_demand(struct pw_core *core, const struct pw_op_demand *op)
{
    struct pw_core_run *run = pw_find_task(core, op->instance);
    if (run == NULL)
        return pw_rule_moved(core);
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    demand(core, run, op->demand);
    pw_rule_changed(run);
    return PAWL_OK;
}

/* The holder learns of the demand with its next renewal.  True: nobody holds the run, so it becomes due, even if it is paused. */
static bool demand_now(const struct pw_core *core, struct pw_core_run *run, enum pw_demand least)
{
    struct pw_task *task = &run->task;
    demand(core, run, least);
    if (task->processing && (task->locked_until_ms > core->now_ms || run->holder_lives))
        return false;
    task->status = PW_TASK_ACTIVE;
    task->kind = PW_TASK_RESUME;
    task->due_at_ms = core->now_ms;
    task->processing = false;
    task->epoch++;
    task->owner = task->locked_until_ms = 0;
    return true;
}

/* ---- Reaching and ending ------------------------------------------------------------------------------------------- */

static bool is_reached(const struct pw_core_run *run, const struct pw_op_reach *op)
{
    return run->has_task && run->link.parent == op->parent && run->link.run == op->run &&
           run->link.relation >= pw_least_reached(op) && run->link.relation != PW_RELATION_DETACHED;
}

/* False: memory is out. */
static bool reach(struct pw_core *core, struct pw_core_run *run, enum pw_demand least, struct pw_rows *woken)
{
    if (!PW_SAVE(core, run))
        return false;
    if (run->link.relation == PW_RELATION_JOB) {
        pw_rule_end_run(core, run, PW_OUTCOME_TERMINATED, 0);
        return true;
    }
    bool is_woken = demand_now(core, run, least);
    pw_rule_changed(run);
    if (!is_woken)
        return true;
    int64_t *key = pw_rows_add(woken);
    if (key != NULL)
        *key = run->key;
    return key != NULL;
}

static int compare_keys(const void *left, const void *right)
{
    const int64_t *first = left, *second = right;
    return (*first > *second) - (*first < *second);
}

/* Every open child and job has a record: it was found by the store, or it was created or restarted in this batch. */
pawl_status pw_rule_reach(struct pw_core *core, struct pw_op_reach *op)
{
    struct pw_core_run **runs = core->runs.list.rows;
    struct pw_rows woken = { .arena = &core->unit->arena, .row_size = sizeof(int64_t) };
    op->reached = 0;
    for (size_t i = 0; i < core->runs.list.count; i++) {
        if (!is_reached(runs[i], op))
            continue;
        if (!reach(core, runs[i], op->demand, &woken))
            return pw_rule_no_memory(core);
        op->reached++;
    }
    if (woken.count > 1)
        qsort(woken.rows, woken.count, sizeof(int64_t), compare_keys);
    op->woken = woken.rows;
    op->woken_count = woken.count;
    return PAWL_OK;
}

pawl_status pw_rule_end(struct pw_core *core, struct pw_op_end *op)
{
    const struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
    if (name == NULL)
        return pw_rule_no_memory(core);
    struct pw_core_run *run = name->key != 0 ? pw_find_task(core, name->key) : NULL;
    op->instance = run != NULL ? run->key : 0;
    if (run == NULL)
        return PAWL_OK;
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    pw_rule_end_run(core, run, PW_OUTCOME_TERMINATED, 0);
    return PAWL_OK;
}
