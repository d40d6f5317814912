/* apply.c - units of work, in order, in one transaction: loads what the core's rules need, lets them decide, and publishes.
 *
 * Nothing here looks at a state or makes one.  A refused unit is undone in the core's records and in the rows alike, so that
 * a unit may be refused at any of its ops. */
#include "base/error.h"
#include "memory/rows.h"

/* ---- Loading ------------------------------------------------------------------------------------------------------------ */

void memory_load(struct memory_store *store, struct pw_core_run *run)
{
    const struct memory_instance *instance = memory_instance_at(store, run->key);
    if (run->is_loaded || instance == NULL)
        return;
    const struct pw_instance *row = &instance->row;
    run->is_loaded = run->is_known = true;
    run->has_task = run->is_stored = row->has_task;
    run->task = row->task;
    run->run = run->instance_run = row->run;
    run->holder_lives =
        row->task.processing && row->task.owner > 0 && pw_presence_may_live(&store->presence, row->task.owner);
    run->workflow = row->workflow;
    run->id = row->id;
    run->params = row->params;
    run->has_params = true;
    run->params_bytes = row->params.size;
    run->created_at_ms = row->created_at_ms;
    run->updated_at_ms = row->updated_at_ms;
    run->outcome = row->outcome;
    run->started_at_ms = row->started_at_ms;
    run->completed_at_ms = row->completed_at_ms;
    run->output = row->output;
    run->error_name = row->error_name;
    run->error_message = row->error_message;
    run->link = row->link;
    run->terms = row->terms;
    run->outcome = row->outcome;
}

/* The open children that may be reached. */
static bool want_children(struct memory_transaction *transaction, const struct pw_reach *op)
{
    const struct memory_instance *instance;
    for (size_t at = 0; (instance = memory_instance_next(transaction->store, &at)) != NULL;)
        if (instance->row.has_task && instance->row.link.parent == op->parent &&
            pw_want_run(&transaction->core, instance->row.key) == NULL)
            return false;
    return true;
}

static bool load_controls(struct memory_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    struct pw_op_control **controls = core->controls.rows;
    for (size_t i = 0; i < core->controls.count; i++) {
        const struct pw_core_name *name = pw_want_name(core, controls[i]->workflow, controls[i]->id);
        struct pw_core_run *run = name != NULL && name->key != 0 ? pw_find_run(core, name->key) : NULL;
        if (name == NULL)
            return false;
        if (run == NULL)
            continue;
        memory_load(transaction->store, run);
        const struct pw_rows *steps = &memory_history_of(transaction->store, run->key, run->instance_run)->steps;
        for (size_t at = 0; at < steps->count; at++)
            controls[i]->newest_step_ms =
                pw_not_before(((const struct pw_step_row *)steps->rows)[at].updated_at_ms, controls[i]->newest_step_ms);
        if (!pw_core_want_family(core, controls[i], run))
            return false;
    }
    return true;
}

static bool load_runs(struct memory_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    struct pw_core_name **names = core->names.list.rows;
    for (size_t i = 0; i < core->names.list.count; i++) {
        const struct memory_instance *instance =
            memory_instance_named(transaction->store, names[i]->workflow, names[i]->id);
        names[i]->key = instance != NULL ? instance->row.key : 0;
        if (names[i]->wants_task && instance != NULL && pw_want_run(core, instance->row.key) == NULL)
            return false;
    }
    if (!load_controls(transaction))
        return false;
    const struct pw_reach *const *reaches = core->reaches.rows;
    for (size_t i = 0; i < core->reaches.count; i++)
        if (!want_children(transaction, reaches[i]))
            return false;
    struct pw_core_run **runs = core->runs.list.rows;
    for (size_t i = 0; i < core->runs.list.count; i++)
        memory_load(transaction->store, runs[i]);
    return true;
}

static void load_event_ids(struct memory_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    struct pw_core_event_id **ids = core->event_ids.list.rows;
    for (size_t i = 0; i < core->event_ids.list.count; i++)
        ids[i]->taken = memory_event_of_id(memory_history_of(transaction->store, ids[i]->instance, ids[i]->run),
                                           ids[i]->id) != NULL;
}

/* Until when a step of the run waits for an event of the type; 0: none does. */
static int64_t awaited_until(const struct memory_history *history, struct pw_text type)
{
    const struct pw_step_row *steps = history->steps.rows;
    int64_t until_ms = 0;
    for (size_t i = 0; i < history->steps.count; i++)
        if (steps[i].status == PAWL_STEP_WAITING && steps[i].kind == PAWL_STEP_EVENT &&
            pw_text_equal(steps[i].wait_event_type, type) && steps[i].wake_at_ms > until_ms)
            until_ms = steps[i].wake_at_ms;
    return until_ms;
}

static bool load_sends(struct memory_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    struct pw_op_event **sends = core->sends.rows;
    for (size_t i = 0; i < core->sends.count; i++) {
        const struct pw_core_name *name = pw_want_name(core, sends[i]->workflow, sends[i]->to);
        const struct pw_core_run *run = name != NULL && name->key != 0 ? pw_find_run(core, name->key) : NULL;
        if (name == NULL || (run != NULL && pw_want_event_id(core, run->key, run->instance_run, sends[i]->id) == NULL))
            return false;
        if (run != NULL)
            sends[i]->awaited_until_ms =
                awaited_until(memory_history_of(transaction->store, run->key, run->instance_run), sends[i]->type);
    }
    return true;
}

static void load_history(struct memory_transaction *transaction)
{
    const struct memory_store *store = transaction->store;
    struct pw_core *core = &transaction->core;
    struct pw_core_step **steps = core->steps.list.rows;
    struct pw_core_event **events = core->events.list.rows;
    struct pw_core_tail **tails = core->tails.list.rows;
    for (size_t i = 0; i < core->steps.list.count; i++) {
        const int64_t *place = steps[i]->place;
        steps[i]->exists = memory_step_at(memory_history_of(store, place[0], place[1]), place[2]) != NULL;
    }
    for (size_t i = 0; i < core->events.list.count; i++) {
        const int64_t *place = events[i]->place;
        events[i]->exists = memory_event_at(memory_history_of(store, place[0], place[1]), place[2]) != NULL;
    }
    for (size_t i = 0; i < core->tails.list.count; i++) {
        const int64_t *place = tails[i]->place;
        const struct pw_log_row *newest = memory_newest(&memory_history_of(store, place[0], place[1])->logs);
        tails[i]->seq = newest != NULL ? newest->seq : 0;
        tails[i]->created_at_ms = newest != NULL ? newest->created_at_ms : 0;
    }
}

static bool load_keys(struct memory_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    while (core->keys.count < (size_t)core->keys_wanted) {
        int64_t next = (int64_t)(transaction->store->instances.count + core->keys.count) + 1;
        int64_t *key = pw_rows_add(&core->keys);
        if (key == NULL)
            return false;
        *key = next;
    }
    return true;
}

static pawl_status look(struct memory_transaction *transaction, struct pw_unit **units, size_t count)
{
    bool is_there = true;
    for (size_t i = 0; i < count; i++)
        for (struct pw_op *op = units[i]->first; op != NULL && is_there; op = op->next)
            is_there = pw_core_want(&transaction->core, op);
    is_there = is_there && load_runs(transaction) && load_sends(transaction) && load_keys(transaction) &&
               memory_load_hooks(transaction->store, &transaction->core);
    load_event_ids(transaction);
    load_history(transaction);
    return is_there ? PAWL_OK : pw_error_plain(transaction->core.error, PAWL_NOMEM);
}

/* ---- The frame ------------------------------------------------------------------------------------------------------------- */

static pawl_status count_unread(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count)
{
    const struct memory_history *history = memory_history_of(memory_of_core(core), run->key, run->run);
    const struct pw_event_row *events = history->events.rows;
    *out_count = 0;
    for (size_t i = 0; i < history->events.count && *out_count < max; i++)
        *out_count += events[i].delivered_at_ms == 0;
    return PAWL_OK;
}

static pawl_status find_wait(struct pw_core *core, const struct pw_core_run *run, struct pw_text type,
                             int64_t *out_until_ms)
{
    *out_until_ms = awaited_until(memory_history_of(memory_of_core(core), run->key, run->run), type);
    return PAWL_OK;
}

/* No row is ever locked by others. */
static pawl_status owe(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms)
{
    (void)at;
    (void)owner;
    (void)until_ms;
    return pw_error(core->error, PAWL_INVALID, "a lease is owed in a store where nobody waits for a lock");
}

static pawl_status run_sql(struct pw_core *core, struct pw_op_sql *op)
{
    struct memory_store *store = memory_of_core(core);
    if (store->run_sql == NULL)
        return pw_unit_refuse_saying(core->unit, PW_REFUSED_MUTATION_FAILED, "this store runs no SQL");
    enum pw_refusal refusal = store->run_sql(&store->store, op);
    return refusal == PW_REFUSED_NOT ? PAWL_OK : pw_unit_refuse(core->unit, refusal);
}

static pawl_status run_mutation(struct pw_core *core, struct pw_op_mutate *op)
{
    pawl_status answer = op->mutate(&memory_of_core(core)->store, op->data, op->size);
    if (answer == PAWL_OK)
        return PAWL_OK;
    return pw_unit_refuse(core->unit, answer == PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION ? PW_REFUSED_UNIQUE
                                                                                      : PW_REFUSED_MUTATION_FAILED);
}

static pawl_status load_claimable(struct pw_core *core, struct pw_core_run *run, bool with_size)
{
    (void)with_size;
    memory_load(memory_of_core(core), run);
    return PAWL_OK;
}

/* ---- Units ------------------------------------------------------------------------------------------------------------------ */

static pawl_status decide_op(struct memory_transaction *transaction, struct pw_op *op)
{
    const struct memory_spoiler *spoiler = transaction->store->spoiler;
    if (spoiler != NULL)
        spoiler->before(transaction, op, spoiler->user);
    pawl_status status = pw_core_decide(&transaction->core, op);
    if (spoiler != NULL && status == PAWL_OK)
        spoiler->after(transaction, op, spoiler->user);
    return status;
}

/* What a unit decided is published at its end, so that the next one has only its own changes to undo. */
static pawl_status decide(struct memory_transaction *transaction, struct pw_unit *unit)
{
    struct memory_store *store = transaction->store;
    const struct memory_change *before = store->changes;
    pawl_status status = PAWL_OK;
    pw_core_begin_unit(&transaction->core, unit);
    for (struct pw_op *op = unit->first; op != NULL && status == PAWL_OK; op = op->next)
        status = decide_op(transaction, op);
    if (status == PAWL_OK)
        status = pw_core_tell_hooks(&transaction->core);
    bool is_refused = unit->refusal != PW_REFUSED_NOT;
    if (status != PAWL_OK && !is_refused)
        return status;
    if (is_refused && (store->spoiler == NULL || !store->spoiler->keeps_refused)) {
        memory_undo_to(store, before);
        pw_core_undo_unit(&transaction->core);
    }
    return memory_write(&transaction->core);
}

static pawl_status carry_out(struct memory_transaction *transaction, struct pw_unit **units, size_t count)
{
    struct memory_store *store = transaction->store;
    transaction->core.now_ms = store->clock.now_ms(store->clock.user);
    pawl_status status = look(transaction, units, count);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = decide(transaction, units[i]);
    if (status == PAWL_OK)
        memory_forget_gone_hooks(store);
    else
        memory_undo_to(store, NULL);
    return status;
}

pawl_status memory_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    static const struct pw_frame frame = { .write = memory_write,
                                           .count_unread = count_unread,
                                           .find_wait = find_wait,
                                           .owe = owe,
                                           .claim = memory_claim,
                                           .reap = memory_reap,
                                           .claim_hooks = memory_claim_hooks,
                                           .run_sql = run_sql,
                                           .run_mutation = run_mutation,
                                           .load_claimable = load_claimable };
    struct memory_transaction transaction = { .store = memory_of(store) };
    (void)pthread_mutex_lock(&transaction.store->lock);
    pw_core_init(&transaction.core, &frame, error);
    transaction.store->journal = &transaction.core.arena;
    pawl_status status = carry_out(&transaction, units, count);
    transaction.store->changes = NULL;
    pw_core_clear(&transaction.core);
    (void)pthread_mutex_unlock(&transaction.store->lock);
    for (size_t i = 0; i < count; i++) {
        pw_unit_answer(units[i], status);
        units[i]->undone = status != PAWL_OK;
    }
    return status;
}
