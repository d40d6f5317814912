/* write.c - publishes what the core has decided: every changed record becomes the store's row. */
#include "base/error.h"
#include "memory/rows.h"

/* ---- Instances and tasks ------------------------------------------------------------------------------------------------- */

static struct memory_instance *create(struct memory_store *store, const struct pw_core_run *run)
{
    struct pw_text workflow, id, params;
    if (!pw_arena_text(&store->arena, run->workflow, &workflow) || !pw_arena_text(&store->arena, run->id, &id) ||
        !pw_arena_text(&store->arena, run->params, &params))
        return NULL;
    struct memory_instance *instance = memory_instance_add(store, run->key, workflow, id);
    if (instance == NULL)
        return NULL;
    instance->row.params = params;
    instance->row.created_at_ms = run->created_at_ms;
    instance->row.link = run->link;
    return instance;
}

static bool write_instance(struct memory_store *store, const struct pw_core_run *run, struct pw_instance *row)
{
    row->run = run->instance_run;
    row->outcome = run->outcome;
    row->updated_at_ms = run->updated_at_ms;
    row->started_at_ms = run->started_at_ms;
    row->completed_at_ms = run->completed_at_ms;
    return pw_arena_text(&store->arena, run->output, &row->output) &&
           pw_arena_text(&store->arena, run->terms.version, &row->terms.version) &&
           pw_arena_text(&store->arena, run->error_name, &row->error_name) &&
           pw_arena_text(&store->arena, run->error_message, &row->error_message);
}

static bool write_run(struct memory_store *store, struct pw_core_run *run)
{
    struct memory_instance *instance =
        run->change == PW_CORE_NEW ? create(store, run) : memory_instance_at(store, run->key);
    if (instance == NULL || !memory_touch(store, instance, sizeof *instance))
        return false;
    if (run->change != PW_CORE_SAME && !write_instance(store, run, &instance->row))
        return false;
    instance->row.has_task = run->is_stored = run->has_task;
    instance->row.task = run->has_task ? run->task : (struct pw_task){ .epoch = 0 };
    run->is_changed = false;
    run->change = PW_CORE_SAME;
    run->is_loaded = true;
    return true;
}

static bool write_runs(struct memory_store *store, struct pw_core *core)
{
    struct pw_core_run **runs = core->runs.list.rows;
    for (size_t i = 0; i < core->runs.list.count; i++)
        if ((runs[i]->is_changed || runs[i]->change != PW_CORE_SAME) &&
            (!PW_SAVE(core, runs[i]) || !write_run(store, runs[i])))
            return false;
    return true;
}

static bool write_earlier_runs(struct memory_store *store, struct pw_core *core)
{
    const struct pw_core_earlier *earlier = core->earlier.rows;
    for (size_t i = 0; i < core->earlier.count; i++) {
        struct memory_instance *instance = memory_instance_at(store, earlier[i].instance);
        struct pw_earlier_run *row = instance != NULL ? memory_add(store, &instance->earlier) : NULL;
        if (row == NULL || !memory_copy_earlier_run(&store->arena, &earlier[i].row, row))
            return false;
    }
    core->earlier.count = 0;
    return true;
}

/* ---- Steps ----------------------------------------------------------------------------------------------------------------- */

/* What never changes is of the first record of the step. */
static bool write_step(struct memory_store *store, struct pw_core *core, struct pw_core_step *step)
{
    const struct pw_op_step *last = step->update != NULL ? step->update : step->insert;
    struct memory_history *history = memory_history_make(store, step->place[0], step->place[1]);
    struct pw_step_row *row = NULL, first;
    if (history == NULL)
        return false;
    if (step->insert != NULL) {
        if ((row = memory_insert(store, &history->steps, step->place[2])) == NULL)
            return false;
        first = step->insert->row;
        first.created_at_ms = pw_time_or_now(core, first.created_at_ms);
    } else {
        row = (struct pw_step_row *)memory_step_at(history, step->place[2]);
        if (!memory_touch(store, row, sizeof *row))
            return false;
        first = *row;
    }
    struct pw_step_row next = last->row;
    next.name = first.name;
    next.kind = first.kind;
    next.undoes = first.undoes;
    next.place = first.place;
    next.created_at_ms = first.created_at_ms;
    next.updated_at_ms = pw_time_or_now(core, next.updated_at_ms);
    step->exists = true;
    step->insert = step->update = NULL;
    return memory_copy_step(&store->arena, &next, row);
}

/* The core does not look whether a new step is there already: it is the engine's fault, and ends the transaction. */
static bool is_there_already(const struct memory_store *store, const struct pw_core_step *step)
{
    return step->insert != NULL &&
           memory_step_at(memory_history_of(store, step->place[0], step->place[1]), step->place[2]) != NULL;
}

static pawl_status write_steps(struct memory_store *store, struct pw_core *core)
{
    struct pw_core_step **steps = core->steps.list.rows;
    for (size_t i = 0; i < core->steps.list.count; i++) {
        if (steps[i]->insert == NULL && steps[i]->update == NULL)
            continue;
        if (is_there_already(store, steps[i]))
            return pw_error(core->error, PAWL_STORE_UNAVAILABLE, "the run has a step of this number already");
        if (!PW_SAVE(core, steps[i]) || !write_step(store, core, steps[i]))
            return pw_error_plain(core->error, PAWL_NOMEM);
    }
    return PAWL_OK;
}

static bool is_kept(const struct pw_step_row *row, const struct pw_op_restart *op)
{
    return row->seq < op->keep_before_seq && row->seq != op->keep_except_seq && row->status != PAWL_STEP_WAITING &&
           !(op->keep_except_dropped && pw_step_is_dropped(row));
}

/* Steps that the next run begins with.  Texts are shared, because nobody changes them. */
static bool keep_steps(struct memory_store *store, struct pw_core *core, const struct pw_op_restart *op)
{
    const struct memory_history *old = memory_history_of(store, op->instance, op->run);
    struct memory_history *next = memory_history_make(store, op->instance, op->run + 1);
    for (size_t i = 0; i < old->steps.count; i++) {
        const struct pw_step_row *row = (const struct pw_step_row *)old->steps.rows + i;
        if (!is_kept(row, op))
            continue;
        struct pw_step_row *copy = next != NULL ? memory_insert(store, &next->steps, row->seq) : NULL;
        struct pw_core_step *step = pw_want_step(core, op->instance, op->run + 1, row->seq);
        if (copy == NULL || step == NULL || !PW_SAVE(core, step))
            return false;
        *copy = *row;
        step->exists = true;
    }
    return next != NULL;
}

static bool write_kept(struct memory_store *store, struct pw_core *core)
{
    struct pw_op_restart **ops = core->kept.rows;
    for (size_t i = 0; i < core->kept.count; i++)
        if (!keep_steps(store, core, ops[i]))
            return false;
    core->kept.count = 0;
    return true;
}

/* ---- Events, logs, hooks ------------------------------------------------------------------------------------------------------ */

static bool write_event(struct memory_store *store, struct pw_core *core, struct pw_core_event *event)
{
    struct memory_history *history = memory_history_make(store, event->place[0], event->place[1]);
    struct pw_event_row *row = NULL;
    if (history == NULL)
        return false;
    if (event->insert != NULL) {
        const struct pw_event_row next = { .seq = event->place[2],
                                           .id = event->insert->id,
                                           .type = event->insert->type,
                                           .payload = event->insert->payload,
                                           .is_failure = event->insert->is_failure,
                                           .created_at_ms = event->created_at_ms };
        row = memory_insert(store, &history->events, event->place[2]);
        if (row == NULL || !memory_copy_event(&store->arena, &next, row))
            return false;
    }
    if (event->consume != NULL) {
        row = (struct pw_event_row *)memory_event_at(history, event->place[2]);
        if (!memory_touch(store, row, sizeof *row) ||
            !pw_arena_text(&store->arena, event->consume->step, &row->consumed_by))
            return false;
        row->delivered_at_ms = pw_time_or_now(core, event->consume->delivered_at_ms);
    }
    event->exists = true;
    event->insert = NULL;
    event->consume = NULL;
    return true;
}

static bool write_events(struct memory_store *store, struct pw_core *core)
{
    struct pw_core_event **events = core->events.list.rows;
    for (size_t i = 0; i < core->events.list.count; i++)
        if ((events[i]->insert != NULL || events[i]->consume != NULL) &&
            (!PW_SAVE(core, events[i]) || !write_event(store, core, events[i])))
            return false;
    return true;
}

static bool write_logs(struct memory_store *store, struct pw_core *core)
{
    const struct pw_core_log *logs = core->logs.rows;
    for (size_t i = 0; i < core->logs.count; i++) {
        struct memory_history *history = memory_history_make(store, logs[i].op->instance, logs[i].op->run);
        struct pw_log_row *row = history != NULL ? memory_add(store, &history->logs) : NULL;
        if (row == NULL || !memory_copy_log(&store->arena, &logs[i].op->row, row))
            return false;
        row->seq = logs[i].seq;
        row->created_at_ms = logs[i].created_at_ms;
    }
    core->logs.count = 0;
    return true;
}

static bool write_hooks(struct memory_store *store, struct pw_core *core)
{
    const struct pw_core_hook *hooks = core->hooks.rows;
    for (size_t i = 0; i < core->hooks.count; i++)
        if (!memory_add_hook(store, &hooks[i]))
            return false;
    core->hooks.count = 0;
    return true;
}

static bool write_deliveries(struct memory_store *store, struct pw_core *core)
{
    struct pw_core_delivery **deliveries = core->deliveries.list.rows;
    for (size_t i = 0; i < core->deliveries.list.count; i++) {
        if (!deliveries[i]->is_changed)
            continue;
        if (!PW_SAVE(core, deliveries[i]) || !memory_write_delivery(store, deliveries[i]))
            return false;
        deliveries[i]->is_changed = false;
    }
    return true;
}

/* ---- All --------------------------------------------------------------------------------------------------------------------- */

pawl_status memory_write(struct pw_core *core)
{
    struct memory_store *store = memory_of_core(core);
    pawl_status status = write_runs(store, core) && write_earlier_runs(store, core) ? PAWL_OK : PAWL_NOMEM;
    if (status == PAWL_OK)
        status = write_steps(store, core);
    if (status == PAWL_OK && (!write_kept(store, core) || !write_events(store, core) || !write_logs(store, core) ||
                              !write_hooks(store, core) || !write_deliveries(store, core)))
        status = PAWL_NOMEM;
    return status == PAWL_NOMEM ? pw_error_plain(core->error, status) : status;
}
