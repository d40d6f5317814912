/* family.c - what runs are told from outside: events, and the answers of those that they made; demands; and the end, which
 * is theirs when it is their parent's.  Decided in memory, as the rest in decide.c. */
#include <stdlib.h>

#include "base/error.h"
#include "store/postgres/transaction.h"

/* ---- Events and answers ---------------------------------------------------------------------------------------- */

/* A run that waits, and is nobody's, goes on. */
static bool wake(const struct pw_transaction *transaction, struct pw_task *task)
{
    if (task->processing || task->status != PW_TASK_WAITING)
        return false;
    task->status = PW_TASK_ACTIVE;
    task->kind = PW_TASK_WAKE;
    task->due_at_ms = transaction->now_ms;
    task->epoch++;
    return true;
}

static pawl_status record_event(struct pw_transaction *transaction, struct pw_op_event *op, struct pw_pg_run *run,
                                struct pw_pg_event_id *id)
{
    struct pw_pg_event *event = pw_want_event(transaction, op->instance, run->run, op->seq);
    if (event == NULL || !PW_SAVE(transaction, event) || !PW_SAVE(transaction, run) ||
        (id != NULL && !PW_SAVE(transaction, id)))
        return pw_no_memory(transaction);
    event->insert = op;
    event->consume = NULL;
    if (id != NULL)
        id->taken = true;
    run->task.event_seq = op->seq;
    run->task.updated_at_ms = transaction->now_ms;
    run->is_changed = true;
    op->recorded = true;
    if (op->is_answer) {
        op->run_told = run->run;
        op->is_paused = run->task.status == PW_TASK_PAUSED || run->task.pause_requested;
        op->woke = wake(transaction, &run->task);
    }
    return PAWL_OK;
}

pawl_status pw_decide_event(struct pw_transaction *transaction, struct pw_op_event *op)
{
    struct pw_pg_run *run = pw_find_task(transaction, op->instance);
    struct pw_pg_event_id *id = NULL;
    op->recorded = op->woke = false;
    if (run == NULL || (!op->is_answer && run->run != op->run))
        return op->is_answer ? PAWL_OK : pw_pg_refuse_moved(transaction);
    op->seq = run->task.event_seq + 1;
    if (op->id.data != NULL) {
        id = pw_want_event_id(transaction, op->instance, run->run, op->id);
        if (id == NULL)
            return pw_no_memory(transaction);
        if (id->taken && !op->is_answer)
            return pw_pg_refuse(transaction, pw_error(&transaction->unit->error, PAWL_INSTANCE_ID_ALREADY_EXISTS,
                                                      "the run has an event of this id already"));
        if (id->taken)
            return PAWL_OK;
    }
    return record_event(transaction, op, run, id);
}

/* ---- Demands ----------------------------------------------------------------------------------------------------- */

/* A turn that has not heard of it does not park past the number. */
static void demand(const struct pw_transaction *transaction, struct pw_pg_run *run, enum pw_demand least)
{
    if (run->task.demand < least)
        run->task.demand = least;
    run->task.event_seq++;
    if (least != PW_DEMAND_NONE)
        run->task.pause_requested = false;
    run->task.updated_at_ms = transaction->now_ms;
    run->is_changed = true;
}

pawl_status pw_decide_demand(struct pw_transaction *transaction, const struct pw_op_demand *op)
{
    struct pw_pg_run *run = pw_find_task(transaction, op->instance);
    if (run == NULL)
        return pw_pg_refuse_moved(transaction);
    if (!PW_SAVE(transaction, run))
        return pw_no_memory(transaction);
    demand(transaction, run, op->demand);
    return PAWL_OK;
}

/* Who holds it hears of the demand with the next renewal; otherwise somebody is to take it up, paused as it may be: true. */
static bool demand_now(const struct pw_transaction *transaction, struct pw_pg_run *run, enum pw_demand least)
{
    struct pw_task *task = &run->task;
    demand(transaction, run, least);
    if (task->processing && task->locked_until_ms > transaction->now_ms)
        return false;
    task->status = PW_TASK_ACTIVE;
    task->kind = PW_TASK_RESUME;
    task->due_at_ms = transaction->now_ms;
    task->processing = false;
    task->epoch++;
    task->owner = task->locked_until_ms = 0;
    return true;
}

/* ---- Reaching and ending ------------------------------------------------------------------------------------------- */

static bool is_reached(const struct pw_pg_run *run, const struct pw_op_reach *op)
{
    return run->has_task && run->link.parent == op->parent && run->link.run == op->run &&
           run->link.relation >= pw_least_reached(op) && run->link.relation != PW_RELATION_DETACHED;
}

/* False: memory is out. */
static bool reach(struct pw_transaction *transaction, struct pw_pg_run *run, enum pw_demand least,
                  struct pw_rows *woken)
{
    if (!PW_SAVE(transaction, run))
        return false;
    if (run->link.relation == PW_RELATION_JOB) {
        pw_end_run(transaction, run, PW_OUTCOME_TERMINATED);
        return true;
    }
    if (!demand_now(transaction, run, least))
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

/* Of all children and jobs that are open by now there is a record: they were found, created, or begin again here. */
pawl_status pw_decide_reach(struct pw_transaction *transaction, struct pw_op_reach *op)
{
    struct pw_pg_run **runs = transaction->runs.list.rows;
    struct pw_rows woken = { .arena = &transaction->unit->arena, .row_size = sizeof(int64_t) };
    op->reached = 0;
    for (size_t i = 0; i < transaction->runs.list.count; i++) {
        if (!is_reached(runs[i], op))
            continue;
        if (!reach(transaction, runs[i], op->demand, &woken))
            return pw_no_memory(transaction);
        op->reached++;
    }
    if (woken.count > 1)
        qsort(woken.rows, woken.count, sizeof(int64_t), compare_keys);
    op->woken = woken.rows;
    op->woken_count = woken.count;
    return PAWL_OK;
}

pawl_status pw_decide_end(struct pw_transaction *transaction, struct pw_op_end *op)
{
    const struct pw_pg_name *name = pw_want_name(transaction, op->workflow, op->id);
    if (name == NULL)
        return pw_no_memory(transaction);
    struct pw_pg_run *run = name->key != 0 ? pw_find_task(transaction, name->key) : NULL;
    op->instance = run != NULL ? run->key : 0;
    if (run == NULL)
        return PAWL_OK;
    if (!PW_SAVE(transaction, run))
        return pw_no_memory(transaction);
    pw_end_run(transaction, run, PW_OUTCOME_TERMINATED);
    return PAWL_OK;
}
