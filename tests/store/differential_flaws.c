/* differential_flaws.c - the flaws of differential.h.  The rules of core/ stay as they are: a flaw changes the op, or the rows, just
 * before the rule looks at them or just after. */
#include "differential.h"

#include <stdlib.h>

#include "memory/rows.h"

struct spoiling {
    struct memory_spoiler spoiler;
    enum flaw flaw;
    int64_t event_seq; /* of the run that is about to be restarted */
};

/* NULL: it has no task, or memory is out. */
static struct pw_core_run *open_run(struct pw_core *core, int64_t instance)
{
    struct pw_core_run *run = pw_find_task(core, instance);
    return run != NULL && PW_SAVE(core, run) ? run : NULL;
}

/* ---- Before the rule ------------------------------------------------------------------------------------------------------ */

static void forget_requests_of_expired(struct memory_transaction *transaction)
{
    struct memory_store *store = transaction->store;
    struct memory_instance *instance;
    for (size_t at = 0; (instance = memory_instance_next(store, &at)) != NULL;) {
        struct pw_task *task = &instance->row.task;
        struct pw_core_run *run = open_run(&transaction->core, instance->row.key);
        if (!task->processing || task->locked_until_ms > transaction->core.now_ms ||
            !memory_touch(store, task, sizeof *task))
            continue;
        task->pause_requested = false;
        if (run != NULL)
            run->task.pause_requested = false;
    }
}

static void spoil_claim(struct memory_transaction *transaction, enum flaw flaw, struct pw_op_claim *op)
{
    if (flaw == FLAW_CLAIM_OVERLOOKS_LEASED)
        op->leased_max = 0;
    else if (flaw == FLAW_CLAIM_OVERLOOKS_PAUSE)
        forget_requests_of_expired(transaction);
}

static void spoil_answer(struct pw_core *core, enum flaw flaw, const struct pw_op_event *op)
{
    struct pw_core_run *run = open_run(core, op->instance);
    if (run != NULL && flaw == FLAW_ANSWER_WAKES_THE_PAUSED && run->task.status == PW_TASK_PAUSED &&
        run->task.kind != PW_TASK_REPAIR)
        run->task.status = PW_TASK_WAITING;
}

static void spoil_reach(struct pw_core *core, enum flaw flaw, const struct pw_reach *op)
{
    struct pw_core_run **runs = core->runs.list.rows;
    for (size_t i = 0; i < core->runs.list.count; i++) {
        struct pw_core_run *child = runs[i];
        if (!child->has_task || child->link.parent != op->parent || !PW_SAVE(core, child))
            continue;
        if (flaw == FLAW_REACH_OVERLOOKS_RUN) {
            child->link.run = op->run;
        } else if (flaw == FLAW_REACH_LEAVES_JOBS && child->link.relation == PW_RELATION_JOB) {
            child->link.relation = PW_RELATION_DETACHED;
        } else if (flaw == FLAW_REACH_TAKES_THE_HELD && child->link.run == op->run) {
            child->task.locked_until_ms = core->now_ms;
            child->holder_lives = false;
        }
    }
}

static void spoil_finish(struct pw_core *core, enum flaw flaw, struct pw_op_finish *op)
{
    if (flaw == FLAW_END_OVERLOOKS_DEMAND)
        op->demand_seen = PW_DEMAND_TERMINATE;
    else if (flaw == FLAW_END_UNANSWERED)
        op->answer = NULL;
    if (op->answer != NULL)
        spoil_answer(core, flaw, op->answer);
    if (op->reach.parent != 0)
        spoil_reach(core, flaw, &op->reach);
}

/* As if nobody held the run. */
static void spoil_control(struct pw_core *core, const struct pw_op_control *op)
{
    const struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
    struct pw_core_run *run = name != NULL ? open_run(core, name->key) : NULL;
    if (run != NULL && run->task.processing)
        run->task.locked_until_ms = core->now_ms;
}

/* The first open instance of the id, whatever its workflow. */
static void spoil_end(struct memory_transaction *transaction, struct pw_op_end *op)
{
    struct memory_instance **first = pw_table_find(&transaction->store->ids, op->id);
    const struct memory_instance *instance = first != NULL ? *first : NULL;
    while (instance != NULL && !instance->row.has_task)
        instance = instance->same_id;
    if (instance == NULL)
        return;
    struct pw_core_name *name = pw_want_name(&transaction->core, instance->row.workflow, op->id);
    struct pw_core_run *run = pw_want_run(&transaction->core, instance->row.key);
    if (name == NULL || run == NULL)
        return;
    memory_load(transaction->store, run);
    name->key = run->key;
    op->workflow = instance->row.workflow;
}

static void spoil_settle(const struct memory_store *store, struct pw_op_hook_settle *op)
{
    struct memory_hook **hooks = store->hooks.rows;
    for (size_t i = 0; i < store->hooks.count; i++)
        if (hooks[i]->row.key == op->key)
            op->epoch = hooks[i]->row.epoch;
}

static void spoil_before(struct memory_transaction *transaction, struct pw_op *op, void *user)
{
    struct spoiling *spoiling = user;
    struct pw_core *core = &transaction->core;
    enum flaw flaw = spoiling->flaw;
    struct pw_core_run *run = NULL;
    if (op->kind == PW_OP_PARK && flaw == FLAW_PARK_OVERLOOKS_EVENTS)
        op->as.park.event_seq_seen = -1;
    else if (op->kind == PW_OP_FENCE && flaw == FLAW_FENCE_OVERLOOKS_RUN &&
             (run = open_run(core, op->as.fence.at.instance)) != NULL)
        op->as.fence.at.run = run->run;
    else if (op->kind == PW_OP_RENEW && flaw == FLAW_RENEW_FOR_ANYBODY &&
             (run = open_run(core, op->as.renew.leases[0].fence.instance)) != NULL)
        op->as.renew.owner = run->task.owner;
    else if (op->kind == PW_OP_CLAIM)
        spoil_claim(transaction, flaw, &op->as.claim);
    else if (op->kind == PW_OP_FINISH)
        spoil_finish(core, flaw, &op->as.finish);
    else if (op->kind == PW_OP_CONTROL && flaw == FLAW_CONTROL_OVERLOOKS_LEASE)
        spoil_control(core, &op->as.control);
    else if (op->kind == PW_OP_END && flaw == FLAW_END_OVERLOOKS_WORKFLOW)
        spoil_end(transaction, &op->as.end);
    else if (op->kind == PW_OP_HOOK_SETTLE && flaw == FLAW_SETTLE_OVERLOOKS_EPOCH)
        spoil_settle(transaction->store, &op->as.hook_settle);
    else if (op->kind == PW_OP_RESTART)
        spoiling->event_seq = (run = open_run(core, op->as.restart.instance)) != NULL ? run->task.event_seq : 0;
}

/* ---- After the rule --------------------------------------------------------------------------------------------------------- */

static void keep_waiting_steps(struct memory_store *store, const struct pw_op_restart *op)
{
    const struct memory_history *old = memory_history_of(store, op->instance, op->run);
    struct memory_history *next = memory_history_make(store, op->instance, op->run + 1);
    const struct pw_step_row *steps = old->steps.rows;
    for (size_t i = 0; next != NULL && i < old->steps.count; i++) {
        bool is_kept = steps[i].status == PAWL_STEP_WAITING && steps[i].seq < op->keep_before_seq;
        struct pw_step_row *copy = is_kept ? memory_insert(store, &next->steps, steps[i].seq) : NULL;
        if (copy != NULL)
            *copy = steps[i];
    }
}

static void spoil_earlier_run(struct pw_core *core, enum flaw flaw)
{
    struct pw_core_earlier *earlier = core->earlier.rows;
    if (core->earlier.count == 0)
        return;
    if (flaw == FLAW_RESTART_FORGETS_RUN)
        core->earlier.count--;
    else if (flaw == FLAW_RESTART_FORGETS_ERROR)
        earlier[core->earlier.count - 1].row.error_name = (struct pw_text){ NULL, 0 };
}

static void set_times_back(struct pw_core *core)
{
    struct pw_core_run **runs = core->runs.list.rows;
    for (size_t i = 0; i < core->runs.list.count; i++) {
        struct pw_task *task = &runs[i]->task;
        if (!runs[i]->is_changed || task->updated_at_ms <= core->now_ms)
            continue;
        task->updated_at_ms = core->now_ms;
        if (task->started_at_ms > core->now_ms)
            task->started_at_ms = core->now_ms;
    }
}

static void spoil_after(struct memory_transaction *transaction, struct pw_op *op, void *user)
{
    const struct spoiling *spoiling = user;
    struct pw_core *core = &transaction->core;
    struct pw_core_run *run = NULL;
    if (op->kind == PW_OP_DEMAND && spoiling->flaw == FLAW_DEMAND_IS_LOWERED &&
        (run = open_run(core, op->as.demand.instance)) != NULL)
        run->task.demand = op->as.demand.demand;
    else if (op->kind == PW_OP_RESTART && spoiling->flaw == FLAW_RESTART_KEEPS_EVENTS &&
             (run = open_run(core, op->as.restart.instance)) != NULL)
        run->task.event_seq = spoiling->event_seq;
    else if (op->kind == PW_OP_RESTART && spoiling->flaw == FLAW_RESTART_KEEPS_WAITING_STEPS)
        keep_waiting_steps(transaction->store, &op->as.restart);
    else if (op->kind == PW_OP_RESTART && core->unit->refusal == PW_REFUSED_NOT)
        spoil_earlier_run(core, spoiling->flaw);
    else if (spoiling->flaw == FLAW_TIME_GOES_BACK)
        set_times_back(core);
}

void flaw_plant(struct pw_store *memory, enum flaw flaw)
{
    static struct spoiling spoiling;
    spoiling = (struct spoiling){ .flaw = flaw };
    spoiling.spoiler = (struct memory_spoiler){ .before = spoil_before,
                                                .after = spoil_after,
                                                .user = &spoiling,
                                                .keeps_refused = flaw == FLAW_REFUSAL_LEAVES_TRACES,
                                                .claims_youngest_first = flaw == FLAW_CLAIM_YOUNGEST_FIRST };
    memory_of(memory)->spoiler = flaw != FLAW_NONE ? &spoiling.spoiler : NULL;
}
