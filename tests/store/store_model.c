/* store_model.c - see store_model.h. */
#include "store_model_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rows.h"

struct pw_text store_model_keep(struct model *model, struct pw_text text)
{
    struct pw_text kept = { NULL, 0 };
    assert_true(pw_arena_text(&model->arena, text, &kept));
    return kept;
}

static int64_t or_now(const struct model *model, int64_t at_ms)
{
    return at_ms != 0 ? at_ms : model->now_ms;
}

struct pw_instance *store_model_instance(struct model *model, int64_t key)
{
    for (size_t i = 0; i < model->rows.instance_count; i++)
        if (model->rows.instances[i].key == key)
            return &model->rows.instances[i];
    return NULL;
}

struct pw_instance *store_model_task(struct model *model, int64_t key)
{
    struct pw_instance *instance = store_model_instance(model, key);
    return instance != NULL && instance->has_task ? instance : NULL;
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static enum pw_refusal fence(struct model *model, struct pw_op_fence *op)
{
    struct pw_instance *instance = store_model_task(model, op->at.instance);
    if (instance == NULL || instance->task.epoch != op->at.epoch || instance->run != op->at.run)
        return PW_REFUSED_MOVED;
    op->pause_requested = instance->task.pause_requested;
    op->demand = instance->task.demand;
    op->event_seq = instance->task.event_seq;
    if (op->unless_pause && op->pause_requested)
        return PW_REFUSED_PAUSE_REQUESTED;
    if (op->unless_new_events && op->event_seq > op->event_seq_seen)
        return PW_REFUSED_NEW_EVENTS;
    if (op->lease_ms != 0 && instance->task.processing)
        instance->task.locked_until_ms = model->now_ms + op->lease_ms;
    return PW_REFUSED_NOT;
}

/* What is recorded of a run is not older than what was recorded of it before. */
int64_t store_model_time(const struct model *model, int64_t newest_ms)
{
    return model->now_ms < newest_ms ? newest_ms : model->now_ms;
}

static void begin_run(struct model *model, struct pw_instance *instance, int64_t owner, int64_t lease_ms)
{
    instance->has_task = true;
    instance->task =
        (struct pw_task){ .kind = PW_TASK_RUN, .due_at_ms = model->now_ms, .updated_at_ms = instance->updated_at_ms };
    if (owner == 0)
        return;
    instance->task.epoch = 1;
    instance->task.processing = true;
    instance->task.owner = owner;
    instance->task.locked_until_ms = model->now_ms + lease_ms;
    instance->task.started_at_ms = instance->updated_at_ms;
}

static enum pw_refusal create(struct model *model, struct pw_op_create *op)
{
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *other = &model->rows.instances[i];
        if (pw_text_equal(other->workflow, op->workflow) && pw_text_equal(other->id, op->id))
            return op->skip_existing ? PW_REFUSED_NOT : PW_REFUSED_INSTANCE_EXISTS;
    }
    assert_true(model->rows.instance_count < INSTANCES_MAX);
    struct pw_instance *instance = &model->rows.instances[model->rows.instance_count++];
    *instance = (struct pw_instance){ .key = ++model->keys,
                                      .run = 1,
                                      .workflow = store_model_keep(model, op->workflow),
                                      .id = store_model_keep(model, op->id),
                                      .params = store_model_keep(model, op->params),
                                      .link = op->link,
                                      .terms = { .version = store_model_keep(model, op->terms.version) },
                                      .created_at_ms = model->now_ms,
                                      .updated_at_ms = model->now_ms };
    begin_run(model, instance, op->hold_owner, op->hold_lease_ms);
    op->created = true;
    op->created_at_ms = model->now_ms;
    op->fence = (struct pw_fence){ instance->key, 1, instance->task.epoch };
    store_model_tell_due(model, PW_EFFECT_BEGUN, instance, PW_REASON_CREATE, 0);
    model->unit->last_effect->is_job = op->link.relation == PW_RELATION_JOB;
    return PW_REFUSED_NOT;
}

static void set_outcome(struct model *model, struct pw_instance *instance, const struct pw_op_finish *op)
{
    instance->outcome = op->outcome;
    instance->output = store_model_keep(model, op->output);
    instance->error_name = store_model_keep(model, op->error_name);
    instance->error_message = store_model_keep(model, op->error_message);
}

static int64_t newer(int64_t one_ms, int64_t other_ms)
{
    return one_ms > other_ms ? one_ms : other_ms;
}

void store_model_end_run(struct model *model, struct pw_instance *instance, const struct pw_op_finish *op,
                         int64_t newest_ms)
{
    set_outcome(model, instance, op);
    instance->started_at_ms = instance->task.started_at_ms;
    instance->completed_at_ms = store_model_time(model, newer(newest_ms, instance->task.updated_at_ms));
    instance->updated_at_ms = instance->completed_at_ms;
    instance->has_task = false;
    struct pw_effect *effect = store_model_tell(model, PW_EFFECT_ENDED, instance->key, instance->run);
    effect->is_job = op->is_job;
    effect->as.end.outcome = op->outcome;
    effect->as.end.started_at_ms = instance->started_at_ms;
    effect->as.end.completed_at_ms = instance->completed_at_ms;
    effect->as.end.error_name = op->error_name;
    effect->as.end.error_message = op->error_message;
}

/* What the instance says of the run that it is in; one that is still open ends here. */
static void remember_run(struct model *model, const struct pw_instance *instance, int64_t replaced_at_ms)
{
    struct pw_earlier_run row = { .run = instance->run, .terms = instance->terms, .replaced_at_ms = replaced_at_ms };
    if (instance->has_task) {
        row.outcome = PW_OUTCOME_TERMINATED;
        row.error_name = pw_text_of("RESTARTED");
        row.error_message = pw_text_of("a restart began the next run before this one had ended");
        row.started_at_ms = instance->task.started_at_ms;
        row.completed_at_ms = store_model_time(model, instance->task.updated_at_ms);
    } else {
        row.outcome = instance->outcome;
        row.output = instance->output;
        row.error_name = instance->error_name;
        row.error_message = instance->error_message;
        row.started_at_ms = instance->started_at_ms;
        row.completed_at_ms = instance->completed_at_ms;
    }
    *ADD_ROW(model, earlier) = (struct model_earlier){ instance->key, row };
}

static enum pw_refusal restart(struct model *model, const struct pw_op_restart *op)
{
    static const struct pw_op_finish open = { .outcome = PW_OUTCOME_OPEN };
    struct pw_instance *instance = store_model_instance(model, op->instance);
    if (instance == NULL || instance->run != op->run)
        return PW_REFUSED_MOVED;
    if (instance->has_task)
        (void)store_model_reach(model, instance->key, op->run, PW_DEMAND_TERMINATE);
    int64_t updated_at_ms = store_model_time(model, instance->updated_at_ms);
    remember_run(model, instance, updated_at_ms);
    set_outcome(model, instance, &open);
    instance->terms.version = store_model_keep(model, op->terms.version);
    instance->updated_at_ms = updated_at_ms;
    instance->started_at_ms = instance->completed_at_ms = 0;
    store_model_keep_steps(model, op);
    instance->run++;
    begin_run(model, instance, op->hold_owner, op->hold_lease_ms);
    store_model_tell_due(model, PW_EFFECT_BEGUN, instance, PW_REASON_CREATE, 0);
    return PW_REFUSED_NOT;
}

enum pw_refusal store_model_finish(struct model *model, struct pw_op_finish *op)
{
    struct pw_instance *instance = store_model_task(model, op->instance);
    if (instance == NULL)
        return PW_REFUSED_MOVED;
    if (instance->task.demand > op->demand_seen)
        return PW_REFUSED_DEMANDED;
    store_model_end_run(model, instance, op, op->newest_ms);
    if (op->reach.parent != 0)
        op->reach.reached = store_model_reach(model, op->reach.parent, op->reach.run, op->reach.demand);
    if (op->answer != NULL && op->answer->instance != 0)
        store_model_answer(model, op->answer, instance->run);
    return PW_REFUSED_NOT;
}

void store_model_let_go(struct model *model, struct pw_task *task, enum pw_task_status status)
{
    task->status = status;
    task->processing = task->pause_requested = false;
    task->owner = task->locked_until_ms = 0;
    task->epoch++;
    task->updated_at_ms = store_model_time(model, task->updated_at_ms);
}

static enum pw_refusal park(struct model *model, struct pw_op_park *op)
{
    struct pw_instance *instance = store_model_task(model, op->instance);
    if (instance == NULL)
        return PW_REFUSED_MOVED;
    struct pw_task *task = &instance->task;
    bool has_news = op->event_seq_seen >= 0 && task->event_seq > op->event_seq_seen;
    bool is_demanded = op->kind == PW_TASK_REPAIR && op->status == PW_TASK_PAUSED && task->demand != PW_DEMAND_NONE;
    bool goes_on = (op->if_requested || is_demanded) && !task->pause_requested;
    op->status_set = task->pause_requested ? PW_TASK_PAUSED : goes_on ? PW_TASK_ACTIVE : op->status;
    op->due_at_ms_set = has_news || goes_on || op->due_at_ms == PW_NOW ? model->now_ms
                        : op->due_at_ms != 0                           ? op->due_at_ms
                                                                       : task->due_at_ms;
    task->kind = goes_on ? PW_TASK_RESUME : op->kind;
    task->due_at_ms = op->due_at_ms_set;
    task->updated_at_ms = newer(task->updated_at_ms, op->newest_ms);
    store_model_let_go(model, task, op->status_set);
    enum pw_hook_reason reason = op->kind == PW_TASK_WAKE    ? PW_REASON_WAKE
                                 : op->kind == PW_TASK_RETRY ? PW_REASON_RETRY
                                                             : PW_REASON_RESUME;
    store_model_tell_due(model, PW_EFFECT_PARKED, instance, op->status_set == PW_TASK_PAUSED ? 0 : reason,
                         op->due_at_ms == PW_NOW ? 0 : task->due_at_ms);
    model->unit->last_effect->is_job = op->is_job;
    return PW_REFUSED_NOT;
}

/* Takes the task for a runner, and says what it was. */
struct pw_claim store_model_take(struct model *model, struct pw_instance *instance, int64_t owner, int64_t lease_ms)
{
    struct pw_task *task = &instance->task;
    bool is_first = task->started_at_ms == 0;
    task->updated_at_ms = store_model_time(model, task->updated_at_ms);
    struct pw_claim claim = { .fence = { instance->key, instance->run, ++task->epoch },
                              .workflow = instance->workflow,
                              .id = instance->id,
                              .kind = task->kind,
                              .demand = task->demand,
                              .event_seq = task->event_seq,
                              .is_first = is_first,
                              .taken_over = task->processing,
                              .updated_at_ms = task->updated_at_ms,
                              .has_instance = is_first,
                              .created_at_ms = instance->created_at_ms,
                              .link = instance->link };
    if (is_first) {
        claim.params = instance->params;
        task->started_at_ms = task->updated_at_ms;
    }
    task->status = PW_TASK_ACTIVE;
    task->processing = true;
    task->owner = owner;
    task->locked_until_ms = model->now_ms + lease_ms;
    return claim;
}

static enum pw_refusal hold(struct model *model, struct pw_op_hold *op)
{
    struct pw_instance *instance = store_model_task(model, op->instance);
    if (instance == NULL)
        return PW_REFUSED_MOVED;
    op->claim = store_model_take(model, instance, op->owner, op->lease_ms);
    instance->task.pause_requested = false;
    if (instance->task.kind == PW_TASK_REPAIR)
        instance->task.kind = PW_TASK_RESUME;
    store_model_tell_due(model, PW_EFFECT_HELD, instance, PW_REASON_RESUME, 0);
    return PW_REFUSED_NOT;
}

static enum pw_refusal renew(struct model *model, struct pw_op_renew *op)
{
    for (size_t i = 0; i < op->count; i++) {
        struct pw_lease *lease = &op->leases[i];
        struct pw_instance *instance = store_model_task(model, lease->fence.instance);
        lease->lost = instance == NULL || !instance->task.processing || instance->run != lease->fence.run ||
                      instance->task.epoch != lease->fence.epoch || instance->task.owner != op->owner;
        lease->pause_requested = !lease->lost && instance->task.pause_requested;
        lease->demand = lease->lost ? PW_DEMAND_NONE : instance->task.demand;
        if (!lease->lost)
            instance->task.locked_until_ms = model->now_ms + op->lease_ms;
    }
    return PW_REFUSED_NOT;
}

/* ---- Claiming ------------------------------------------------------------------------------------------------------ */

int64_t store_model_due_since(const struct pw_instance *instance)
{
    const struct pw_task *task = &instance->task;
    if (!instance->has_task || (!task->processing && task->status == PW_TASK_PAUSED))
        return INT64_MAX;
    return task->processing ? task->locked_until_ms : task->due_at_ms;
}

bool store_model_is_named(const struct pw_text *names, size_t count, struct pw_text name)
{
    for (size_t i = 0; i < count; i++)
        if (pw_text_equal(names[i], name))
            return true;
    return false;
}

int64_t store_model_due_for(const struct pw_instance *instance, const struct pw_text *workflows, size_t count,
                            const struct pw_share *share)
{
    int64_t since_ms = store_model_due_since(instance);
    for (size_t i = 0; share != NULL && i < share->except_count; i++)
        if (share->except[i] == instance->key)
            return INT64_MAX;
    for (size_t i = 0; i < count && since_ms < INT64_MAX; i++) {
        if (!pw_text_equal(workflows[i], instance->workflow))
            continue;
        bool is_whole = share == NULL || share->owned == NULL || share->owned[i].data == NULL;
        bool is_own = is_whole || share->owned[i].data[pw_shard_of(instance->workflow, instance->id)] == '1';
        return is_own ? since_ms : since_ms + share->grace_ms;
    }
    return INT64_MAX;
}

static bool goes_before(const struct pw_instance *left, const struct pw_instance *right)
{
    bool left_later = !left->task.processing && left->task.kind == PW_TASK_RUN;
    bool right_later = !right->task.processing && right->task.kind == PW_TASK_RUN;
    if (left_later != right_later)
        return right_later;
    bool is_older = store_model_due_since(left) != store_model_due_since(right)
                        ? store_model_due_since(left) < store_model_due_since(right)
                        : left->key < right->key;
    return is_older;
}

static struct pw_instance *next_to_claim(struct model *model, const struct pw_op_claim *op)
{
    struct pw_instance *best = NULL;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        struct pw_instance *instance = &model->rows.instances[i];
        if (store_model_due_for(instance, op->workflows, op->workflow_count, &op->share) <= model->now_ms &&
            (best == NULL || goes_before(instance, best)))
            best = instance;
    }
    return best;
}

/* How many may be claimed. */
static size_t room_of(struct model *model, const struct pw_op_claim *op)
{
    size_t leased = 0;
    if (op->leased_max == 0)
        return op->max;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        const struct pw_instance *instance = &model->rows.instances[i];
        leased += instance->has_task && instance->task.processing && instance->task.locked_until_ms > model->now_ms &&
                  pw_text_equal(instance->workflow, op->workflows[0]);
    }
    size_t room = leased < op->leased_max ? op->leased_max - leased : 0;
    return room < op->max ? room : op->max;
}

static enum pw_refusal claim(struct model *model, struct pw_op_claim *op, struct pw_arena *arena)
{
    size_t room = room_of(model, op);
    struct pw_rows claims = { .arena = arena, .row_size = sizeof(struct pw_claim) };
    struct pw_instance *instance;
    for (size_t i = 0; i < model->rows.instance_count; i++) {
        instance = &model->rows.instances[i];
        if (instance->has_task && instance->task.processing && instance->task.pause_requested &&
            instance->task.locked_until_ms <= model->now_ms &&
            store_model_is_named(op->workflows, op->workflow_count, instance->workflow)) {
            store_model_let_go(model, &instance->task, PW_TASK_PAUSED);
            (void)store_model_tell(model, PW_EFFECT_PARKED, instance->key, instance->run);
        }
    }
    op->bytes = 0;
    while (claims.count < room && (op->bytes_max == 0 || op->bytes < op->bytes_max) &&
           (instance = next_to_claim(model, op)) != NULL) {
        op->bytes += op->bytes_max != 0 ? instance->params.size : 0;
        struct pw_claim *row = pw_rows_add(&claims);
        assert_non_null(row);
        *row = store_model_take(model, instance, op->owner, op->lease_ms);
        (void)store_model_tell(model, PW_EFFECT_HELD, instance->key, instance->run);
    }
    op->claims = claims.rows;
    op->claim_count = claims.count;
    return PW_REFUSED_NOT;
}

/* ---- History ------------------------------------------------------------------------------------------------------- */

static struct model_step *find_step(struct model *model, int64_t instance, int64_t run, int64_t seq)
{
    for (size_t i = 0; i < model->rows.step_count; i++) {
        struct model_step *step = &model->rows.steps[i];
        if (step->instance == instance && step->run == run && step->row.seq == seq)
            return step;
    }
    return NULL;
}

static enum pw_refusal put_step(struct model *model, const struct pw_op_step *op)
{
    struct model_step *step = find_step(model, op->instance, op->run, op->row.seq);
    if (step == NULL && !op->is_new)
        return PW_REFUSED_MOVED;
    assert_true(step == NULL || !op->is_new);
    struct pw_step_row row = op->row;
    row.name = op->is_new ? store_model_keep(model, row.name) : step->row.name;
    row.kind = op->is_new ? row.kind : step->row.kind;
    row.created_at_ms = op->is_new ? or_now(model, row.created_at_ms) : step->row.created_at_ms;
    row.undoes = op->is_new ? store_model_keep(model, row.undoes) : step->row.undoes;
    row.place.fork = store_model_keep(model, row.place.fork);
    row.place.outer = store_model_keep(model, row.place.outer);
    row.place = op->is_new ? row.place : step->row.place;
    row.updated_at_ms = or_now(model, row.updated_at_ms);
    row.description = store_model_keep(model, row.description);
    row.wait_event_type = store_model_keep(model, row.wait_event_type);
    row.awaited_workflow = store_model_keep(model, row.awaited_workflow);
    row.awaited_id = store_model_keep(model, row.awaited_id);
    row.result = store_model_keep(model, row.result);
    row.error_name = store_model_keep(model, row.error_name);
    row.error_message = store_model_keep(model, row.error_message);
    if (step == NULL)
        step = ADD_ROW(model, step);
    *step = (struct model_step){ op->instance, op->run, row };
    store_model_tell(model, PW_EFFECT_STEP, op->instance, op->run)->as.step = &op->row;
    return PW_REFUSED_NOT;
}

static enum pw_refusal consume(struct model *model, const struct pw_op_consume *op)
{
    for (size_t i = 0; i < model->rows.event_count; i++) {
        struct model_event *event = &model->rows.events[i];
        if (event->instance != op->instance || event->run != op->run || event->row.seq != op->seq)
            continue;
        event->row.delivered_at_ms = or_now(model, op->delivered_at_ms);
        event->row.consumed_by = store_model_keep(model, op->step);
        (void)store_model_tell(model, PW_EFFECT_CHANGED, op->instance, op->run);
        return PW_REFUSED_NOT;
    }
    return PW_REFUSED_MOVED;
}

enum pw_refusal store_model_log(struct model *model, const struct pw_op_log *op)
{
    struct pw_log_row row = op->row;
    row.seq = 1;
    row.created_at_ms = or_now(model, row.created_at_ms);
    for (size_t i = 0; i < model->rows.log_count; i++) {
        const struct model_log *before = &model->rows.logs[i];
        if (before->instance != op->instance || before->run != op->run)
            continue;
        row.seq++;
        row.created_at_ms = newer(row.created_at_ms, before->row.created_at_ms);
    }
    row.step = store_model_keep(model, row.step);
    row.category = store_model_keep(model, row.category);
    row.message = store_model_keep(model, row.message);
    row.data = store_model_keep(model, row.data);
    *ADD_ROW(model, log) = (struct model_log){ op->instance, op->run, row };
    (void)store_model_tell(model, PW_EFFECT_CHANGED, op->instance, op->run);
    return PW_REFUSED_NOT;
}

/* ---- The user's SQL ------------------------------------------------------------------------------------------------ */

/* The test's two statements that do something, and parameters like ["a", 1]; the others fail. */
static enum pw_refusal run_sql(struct model *model, const struct pw_op_sql *op)
{
    bool inserts = strstr(op->sql.data, "INSERT INTO differential") != NULL;
    const char *second = op->parameters.data != NULL ? strchr(op->parameters.data, ',') : NULL;
    if (second == NULL || (!inserts && strstr(op->sql.data, "UPDATE differential") == NULL))
        return PW_REFUSED_MUTATION_FAILED;
    struct model_user given = { op->parameters.data[2], strstr(second, "null") == NULL, strtoll(second + 1, NULL, 10) };
    size_t i = 0;
    while (i < model->rows.user_count && model->rows.users[i].id != given.id)
        i++;
    bool exists = i < model->rows.user_count;
    struct model_user *user = &model->rows.users[i];
    if (inserts && exists)
        return PW_REFUSED_UNIQUE;
    if (inserts) {
        assert_true(i < USERS_MAX);
        *user = given;
        model->rows.user_count++;
    } else if (exists) {
        user->has_number = user->has_number && given.has_number;
        user->number = user->has_number ? user->number + given.number : 0;
    }
    return PW_REFUSED_NOT;
}

int64_t store_model_sum(struct pw_store *store)
{
    const struct model_rows *rows = &((struct model *)store)->rows;
    int64_t sum = 1000 * (int64_t)rows->user_count;
    for (size_t i = 0; i < rows->user_count; i++)
        sum += rows->users[i].has_number ? rows->users[i].number : 0;
    return sum;
}

/* ---- Units --------------------------------------------------------------------------------------------------------- */

static enum pw_refusal apply_op(struct model *model, struct pw_op *op, struct pw_arena *arena)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        return fence(model, &op->as.fence);
    case PW_OP_CREATE:
        return create(model, &op->as.create);
    case PW_OP_RESTART:
        return restart(model, &op->as.restart);
    case PW_OP_STEP:
        return put_step(model, &op->as.step);
    case PW_OP_EVENT:
        return store_model_add_event(model, &op->as.event);
    case PW_OP_CONSUME:
        return consume(model, &op->as.consume);
    case PW_OP_LOG:
        return store_model_log(model, &op->as.log);
    case PW_OP_PARK:
        return park(model, &op->as.park);
    case PW_OP_HOLD:
        return hold(model, &op->as.hold);
    case PW_OP_CONTROL:
        return store_model_control(model, &op->as.control);
    case PW_OP_DEMAND:
        return store_model_demand(model, &op->as.demand);
    case PW_OP_END:
        return store_model_end(model, &op->as.end);
    case PW_OP_FINISH:
        return store_model_finish(model, &op->as.finish);
    case PW_OP_CLAIM:
        return claim(model, &op->as.claim, arena);
    case PW_OP_RENEW:
        return renew(model, &op->as.renew);
    case PW_OP_SQL:
        return run_sql(model, &op->as.sql);
    case PW_OP_HOOK_CLAIM:
        return store_model_claim_hooks(model, &op->as.hook_claim, arena);
    case PW_OP_HOOK_SETTLE:
        return store_model_settle(model, &op->as.hook_settle);
    case PW_OP_HOOK_RESEND:
        return store_model_resend(model, &op->as.hook_resend);
    case PW_OP_REAP:
    case PW_OP_MUTATE:
        break;
    }
    fail_msg("the model has no op of kind %d", (int)op->kind);
    return PW_REFUSED_NOT;
}

static pawl_status apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct model *model = (struct model *)store;
    (void)error;
    model->now_ms = model->clock.now_ms(model->clock.user);
    for (size_t i = 0; i < count; i++) {
        enum pw_refusal refusal = PW_REFUSED_NOT;
        model->before = model->rows;
        model->unit = units[i];
        for (struct pw_op *op = units[i]->first; op != NULL && refusal == PW_REFUSED_NOT; op = op->next)
            refusal = apply_op(model, op, &units[i]->arena);
        if (refusal != PW_REFUSED_NOT)
            model->rows = model->before;
        else
            store_model_tell_hooks(model);
        units[i]->refusal = refusal;
        units[i]->status = pw_refusal_status(refusal);
    }
    return PAWL_OK;
}

/* ---- The store ------------------------------------------------------------------------------------------------------ */

static void close_model(struct pw_store *store)
{
    store_model_reset(store);
    free(store);
}

void store_model_reset(struct pw_store *store)
{
    struct model *model = (struct model *)store;
    pw_arena_clear(&model->arena);
    model->rows = (struct model_rows){ .instance_count = 0 };
}

struct pw_store *store_model_new(struct pawl_clock clock)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->clock = clock;
    model->ops =
        (struct pw_store_ops){ .name = "model", .close = close_model, .apply = apply, .read = store_model_read };
    model->store.ops = &model->ops;
    return &model->store;
}
