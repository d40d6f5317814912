/* claims.c - which tasks a runner gets, in which order, and which leases it keeps. */
#include <stdlib.h>

#include "fail.h"
#include "model.h"

void sim_task_touch(struct sim_task *task, int64_t now_ms)
{
    if (task->updated_at_ms < now_ms)
        task->updated_at_ms = now_ms;
}

void sim_take_task(struct sim_instance *instance, int64_t owner, int64_t lease_ms, int64_t now_ms)
{
    struct sim_task *task = &instance->task;
    struct sim_run *run = sim_model_run(instance, instance->run);
    run->claims++;
    run->pause_told = false;
    task->status = PW_TASK_ACTIVE;
    task->kind = task->kind == PW_TASK_REPAIR ? PW_TASK_RESUME : task->kind; /* it is handed over as it is resumed */
    task->processing = true;
    task->epoch++;
    task->owner = owner;
    task->locked_until_ms = now_ms + lease_ms;
    sim_task_touch(task, now_ms);
    if (task->started_at_ms == 0)
        task->started_at_ms = task->updated_at_ms;
}

/* ---- Leases that have expired ------------------------------------------------------------------------------------ */

static bool is_seen_as(const struct sim_instance *instance)
{
    const struct sim_sighting *seen = &instance->sighting;
    const struct sim_task *task = &instance->task;
    return seen->exists && seen->owner == task->owner && seen->epoch == task->epoch &&
           seen->locked_until_ms == task->locked_until_ms;
}

static int64_t longer(const struct sim_sighting *seen, int64_t lease_ms, int64_t monotonic_ms)
{
    int64_t needed_ms = seen->left_ms > lease_ms ? seen->left_ms : lease_ms;
    int64_t wait_ms = seen->since_ms + needed_ms - monotonic_ms;
    return wait_ms > 0 ? wait_ms : 0;
}

bool sim_see_lease(const struct sim_model *model, struct sim_instance *instance, int64_t lease_ms, int64_t now_ms)
{
    struct sim_task *task = &instance->task;
    if (lease_ms != 0 && !(task->owner > 0 && model->lives(model->world, task->owner)))
        return true;
    if (!is_seen_as(instance))
        instance->sighting = (struct sim_sighting){ .exists = true,
                                                    .owner = task->owner,
                                                    .epoch = task->epoch,
                                                    .locked_until_ms = task->locked_until_ms,
                                                    .since_ms = model->monotonic_ms,
                                                    .left_ms = task->locked_until_ms - now_ms };
    if (lease_ms != 0)
        instance->sighting.lease_ms = lease_ms;
    return longer(&instance->sighting, lease_ms, model->monotonic_ms) == 0;
}

void sim_apply_reap(struct sim_model *model, int64_t now_ms)
{
    for (int i = 0; i < model->instance_count; i++) {
        struct sim_instance *instance = &model->instances[i];
        if (instance->task.exists && instance->task.processing && instance->task.owner > 0)
            (void)sim_see_lease(model, instance, 0, now_ms);
        else
            instance->sighting.exists = false;
    }
}

int64_t sim_lease_wait_ms(const struct sim_model *model, const struct sim_instance *instance)
{
    const struct sim_task *task = &instance->task;
    bool is_watched = task->owner > 0 && model->lives(model->world, task->owner) && is_seen_as(instance) &&
                      instance->sighting.lease_ms != 0;
    return is_watched ? longer(&instance->sighting, instance->sighting.lease_ms, model->monotonic_ms) : 0;
}

/* ---- Claiming ---------------------------------------------------------------------------------------------------- */

struct candidate {
    struct sim_instance *instance;
    int group; /* 0 goes first */
    int64_t due_at_ms;
};

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *one = left, *other = right;
    if (one->group != other->group)
        return one->group - other->group;
    if (one->due_at_ms != other->due_at_ms)
        return one->due_at_ms < other->due_at_ms ? -1 : 1;
    return one->instance->key < other->instance->key ? -1 : 1;
}

static void pause_expired(struct sim_instance *instance, int64_t now_ms)
{
    struct sim_task *task = &instance->task;
    sim_model_run(instance, instance->run)->taken_epoch = task->epoch;
    sim_task_touch(task, now_ms);
    task->status = PW_TASK_PAUSED;
    task->processing = task->pause_requested = false;
    task->owner = task->locked_until_ms = 0;
    task->epoch++;
}

static bool is_wanted(const struct pw_op_claim *op, const struct sim_instance *instance)
{
    for (size_t i = 0; i < op->workflow_count; i++) {
        if (pw_text_equal(op->workflows[i], pw_text_of(instance->workflow)))
            return true;
    }
    return false;
}

static int find_candidates(struct sim_model *model, const struct pw_op_claim *op, int64_t now_ms,
                           struct candidate candidates[SIM_INSTANCES_MAX])
{
    const struct pw_share *share = &op->share;
    int count = 0;
    for (int i = 0; i < model->instance_count; i++) {
        struct sim_instance *instance = &model->instances[i];
        struct sim_task *task = &instance->task;
        int64_t at_ms = task->processing ? task->locked_until_ms : task->due_at_ms;
        if (!task->exists || at_ms > now_ms || !is_wanted(op, instance))
            continue;
        if (task->processing && task->pause_requested && sim_see_lease(model, instance, op->lease_ms, now_ms))
            pause_expired(instance, now_ms);
        if (task->status == PW_TASK_PAUSED || sim_share_begins(instance, share, at_ms) > now_ms)
            continue;
        if (task->processing && !sim_see_lease(model, instance, op->lease_ms, now_ms))
            continue;
        int group = task->processing || task->kind != PW_TASK_RUN ? 0 : 1;
        candidates[count++] = (struct candidate){ instance, group, at_ms };
    }
    qsort(candidates, (size_t)count, sizeof *candidates, compare_candidates);
    return count;
}

/* The claimed one, which is as good as the first that is left: of those due at the same time any may be. */
static struct sim_instance *take_candidate(struct candidate *candidates, size_t first, size_t count, int64_t key)
{
    size_t found = first;
    while (found < count && candidates[found].instance->key != key)
        found++;
    SIM_CHECK(SIM_RULE_CLAIM,
              found < count && candidates[found].group == candidates[first].group &&
                  candidates[found].due_at_ms == candidates[first].due_at_ms,
              "claimed instance %lld instead of %s", (long long)key, candidates[first].instance->id);
    struct sim_instance *instance = candidates[found].instance;
    candidates[found] = candidates[first];
    return instance;
}

/* What is in others' shards it leaves to them until the grace is over, and then takes as its own. */
static void check_share(struct sim_model *model, const struct pw_op_claim *op, size_t count, int64_t now_ms)
{
    if (op->share.owned == NULL)
        return;
    for (size_t i = 0; i < op->claim_count; i++) {
        const struct sim_instance *instance = sim_model_by_key(model, op->claims[i].fence.instance);
        const struct sim_task *task = &instance->task;
        int64_t at_ms = task->processing ? task->locked_until_ms : task->due_at_ms;
        SIM_CHECK(SIM_RULE_SHARE, sim_share_begins(instance, &op->share, at_ms) <= now_ms,
                  "%s, due at %lld, is another's", instance->id, (long long)at_ms);
    }
    SIM_CHECK(SIM_RULE_SHARE, op->claim_count == count, "claimed %zu instead of %zu", op->claim_count, count);
}

void sim_apply_claim(struct sim_model *model, const struct pw_op_claim *op, int64_t now_ms)
{
    struct candidate candidates[SIM_INSTANCES_MAX];
    size_t all = (size_t)find_candidates(model, op, now_ms, candidates);
    size_t count = all < op->max ? all : op->max;
    check_share(model, op, count, now_ms);
    SIM_CHECK(SIM_RULE_CLAIM, op->claim_count == count, "claimed %zu instead of %zu", op->claim_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct pw_claim *claim = &op->claims[i];
        struct sim_instance *instance = take_candidate(candidates, i, all, claim->fence.instance);
        SIM_CHECK(SIM_RULE_CLAIM, claim->taken_over == instance->task.processing, "taken over is %d of %s",
                  claim->taken_over, instance->id);
        SIM_CHECK(SIM_RULE_CLAIM, claim->demand == instance->task.demand, "the demand of %s is %d", instance->id,
                  (int)claim->demand);
        SIM_CHECK(SIM_RULE_CLAIM, claim->is_first == (instance->task.started_at_ms == 0), "is first is %d of %s",
                  claim->is_first, instance->id);
        if (instance->task.processing)
            sim_model_run(instance, instance->run)->taken_epoch = instance->task.epoch;
        sim_take_task(instance, op->owner, op->lease_ms, now_ms);
        SIM_CHECK(SIM_RULE_EPOCH, claim->fence.epoch == instance->task.epoch && claim->fence.run == instance->run,
                  "claimed %s, run %lld, epoch %lld", instance->id, (long long)claim->fence.run,
                  (long long)claim->fence.epoch);
    }
}

void sim_apply_renew(struct sim_model *model, const struct pw_op_renew *op, int64_t now_ms)
{
    for (size_t i = 0; i < op->count; i++) {
        const struct pw_lease *lease = &op->leases[i];
        struct sim_instance *instance = sim_model_by_key(model, lease->fence.instance);
        bool held =
            sim_model_holds(model, &lease->fence) && instance->task.processing && instance->task.owner == op->owner;
        SIM_CHECK(SIM_RULE_FENCE, lease->lost == !held, "a lease of %s is lost: %d", instance->id, lease->lost);
        SIM_CHECK(SIM_RULE_FENCE, lease->renewed == held, "a lease of %s is renewed: %d", instance->id, lease->renewed);
        SIM_CHECK(SIM_RULE_DEMAND, !held || lease->demand == instance->task.demand, "the demand of %s is %d",
                  instance->id, (int)lease->demand);
        if (held)
            instance->task.locked_until_ms = now_ms + op->lease_ms;
    }
}
