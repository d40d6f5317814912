/* rules_claim.c - gives a task to a holder (hold, claim, an offer that is accepted), and ends leases (R2, R5, R8). */
#include <stdlib.h>

#include "core/rules.h"

/* ---- Taking ---------------------------------------------------------------------------------------------------------- */

/* Fills in what the new holder is given, in the unit's arena, which outlives the batch. */
static bool copy_claim(struct pw_arena *arena, const struct pw_core_run *run, struct pw_claim *claim)
{
    claim->fence = (struct pw_fence){ run->key, run->run, run->task.epoch + 1 };
    claim->kind = run->task.kind;
    claim->demand = run->task.demand;
    claim->event_seq = run->task.event_seq;
    claim->taken_over = run->task.processing;
    claim->is_first = run->task.started_at_ms == 0;
    /* Only a first claim carries params: later turns read more anyhow, and params can be large. */
    claim->has_instance = claim->is_first && run->has_params;
    claim->created_at_ms = run->created_at_ms;
    claim->link = run->link;
    struct pw_text none = { NULL, 0 };
    if (run->texts == arena) { /* they are in the right arena already */
        claim->workflow = run->workflow;
        claim->id = run->id;
        claim->params = claim->is_first ? run->params : none;
        return true;
    }
    return pw_arena_text(arena, run->workflow, &claim->workflow) && pw_arena_text(arena, run->id, &claim->id) &&
           pw_arena_text(arena, claim->is_first ? run->params : none, &claim->params);
}

/* Makes the task active and held from now on. */
static pawl_status take(struct pw_core *core, struct pw_core_run *run, int64_t owner, int64_t lease_ms,
                        struct pw_claim *claim)
{
    if (!copy_claim(&core->unit->arena, run, claim) || !PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    struct pw_task *task = &run->task;
    task->status = PW_TASK_ACTIVE;
    task->processing = true;
    task->epoch++;
    task->owner = owner;
    task->locked_until_ms = core->now_ms + lease_ms;
    task->updated_at_ms = claim->updated_at_ms = pw_run_time(core, run);
    if (task->started_at_ms == 0)
        task->started_at_ms = task->updated_at_ms;
    return PAWL_OK;
}

pawl_status pw_rule_take(struct pw_core *core, struct pw_core_run *run, int64_t owner, int64_t lease_ms,
                         struct pw_claim *claim)
{
    pawl_status status = take(core, run, owner, lease_ms, claim);
    if (status != PAWL_OK)
        return status;
    if (run->task.kind == PW_TASK_REPAIR)
        run->task.kind = PW_TASK_RESUME;
    run->task.pause_requested = false;
    pw_rule_changed(run);
    return pw_rule_tell_due(core, PW_EFFECT_HELD, run, PW_REASON_RESUME, 0);
}

static bool is_offered(const struct pw_offer *offer, struct pw_text workflow)
{
    bool is_among = offer->workflow_count == 0;
    for (size_t i = 0; i < offer->workflow_count && !is_among; i++)
        is_among = pw_text_equal(offer->workflows[i], workflow);
    return is_among;
}

/* The claim needs the run's workflow and id, so they are loaded first. */
static pawl_status take_if_offered(struct pw_core *core, struct pw_core_run *run, const struct pw_offer *offer,
                                   bool *out_held, struct pw_claim *out_claim)
{
    pawl_status status = PAWL_OK;
    if (core->frame->load_claimable != NULL)
        status = core->frame->load_claimable(core, run, false);
    *out_held = status == PAWL_OK && run->id.data != NULL && is_offered(offer, run->workflow);
    return *out_held ? pw_rule_take(core, run, offer->owner, offer->lease_ms, out_claim) : status;
}

/* Raises the epoch in both cases, so a former holder can write nothing more (R2). */
pawl_status pw_rule_go_on(struct pw_core *core, struct pw_core_run *run, enum pw_task_kind kind,
                          const struct pw_offer *offer, enum pw_hook_reason reason, bool *out_held,
                          struct pw_claim *out_claim)
{
    if (offer != NULL && offer->owner != 0) {
        pawl_status status = take_if_offered(core, run, offer, out_held, out_claim);
        if (status != PAWL_OK || *out_held)
            return status;
    }
    struct pw_task *task = &run->task;
    task->status = PW_TASK_ACTIVE;
    task->kind = kind;
    task->due_at_ms = core->now_ms;
    task->processing = false;
    task->epoch++;
    task->owner = task->locked_until_ms = 0;
    task->updated_at_ms = pw_run_time(core, run);
    pw_rule_changed(run);
    return pw_rule_tell_due(core, PW_EFFECT_WOKEN, run, reason, 0);
}

pawl_status pw_rule_hold(struct pw_core *core, struct pw_op_hold *op)
{
    struct pw_core_run *run = pw_find_task(core, op->instance);
    if (run == NULL || run->id.data == NULL)
        return pw_rule_moved(core);
    return pw_rule_take(core, run, op->owner, op->lease_ms, &op->claim);
}

/* ---- Claiming -------------------------------------------------------------------------------------------------------- */

static int compare_dues(const void *left, const void *right)
{
    const struct pw_core_due *first = left, *second = right;
    if (first->since_ms != second->since_ms)
        return first->since_ms < second->since_ms ? -1 : 1;
    return (first->key > second->key) - (first->key < second->key);
}

void pw_core_sort_dues(struct pw_rows *dues)
{
    if (dues->count > 1)
        qsort(dues->rows, dues->count, dues->row_size, compare_dues);
}

/* Decided again for each task that the store has found (R8): it is due, or its lease has expired and nobody asked
 * for a pause. */
static bool is_claimable(const struct pw_core *core, const struct pw_core_run *run)
{
    const struct pw_task *task = &run->task;
    if (task->processing)
        return task->locked_until_ms <= core->now_ms && !task->pause_requested;
    return task->status != PW_TASK_PAUSED && task->due_at_ms <= core->now_ms;
}

static bool is_full(const struct pw_op_claim *op, size_t max, const struct pw_rows *claims)
{
    return claims->count >= max || (op->bytes_max != 0 && op->bytes >= op->bytes_max);
}

static pawl_status claim_one(struct pw_core *core, struct pw_op_claim *op, int64_t instance, struct pw_rows *claims)
{
    struct pw_core_run *run = pw_want_run(core, instance);
    if (run == NULL)
        return pw_rule_no_memory(core);
    pawl_status status = PAWL_OK;
    if (core->frame->load_claimable != NULL)
        status = core->frame->load_claimable(core, run, op->bytes_max != 0);
    if (status != PAWL_OK || !run->has_task || !is_claimable(core, run))
        return status;
    struct pw_claim claim = { .taken_over = false }, *place;
    status = take(core, run, op->owner, op->lease_ms, &claim);
    if (status != PAWL_OK)
        return status;
    pw_rule_changed(run);
    if (run->id.data == NULL)
        return PAWL_OK; /* a task without an instance: it stays leased, so that it is not found again at once */
    if ((place = pw_rows_add(claims)) == NULL)
        return pw_rule_no_memory(core);
    *place = claim;
    op->bytes += op->bytes_max != 0 ? run->params_bytes : 0;
    return pw_rule_tell(core, PW_EFFECT_HELD, run->key, run->run);
}

pawl_status pw_core_claim(struct pw_core *core, struct pw_op_claim *op, struct pw_rows *dues, size_t max,
                          struct pw_rows *claims)
{
    const struct pw_core_due *due = dues->rows;
    pawl_status status = PAWL_OK;
    if (!pw_owner_is_outside(op->owner))
        core->leaseholder = op->owner;
    pw_core_sort_dues(dues);
    for (size_t i = 0; i < dues->count && !is_full(op, max, claims) && status == PAWL_OK; i++)
        if (!pw_share_excepts(&op->share, due[i].key))
            status = claim_one(core, op, due[i].key, claims);
    return status;
}

/* ---- Leases that have ended ---------------------------------------------------------------------------------------------- */

pawl_status pw_rule_rest(struct pw_core *core, struct pw_core_run *run)
{
    struct pw_task *task = &run->task;
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    task->status = PW_TASK_PAUSED;
    task->processing = task->pause_requested = false;
    task->epoch++;
    task->owner = task->locked_until_ms = 0;
    task->updated_at_ms = pw_run_time(core, run);
    pw_rule_changed(run);
    return pw_rule_tell(core, PW_EFFECT_PARKED, run->key, run->run);
}

pawl_status pw_core_pause_expired(struct pw_core *core, struct pw_core_run *run)
{
    const struct pw_task *task = &run->task;
    if (!run->has_task || !task->processing || task->locked_until_ms > core->now_ms || !task->pause_requested)
        return PAWL_OK; /* R8 */
    return pw_rule_rest(core, run);
}

pawl_status pw_core_reap(struct pw_core *core, struct pw_op_reap *op, struct pw_core_run *run)
{
    if (!run->has_task || !run->task.processing || run->task.locked_until_ms <= core->now_ms)
        return PAWL_OK; /* R8 */
    if (!PW_SAVE(core, run))
        return pw_rule_no_memory(core);
    run->task.locked_until_ms = core->now_ms;
    op->reaped++;
    pw_rule_changed(run);
    return PAWL_OK;
}
