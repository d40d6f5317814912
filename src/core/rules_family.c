/* rules_family.c - demands, and what the end of a run does to its children and jobs (R3, R6, R11). */
#include <stdlib.h>

#include "core/rules.h"

/* ---- Demands ----------------------------------------------------------------------------------------------------- */

void pw_rule_raise_demand(const struct pw_core *core, struct pw_core_run *run, enum pw_demand least)
{
    if (run->task.demand < least)
        run->task.demand = least;
    run->task.event_seq++;
    if (least != PW_DEMAND_NONE)
        run->task.pause_requested = false;
    run->task.updated_at_ms = pw_run_time(core, run);
}

/* The demand counts as an unseen event, so a turn that has not seen it cannot park past it (R3, R4). */
pawl_status pw_rule_demand(struct pw_core *core, struct pw_op_demand *op)
{
    struct pw_core_run *run = pw_find_task(core, op->instance);
    if (run == NULL)
        return pw_rule_moved(core);
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    pw_rule_raise_demand(core, run, op->demand);
    pw_rule_changed(run);
    return pw_rule_tell(core, PW_EFFECT_CHANGED, run->key, run->run);
}

bool pw_run_is_held(const struct pw_core *core, const struct pw_core_run *run)
{
    return run->task.processing && (run->task.locked_until_ms > core->now_ms || run->holder_lives);
}

/* ---- Reaching and ending ------------------------------------------------------------------------------------------- */

/* True for the open jobs of the run and, with a demand, for its attached children.  Detached children are never
 * reached. */
static bool is_reached(const struct pw_core_run *run, const struct pw_reach *op)
{
    return run->has_task && run->link.parent == op->parent && run->link.run == op->run &&
           run->link.relation >= pw_least_reached(op) && run->link.relation != PW_RELATION_DETACHED;
}

static pawl_status end_job(struct pw_core *core, struct pw_core_run *run)
{
    struct pw_effect *effect = pw_rule_end_run(core, run, PW_OUTCOME_TERMINATED, 0);
    if (effect == NULL)
        return pw_rule_no_memory(core);
    effect->is_job = true;
    return PAWL_OK;
}

/* A job ends.  A child gets the demand and goes on at once, unless a live holder will act on it. */
static pawl_status reach(struct pw_core *core, struct pw_core_run *run, enum pw_demand least)
{
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    if (run->link.relation == PW_RELATION_JOB)
        return end_job(core, run);
    pw_rule_raise_demand(core, run, least);
    pw_rule_changed(run);
    if (pw_run_is_held(core, run)) /* the holder learns of it with its next renewal or commit */
        return pw_rule_tell(core, PW_EFFECT_CHANGED, run->key, run->run);
    return pw_rule_go_on(core, run, PW_TASK_RESUME, NULL, PW_REASON_RESUME, NULL, NULL);
}

static int compare_keys(const void *left, const void *right)
{
    const struct pw_core_run *const *first = left, *const *second = right;
    return ((*first)->key > (*second)->key) - ((*first)->key < (*second)->key);
}

/* Every open child and job has a record: the store found it, or this batch created or restarted it.  They are
 * reached in the order of their keys, so that the effects are the same in every store. */
pawl_status pw_rule_reach(struct pw_core *core, struct pw_reach *op)
{
    struct pw_core_run **runs = core->runs.list.rows;
    struct pw_rows reached = { .arena = &core->arena, .row_size = sizeof(struct pw_core_run *) };
    for (size_t i = 0; i < core->runs.list.count; i++) {
        struct pw_core_run **place = is_reached(runs[i], op) ? pw_rows_add(&reached) : NULL;
        if (place == NULL && is_reached(runs[i], op))
            return pw_rule_no_memory(core);
        if (place != NULL)
            *place = runs[i];
    }
    struct pw_core_run **sorted = reached.rows;
    if (reached.count > 1)
        qsort(sorted, reached.count, sizeof *sorted, compare_keys);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < reached.count && status == PAWL_OK; i++)
        status = reach(core, sorted[i], op->demand);
    op->reached = (int64_t)reached.count;
    return status;
}

/* Ends one job that its run has given up.  Nobody is told (R11). */
pawl_status pw_rule_end(struct pw_core *core, struct pw_op_end *op)
{
    const struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
    if (name == NULL)
        return pw_rule_no_memory(core);
    struct pw_core_run *run = name->key != 0 ? pw_find_task(core, name->key) : NULL;
    op->instance = run != NULL ? run->key : 0;
    if (run == NULL)
        return PAWL_OK;
    return PW_SAVE(core, run) ? end_job(core, run) : pw_rule_no_memory(core);
}
