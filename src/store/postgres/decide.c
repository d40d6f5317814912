/* decide.c - the ops that are decided in memory: what each checks, and what becomes of the rows.  The same rules as the
 * SQLite store's, which reads and writes the rows themselves. */
#include "base/error.h"
#include "store/postgres/transaction.h"

pawl_status pw_pg_refuse(struct pw_transaction *transaction, pawl_status status)
{
    transaction->unit->status = status;
    transaction->refused = true;
    return status;
}

pawl_status pw_pg_refuse_moved(struct pw_transaction *transaction)
{
    return pw_pg_refuse(transaction, pw_error(&transaction->unit->error, PAWL_CONFLICT, "the run has moved on"));
}

struct pw_pg_run *pw_find_task(struct pw_transaction *transaction, int64_t instance)
{
    struct pw_pg_run *run = pw_find_run(transaction, instance);
    return run != NULL && run->has_task ? run : NULL;
}

/* ---- Tasks --------------------------------------------------------------------------------------------------- */

static pawl_status decide_fence(struct pw_transaction *transaction, struct pw_op_fence *op)
{
    struct pawl_error *error = &transaction->unit->error;
    const struct pw_pg_run *run = pw_find_task(transaction, op->at.instance);
    if (run == NULL || run->run != op->at.run || run->task.epoch != op->at.epoch)
        return op->is_foreign ? pw_pg_refuse(transaction,
                                             pw_error(error, PAWL_BUSY, "another run that this concerns has moved on"))
                              : pw_pg_refuse_moved(transaction);
    op->pause_requested = run->task.pause_requested;
    op->demand = run->task.demand;
    op->event_seq = run->task.event_seq;
    if (op->unless_pause && run->task.pause_requested)
        return pw_pg_refuse(transaction, pw_error(error, PAWL_STOPPED, "a pause is requested"));
    if (op->unless_new_events && run->task.event_seq > op->event_seq_seen)
        return pw_pg_refuse(transaction, pw_error(error, PAWL_BUSY, "an event came that the turn has not seen"));
    return PAWL_OK;
}

static int64_t due_of_park(const struct pw_transaction *transaction, const struct pw_op_park *op,
                           const struct pw_task *task, bool goes_on)
{
    if (op->due_at_ms == PW_NOW || goes_on || (op->event_seq_seen >= 0 && task->event_seq > op->event_seq_seen))
        return transaction->now_ms;
    return op->due_at_ms != 0 ? op->due_at_ms : task->due_at_ms;
}

static pawl_status decide_park(struct pw_transaction *transaction, struct pw_op_park *op)
{
    struct pw_pg_run *run = pw_find_task(transaction, op->instance);
    if (run == NULL)
        return pw_pg_refuse_moved(transaction);
    if (!PW_SAVE(transaction, run))
        return pw_no_memory(transaction);
    struct pw_task *task = &run->task;
    bool goes_on = pw_park_goes_on(op, task->pause_requested, task->demand);
    op->due_at_ms_set = due_of_park(transaction, op, task, goes_on);
    op->status_set = task->pause_requested ? PW_TASK_PAUSED : goes_on ? PW_TASK_ACTIVE : op->status;
    task->status = op->status_set;
    task->kind = goes_on ? PW_TASK_RESUME : op->kind;
    task->due_at_ms = op->due_at_ms_set;
    task->processing = false;
    task->epoch++;
    task->owner = task->locked_until_ms = 0;
    task->pause_requested = false;
    task->updated_at_ms = transaction->now_ms;
    run->is_changed = true;
    return PAWL_OK;
}

static pawl_status decide_pause(struct pw_transaction *transaction, const struct pw_op_pause *op)
{
    struct pw_pg_run *run = pw_find_task(transaction, op->instance);
    if (run == NULL)
        return pw_pg_refuse_moved(transaction);
    if (!PW_SAVE(transaction, run))
        return pw_no_memory(transaction);
    run->task.pause_requested = op->requested;
    run->task.updated_at_ms = transaction->now_ms;
    run->is_changed = true;
    return PAWL_OK;
}

static bool copy_claim(struct pw_arena *arena, const struct pw_pg_run *run, struct pw_claim *claim)
{
    claim->fence = (struct pw_fence){ run->key, run->run, run->task.epoch + 1 };
    claim->kind = run->task.kind;
    claim->demand = run->task.demand;
    claim->event_seq = run->task.event_seq;
    claim->taken_over = run->task.processing;
    claim->is_first = run->task.started_at_ms == 0;
    claim->has_instance = claim->is_first; /* later turns have more to read anyhow, and params can be large */
    claim->created_at_ms = run->created_at_ms;
    claim->link = run->link;
    struct pw_text none = { NULL, 0 };
    return pw_arena_text(arena, run->workflow, &claim->workflow) && pw_arena_text(arena, run->id, &claim->id) &&
           pw_arena_text(arena, claim->is_first ? run->params : none, &claim->params);
}

static pawl_status decide_hold(struct pw_transaction *transaction, struct pw_op_hold *op)
{
    struct pw_pg_run *run = pw_find_task(transaction, op->instance);
    if (run == NULL || run->id.data == NULL)
        return pw_pg_refuse_moved(transaction);
    if (!copy_claim(&transaction->unit->arena, run, &op->claim) || !PW_SAVE(transaction, run))
        return pw_no_memory(transaction);
    struct pw_task *task = &run->task;
    task->status = PW_TASK_ACTIVE;
    if (task->kind == PW_TASK_REPAIR)
        task->kind = PW_TASK_RESUME;
    task->processing = true;
    task->epoch++;
    task->owner = op->owner;
    task->locked_until_ms = transaction->now_ms + op->lease_ms;
    task->pause_requested = false;
    if (task->started_at_ms == 0)
        task->started_at_ms = transaction->now_ms;
    task->updated_at_ms = transaction->now_ms;
    run->is_changed = true;
    return PAWL_OK;
}

/* ---- Beginnings and ends of runs ------------------------------------------------------------------------------ */

/* A task that is claimed at its birth has epoch 1 and has started; others have epoch 0. */
static void begin_task(const struct pw_transaction *transaction, struct pw_pg_run *run, int64_t number,
                       int64_t hold_owner, int64_t hold_lease_ms)
{
    bool held = hold_owner != 0;
    run->run = number;
    run->has_task = run->is_changed = true;
    run->task = (struct pw_task){ .epoch = held,
                                  .status = PW_TASK_ACTIVE,
                                  .kind = PW_TASK_RUN,
                                  .due_at_ms = transaction->now_ms,
                                  .processing = held,
                                  .owner = hold_owner,
                                  .locked_until_ms = held ? transaction->now_ms + hold_lease_ms : 0,
                                  .started_at_ms = held ? transaction->now_ms : 0,
                                  .updated_at_ms = transaction->now_ms };
}

static pawl_status insert_instance(struct pw_transaction *transaction, struct pw_op_create *op, struct pw_pg_name *name)
{
    int64_t key = ((const int64_t *)transaction->keys.rows)[transaction->keys_used++];
    struct pw_pg_run *run = pw_want_run(transaction, key);
    if (run == NULL || !PW_SAVE(transaction, run) || !PW_SAVE(transaction, name))
        return pw_no_memory(transaction);
    name->key = key;
    run->is_known = true;
    run->instance_run = 1;
    run->workflow = op->workflow;
    run->id = op->id;
    run->params = op->params;
    run->link = op->link;
    run->created_at_ms = run->updated_at_ms = transaction->now_ms;
    run->change = PW_PG_NEW;
    begin_task(transaction, run, 1, op->hold_owner, op->hold_lease_ms);
    op->fence = (struct pw_fence){ key, 1, run->task.epoch };
    op->created_at_ms = transaction->now_ms;
    return PAWL_OK;
}

static pawl_status decide_create(struct pw_transaction *transaction, struct pw_op_create *op)
{
    struct pw_pg_name *name = pw_want_name(transaction, op->workflow, op->id);
    if (name == NULL)
        return pw_no_memory(transaction);
    op->created = name->key == 0;
    if (op->created && transaction->keys_used < transaction->keys.count)
        return insert_instance(transaction, op, name);
    if (op->created)
        return pw_error(transaction->error, PAWL_STORE_CORRUPT, "the database hands out no keys for instances");
    if (op->skip_existing)
        return PAWL_OK;
    return pw_pg_refuse(transaction, pw_error(&transaction->unit->error, PAWL_INSTANCE_ID_ALREADY_EXISTS,
                                              "workflow %.*s has an instance %.*s already", (int)op->workflow.size,
                                              op->workflow.data, (int)op->id.size, op->id.data));
}

/* What is written of an instance row: a new one is still to be inserted, whatever else happens to it. */
static void change_instance(struct pw_transaction *transaction, struct pw_pg_run *run, enum pw_outcome outcome)
{
    if (run->change == PW_PG_SAME)
        run->change = PW_PG_CHANGED;
    run->outcome = outcome;
    run->output = run->error_name = run->error_message = (struct pw_text){ NULL, 0 };
    run->updated_at_ms = transaction->now_ms;
    run->started_at_ms = run->completed_at_ms = 0;
}

/* They are copied when all else of the old run is written. */
static bool keep_steps(struct pw_transaction *transaction, struct pw_op_restart *op)
{
    struct pw_op_restart **kept = op->keep_before_seq > 0 ? pw_rows_add(&transaction->kept) : NULL;
    if (kept != NULL)
        *kept = op;
    return kept != NULL || op->keep_before_seq <= 0;
}

static pawl_status decide_restart(struct pw_transaction *transaction, struct pw_op_restart *op)
{
    struct pw_pg_run *run = pw_find_run(transaction, op->instance);
    if (run == NULL || !run->is_known || run->instance_run != op->run)
        return pw_pg_refuse_moved(transaction);
    if (!PW_SAVE(transaction, run) || !keep_steps(transaction, op))
        return pw_no_memory(transaction);
    run->instance_run++;
    change_instance(transaction, run, PW_OUTCOME_OPEN);
    begin_task(transaction, run, run->instance_run, op->hold_owner, op->hold_lease_ms);
    return PAWL_OK;
}

void pw_end_run(struct pw_transaction *transaction, struct pw_pg_run *run, enum pw_outcome outcome)
{
    run->instance_run = run->run;
    change_instance(transaction, run, outcome);
    run->started_at_ms = run->task.started_at_ms;
    run->completed_at_ms = transaction->now_ms;
    run->has_task = false;
    run->is_changed = true;
}

static pawl_status decide_finish(struct pw_transaction *transaction, struct pw_op_finish *op)
{
    struct pw_pg_run *run = pw_find_task(transaction, op->instance);
    if (run == NULL)
        return pw_pg_refuse_moved(transaction);
    if (!PW_SAVE(transaction, run))
        return pw_no_memory(transaction);
    op->started_at_ms = run->task.started_at_ms;
    op->completed_at_ms = transaction->now_ms;
    pw_end_run(transaction, run, op->outcome);
    run->output = op->output;
    run->error_name = op->error_name;
    run->error_message = op->error_message;
    return PAWL_OK;
}

/* ---- History ------------------------------------------------------------------------------------------------- */

/* Steps that a new run begins with are copied before either run has another one. */
static pawl_status settle_kept(struct pw_transaction *transaction, const struct pw_op_step *op)
{
    struct pw_op_restart **kept = transaction->kept.rows;
    bool is_of_it = false;
    for (size_t i = 0; i < transaction->kept.count && !is_of_it; i++)
        is_of_it = kept[i]->instance == op->instance;
    if (!is_of_it)
        return PAWL_OK;
    transaction->has_acted = true;
    return pw_write(transaction);
}

static pawl_status decide_step(struct pw_transaction *transaction, const struct pw_op_step *op)
{
    pawl_status status = settle_kept(transaction, op);
    if (status != PAWL_OK)
        return status;
    struct pw_pg_step *step = pw_want_step(transaction, op->instance, op->run, op->row.seq);
    if (step == NULL)
        return pw_no_memory(transaction);
    bool is_there = step->exists || step->insert != NULL;
    if (!op->is_new && !is_there)
        return pw_pg_refuse_moved(transaction);
    if (op->is_new && is_there)
        return pw_error(transaction->error, PAWL_STORE_UNAVAILABLE, "%s: the run has a step of this number already",
                        transaction->postgres->url.label);
    if (!PW_SAVE(transaction, step))
        return pw_no_memory(transaction);
    if (op->is_new)
        step->insert = op;
    else
        step->update = op;
    return PAWL_OK;
}

static pawl_status decide_consume(struct pw_transaction *transaction, const struct pw_op_consume *op)
{
    struct pw_pg_event *event = pw_want_event(transaction, op->instance, op->run, op->seq);
    if (event == NULL)
        return pw_no_memory(transaction);
    if (!event->exists && event->insert == NULL)
        return pw_pg_refuse_moved(transaction);
    if (!PW_SAVE(transaction, event))
        return pw_no_memory(transaction);
    event->consume = op;
    return PAWL_OK;
}

static pawl_status decide_log(struct pw_transaction *transaction, const struct pw_op_log *op)
{
    struct pw_pg_tail *tail = pw_want_tail(transaction, op->instance, op->run);
    struct pw_pg_log *log = tail != NULL && PW_SAVE(transaction, tail) ? pw_rows_add(&transaction->logs) : NULL;
    if (log == NULL)
        return pw_no_memory(transaction);
    *log = (struct pw_pg_log){ op, ++tail->seq };
    return PAWL_OK;
}

/* ---- Hooks ----------------------------------------------------------------------------------------------------- */

static pawl_status decide_hook(struct pw_transaction *transaction, const struct pw_op_hook *op)
{
    size_t count = pw_hook_row_count(op);
    for (size_t position = 0; position < count; position++) {
        int64_t instance = pw_hook_instance(op, position);
        const struct pw_pg_run *run = pw_find_run(transaction, instance);
        if (run == NULL)
            continue;
        struct pw_text id = pw_hook_row_id(op, position, &transaction->arena);
        struct pw_pg_hook *hook = id.data != NULL ? pw_rows_add(&transaction->hooks) : NULL;
        if (hook == NULL)
            return pw_no_memory(transaction);
        *hook = (struct pw_pg_hook){ op, id, instance, run->run };
    }
    return PAWL_OK;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* What the database decides: everything before it goes first. */
static pawl_status send_direct(struct pw_transaction *transaction, struct pw_op *op)
{
    pawl_status status = pw_write(transaction);
    transaction->has_acted = true;
    transaction->answers_due++;
    if (status != PAWL_OK)
        return status;
    switch (op->kind) {
    case PW_OP_CLAIM:
        return pw_send_claim(transaction, &op->as.claim);
    case PW_OP_REAP:
        return pw_send_reap(transaction, &op->as.reap);
    case PW_OP_HOOK_CLAIM:
        return pw_send_hook_claim(transaction, &op->as.hook_claim);
    case PW_OP_HOOK_SETTLE:
        return pw_send_hook_settle(transaction, &op->as.hook_settle);
    case PW_OP_HOOK_RESEND:
        return pw_send_hook_resend(transaction, &op->as.hook_resend);
    default:
        return PAWL_OK;
    }
}

static pawl_status run_users(struct pw_transaction *transaction, struct pw_op *op)
{
    pawl_status status = pw_write(transaction);
    if (status == PAWL_OK)
        status = pw_settle(transaction);
    if (status != PAWL_OK)
        return status;
    return op->kind == PW_OP_SQL ? pw_run_sql(transaction, &op->as.sql) : pw_run_mutation(transaction, &op->as.mutate);
}

static pawl_status decide_in_memory(struct pw_transaction *transaction, struct pw_op *op)
{
    pawl_status status = transaction->is_behind ? pw_settle(transaction) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    switch (op->kind) {
    case PW_OP_FENCE:
        return decide_fence(transaction, &op->as.fence);
    case PW_OP_CREATE:
        return decide_create(transaction, &op->as.create);
    case PW_OP_RESTART:
        return decide_restart(transaction, &op->as.restart);
    case PW_OP_STEP:
        return decide_step(transaction, &op->as.step);
    case PW_OP_EVENT:
        return pw_decide_event(transaction, &op->as.event);
    case PW_OP_CONSUME:
        return decide_consume(transaction, &op->as.consume);
    case PW_OP_LOG:
        return decide_log(transaction, &op->as.log);
    case PW_OP_PARK:
        return decide_park(transaction, &op->as.park);
    case PW_OP_HOLD:
        return decide_hold(transaction, &op->as.hold);
    case PW_OP_PAUSE:
        return decide_pause(transaction, &op->as.pause);
    case PW_OP_DEMAND:
        return pw_decide_demand(transaction, &op->as.demand);
    case PW_OP_REACH:
        return pw_decide_reach(transaction, &op->as.reach);
    case PW_OP_FINISH:
        return decide_finish(transaction, &op->as.finish);
    case PW_OP_END:
        return pw_decide_end(transaction, &op->as.end);
    case PW_OP_RENEW:
        return pw_decide_renew(transaction, &op->as.renew);
    case PW_OP_HOOK:
        return decide_hook(transaction, &op->as.hook);
    default:
        return pw_error(transaction->error, PAWL_INVALID, "a unit of work holds an op of unknown kind %d",
                        (int)op->kind);
    }
}

pawl_status pw_decide(struct pw_transaction *transaction, struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_SQL:
    case PW_OP_MUTATE:
        return run_users(transaction, op);
    case PW_OP_CLAIM:
    case PW_OP_REAP:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        return send_direct(transaction, op);
    default:
        return decide_in_memory(transaction, op);
    }
}
