/* model.c - the arrays: finding, counting, digests.  See model.h. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail.h"

static void clear_logs(struct sim_model *model)
{
    for (int i = 0; i < model->instance_count; i++) {
        for (int run = 0; run < SIM_RUNS_MAX; run++)
            free(model->instances[i].runs[run].logs);
    }
}

void sim_model_reset(struct sim_model *model, const struct sim_program *programs, int64_t start_ms)
{
    clear_logs(model);
    model->programs = programs;
    model->start_ms = model->latest_ms = start_ms;
    model->was_set_back = false;
    model->instance_count = model->body_count = model->effect_count = model->unique_count = 0;
    model->delivery_count = 0;
    model->units = 0;
    model->has_hooks = false;
    model->monotonic_ms = 0;
}

struct sim_instance *sim_model_find(struct sim_model *model, const char *workflow, const char *id)
{
    for (int i = 0; i < model->instance_count; i++) {
        struct sim_instance *instance = &model->instances[i];
        if (strcmp(instance->workflow, workflow) == 0 && strcmp(instance->id, id) == 0)
            return instance;
    }
    return NULL;
}

struct sim_instance *sim_model_by_key(struct sim_model *model, int64_t key)
{
    for (int i = 0; i < model->instance_count; i++) {
        if (model->instances[i].key == key)
            return &model->instances[i];
    }
    return NULL;
}

struct sim_run *sim_model_run(struct sim_instance *instance, int64_t run)
{
    if (run < 1 || run > SIM_RUNS_MAX)
        sim_give_up("run %lld of an instance", (long long)run);
    return &instance->runs[run - 1];
}

bool sim_model_holds(struct sim_model *model, const struct pw_fence *fence)
{
    const struct sim_instance *instance = sim_model_by_key(model, fence->instance);
    return instance != NULL && instance->task.exists && instance->run == fence->run &&
           instance->task.epoch == fence->epoch;
}

int64_t sim_model_next_due(const struct sim_model *model, int64_t now_ms)
{
    static const struct pw_share all = { .owned = NULL };
    return sim_model_next_of_share(model, &all, now_ms);
}

int64_t sim_share_begins(const struct sim_instance *instance, const struct pw_share *share, int64_t due_at_ms)
{
    int workflow = instance->workflow[0] == '@' ? 0 : instance->workflow[0] == 'a' ? 1 : 2;
    const struct pw_text *owned = share->owned != NULL ? &share->owned[workflow] : NULL;
    if (owned == NULL || owned->data == NULL)
        return due_at_ms;
    int shard = pw_shard_of(pw_text_of(instance->workflow), pw_text_of(instance->id));
    return owned->data[shard] == '1' ? due_at_ms : due_at_ms + share->grace_ms;
}

int64_t sim_model_next_of_share(const struct sim_model *model, const struct pw_share *share, int64_t now_ms)
{
    int64_t next_ms = INT64_MAX;
    for (int i = 0; i < model->instance_count; i++) {
        const struct sim_instance *instance = &model->instances[i];
        const struct sim_task *task = &instance->task;
        if (!task->exists || (!task->processing && task->status == PW_TASK_PAUSED))
            continue;
        int64_t at_ms = sim_share_begins(instance, share, task->processing ? task->locked_until_ms : task->due_at_ms);
        bool is_expired = task->processing && task->locked_until_ms <= now_ms;
        int64_t wait_ms = is_expired ? sim_lease_wait_ms(model, instance) : 0;
        if (wait_ms > 0 && now_ms + wait_ms > at_ms)
            at_ms = now_ms + wait_ms;
        next_ms = at_ms < next_ms ? at_ms : next_ms;
    }
    return next_ms;
}

bool sim_is_pausing(const struct sim_instance *instance)
{
    return instance->task.exists && instance->task.pause_requested;
}

bool sim_awaits_repair(const struct sim_instance *instance)
{
    const struct sim_task *task = &instance->task;
    return task->exists && task->status == PW_TASK_PAUSED && task->kind == PW_TASK_REPAIR;
}

enum pawl_instance_status sim_status_of(const struct sim_instance *instance)
{
    switch (instance->outcome) {
    case PW_OUTCOME_COMPLETE:
        return PAWL_COMPLETE;
    case PW_OUTCOME_TERMINATED:
        return PAWL_TERMINATED;
    case PW_OUTCOME_ERRORED:
        return PAWL_ERRORED;
    case PW_OUTCOME_OPEN:
        break;
    }
    return instance->task.status == PW_TASK_PAUSED    ? PAWL_PAUSED
           : instance->task.status == PW_TASK_WAITING ? PAWL_WAITING
                                                      : PAWL_ACTIVE;
}

bool sim_step_is_finished(const struct sim_step *step)
{
    return step->exists && step->status != PAWL_STEP_WAITING;
}

bool sim_step_is_abandoned(const struct sim_step *step)
{
    return step->exists && (step->state == PAWL_STATE_ABANDONED || step->state == PAWL_STATE_GIVEN_UP);
}

/* What stands behind the prefix, as a position past `first`. */
static int position_of(struct pw_text name, const char *prefix, int first)
{
    size_t size = strlen(prefix);
    int node = 0;
    if (name.size <= size || name.size > size + 2 || memcmp(name.data, prefix, size) != 0)
        return SIM_NONE;
    for (size_t i = size; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9')
            return SIM_NONE;
        node = node * 10 + (name.data[i] - '0');
    }
    return node < SIM_NODES_MAX ? first + node : SIM_NONE;
}

int sim_node_of(struct pw_text name)
{
    int position = position_of(name, "n", 0);
    if (position == SIM_NONE)
        position = position_of(name, "c", SIM_NODES_MAX);
    if (position == SIM_NONE)
        position = position_of(name, "compensate: n", 2 * SIM_NODES_MAX);
    return position == SIM_NONE && pw_text_equal(name, pw_text_of("call")) ? 0 : position;
}

size_t sim_name_of(int position, char name[SIM_NAME_SIZE])
{
    const char *prefix = sim_is_undo(position) ? "compensate: n" : sim_is_await(position) ? "c" : "n";
    return (size_t)snprintf(name, SIM_NAME_SIZE, "%s%d", prefix, sim_node_at(position));
}

bool sim_is_job(const struct sim_instance *instance)
{
    return instance->link.relation == PW_RELATION_JOB;
}

/* "" stands for an absent text: the simulation uses no empty ones. */
void sim_text_copy(char to[SIM_TEXT_MAX], struct pw_text from)
{
    if (from.size >= SIM_TEXT_MAX)
        sim_give_up("a text of %zu bytes: %.*s", from.size, (int)from.size, from.data);
    if (from.size > 0)
        memcpy(to, from.data, from.size);
    to[from.size] = '\0';
}

uint64_t sim_digest(uint64_t digest, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001B3);
    return sim_mix(digest + size);
}

uint64_t sim_digest_text(uint64_t digest, struct pw_text text)
{
    return sim_digest(digest + (text.data != NULL), text.data, text.size);
}

uint64_t sim_digest_log(const struct pw_log_row *row)
{
    int64_t numbers[] = { row->attempt, row->level, row->is_replay };
    uint64_t digest = sim_digest(0, numbers, sizeof numbers);
    digest = sim_digest_text(digest, row->step);
    digest = sim_digest_text(digest, row->category);
    digest = sim_digest_text(digest, row->message);
    return sim_digest_text(digest, row->data);
}

/* ---- Bodies ---------------------------------------------------------------------------------------------------- */

/* Whoever wants to keep steps of the run can see that they are being undone. */
static bool is_known_to_be_undone(const struct sim_instance *instance, const struct sim_run *run)
{
    bool any = instance->task.demand != PW_DEMAND_NONE;
    for (int i = 2 * SIM_NODES_MAX; i < SIM_STEPS_MAX; i++)
        any |= run->steps[i].exists;
    return any;
}

/* The lease of its turn was taken, and its process does not know.  That can only be if the process was stopped after it had
 * looked, for longer than the third of the lease that was left then. */
static void check_lease(const struct sim_start *start, const struct sim_instance *instance, const struct sim_run *run,
                        int64_t monotonic_ms)
{
    SIM_CHECK(
        SIM_RULE_LEASED,
        start->fence->epoch > run->taken_epoch || monotonic_ms - start->looked_at_ms >= start->lease_ms / 3,
        "n%d of %s begins in epoch %lld after its lease was taken; the last look was %lld ms ago, a lease is %lld",
        start->node, instance->id, (long long)start->fence->epoch, (long long)(monotonic_ms - start->looked_at_ms),
        (long long)start->lease_ms);
}

static void check_body(struct sim_model *model, const struct sim_start *start)
{
    const struct pw_fence *fence = start->fence;
    int node = start->node;
    struct sim_instance *instance = sim_model_by_key(model, fence->instance);
    const struct sim_run *run = sim_model_run(instance, fence->run);
    const struct sim_step *step = &run->steps[node];
    /* The body of a job that comes to its end ends the run, and is not recorded as an attempt. */
    int64_t recorded = step->attempts + step->attempts_before;
    int64_t allowed = sim_is_job(instance) ? run->claims : recorded + (run->claims - run->closings) + run->expiries;
    SIM_CHECK(SIM_RULE_BODIES, step->bodies <= allowed,
              "n%d of %s, run %lld: %d bodies, %lld attempts, %d of %d turns were lost", node, instance->id,
              (long long)fence->run, step->bodies, (long long)recorded, run->claims - run->closings, run->claims);
    check_lease(start, instance, run, model->monotonic_ms);
    if (!sim_model_holds(model, fence))
        return; /* a turn that lost its run cannot know that yet; it can record nothing */
    SIM_CHECK(SIM_RULE_KEPT, !sim_is_undo(node) || is_known_to_be_undone(instance, run),
              "%s is undone, and nothing says so", instance->id);
    SIM_CHECK(SIM_RULE_FINISHED_BODY, !sim_step_is_finished(step), "n%d of %s", node, instance->id);
    SIM_CHECK(SIM_RULE_PAUSE, !run->pause_told && instance->task.status != PW_TASK_PAUSED, "n%d of %s", node,
              instance->id);
    SIM_CHECK(SIM_RULE_ATTEMPTS, start->attempt == step->attempts + 1, "n%d of %s: attempt %lld after %lld recorded",
              node, instance->id, (long long)start->attempt, (long long)step->attempts);
    SIM_CHECK(SIM_RULE_RETRY, model->latest_ms >= step->next_retry_at_ms, "n%d of %s begins by %lld, before %lld", node,
              instance->id, (long long)model->latest_ms, (long long)step->next_retry_at_ms);
}

int sim_model_body_starts(struct sim_model *model, const struct sim_start *start)
{
    const struct pw_fence *fence = start->fence;
    if (model->body_count == SIM_BODIES_MAX)
        sim_give_up("%d bodies", model->body_count);
    struct sim_instance *instance = sim_model_by_key(model, fence->instance);
    SIM_CHECK(SIM_RULE_STORED, instance != NULL, "a turn of an instance that nobody created");
    struct sim_step *step = &sim_model_run(instance, fence->run)->steps[start->node];
    step->bodies++;
    check_body(model, start);
    int number = model->body_count++;
    model->bodies[number] = (struct sim_body){ .instance = fence->instance,
                                               .run = fence->run,
                                               .node = start->node,
                                               .go = step->goes,
                                               .attempt = start->attempt,
                                               .deadline_ms = start->deadline_ms };
    return number;
}
