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
static bool go_on(struct model *model, struct pw_instance *instance, enum pw_task_kind kind, enum pw_hook_reason reason,
                  const struct pw_offer *offer, struct pw_claim *out_claim)
{
    bool is_known =
        offer->workflow_count == 0 || store_model_is_named(offer->workflows, offer->workflow_count, instance->workflow);
    bool asked = instance->task.pause_requested;
    if (offer->owner != 0 && is_known) {
        *out_claim = store_model_take(model, instance, offer->owner, offer->lease_ms);
        instance->task.pause_requested = false;
        store_model_tell_due(model, PW_EFFECT_HELD, instance, reason, 0);
        return true;
    }
    become_due(model, &instance->task, kind);
    instance->task.pause_requested = asked; /* which an answer does not lift */
    store_model_tell_due(model, PW_EFFECT_WOKEN, instance, reason, 0);
    return false;
}

static void wake(struct model *model, struct pw_instance *instance, struct pw_op_event *op)
{
    model->unit->last_effect->as.event.has_woken = true;
    op->is_held = go_on(model, instance, PW_TASK_WAKE, PW_REASON_EVENT, &op->offer, &op->claim);
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
        wake(model, instance, op);
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

static struct pw_instance *find_named(struct model *model, struct pw_text workflow, struct pw_text id)
{
    for (size_t i = 0; i < model->rows.instance_count; i++)
        if (pw_text_equal(model->rows.instances[i].workflow, workflow) &&
            pw_text_equal(model->rows.instances[i].id, id))
            return &model->rows.instances[i];
    return NULL;
}

/* To an instance that the event names. */
static enum pw_refusal send(struct model *model, struct pw_op_event *op)
{
    struct pw_instance *instance = find_named(model, op->workflow, op->to);
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
        wake(model, instance, op);
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

/* ---- Controls ------------------------------------------------------------------------------------------------------ */

static void note(struct model *model, const struct pw_instance *instance, const char *message)
{
    struct pw_op_log line = { .instance = instance->key, .run = instance->run };
    line.row.level = PAWL_LOG_INFO;
    line.row.category = pw_text_of("system");
    line.row.message = pw_text_of(message);
    (void)store_model_log(model, &line);
}

static void change_request(struct model *model, struct pw_instance *instance, struct pw_op_control *op, bool asks)
{
    op->is_done = instance->task.pause_requested != asks;
    op->is_asked = op->is_done && asks;
    if (!op->is_done)
        return;
    instance->task.pause_requested = asks;
    instance->task.updated_at_ms = store_model_time(model, instance->task.updated_at_ms);
    (void)store_model_tell(model, PW_EFFECT_CHANGED, instance->key, instance->run);
}

static void pause(struct model *model, struct pw_instance *instance, struct pw_op_control *op)
{
    struct pw_task *task = &instance->task;
    if (task->processing && task->locked_until_ms > model->now_ms) {
        change_request(model, instance, op, true);
    } else if (task->status != PW_TASK_PAUSED) {
        op->is_done = true;
        store_model_let_go(model, task, PW_TASK_PAUSED);
        store_model_tell_due(model, PW_EFFECT_PARKED, instance, 0, 0);
    }
}

static void resume(struct model *model, struct pw_instance *instance, struct pw_op_control *op)
{
    op->is_done = true;
    op->is_held = go_on(model, instance, PW_TASK_RESUME, PW_REASON_RESUME, &op->offer, &op->claim);
}

static void interrupt(struct model *model, struct pw_instance *instance, struct pw_op_control *op,
                      enum pw_demand demand)
{
    const struct pw_task *task = &instance->task;
    if (task->demand >= demand && task->status != PW_TASK_PAUSED && !task->pause_requested)
        return;
    op->is_done = true;
    raise_demand(model, &instance->task, demand);
    (void)store_model_tell(model, PW_EFFECT_CHANGED, instance->key, instance->run);
    note(model, instance,
         demand == PW_DEMAND_INTERRUPT ? "interrupt requested" : "termination with rollback requested");
    op->finish.reach.reached = store_model_reach(model, instance->key, instance->run, PW_DEMAND_NONE);
    if (!task->processing || task->locked_until_ms <= model->now_ms)
        resume(model, instance, op);
}

static enum pw_refusal terminate(struct model *model, struct pw_instance *instance, struct pw_op_control *op)
{
    struct pw_op_finish *finish = &op->finish;
    note(model, instance, "terminated");
    op->is_done = true;
    finish->instance = instance->key;
    finish->outcome = PW_OUTCOME_TERMINATED;
    finish->demand_seen = PW_DEMAND_TERMINATE;
    finish->newest_ms = 0;
    for (size_t i = 0; i < model->rows.step_count; i++)
        if (model->rows.steps[i].instance == instance->key && model->rows.steps[i].run == instance->run &&
            model->rows.steps[i].row.updated_at_ms > finish->newest_ms)
            finish->newest_ms = model->rows.steps[i].row.updated_at_ms;
    finish->reach = (struct pw_reach){ .parent = instance->key, .run = instance->run, .demand = PW_DEMAND_TERMINATE };
    if (finish->answer != NULL)
        finish->answer->instance = instance->link.relation != PW_RELATION_NONE ? instance->link.parent : 0;
    return store_model_finish(model, finish);
}

enum pw_refusal store_model_control(struct model *model, struct pw_op_control *op)
{
    struct pw_instance *instance = find_named(model, op->workflow, op->id);
    op->is_done = op->is_asked = op->is_held = false;
    if (instance == NULL)
        return PW_REFUSED_NO_INSTANCE;
    if (!instance->has_task)
        return PW_REFUSED_ENDED;
    op->at = (struct pw_fence){ instance->key, instance->run, instance->task.epoch };
    if (op->what == PAWL_CONTROL_PAUSE)
        pause(model, instance, op);
    else if (op->what == PAWL_CONTROL_INTERRUPT)
        interrupt(model, instance, op, PW_DEMAND_INTERRUPT);
    else if (op->what == PAWL_CONTROL_ROLLBACK)
        interrupt(model, instance, op, PW_DEMAND_ROLLBACK);
    else if (op->what == PAWL_CONTROL_TERMINATE)
        return terminate(model, instance, op);
    else if (instance->task.status != PW_TASK_PAUSED)
        change_request(model, instance, op, false);
    else if (instance->task.kind == PW_TASK_REPAIR)
        return PW_REFUSED_REPAIR;
    else
        resume(model, instance, op);
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
