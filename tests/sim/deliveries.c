/* deliveries.c - what hooks are to be told: which rows a unit should record, and what claims and settlings make of them.
 *
 * Which rows, is read from what became of the instances, and not from which op did it: a run that is there and may go on
 * after a unit that made, woke or parked it, or reached it from its parent, was enqueued; one that the unit ended has
 * finished. */
#include "fail.h"
#include "model.h"

#include <stdio.h>

const struct sim_hook sim_hooks[SIM_HOOKS_MAX] = {
    { "all", PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED, 3, 1000, 5000 },
    { "ends", PAWL_HOOK_FINISHED, 5, 100, 400 },
};

struct sim_delivery *sim_delivery_of(struct sim_model *model, const char *id)
{
    for (int i = 0; i < model->delivery_count; i++) {
        if (strcmp(model->deliveries[i].id, id) == 0)
            return &model->deliveries[i];
    }
    return NULL;
}

static struct sim_delivery *find_by_key(struct sim_model *model, int64_t key)
{
    for (int i = 0; i < model->delivery_count; i++) {
        if (model->deliveries[i].key == key)
            return &model->deliveries[i];
    }
    return NULL;
}

/* ---- Recording --------------------------------------------------------------------------------------------------------- */

/* What a unit did to one instance. */
struct deeds {
    bool is_made, is_sent_event, is_parked, is_held, is_reached, is_ended;
};

/* Its parent's end made it due: whoever held it would hold it still. */
static bool is_woken_by(const struct pw_reach *op, const struct sim_instance *instance)
{
    const struct pw_link *link = &instance->link;
    return op->demand != PW_DEMAND_NONE && link->relation == PW_RELATION_ATTACHED && link->parent == op->parent &&
           link->run == op->run && instance->task.exists && !instance->task.processing;
}

/* The run was resumed or interrupted, and nobody held it. */
static bool is_let_go_on(const struct pw_op_control *op, const struct sim_instance *instance)
{
    const struct sim_task *task = &instance->task;
    return op->is_done && op->at.instance == instance->key && op->what != PAWL_CONTROL_PAUSE && task->exists &&
           task->epoch != op->at.epoch;
}

static struct deeds deeds_of(const struct pw_unit *unit, const struct sim_instance *of)
{
    struct deeds deeds = { 0 };
    int64_t instance = of->key;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        const struct pw_op_control *control = op->kind == PW_OP_CONTROL ? &op->as.control : NULL;
        const struct pw_op_finish *finish = sim_finish_of(op);
        deeds.is_reached |=
            op->kind == PW_OP_RESTART && op->as.restart.reach.reached > 0 && is_woken_by(&op->as.restart.reach, of);
        deeds.is_reached |= finish != NULL && is_woken_by(&finish->reach, of);
        deeds.is_made |= op->kind == PW_OP_CREATE && op->as.create.created && op->as.create.fence.instance == instance;
        deeds.is_made |= op->kind == PW_OP_RESTART && op->as.restart.instance == instance;
        deeds.is_sent_event |= op->kind == PW_OP_EVENT && op->as.event.told.instance == instance;
        deeds.is_parked |= op->kind == PW_OP_PARK && op->as.park.instance == instance;
        deeds.is_parked |= op->kind == PW_OP_EVENT && op->as.event.told.instance == instance && op->as.event.woke;
        deeds.is_held |= op->kind == PW_OP_HOLD && op->as.hold.instance == instance;
        deeds.is_ended |= finish != NULL && finish->instance == instance;
        deeds.is_held |= control != NULL && is_let_go_on(control, of);
        const struct pw_op_event *answer = finish != NULL ? finish->answer : NULL;
        if (answer != NULL && answer->recorded && answer->told.instance == instance) {
            deeds.is_sent_event = true;
            deeds.is_parked |= answer->woke;
        }
    }
    return deeds;
}

/* Is the hook to be told this of the instance? */
static bool is_to_be_told(const struct sim_instance *instance, struct deeds deeds, int hook, enum pawl_hook_event event)
{
    bool goes_on = instance->task.exists && instance->task.status != PW_TASK_PAUSED;
    bool was_moved = deeds.is_made || deeds.is_parked || deeds.is_held || deeds.is_reached;
    if ((sim_hooks[hook].events & (unsigned)event) == 0)
        return false;
    if (sim_is_job(instance))
        return false;
    return event == PAWL_HOOK_FINISHED ? deeds.is_ended : goes_on && was_moved;
}

static enum pawl_hook_event event_of(const struct pw_effect *effect)
{
    return effect->kind == PW_EFFECT_ENDED ? PAWL_HOOK_FINISHED : PAWL_HOOK_ENQUEUED;
}

/* Does the effect say that a run is due, or has ended? */
static bool is_telling(const struct pw_effect *effect)
{
    bool can_be_due = effect->kind == PW_EFFECT_BEGUN || effect->kind == PW_EFFECT_PARKED ||
                      effect->kind == PW_EFFECT_HELD || effect->kind == PW_EFFECT_WOKEN;
    return !effect->is_job && (effect->kind == PW_EFFECT_ENDED || (can_be_due && effect->as.due.reason != 0));
}

static void check_told(const struct pw_unit *unit, const struct sim_instance *instance, int hook,
                       enum pawl_hook_event event)
{
    int count = 0;
    const struct pw_subscription *to = unit->subscriptions;
    while (to != NULL && !pw_text_equal(to->hook, pw_text_of(sim_hooks[hook].name)))
        to = atomic_load(&to->next);
    for (const struct pw_effect *effect = unit->effects; to != NULL && effect != NULL; effect = effect->next)
        count += is_telling(effect) && effect->instance == instance->key && event_of(effect) == event;
    SIM_CHECK(SIM_RULE_RECORDED, count == 1, "%s is told %d times that %s %s", sim_hooks[hook].name, count,
              instance->id, event == PAWL_HOOK_FINISHED ? "has finished" : "is due");
}

static enum pw_hook_reason reason_of(struct deeds deeds, const struct sim_task *task)
{
    if (deeds.is_made)
        return PW_REASON_CREATE;
    if (deeds.is_sent_event)
        return PW_REASON_EVENT;
    if (deeds.is_held)
        return PW_REASON_RESUME;
    return task->kind == PW_TASK_WAKE    ? PW_REASON_WAKE
           : task->kind == PW_TASK_RETRY ? PW_REASON_RETRY
                                         : PW_REASON_RESUME;
}

/* Where no time is told the run is due at once, otherwise when its task is. */
static int64_t due_of(const struct pw_effect *effect, const struct sim_instance *instance, int64_t now_ms)
{
    int64_t due_at_ms = instance->task.due_at_ms;
    bool at_once = effect->as.due.at_ms == 0;
    SIM_CHECK(SIM_RULE_RECORDED, !at_once || instance->task.processing || due_at_ms <= now_ms,
              "%s is due at %lld, and not at once", instance->id, (long long)due_at_ms);
    return at_once ? 0 : due_at_ms;
}

static struct sim_delivery *add_delivery(struct sim_model *model, const struct pw_subscription *to, int hook,
                                         const struct sim_instance *instance, int64_t now_ms)
{
    SIM_CHECK(SIM_RULE_RECORDED, to->attempts_max == sim_hooks[hook].attempts_max, "%lld attempts for %s",
              (long long)to->attempts_max, sim_hooks[hook].name);
    if (model->delivery_count == SIM_DELIVERIES_MAX)
        sim_give_up("%d deliveries", model->delivery_count);
    struct sim_delivery *delivery = &model->deliveries[model->delivery_count++];
    *delivery = (struct sim_delivery){ .exists = true,
                                       .hook = hook,
                                       .instance = instance->key,
                                       .run = instance->run,
                                       .created_at_ms = now_ms,
                                       .next_at_ms = now_ms };
    return delivery;
}

static int hook_of(struct pw_text name)
{
    int hook = 0;
    while (hook < SIM_HOOKS_MAX && !pw_text_equal(name, pw_text_of(sim_hooks[hook].name)))
        hook++;
    SIM_CHECK(SIM_RULE_RECORDED, hook < SIM_HOOKS_MAX, "there is no hook %.*s", (int)name.size, name.data);
    return hook;
}

static void record(struct sim_model *model, const struct pw_unit *unit, const struct pw_effect *effect,
                   const struct pw_subscription *to, int number, int64_t now_ms)
{
    const struct sim_instance *instance = sim_model_by_key(model, effect->instance);
    int hook = hook_of(to->hook);
    SIM_CHECK(SIM_RULE_RECORDED, instance != NULL, "%s is told of an instance that is not there", sim_hooks[hook].name);
    struct deeds deeds = deeds_of(unit, instance);
    SIM_CHECK(SIM_RULE_RECORDED, is_to_be_told(instance, deeds, hook, event_of(effect)), "%s is told of %s for nothing",
              sim_hooks[hook].name, instance->id);
    struct sim_delivery *delivery = add_delivery(model, to, hook, instance, now_ms);
    delivery->event = event_of(effect);
    if (number == 1) /* of one unit many are told, each by a name of its own */
        (void)snprintf(delivery->id, sizeof delivery->id, "%s", unit->delivery_id);
    else
        (void)snprintf(delivery->id, sizeof delivery->id, "%s-%d", unit->delivery_id, number);
    if (delivery->event == PAWL_HOOK_FINISHED) {
        delivery->outcome = instance->outcome;
        memcpy(delivery->error_name, instance->error_name, sizeof delivery->error_name);
        memcpy(delivery->error_message, instance->error_message, sizeof delivery->error_message);
        return;
    }
    delivery->reason = reason_of(deeds, &instance->task);
    delivery->due_at_ms = due_of(effect, instance, now_ms);
    SIM_CHECK(SIM_RULE_RECORDED, effect->as.due.reason == delivery->reason, "%s is due for reason %d, not %d",
              instance->id, (int)delivery->reason, (int)effect->as.due.reason);
}

void sim_apply_hooks(struct sim_model *model, const struct pw_unit *unit, int64_t now_ms)
{
    static const enum pawl_hook_event events[] = { PAWL_HOOK_ENQUEUED, PAWL_HOOK_FINISHED };
    for (int i = 0; i < model->instance_count; i++) {
        const struct sim_instance *instance = &model->instances[i];
        struct deeds deeds = deeds_of(unit, instance);
        for (int j = 0; j < SIM_HOOKS_MAX * 2; j++) {
            if (is_to_be_told(instance, deeds, j / 2, events[j % 2]))
                check_told(unit, instance, j / 2, events[j % 2]);
        }
    }
    int number = 0;
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        const struct pw_subscription *to = is_telling(effect) ? unit->subscriptions : NULL;
        for (; to != NULL; to = atomic_load(&to->next))
            if ((to->events & (unsigned)event_of(effect)) != 0)
                record(model, unit, effect, to, ++number, now_ms);
    }
}

/* ---- Attempts ---------------------------------------------------------------------------------------------------------- */

static const struct pw_hook_wanted *find_wanted(const struct pw_op_hook_claim *op, int hook)
{
    for (size_t i = 0; i < op->wanted_count; i++) {
        if (pw_text_equal(op->wanted[i].hook, pw_text_of(sim_hooks[hook].name)))
            return &op->wanted[i];
    }
    return NULL;
}

/* The longest due; of those of one moment the oldest. */
static struct sim_delivery *find_due(struct sim_model *model, const struct pw_op_hook_claim *op, int64_t now_ms)
{
    struct sim_delivery *found = NULL;
    for (int i = 0; i < model->delivery_count; i++) {
        struct sim_delivery *delivery = &model->deliveries[i];
        bool is_due = delivery->exists && delivery->next_at_ms != 0 && delivery->next_at_ms <= now_ms;
        if (is_due && (found == NULL || delivery->next_at_ms < found->next_at_ms) &&
            find_wanted(op, delivery->hook) != NULL)
            found = delivery;
    }
    return found;
}

static void give_up(struct sim_delivery *delivery)
{
    delivery->next_at_ms = delivery->locked_until_ms = 0;
    delivery->has_error = true;
    delivery->epoch++;
}

static void take(struct sim_delivery *delivery, const struct pw_hook_row *row, int64_t lease_ms, int64_t now_ms)
{
    SIM_CHECK(SIM_RULE_ATTEMPTED, pw_text_equal(row->id, pw_text_of(delivery->id)), "claimed %s instead of %s",
              row->id.data, delivery->id);
    SIM_CHECK(SIM_RULE_STORED, delivery->key == 0 || delivery->key == row->key, "%s has another key", delivery->id);
    delivery->key = row->key;
    delivery->attempts++;
    delivery->epoch++;
    delivery->next_at_ms = delivery->locked_until_ms = now_ms + lease_ms;
    SIM_CHECK(SIM_RULE_ATTEMPTED,
              row->attempts == delivery->attempts && row->epoch == delivery->epoch &&
                  row->locked_until_ms == delivery->locked_until_ms,
              "%s: attempt %lld, epoch %lld, until %lld; it should be %lld, %lld, %lld", delivery->id,
              (long long)row->attempts, (long long)row->epoch, (long long)row->locked_until_ms,
              (long long)delivery->attempts, (long long)delivery->epoch, (long long)delivery->locked_until_ms);
}

void sim_apply_hook_claim(struct sim_model *model, const struct pw_op_hook_claim *op, int64_t now_ms)
{
    size_t claimed = 0;
    while (claimed < op->max) {
        struct sim_delivery *delivery = find_due(model, op, now_ms);
        if (delivery == NULL)
            break;
        if (delivery->attempts >= sim_hooks[delivery->hook].attempts_max) {
            give_up(delivery);
            continue;
        }
        SIM_CHECK(SIM_RULE_ATTEMPTED, claimed < op->row_count, "%s is due, and not claimed", delivery->id);
        take(delivery, &op->rows[claimed++], find_wanted(op, delivery->hook)->lease_ms, now_ms);
    }
    SIM_CHECK(SIM_RULE_ATTEMPTED, op->row_count == claimed, "claimed %zu instead of %zu", op->row_count, claimed);
}

/* An attempt that failed is followed by another when the policy says so, or not at all. */
static void check_failure(const struct sim_delivery *delivery, const struct pw_op_hook_settle *op, int64_t latest_ms)
{
    const struct sim_hook *hook = &sim_hooks[delivery->hook];
    bool is_last = delivery->saying == SIM_SAYING_NEVER || delivery->attempts == hook->attempts_max;
    int64_t delay_ms = hook->delay_ms;
    for (int64_t i = 1; i < delivery->attempts; i++)
        delay_ms *= 2;
    if (is_last)
        SIM_CHECK(SIM_RULE_ATTEMPTED, op->next_at_ms == 0, "%s is tried again after its last attempt", delivery->id);
    else
        SIM_CHECK(SIM_RULE_ATTEMPTED,
                  op->next_at_ms >= delivery->said_at_ms + delay_ms && op->next_at_ms <= latest_ms + delay_ms,
                  "%s: the next attempt is at %lld, %lld ms after attempt %lld", delivery->id,
                  (long long)op->next_at_ms, (long long)(op->next_at_ms - delivery->said_at_ms),
                  (long long)delivery->attempts);
}

/* Its process was stopped for too long before it could call the hook. */
static void give_back(struct sim_delivery *delivery, const struct pw_op_hook_settle *op, int64_t latest_ms)
{
    SIM_CHECK(SIM_RULE_ATTEMPTED,
              delivery->said_epoch != op->epoch && !op->delivered && op->next_at_ms > 0 && op->next_at_ms <= latest_ms,
              "%s is given back, to be tried at %lld", delivery->id, (long long)op->next_at_ms);
    delivery->attempts--;
    delivery->locked_until_ms = 0;
    delivery->next_at_ms = op->next_at_ms;
    delivery->has_error = true;
}

void sim_apply_hook_settle(struct sim_model *model, const struct pw_op_hook_settle *op)
{
    struct sim_delivery *delivery = find_by_key(model, op->key);
    SIM_CHECK(SIM_RULE_ATTEMPTED, delivery != NULL, "delivery %lld was never claimed", (long long)op->key);
    bool is_lost = !delivery->exists || delivery->epoch != op->epoch;
    SIM_CHECK(SIM_RULE_ATTEMPTED, op->lost == is_lost, "the lease of %s is lost: %d", delivery->id, op->lost);
    if (is_lost)
        return;
    if (op->untried) {
        give_back(delivery, op, model->latest_ms);
        return;
    }
    bool was_called = delivery->said_epoch == op->epoch;
    SIM_CHECK(SIM_RULE_ATTEMPTED, was_called && op->delivered == (delivery->saying == SIM_SAYING_YES),
              "%s is settled as delivered %d; said was %d", delivery->id, op->delivered, (int)delivery->saying);
    delivery->locked_until_ms = 0;
    delivery->exists = !op->delivered;
    if (op->delivered)
        return;
    check_failure(delivery, op, model->latest_ms);
    delivery->next_at_ms = op->next_at_ms;
    delivery->was_refused |= delivery->saying == SIM_SAYING_NEVER;
    delivery->has_error = true;
}

void sim_apply_hook_resend(struct sim_model *model, const struct pw_op_hook_resend *op, int64_t now_ms)
{
    char id[SIM_TEXT_MAX];
    sim_text_copy(id, op->id);
    struct sim_delivery *delivery = sim_delivery_of(model, id);
    bool exists = delivery != NULL && delivery->exists;
    SIM_CHECK(SIM_RULE_STORED, op->found == exists, "sending %s again: found %d", id, op->found);
    if (!exists)
        return;
    delivery->attempts = 0;
    delivery->epoch++;
    delivery->next_at_ms = now_ms;
    delivery->locked_until_ms = 0;
    delivery->was_refused = false;
    delivery->resent = model->units + 1;
}

/* ---- Looking ----------------------------------------------------------------------------------------------------------- */

int64_t sim_model_next_delivery(const struct sim_model *model, unsigned hooks)
{
    int64_t next_ms = INT64_MAX;
    for (int i = 0; i < model->delivery_count; i++) {
        const struct sim_delivery *delivery = &model->deliveries[i];
        bool waits = delivery->exists && delivery->next_at_ms != 0 && (hooks & 1u << delivery->hook) != 0;
        if (waits && delivery->next_at_ms < next_ms)
            next_ms = delivery->next_at_ms;
    }
    return next_ms;
}

void sim_check_deliveries(const struct sim_model *model)
{
    for (int i = 0; i < model->delivery_count; i++) {
        const struct sim_delivery *delivery = &model->deliveries[i];
        bool has_failed = delivery->exists && delivery->next_at_ms == 0 &&
                          (delivery->was_refused || delivery->attempts == sim_hooks[delivery->hook].attempts_max);
        SIM_CHECK(SIM_RULE_DELIVERED, delivery->exists ? has_failed : delivery->was_told,
                  "%s was neither made nor given up: %lld attempts", delivery->id, (long long)delivery->attempts);
    }
}
