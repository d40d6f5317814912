/* apply.c - applies the units of a batch one after the other (R8), and notes which rows are written.
 *
 * A unit is decided op by op against the records in memory.  Before a rule changes a record for the first time in a
 * unit, it saves a copy (PW_SAVE).  If the unit is refused, the copies are put back and the next unit finds
 * everything as it was.  Two kinds of units cannot be undone in memory alone.  A unit with the user's code runs
 * inside a savepoint of the database.  A unit for which the store has acted already (has_acted) gives up the whole
 * transaction if it is refused; the committer then tries its units one by one. */
#include "base/error.h"
#include "core/core.h"

/* ---- Units ------------------------------------------------------------------------------------------------------------ */

static bool is_refused(const struct pw_core *core)
{
    return core->unit->refusal != PW_REFUSED_NOT;
}

static pawl_status decide_ops(struct pw_core *core, struct pw_unit *unit)
{
    pawl_status status = PAWL_OK;
    pw_core_begin_unit(core, unit);
    for (struct pw_op *op = unit->first; op != NULL && status == PAWL_OK; op = op->next)
        status = pw_core_decide(core, op);
    return status == PAWL_OK ? pw_core_tell_hooks(core) : status;
}

/* If the store has already acted on a refused unit, only giving up the whole transaction undoes it. */
static pawl_status apply_plain(struct pw_core *core, struct pw_unit *unit)
{
    pawl_status status = decide_ops(core, unit);
    if (!is_refused(core))
        return status;
    if (core->has_acted)
        return pw_error(core->error, status, "%s", unit->error.text);
    pw_core_undo_unit(core);
    return PAWL_OK;
}

/* Everything decided before the savepoint must be in the database when the savepoint begins. */
static pawl_status apply_users(struct pw_core *core, struct pw_unit *unit)
{
    pawl_status status = core->frame->write(core);
    if (status == PAWL_OK)
        status = core->frame->begin_savepoint(core);
    if (status != PAWL_OK)
        return status;
    status = decide_ops(core, unit);
    if (status != PAWL_OK && !is_refused(core))
        return status;
    if (is_refused(core))
        pw_core_undo_unit(core);
    return core->frame->end_savepoint(core, !is_refused(core));
}

pawl_status pw_core_apply(struct pw_core *core, struct pw_unit *unit)
{
    return pw_unit_runs_users_code(unit) ? apply_users(core, unit) : apply_plain(core, unit);
}

/* ---- Written ---------------------------------------------------------------------------------------------------------- */

static bool note_runs(struct pw_core *core)
{
    struct pw_core_run **runs = core->runs.list.rows;
    for (size_t i = 0; i < core->runs.list.count; i++) {
        struct pw_core_run *run = runs[i];
        if (!run->is_changed && run->change == PW_CORE_SAME)
            continue;
        if (!PW_SAVE(core, run))
            return false;
        run->is_stored = run->has_task;
        run->stored = run->task;
        run->is_changed = false;
        run->change = PW_CORE_SAME;
    }
    return true;
}

static bool note_steps(struct pw_core *core)
{
    struct pw_core_step **steps = core->steps.list.rows;
    for (size_t i = 0; i < core->steps.list.count; i++) {
        if (steps[i]->insert == NULL && steps[i]->update == NULL)
            continue;
        if (!PW_SAVE(core, steps[i]))
            return false;
        steps[i]->exists = true;
        steps[i]->insert = steps[i]->update = NULL;
    }
    return true;
}

static bool note_events(struct pw_core *core)
{
    struct pw_core_event **events = core->events.list.rows;
    for (size_t i = 0; i < core->events.list.count; i++) {
        if (events[i]->insert == NULL && events[i]->consume == NULL)
            continue;
        if (!PW_SAVE(core, events[i]))
            return false;
        events[i]->exists = true;
        events[i]->insert = NULL;
        events[i]->consume = NULL;
    }
    return true;
}

static bool note_deliveries(struct pw_core *core)
{
    struct pw_core_delivery **deliveries = core->deliveries.list.rows;
    for (size_t i = 0; i < core->deliveries.list.count; i++) {
        if (deliveries[i]->is_changed && !PW_SAVE(core, deliveries[i]))
            return false;
        deliveries[i]->is_changed = false;
    }
    return true;
}

/* Records are saved here as well, because the current unit may still be undone. */
bool pw_core_note_written(struct pw_core *core)
{
    if (!note_runs(core) || !note_steps(core) || !note_events(core) || !note_deliveries(core))
        return false;
    core->logs.count = core->hooks.count = core->earlier.count = core->kept.count = 0;
    return true;
}
