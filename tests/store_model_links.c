/* store_model_links.c - what one run is told by another, and by whoever wants it to end, in the model; see store_model.h. */
#include "store_model_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- Events and answers ------------------------------------------------------------------------------------------ */

static bool has_event(const struct model *model, const struct pw_instance *instance, struct pw_text id)
{
    for (size_t i = 0; id.data != NULL && i < model->rows.event_count; i++) {
        const struct model_event *event = &model->rows.events[i];
        if (event->instance == instance->key && event->run == instance->run && event->row.id.data != NULL &&
            pw_text_equal(event->row.id, id))
            return true;
    }
    return false;
}

static int64_t count_unread(const struct model *model, const struct pw_instance *instance)
{
    int64_t unread = 0;
    for (size_t i = 0; i < model->rows.event_count; i++) {
        const struct model_event *event = &model->rows.events[i];
        unread += event->instance == instance->key && event->run == instance->run && event->row.delivered_at_ms == 0;
    }
    return unread;
}

static void record(struct model *model, struct pw_instance *instance, struct pw_op_event *op)
{
    op->recorded = true;
    op->seq = ++instance->task.event_seq;
    instance->task.updated_at_ms = store_model_time(model, instance->task.updated_at_ms);
    struct model_event *event = ADD_ROW(model, event);
    *event = (struct model_event){ .instance = instance->key, .run = instance->run };
    event->row = (struct pw_event_row){ .seq = op->seq,
                                        .id = store_model_keep(model, op->id),
                                        .type = store_model_keep(model, op->type),
                                        .payload = store_model_keep(model, op->payload),
                                        .is_failure = op->is_failure,
                                        .created_at_ms = instance->task.updated_at_ms };
    struct pw_effect *effect = store_model_tell(model, PW_EFFECT_EVENT, instance->key, instance->run);
    effect->as.event.seq = op->seq;
    effect->as.event.is_answer = op->is_answer;
}

static void become_due(struct model *model, struct pw_task *task, enum pw_task_kind kind)
{
    task->kind = kind;
    task->due_at_ms = model->now_ms;
    store_model_let_go(model, task, PW_TASK_ACTIVE);
}

/* Whoever offers to takes it. */
static void go_on(struct model *model, struct pw_instance *instance, struct pw_op_event *op)
{
    const struct pw_offer *offer = &op->offer;
    bool is_known =
        offer->workflow_count == 0 || store_model_is_named(offer->workflows, offer->workflow_count, instance->workflow);
    bool asked = instance->task.pause_requested;
    model->unit->last_effect->as.event.has_woken = true;
    op->is_held = offer->owner != 0 && is_known;
    if (op->is_held) {
        op->claim = store_model_take(model, instance, offer->owner, offer->lease_ms);
        instance->task.pause_requested = false;
        store_model_tell_due(model, PW_EFFECT_HELD, instance, PW_REASON_EVENT, 0);
    } else {
        become_due(model, &instance->task, PW_TASK_WAKE);
        instance->task.pause_requested = asked; /* which an answer does not lift */
        store_model_tell_due(model, PW_EFFECT_WOKEN, instance, PW_REASON_EVENT, 0);
    }
}

void store_model_answer(struct model *model, struct pw_op_event *op, int64_t run)
{
    char id[200];
    struct pw_instance *instance = store_model_task(model, op->instance);
    op->recorded = op->woke = op->is_held = false;
    if (instance == NULL)
        return;
    (void)snprintf(id, sizeof id, run == 1 ? "%.*s" : "%.*s#%lld", (int)op->type.size, op->type.data, (long long)run);
    op->id = store_model_keep(model, pw_text_of(id));
    op->is_answer = true;
    record(model, instance, op);
    struct pw_task *task = &instance->task;
    op->woke = task->status == PW_TASK_WAITING && !task->processing;
    if (op->woke)
        go_on(model, instance, op);
    op->told = (struct pw_fence){ instance->key, instance->run, task->epoch };
    op->task = *task;
}

static bool is_awaited(const struct model *model, const struct pw_instance *instance, struct pw_text type)
{
    if (instance->task.status != PW_TASK_WAITING || instance->task.processing)
        return false;
    for (size_t i = 0; i < model->rows.step_count; i++) {
        const struct model_step *step = &model->rows.steps[i];
        if (step->instance == instance->key && step->run == instance->run && step->row.kind == PAWL_STEP_EVENT &&
            step->row.status == PAWL_STEP_WAITING && step->row.wake_at_ms > model->now_ms &&
            pw_text_equal(step->row.wait_event_type, type))
            return true;
    }
    return false;
}

/* To an instance that the event names. */
static enum pw_refusal send(struct model *model, struct pw_op_event *op)
{
    struct pw_instance *instance = NULL;
    for (size_t i = 0; i < model->rows.instance_count; i++)
        if (pw_text_equal(model->rows.instances[i].workflow, op->workflow) &&
            pw_text_equal(model->rows.instances[i].id, op->to))
            instance = &model->rows.instances[i];
    op->recorded = op->woke = op->is_held = false;
    if (instance == NULL)
        return PW_REFUSED_NO_INSTANCE;
    if (has_event(model, instance, op->id))
        return PW_REFUSED_EVENT_EXISTS;
    if (!instance->has_task)
        return PW_REFUSED_ENDED;
    if (op->unread_max != 0 && count_unread(model, instance) >= op->unread_max)
        return PW_REFUSED_TOO_MANY_EVENTS;
    op->woke = is_awaited(model, instance, op->type);
    record(model, instance, op);
    if (op->woke)
        go_on(model, instance, op);
    op->told = (struct pw_fence){ instance->key, instance->run, instance->task.epoch };
    op->task = instance->task;
    return PW_REFUSED_NOT;
}

enum pw_refusal store_model_add_event(struct model *model, struct pw_op_event *op)
{
    if (op->to.data != NULL)
        return send(model, op);
    struct pw_instance *instance = store_model_task(model, op->instance);
    if (instance == NULL || instance->run != op->run)
        return PW_REFUSED_MOVED;
    if (has_event(model, instance, op->id))
        return PW_REFUSED_EVENT_EXISTS;
    if (op->unread_max != 0 && count_unread(model, instance) >= op->unread_max)
        return PW_REFUSED_TOO_MANY_EVENTS;
    record(model, instance, op);
    op->told = (struct pw_fence){ instance->key, instance->run, instance->task.epoch };
    op->task = instance->task;
    return PW_REFUSED_NOT;
}

/* ---- Demands ------------------------------------------------------------------------------------------------------- */

static void raise_demand(struct model *model, struct pw_task *task, enum pw_demand demand)
{
    if (demand > task->demand)
        task->demand = demand;
    task->event_seq++;
    task->pause_requested = task->pause_requested && demand == PW_DEMAND_NONE;
    task->updated_at_ms = store_model_time(model, task->updated_at_ms);
}

enum pw_refusal store_model_demand(struct model *model, const struct pw_op_demand *op)
{
    struct pw_instance *instance = store_model_task(model, op->instance);
    if (instance == NULL)
        return PW_REFUSED_MOVED;
    raise_demand(model, &instance->task, op->demand);
    (void)store_model_tell(model, PW_EFFECT_CHANGED, instance->key, instance->run);
    return PW_REFUSED_NOT;
}

static void end(struct model *model, struct pw_instance *instance)
{
    const struct pw_op_finish ended = { .outcome = PW_OUTCOME_TERMINATED, .is_job = true };
    store_model_end_run(model, instance, &ended, 0);
}

static void reach_child(struct model *model, struct pw_instance *instance, enum pw_demand demand)
{
    struct pw_task *task = &instance->task;
    bool is_held = task->processing && task->locked_until_ms > model->now_ms;
    raise_demand(model, task, demand);
    if (is_held) {
        (void)store_model_tell(model, PW_EFFECT_CHANGED, instance->key, instance->run);
        return;
    }
    become_due(model, task, PW_TASK_RESUME);
    store_model_tell_due(model, PW_EFFECT_WOKEN, instance, PW_REASON_RESUME, 0);
}

int64_t store_model_reach(struct model *model, int64_t parent, int64_t run, enum pw_demand demand)
{
    int64_t reached = 0;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        struct pw_instance *instance = &model->rows.instances[i];
        if (!instance->has_task || instance->link.parent != parent || instance->link.run != run)
            continue;
        bool is_job = instance->link.relation == PW_RELATION_JOB;
        bool is_child = instance->link.relation == PW_RELATION_ATTACHED && demand != PW_DEMAND_NONE;
        if (is_job)
            end(model, instance);
        else if (is_child)
            reach_child(model, instance, demand);
        reached += is_job || is_child;
    }
    return reached;
}

enum pw_refusal store_model_end(struct model *model, struct pw_op_end *op)
{
    op->instance = 0;
    for (size_t i = 0; i < model->rows.instance_count && op->instance == 0; i++) {
        struct pw_instance *instance = &model->rows.instances[i];
        if (!instance->has_task || !pw_text_equal(instance->id, op->id) ||
            !pw_text_equal(instance->workflow, op->workflow))
            continue;
        op->instance = instance->key;
        end(model, instance);
    }
    return PW_REFUSED_NOT;
}

/* ---- Restarts ------------------------------------------------------------------------------------------------------ */

void store_model_keep_steps(struct model *model, const struct pw_op_restart *op)
{
    size_t count = model->rows.step_count;
    for (size_t i = 0; i < count; i++) {
        const struct model_step step = model->rows.steps[i];
        bool is_finished = step.row.status != PAWL_STEP_WAITING;
        bool is_excepted = step.row.seq == op->keep_except_seq ||
                           (op->keep_except_dropped && step.row.status == PAWL_STEP_ERRORED &&
                            (step.row.state == PAWL_STATE_ABANDONED || step.row.state == PAWL_STATE_GIVEN_UP));
        if (step.instance == op->instance && step.run == op->run && is_finished && step.row.seq < op->keep_before_seq &&
            !is_excepted)
            *ADD_ROW(model, step) = (struct model_step){ step.instance, step.run + 1, step.row };
    }
}
