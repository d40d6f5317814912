/* rules_control.c - controls a run by the name of its instance: pause, resume, interrupt, roll back, terminate (R3,
 * R9, R11). */
#include "core/rules.h"

/* Asks the holder to pause, or withdraws the request.  The holder learns of it at its next commit or renewal. */
static pawl_status ask_for_pause(struct pw_core *core, struct pw_op_control *op, struct pw_core_run *run,
                                 bool is_wanted)
{
    if (run->task.pause_requested == is_wanted)
        return PAWL_OK;
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    run->task.pause_requested = is_wanted;
    run->task.updated_at_ms = pw_run_time(core, run);
    op->is_done = true;
    op->is_asked = is_wanted;
    pw_rule_changed(run);
    return pw_rule_tell(core, PW_EFFECT_CHANGED, run->key, run->run);
}

static pawl_status pause(struct pw_core *core, struct pw_op_control *op, struct pw_core_run *run)
{
    if (run->task.status == PW_TASK_PAUSED)
        return PAWL_OK;
    if (pw_run_is_held(core, run))
        return ask_for_pause(core, op, run, true);
    op->is_done = true;
    return pw_rule_rest(core, run); /* the due time is kept, so timers go on counting */
}

static pawl_status go_on(struct pw_core *core, struct pw_op_control *op, struct pw_core_run *run)
{
    op->is_done = true;
    return pw_rule_go_on(core, run, PW_TASK_RESUME, &op->offer, PW_REASON_RESUME, &op->is_held, &op->claim);
}

static pawl_status resume(struct pw_core *core, struct pw_op_control *op, struct pw_core_run *run)
{
    if (run->task.status != PW_TASK_PAUSED)
        return ask_for_pause(core, op, run, false);
    if (run->task.kind == PW_TASK_REPAIR)
        return pw_unit_refuse(core->unit, PW_REFUSED_REPAIR);
    return PW_SAVE(core, run) ? go_on(core, op, run) : pw_rule_no_memory(core);
}

/* Adds a line of the engine's to the run's log. */
static pawl_status say(struct pw_core *core, const struct pw_core_run *run, const char *message)
{
    struct pw_op_log *line = pw_arena_zero(&core->arena, sizeof *line);
    if (line == NULL)
        return pw_rule_no_memory(core);
    line->instance = run->key;
    line->run = run->run;
    line->row =
        (struct pw_log_row){ .level = PAWL_LOG_INFO, .category = pw_text_of("system"), .message = pw_text_of(message) };
    return pw_rule_log(core, line);
}

/* Raises the demand.  A turn under way goes on and learns of it.  Otherwise the run goes on at once, even if it was
 * paused.  Its jobs end now, because nothing would undo what a worker did later. */
static pawl_status demand(struct pw_core *core, struct pw_op_control *op, struct pw_core_run *run, enum pw_demand least,
                          const char *message)
{
    bool is_paused = run->task.status == PW_TASK_PAUSED || run->task.pause_requested;
    if (run->task.demand >= least && !is_paused)
        return PAWL_OK;
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    pw_rule_raise_demand(core, run, least);
    pw_rule_changed(run);
    op->is_done = true;
    pawl_status status = pw_rule_tell(core, PW_EFFECT_CHANGED, run->key, run->run);
    if (status == PAWL_OK)
        status = say(core, run, message);
    if (status == PAWL_OK)
        status = pw_rule_reach(core, &op->finish.reach);
    return status == PAWL_OK && !pw_run_is_held(core, run) ? go_on(core, op, run) : status;
}

/* The newest recorded time of the run, in the store or in this batch.  The run must not end before it (R7). */
static int64_t newest_ms(const struct pw_core *core, const struct pw_op_control *op, const struct pw_core_run *run)
{
    struct pw_core_step *const *steps = core->steps.list.rows;
    int64_t newest = op->newest_step_ms;
    for (size_t i = 0; i < core->steps.list.count; i++) {
        const struct pw_core_step *step = steps[i];
        const struct pw_op_step *last = step->update != NULL ? step->update : step->insert;
        if (step->place[0] == run->key && step->place[1] == run->run && last != NULL)
            newest = pw_not_before(pw_time_or_now(core, last->row.updated_at_ms), newest);
    }
    return newest;
}

static pawl_status terminate(struct pw_core *core, struct pw_op_control *op, struct pw_core_run *run)
{
    struct pw_op_finish *finish = &op->finish;
    pawl_status status = say(core, run, "terminated");
    if (status != PAWL_OK)
        return status;
    op->is_done = true;
    finish->instance = run->key;
    finish->outcome = PW_OUTCOME_TERMINATED;
    finish->newest_ms = newest_ms(core, op, run);
    finish->demand_seen = PW_DEMAND_TERMINATE;
    return pw_rule_finish(core, finish);
}

/* Finds the run that the instance is in and decides by its state.  Everything it needs is loaded and locked (R9). */
pawl_status pw_rule_control(struct pw_core *core, struct pw_op_control *op)
{
    const struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
    struct pw_core_run *run = name != NULL && name->key != 0 ? pw_find_run(core, name->key) : NULL;
    op->is_done = op->is_asked = op->is_held = false;
    if (name == NULL)
        return pw_rule_no_memory(core);
    if (run == NULL)
        return pw_rule_refuse_unknown(core, op->workflow, op->id);
    if (!run->has_task)
        return pw_rule_refuse_ended(core, run, op->workflow, op->id);
    op->at = (struct pw_fence){ run->key, run->run, run->task.epoch };
    switch (op->what) {
    case PAWL_CONTROL_PAUSE:
        return pause(core, op, run);
    case PAWL_CONTROL_RESUME:
        return resume(core, op, run);
    case PAWL_CONTROL_INTERRUPT:
        return demand(core, op, run, PW_DEMAND_INTERRUPT, "interrupt requested");
    case PAWL_CONTROL_ROLLBACK:
        return demand(core, op, run, PW_DEMAND_ROLLBACK, "termination with rollback requested");
    case PAWL_CONTROL_TERMINATE:
        return terminate(core, op, run);
    case PAWL_CONTROL_RESTART:
    case PAWL_CONTROL_RETRY:
        break; /* they begin a new run and need the history, so they are not CONTROL ops */
    }
    return pw_rule_moved(core);
}
