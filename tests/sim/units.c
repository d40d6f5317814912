/* units.c - what a unit of work should do to the rows: whether it is to be refused, and what each op changes. */
#include <stdlib.h>

#include "fail.h"
#include "model.h"

/* ---- Should it have been refused? -------------------------------------------------------------------------------- */

static bool has_tag(char (*tags)[SIM_TEXT_MAX], int count, struct pw_text tag)
{
    for (int i = 0; i < count; i++) {
        if (pw_text_equal(pw_text_of(tags[i]), tag))
            return true;
    }
    return false;
}

/* The one parameter of our SQL: ["tag"]. */
static struct pw_text tag_of_sql(const struct pw_op_sql *op)
{
    return (struct pw_text){ op->parameters.data + 2, op->parameters.size - 4 };
}

static bool is_unique_sql(const struct pw_op_sql *op)
{
    return strstr(op->sql.data, "sim_unique") != NULL;
}

static enum pw_refusal expect_fence(struct sim_model *model, const struct pw_op_fence *op)
{
    if (!sim_model_holds(model, &op->at))
        return PW_REFUSED_MOVED;
    const struct sim_task *task = &sim_model_by_key(model, op->at.instance)->task;
    if (op->unless_pause && task->pause_requested)
        return PW_REFUSED_PAUSE_REQUESTED;
    if (op->unless_new_events && task->event_seq > op->event_seq_seen)
        return PW_REFUSED_NEW_EVENTS;
    return PW_REFUSED_NOT;
}

/* NULL: there is none. */
static struct sim_instance *find_named(struct sim_model *model, struct pw_text workflow_name,
                                       struct pw_text instance_id)
{
    char workflow[SIM_TEXT_MAX], id[SIM_TEXT_MAX];
    sim_text_copy(workflow, workflow_name);
    sim_text_copy(id, instance_id);
    return sim_model_find(model, workflow, id);
}

static enum pw_refusal expect_create(struct sim_model *model, const struct pw_op_create *op)
{
    bool exists = find_named(model, op->workflow, op->id) != NULL;
    return exists && !op->skip_existing ? PW_REFUSED_INSTANCE_EXISTS : PW_REFUSED_NOT;
}

static enum pw_refusal expect_task(struct sim_model *model, int64_t key)
{
    const struct sim_instance *instance = sim_model_by_key(model, key);
    return instance != NULL && instance->task.exists ? PW_REFUSED_NOT : PW_REFUSED_MOVED;
}

static bool has_event(struct sim_instance *instance, int64_t number, struct pw_text id)
{
    const struct sim_run *run = sim_model_run(instance, number);
    for (int i = 0; i < run->event_count; i++) {
        if (pw_text_equal(id, pw_text_of(run->events[i].id)))
            return true;
    }
    return false;
}

/* By its name, or by its key. */
static struct sim_instance *target_of(struct sim_model *model, const struct pw_op_event *op)
{
    return op->to.data == NULL ? sim_model_by_key(model, op->instance) : find_named(model, op->workflow, op->to);
}

static enum pw_refusal expect_event(struct sim_model *model, const struct pw_op_event *op)
{
    struct sim_instance *instance = target_of(model, op);
    if (op->to.data == NULL && (instance == NULL || !instance->task.exists))
        return PW_REFUSED_MOVED;
    if (instance == NULL)
        return PW_REFUSED_NO_INSTANCE;
    if (has_event(instance, op->to.data != NULL ? instance->run : op->run, op->id))
        return PW_REFUSED_EVENT_EXISTS;
    return instance->task.exists ? PW_REFUSED_NOT : PW_REFUSED_ENDED;
}

static enum pw_refusal expect_finish(struct sim_model *model, const struct pw_op_finish *op)
{
    enum pw_refusal refusal = expect_task(model, op->instance);
    if (refusal == PW_REFUSED_NOT && sim_model_by_key(model, op->instance)->task.demand > op->demand_seen)
        return PW_REFUSED_DEMANDED;
    return refusal;
}

static enum pw_refusal expect_control(struct sim_model *model, const struct pw_op_control *op)
{
    const struct sim_instance *instance = find_named(model, op->workflow, op->id);
    if (instance == NULL)
        return PW_REFUSED_NO_INSTANCE;
    if (!instance->task.exists)
        return PW_REFUSED_ENDED;
    bool is_resume = op->what == PAWL_CONTROL_RESUME;
    return is_resume && sim_awaits_repair(instance) ? PW_REFUSED_REPAIR : PW_REFUSED_NOT;
}

static enum pw_refusal expect_op(struct sim_model *model, const struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        return expect_fence(model, &op->as.fence);
    case PW_OP_CREATE:
        return expect_create(model, &op->as.create);
    case PW_OP_RESTART: {
        const struct sim_instance *instance = sim_model_by_key(model, op->as.restart.instance);
        return instance != NULL && instance->run == op->as.restart.run ? PW_REFUSED_NOT : PW_REFUSED_MOVED;
    }
    case PW_OP_EVENT:
        return expect_event(model, &op->as.event);
    case PW_OP_PARK:
        return expect_task(model, op->as.park.instance);
    case PW_OP_HOLD:
        return expect_task(model, op->as.hold.instance);
    case PW_OP_FINISH:
        return expect_finish(model, &op->as.finish);
    case PW_OP_CONTROL:
        return expect_control(model, &op->as.control);
    case PW_OP_DEMAND:
        return expect_task(model, op->as.demand.instance);
    case PW_OP_SQL:
        return is_unique_sql(&op->as.sql) && has_tag(model->uniques, model->unique_count, tag_of_sql(&op->as.sql))
                   ? PW_REFUSED_UNIQUE
                   : PW_REFUSED_NOT;
    case PW_OP_MUTATE:
        return ((const struct sim_mutation *)op->as.mutate.data)->fails ? PW_REFUSED_MUTATION_FAILED : PW_REFUSED_NOT;
    case PW_OP_STEP:
    case PW_OP_CONSUME:
    case PW_OP_LOG:
    case PW_OP_CLAIM:
    case PW_OP_RENEW:
    case PW_OP_END:
    case PW_OP_REAP:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        return PW_REFUSED_NOT;
    }
    return PW_REFUSED_NOT;
}

static void check_answer(struct sim_model *model, const struct pw_unit *unit)
{
    enum pw_refusal expected = PW_REFUSED_NOT;
    for (const struct pw_op *op = unit->first; op != NULL && expected == PW_REFUSED_NOT; op = op->next)
        expected = expect_op(model, op);
    SIM_CHECK(SIM_RULE_FENCE, unit->refusal == expected && unit->status == pw_refusal_status(expected),
              "a unit was answered \"%s\" instead of \"%s\"", pw_refusal_text(unit->refusal),
              pw_refusal_text(expected));
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* What a turn commits is under its fence, and the fence's holder lives where the commit came from. */
static void check_turn(struct sim_model *model, const struct pw_unit *unit, const int64_t *owners, int owner_count)
{
    const struct pw_op *first = unit->first;
    SIM_CHECK(SIM_RULE_FENCE, first->kind == PW_OP_FENCE, "a turn's unit begins without a fence");
    struct sim_instance *instance = sim_model_by_key(model, first->as.fence.at.instance);
    bool is_ours = false;
    for (int i = 0; i < owner_count; i++)
        is_ours |= owners[i] == instance->task.owner;
    SIM_CHECK(SIM_RULE_FENCE, instance->task.processing && is_ours, "%s is not held by a runner of this process",
              instance->id);
    struct sim_run *run = sim_model_run(instance, instance->run);
    run->pause_told |= instance->task.pause_requested;
    for (const struct pw_op *op = first; op != NULL; op = op->next)
        run->closings += (op->kind == PW_OP_PARK && op->as.park.instance == instance->key) || op->kind == PW_OP_FINISH;
}

/* The run that an op writes to: the current one, which is not over. */
static struct sim_run *open_run(struct sim_model *model, int64_t key, int64_t run)
{
    struct sim_instance *instance = sim_model_by_key(model, key);
    SIM_CHECK(SIM_RULE_OLD_RUN, instance != NULL && instance->task.exists && instance->run == run,
              "a change of run %lld of %s", (long long)run, instance != NULL ? instance->id : "nobody");
    return sim_model_run(instance, run);
}

/* ---- What each op changes ---------------------------------------------------------------------------------------- */

static void begin_run(struct sim_instance *instance, int64_t now_ms, int64_t owner, int64_t lease_ms)
{
    struct sim_run *run = sim_model_run(instance, instance->run);
    memset(run, 0, offsetof(struct sim_run, events));
    run->event_count = run->event_rows = run->log_count = run->log_room = 0;
    run->logs = NULL;
    run->logged = 0;
    run->claims = owner != 0;
    run->closings = run->expiries = 0;
    run->taken_epoch = -1;
    run->pause_told = false;
    run->kept_before_seq = 0;
    run->handed_back = 0;
    run->outcome = instance->outcome = PW_OUTCOME_OPEN;
    instance->started_at_ms = instance->completed_at_ms = 0;
    instance->output[0] = instance->error_name[0] = instance->error_message[0] = '\0';
    if (instance->updated_at_ms < now_ms)
        instance->updated_at_ms = now_ms;
    instance->task = (struct sim_task){
        .exists = true, .due_at_ms = now_ms, .kind = PW_TASK_RUN, .updated_at_ms = instance->updated_at_ms
    };
    instance->sighting.exists = false;
    if (owner != 0) {
        instance->task.epoch = 1;
        instance->task.processing = true;
        instance->task.owner = owner;
        instance->task.locked_until_ms = now_ms + lease_ms;
        instance->task.started_at_ms = instance->updated_at_ms;
    }
}

static void apply_create(struct sim_model *model, const struct pw_op_create *op, int64_t now_ms)
{
    char workflow[SIM_TEXT_MAX], id[SIM_TEXT_MAX];
    sim_text_copy(workflow, op->workflow);
    sim_text_copy(id, op->id);
    bool exists = sim_model_find(model, workflow, id) != NULL;
    SIM_CHECK(SIM_RULE_STORED, op->created == !exists, "creating %s: created %d", id, op->created);
    if (exists)
        return;
    if (model->instance_count == SIM_INSTANCES_MAX)
        sim_give_up("%d instances", model->instance_count);
    struct sim_instance *instance = &model->instances[model->instance_count++];
    int64_t key_before = model->instance_count > 1 ? instance[-1].key : 0;
    SIM_CHECK(SIM_RULE_STORED, op->fence.instance > key_before, "key %lld", (long long)op->fence.instance);
    for (int run = 0; run < SIM_RUNS_MAX; run++)
        instance->runs[run].logs = NULL;
    instance->key = op->fence.instance;
    instance->run = 1;
    instance->created_at_ms = instance->updated_at_ms = now_ms;
    instance->standing = (struct sim_standing){ .status = SIM_STATE_ABSENT, .task = SIM_STATE_ABSENT };
    memset(instance->truths, 0, sizeof instance->truths);
    memcpy(instance->workflow, workflow, sizeof workflow);
    memcpy(instance->id, id, sizeof id);
    sim_text_copy(instance->params, op->params);
    instance->link = op->link;
    instance->program = sim_is_job(instance) ? NULL : &model->programs[atoi(instance->params)];
    begin_run(instance, now_ms, op->hold_owner, op->hold_lease_ms);
}

static void apply_step(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op)
{
    struct sim_run *run = open_run(model, op->instance, op->run);
    const struct pw_step_row *row = &op->row;
    sim_check_step(model, unit, op);
    sim_note_step(model, op);
    struct sim_step *step = &run->steps[sim_node_of(row->name)];
    if (!step->exists) {
        step->exists = true;
        step->seq = row->seq;
        step->kind = row->kind;
        step->created_at_ms = row->created_at_ms;
        sim_text_copy(step->undoes, row->undoes);
        sim_text_copy(step->fork, row->place.fork);
        step->outer = sim_digest_text(0, row->place.outer);
        step->fork_kind = row->place.kind;
        step->branch = row->place.branch;
        step->order = row->place.order;
        run->step_count++;
    }
    if (sim_step_is_finished(step)) { /* and so is put back */
        step->goes++;
        step->put_back = model->units + 1;
        step->attempts_before += step->attempts;
    }
    step->status = row->status;
    step->state = row->state;
    step->finished = row->status != PAWL_STEP_WAITING ? model->units + 1 : 0;
    step->attempts = row->attempts;
    step->attempts_max = row->attempts_max;
    step->timeout_ms = row->timeout_ms;
    step->next_retry_at_ms = row->next_retry_at_ms;
    step->wake_at_ms = row->wake_at_ms;
    step->event_at_ms = row->event_at_ms;
    step->updated_at_ms = row->updated_at_ms;
    sim_text_copy(step->event_type, row->wait_event_type);
    sim_text_copy(step->awaited_workflow, row->awaited_workflow);
    sim_text_copy(step->awaited_id, row->awaited_id);
    sim_text_copy(step->result, row->result);
    sim_text_copy(step->error_name, row->error_name);
    step->error_message = sim_digest_text(0, row->error_message);
}

/* Takes the next number of the run's events. */
static struct sim_event *next_event(struct sim_run *run, struct sim_task *task)
{
    if (run->event_count == SIM_EVENTS_MAX)
        sim_give_up("%d events", run->event_count);
    struct sim_event *event = &run->events[run->event_count++];
    *event = (struct sim_event){ .consumed_by = SIM_NONE };
    task->event_seq = run->event_count;
    return event;
}

static void wake(struct sim_task *task, enum pw_task_kind kind, int64_t now_ms)
{
    task->status = PW_TASK_ACTIVE;
    task->kind = kind;
    task->due_at_ms = now_ms;
    task->processing = task->pause_requested = false;
    task->owner = task->locked_until_ms = 0;
    task->epoch++;
    sim_task_touch(task, now_ms);
}

/* An event that names its run wakes it, if a step waits for such a one; others leave that to their unit. */
static void check_woken(const struct pw_op_event *op, struct sim_instance *instance, int64_t now_ms)
{
    const struct sim_task *task = &instance->task;
    const struct sim_run *run = sim_model_run(instance, instance->run);
    bool is_awaited = false;
    for (int i = 0; i < SIM_STEPS_MAX; i++) {
        const struct sim_step *step = &run->steps[i];
        is_awaited |= step->exists && step->kind == PAWL_STEP_EVENT && step->status == PAWL_STEP_WAITING &&
                      step->wake_at_ms > now_ms && pw_text_equal(op->type, pw_text_of(step->event_type));
    }
    bool is_woken = is_awaited && task->status == PW_TASK_WAITING && !task->processing;
    SIM_CHECK(SIM_RULE_STORED, op->woke == is_woken && op->is_held == (is_woken && op->offer.owner != 0),
              "an event woke %s: %d, %d", instance->id, op->woke, op->is_held);
}

static void apply_event(struct sim_model *model, const struct pw_op_event *op, int64_t now_ms)
{
    struct sim_instance *instance = target_of(model, op);
    bool is_by_key = op->to.data == NULL && !op->is_answer;
    struct sim_run *run = open_run(model, instance->key, is_by_key ? op->run : instance->run);
    struct sim_task *task = &instance->task;
    if (op->to.data != NULL)
        check_woken(op, instance, now_ms);
    bool known = false;
    for (int i = 0; i < run->event_count; i++)
        known |= pw_text_equal(op->id, pw_text_of(run->events[i].id));
    SIM_CHECK(SIM_RULE_STORED, !known, "an event of a known id was added again");
    struct sim_event *event = next_event(run, task);
    event->exists = true;
    sim_task_touch(task, now_ms);
    event->created_at_ms = task->updated_at_ms;
    run->event_rows++;
    sim_text_copy(event->id, op->id);
    sim_text_copy(event->type, op->type);
    sim_text_copy(event->payload, op->payload);
    event->is_failure = op->is_failure;
    if (op->is_held)
        sim_take_task(instance, op->offer.owner, op->offer.lease_ms, now_ms);
    else if (op->woke)
        wake(task, PW_TASK_WAKE, now_ms);
    SIM_CHECK(SIM_RULE_STORED, op->seq == run->event_count, "an event's number is %lld", (long long)op->seq);
}

static void apply_consume(struct sim_model *model, const struct pw_op_consume *op)
{
    struct sim_run *run = open_run(model, op->instance, op->run);
    sim_check_consume(model, op);
    struct sim_event *event = &run->events[op->seq - 1];
    event->delivered_at_ms = op->delivered_at_ms;
    event->consumed_by = sim_node_of(op->step);
}

static void apply_log(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_log *op)
{
    bool restarts = false;
    for (const struct pw_op *other = unit->first; other != NULL; other = other->next)
        restarts |= other->kind == PW_OP_RESTART;
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    struct sim_run *run = restarts && op->run == instance->run - 1 ? sim_model_run(instance, op->run)
                                                                   : open_run(model, op->instance, op->run);
    if (run->log_count == run->log_room) {
        run->log_room = run->log_room == 0 ? 32 : run->log_room * 2;
        run->logs =
            run->log_room <= SIM_LOGS_MAX ? realloc(run->logs, (size_t)run->log_room * sizeof *run->logs) : NULL;
        if (run->logs == NULL)
            sim_give_up("%d log lines", run->log_count);
    }
    run->logs[run->log_count++] = sim_digest_log(&op->row);
    int node = sim_node_of(op->row.message);
    if (node == SIM_NONE || op->row.step.data != NULL)
        return;
    if (op->row.is_replay) { /* of steps that were kept nothing was said in this run */
        SIM_CHECK(SIM_RULE_LOGS, ((run->logged | run->handed_back) & (1u << node)) != 0 || run->kept_before_seq != 0,
                  "the line of n%d of %s is a replay, and was not recorded yet", node, instance->id);
        return;
    }
    SIM_CHECK(SIM_RULE_LOGS, (run->logged & (1u << node)) == 0 || sim_forks_in_a_branch(instance->program, node),
              "the line of n%d of %s is new a second time", node, instance->id);
    run->logged |= 1u << node;
}

static void apply_park(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_park *op, int64_t now_ms)
{
    struct sim_task *task = &sim_model_by_key(model, op->instance)->task;
    bool unseen = op->event_seq_seen >= 0 && task->event_seq > op->event_seq_seen;
    bool is_for_repair = op->status == PW_TASK_PAUSED && op->kind == PW_TASK_REPAIR;
    bool has_no_reason = op->if_requested || (is_for_repair && task->demand != PW_DEMAND_NONE);
    bool goes_on = has_no_reason && !task->pause_requested;
    if (op->due_at_ms == PW_NOW || unseen || goes_on)
        task->due_at_ms = now_ms;
    else if (op->due_at_ms != 0)
        task->due_at_ms = op->due_at_ms;
    SIM_CHECK(SIM_RULE_STORED, op->due_at_ms_set == task->due_at_ms, "parked until %lld", (long long)op->due_at_ms_set);
    task->status = task->pause_requested ? PW_TASK_PAUSED : goes_on ? PW_TASK_ACTIVE : op->status;
    task->kind = goes_on ? PW_TASK_RESUME : op->kind;
    task->processing = task->pause_requested = false;
    task->owner = task->locked_until_ms = 0;
    task->epoch++;
    sim_task_touch(task, now_ms);
    sim_task_touch(task, op->newest_ms);
    sim_check_park(model, op, now_ms);
    sim_check_awaits(model, unit, op);
}

static void end_at(struct sim_instance *instance, int64_t now_ms)
{
    sim_task_touch(&instance->task, now_ms);
    instance->completed_at_ms = instance->updated_at_ms = instance->task.updated_at_ms;
    instance->started_at_ms = instance->task.started_at_ms;
    instance->task.exists = false;
}

/* ---- What a parent does to others -------------------------------------------------------------------------------- */

static void raise_demand(struct sim_instance *instance, enum pw_demand demand, int64_t now_ms)
{
    struct sim_task *task = &instance->task;
    task->demand = task->demand > demand ? task->demand : demand;
    task->pause_requested = task->pause_requested && demand == PW_DEMAND_NONE;
    (void)next_event(sim_model_run(instance, instance->run), task);
    sim_task_touch(task, now_ms);
}

static void end_job(struct sim_instance *instance, int64_t now_ms)
{
    instance->outcome = sim_model_run(instance, instance->run)->outcome = PW_OUTCOME_TERMINATED;
    end_at(instance, now_ms);
}

static bool is_held_now(const struct sim_model *model, const struct sim_task *task, int64_t now_ms)
{
    return task->processing && (task->locked_until_ms > now_ms || model->lives(model->world, task->owner));
}

static void apply_reach(struct sim_model *model, const struct pw_reach *op, int64_t now_ms)
{
    int64_t reached = 0;
    for (int i = 0; i < model->instance_count; i++) {
        struct sim_instance *instance = &model->instances[i];
        struct sim_task *task = &instance->task;
        const struct pw_link *link = &instance->link;
        if (!task->exists || link->parent != op->parent || link->run != op->run)
            continue;
        if (link->relation == PW_RELATION_JOB) {
            end_job(instance, now_ms);
            reached++;
        } else if (link->relation == PW_RELATION_ATTACHED && op->demand != PW_DEMAND_NONE) {
            raise_demand(instance, op->demand, now_ms);
            if (!is_held_now(model, task, now_ms))
                wake(task, PW_TASK_RESUME, now_ms);
            reached++;
        }
    }
    SIM_CHECK(SIM_RULE_STORED, reached == op->reached, "reached %lld instead of %lld", (long long)op->reached,
              (long long)reached);
}

static void apply_end(struct sim_model *model, const struct pw_op_end *op, int64_t now_ms)
{
    struct sim_instance *instance = find_named(model, op->workflow, op->id);
    bool is_open = instance != NULL && instance->task.exists;
    SIM_CHECK(SIM_RULE_STORED, op->instance == (is_open ? instance->key : 0), "ended %lld", (long long)op->instance);
    if (is_open)
        end_job(instance, now_ms);
}

/* Nobody is asked where it goes.  If the run is over, nothing happens. */
static void apply_answer(struct sim_model *model, const struct pw_op_event *op, int64_t now_ms)
{
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    SIM_CHECK(SIM_RULE_ANSWERED, instance != NULL, "an answer to nobody");
    const struct sim_task *task = &instance->task;
    SIM_CHECK(SIM_RULE_STORED, op->recorded == task->exists, "an answer to %s was recorded: %d", instance->id,
              op->recorded);
    bool parked = op->recorded && task->status == PW_TASK_WAITING && !task->processing;
    SIM_CHECK(SIM_RULE_STORED, op->woke == parked, "an answer woke %s: %d", instance->id, op->woke);
    if (op->recorded)
        apply_event(model, op, now_ms);
}

static void apply_finish(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_finish *op,
                         int64_t now_ms)
{
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    sim_check_finish(model, unit, op, now_ms);
    instance->outcome = sim_model_run(instance, instance->run)->outcome = op->outcome;
    sim_task_touch(&instance->task, op->newest_ms);
    end_at(instance, now_ms);
    sim_text_copy(instance->output, op->output);
    sim_text_copy(instance->error_name, op->error_name);
    sim_text_copy(instance->error_message, op->error_message);
    if (op->reach.parent != 0)
        apply_reach(model, &op->reach, now_ms);
    if (op->answer != NULL && op->answer->instance != 0)
        apply_answer(model, op->answer, now_ms);
}

/* ---- What is asked of a run by its name --------------------------------------------------------------------------- */

/* The line that the store has added to the log by itself. */
static void apply_line(struct sim_model *model, const struct pw_unit *unit, struct sim_instance *instance,
                       const char *message)
{
    struct pw_op_log line = { .instance = instance->key, .run = instance->run };
    line.row =
        (struct pw_log_row){ .level = PAWL_LOG_INFO, .category = pw_text_of("system"), .message = pw_text_of(message) };
    apply_log(model, unit, &line);
}

static void go_on(struct sim_instance *instance, const struct pw_op_control *op, int64_t now_ms)
{
    SIM_CHECK(SIM_RULE_STORED, op->is_held == (op->offer.owner != 0), "%s goes on, held: %d", instance->id,
              op->is_held);
    if (!op->is_held) {
        wake(&instance->task, PW_TASK_RESUME, now_ms);
        return;
    }
    instance->task.pause_requested = false;
    sim_take_task(instance, op->offer.owner, op->offer.lease_ms, now_ms);
}

static void apply_pause(const struct sim_model *model, struct sim_instance *instance, int64_t now_ms)
{
    struct sim_task *task = &instance->task;
    bool is_held = is_held_now(model, task, now_ms);
    if (task->status == PW_TASK_PAUSED || (is_held && task->pause_requested))
        return;
    if (is_held) {
        task->pause_requested = true;
    } else {
        task->status = PW_TASK_PAUSED;
        task->processing = task->pause_requested = false;
        task->owner = task->locked_until_ms = 0;
        task->epoch++;
    }
    sim_task_touch(task, now_ms);
}

static void apply_demand(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_control *op,
                         struct sim_instance *instance, int64_t now_ms)
{
    bool is_interrupt = op->what == PAWL_CONTROL_INTERRUPT;
    struct sim_task *task = &instance->task;
    enum pw_demand demand = is_interrupt ? PW_DEMAND_INTERRUPT : PW_DEMAND_ROLLBACK;
    bool is_held = is_held_now(model, task, now_ms);
    if (task->demand >= demand && task->status != PW_TASK_PAUSED && !task->pause_requested)
        return;
    raise_demand(instance, demand, now_ms);
    apply_line(model, unit, instance, is_interrupt ? "interrupt requested" : "termination with rollback requested");
    apply_reach(model, &op->finish.reach, now_ms);
    if (!is_held)
        go_on(instance, op, now_ms);
}

static void apply_control(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_control *op,
                          int64_t now_ms)
{
    struct sim_instance *instance = find_named(model, op->workflow, op->id);
    struct sim_task *task = &instance->task;
    SIM_CHECK(SIM_RULE_STORED, op->at.instance == instance->key && op->at.run == instance->run, "%s was not found",
              instance->id);
    if (op->what == PAWL_CONTROL_TERMINATE) {
        apply_line(model, unit, instance, "terminated");
        apply_finish(model, unit, &op->finish, now_ms);
    } else if (op->what == PAWL_CONTROL_PAUSE) {
        apply_pause(model, instance, now_ms);
    } else if (op->what != PAWL_CONTROL_RESUME) {
        apply_demand(model, unit, op, instance, now_ms);
    } else if (task->status == PW_TASK_PAUSED) {
        go_on(instance, op, now_ms);
    } else if (task->pause_requested) {
        task->pause_requested = false;
        sim_task_touch(task, now_ms);
    }
}

/* A run that had not ended ends now, by the restart. */
static void remember_run(struct sim_instance *instance, int64_t now_ms)
{
    struct sim_earlier *earlier = &sim_model_run(instance, instance->run)->earlier;
    earlier->replaced_at_ms = now_ms > instance->updated_at_ms ? now_ms : instance->updated_at_ms;
    if (instance->task.exists) {
        *earlier = (struct sim_earlier){ .outcome = PW_OUTCOME_TERMINATED,
                                         .error_name = "RESTARTED",
                                         .started_at_ms = instance->task.started_at_ms,
                                         .replaced_at_ms = earlier->replaced_at_ms };
        sim_text_copy(earlier->error_message, pw_text_of("a restart began the next run before this one had ended"));
        sim_task_touch(&instance->task, now_ms);
        earlier->completed_at_ms = instance->task.updated_at_ms;
        return;
    }
    earlier->outcome = instance->outcome;
    memcpy(earlier->output, instance->output, sizeof earlier->output);
    memcpy(earlier->error_name, instance->error_name, sizeof earlier->error_name);
    memcpy(earlier->error_message, instance->error_message, sizeof earlier->error_message);
    earlier->started_at_ms = instance->started_at_ms;
    earlier->completed_at_ms = instance->completed_at_ms;
}

static void apply_restart(struct sim_model *model, const struct pw_op_restart *op, int64_t now_ms)
{
    struct sim_instance *instance = sim_model_by_key(model, op->instance);
    const struct sim_run *old = sim_model_run(instance, instance->run);
    if (op->keep_before_seq != 0)
        sim_check_kept(instance, op);
    if (instance->task.exists)
        apply_reach(model, &op->reach, now_ms);
    remember_run(instance, now_ms);
    instance->run++;
    begin_run(instance, now_ms, op->hold_owner, op->hold_lease_ms);
    struct sim_run *run = sim_model_run(instance, instance->run);
    run->kept_before_seq = op->keep_before_seq;
    for (int i = 0; i < SIM_STEPS_MAX; i++) {
        const struct sim_step *step = &old->steps[i];
        bool is_left_out = op->keep_except_dropped && sim_step_is_abandoned(step);
        if (!sim_step_is_finished(step) || step->seq >= op->keep_before_seq || step->seq == op->keep_except_seq ||
            is_left_out)
            continue;
        run->steps[i] = *step;
        run->steps[i].bodies = (int)step->attempts; /* as many as may have run */
        run->steps[i].goes = 0;
        run->steps[i].attempts_before = 0;
        run->steps[i].put_back = 0;
        run->steps[i].is_kept = true;
        run->step_count++;
    }
}

/* ---- A unit as a whole ------------------------------------------------------------------------------------------- */

static void add_tag(char (*tags)[SIM_TEXT_MAX], int *count, struct pw_text tag)
{
    if (*count == SIM_EFFECTS_MAX)
        sim_give_up("%d effects", *count);
    sim_text_copy(tags[(*count)++], tag);
}

static void apply_sql(struct sim_model *model, const struct pw_op_sql *op)
{
    if (is_unique_sql(op))
        add_tag(model->uniques, &model->unique_count, tag_of_sql(op));
    else
        add_tag(model->effects, &model->effect_count, tag_of_sql(op));
}

/* Those that only take or lengthen leases. */
static void apply_lease_op(struct sim_model *model, const struct pw_op *op, int64_t now_ms)
{
    struct sim_instance *instance = op->kind == PW_OP_FENCE ? sim_model_by_key(model, op->as.fence.at.instance) : NULL;
    if (op->kind == PW_OP_REAP)
        sim_apply_reap(model, now_ms);
    else if (op->kind == PW_OP_CLAIM)
        sim_apply_claim(model, &op->as.claim, now_ms);
    else if (op->kind == PW_OP_RENEW)
        sim_apply_renew(model, &op->as.renew, now_ms);
    else if (instance != NULL && op->as.fence.lease_ms != 0)
        instance->task.locked_until_ms = now_ms + op->as.fence.lease_ms;
}

static void apply_op(struct sim_model *model, const struct pw_unit *unit, const struct pw_op *op, int64_t now_ms)
{
    switch (op->kind) {
    case PW_OP_FENCE:
    case PW_OP_CLAIM:
    case PW_OP_RENEW:
    case PW_OP_REAP:
        apply_lease_op(model, op, now_ms);
        return;
    case PW_OP_HOOK_CLAIM:
        sim_apply_hook_claim(model, &op->as.hook_claim, now_ms);
        return;
    case PW_OP_HOOK_SETTLE:
        sim_apply_hook_settle(model, &op->as.hook_settle);
        return;
    case PW_OP_HOOK_RESEND:
        sim_apply_hook_resend(model, &op->as.hook_resend, now_ms);
        return;
    case PW_OP_CREATE:
        apply_create(model, &op->as.create, now_ms);
        return;
    case PW_OP_RESTART:
        apply_restart(model, &op->as.restart, now_ms);
        return;
    case PW_OP_STEP:
        apply_step(model, unit, &op->as.step);
        return;
    case PW_OP_EVENT:
        apply_event(model, &op->as.event, now_ms);
        return;
    case PW_OP_CONSUME:
        apply_consume(model, &op->as.consume);
        return;
    case PW_OP_LOG:
        apply_log(model, unit, &op->as.log);
        return;
    case PW_OP_PARK:
        apply_park(model, unit, &op->as.park, now_ms);
        return;
    case PW_OP_HOLD:
        sim_model_by_key(model, op->as.hold.instance)->task.pause_requested = false;
        sim_take_task(sim_model_by_key(model, op->as.hold.instance), op->as.hold.owner, op->as.hold.lease_ms, now_ms);
        return;
    case PW_OP_CONTROL:
        apply_control(model, unit, &op->as.control, now_ms);
        return;
    case PW_OP_FINISH:
        apply_finish(model, unit, &op->as.finish, now_ms);
        return;
    case PW_OP_DEMAND:
        raise_demand(sim_model_by_key(model, op->as.demand.instance), op->as.demand.demand, now_ms);
        return;
    case PW_OP_END:
        apply_end(model, &op->as.end, now_ms);
        return;
    case PW_OP_SQL:
        apply_sql(model, &op->as.sql);
        return;
    case PW_OP_MUTATE:
        add_tag(model->effects, &model->effect_count,
                pw_text_of(((const struct sim_mutation *)op->as.mutate.data)->tag));
        return;
    }
}

/* Also of instances that the unit does not concern: then it is so still. */
static void note_truths(struct sim_model *model)
{
    for (int i = 0; i < model->instance_count; i++) {
        struct sim_instance *instance = &model->instances[i];
        const struct sim_task *task = &instance->task;
        bool is_paused = task->exists && (task->status == PW_TASK_PAUSED || task->pause_requested);
        const bool holds[] = { [SIM_TRUTH_PAUSED] = is_paused,
                               [SIM_TRUTH_RESUMED] = task->exists && !is_paused,
                               [SIM_TRUTH_TERMINATED] = instance->outcome == PW_OUTCOME_TERMINATED,
                               [SIM_TRUTH_OVER] = instance->outcome != PW_OUTCOME_OPEN,
                               [SIM_TRUTH_INTERRUPTED] = !task->exists || task->demand != PW_DEMAND_NONE,
                               [SIM_TRUTH_DEMANDED] = task->exists && task->demand != PW_DEMAND_NONE,
                               [SIM_TRUTH_NOT_ERRORED] = instance->outcome != PW_OUTCOME_ERRORED };
        for (int truth = 0; truth < SIM_TRUTH_COUNT; truth++) {
            if (holds[truth])
                instance->truths[truth] = model->units;
        }
    }
}

static void note_handed_back(struct sim_model *model, const struct pw_unit *unit)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        int node =
            op->kind == PW_OP_LOG && op->as.log.row.step.data == NULL ? sim_node_of(op->as.log.row.message) : SIM_NONE;
        if (node != SIM_NONE)
            sim_model_run(sim_model_by_key(model, op->as.log.instance), op->as.log.run)->handed_back |= 1u << node;
    }
}

void sim_model_unit(struct sim_model *model, const struct pw_unit *unit, int64_t now_ms, const int64_t *owners,
                    int owner_count)
{
    check_answer(model, unit);
    if (unit->status != PAWL_OK) {
        note_handed_back(model, unit);
        return;
    }
    if (unit->chain != NULL)
        check_turn(model, unit, owners, owner_count);
    int failed = sim_count_failed(model, unit);
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next)
        apply_op(model, unit, op, now_ms);
    sim_check_resume(unit, failed);
    if (model->has_hooks)
        sim_apply_hooks(model, unit, now_ms);
    sim_check_races(model, unit);
    sim_check_links(model, unit);
    sim_note_unit(model, unit);
    model->units++;
    note_truths(model);
}
