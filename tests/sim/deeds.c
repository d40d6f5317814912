/* deeds.c - whether what a call acknowledged is so, and what it refused had its reason (invariant 19). */
#include "ask.h"
#include "fail.h"
#include "world.h"

const char *sim_deed_name(enum sim_deed_kind kind)
{
    static const char *const names[] = {
        [SIM_DEED_CREATE] = "create",       [SIM_DEED_BATCH] = "batch",
        [SIM_DEED_EVENT] = "events",        [SIM_DEED_PAUSE] = "pause",
        [SIM_DEED_RESUME] = "resume",       [SIM_DEED_TERMINATE] = "terminate",
        [SIM_DEED_RESTART] = "restart",     [SIM_DEED_RESEND] = "resend",
        [SIM_DEED_INTERRUPT] = "interrupt", [SIM_DEED_ROLLBACK] = "rollback",
        [SIM_DEED_RETRY] = "retry",         [SIM_DEED_SUCCEED] = "succeed",
        [SIM_DEED_FAIL] = "fail",           [SIM_DEED_RESTART_FROM] = "restart from",
    };
    return names[kind];
}

/* That a run is to be restarted from; NULL: it has none of that name. */
static const struct sim_step *find_step(const struct sim_deed *deed, int64_t run)
{
    const struct sim_step *step = &sim_model_run(deed->instance, run)->steps[sim_node_of(pw_text_of(deed->id))];
    return step->exists ? step : NULL;
}

void sim_deed_begin(struct sim_world *world, struct sim_deed *deed)
{
    deed->existed = sim_model_find(&world->model, "alpha", deed->id) != NULL;
    if (deed->kind == SIM_DEED_RESTART_FROM)
        deed->existed = find_step(deed, deed->instance->run) != NULL;
    deed->other_existed = sim_model_find(&world->model, "alpha", "batched") != NULL;
    if (deed->kind < SIM_DEED_SUCCEED)
        deed->run = deed->instance != NULL ? deed->instance->run : 0;
    deed->units = world->model.units;
    deed->applied = world->applied;
    deed->faults = world->faults;
    deed->actions = world->counts->actions;
}

/* Has nobody come in between?  What its process had queued before it may have been committed with it. */
bool sim_deed_is_alone(const struct sim_world *world, const struct sim_deed *deed)
{
    return world->counts->actions == deed->actions && world->applied <= deed->applied + 1;
}

/* ---- What is so -------------------------------------------------------------------------------------------------------- */

static bool is_created(struct sim_world *world, const struct sim_deed *deed, const char *id, bool existed)
{
    const struct sim_instance *instance = sim_model_find(&world->model, "alpha", id);
    if (instance == NULL || (existed && deed->kind == SIM_DEED_CREATE && !deed->return_existing))
        return false;
    bool is_ours = sim_deed_is_alone(world, deed); /* otherwise somebody may have been faster */
    return existed || !is_ours || strcmp(instance->params, deed->payload) == 0;
}

static bool is_sent(const struct sim_deed *deed)
{
    for (int64_t run = deed->run; run <= deed->instance->run; run++) {
        const struct sim_run *events = sim_model_run(deed->instance, run);
        for (int i = 0; i < events->event_count; i++) {
            const struct sim_event *event = &events->events[i];
            if (deed->has_id ? strcmp(event->id, deed->id) == 0 : strcmp(event->payload, deed->payload) == 0)
                return true;
        }
    }
    return false;
}

/* Of the deferred. */
static const struct sim_event *find_completion(const struct sim_deed *deed)
{
    const struct sim_run *run = sim_model_run(deed->instance, deed->run);
    for (int i = 0; i < run->event_count; i++) {
        if (strcmp(run->events[i].type, deed->type) == 0)
            return &run->events[i];
    }
    return NULL;
}

/* What a repair kept was completed in the run before. */
static const struct sim_step *find_kept(const struct sim_deed *deed)
{
    const struct sim_run *run = sim_model_run(deed->instance, deed->run);
    for (int node = 0; node < SIM_NODES_MAX; node++) {
        const struct sim_step *step = &run->steps[node];
        if (step->is_kept && step->status == PAWL_STEP_COMPLETED && strcmp(step->event_type, deed->type) == 0)
            return step;
    }
    return NULL;
}

static bool is_ours(const struct sim_deed *deed, const struct sim_event *event)
{
    if (deed->kind == SIM_DEED_SUCCEED)
        return !event->is_failure && strcmp(event->payload, deed->payload) == 0;
    return event->is_failure && strstr(event->payload, "Refused") != NULL &&
           strstr(event->payload, deed->payload) != NULL;
}

static const struct sim_step *find_deferred(const struct sim_deed *deed)
{
    const struct sim_run *run = sim_model_run(deed->instance, deed->run);
    for (int node = 0; node < SIM_NODES_MAX; node++) {
        if (strcmp(run->steps[node].event_type, deed->type) == 0)
            return &run->steps[node];
    }
    return NULL;
}

/* It timed out first: had the completion been there, it would have been taken. */
static bool came_late(const struct sim_deed *deed, const struct sim_event *event)
{
    const struct sim_step *step = find_deferred(deed);
    return step != NULL && step->status == PAWL_STEP_ERRORED &&
           strcmp(step->error_name, "WAIT_FOR_EVENT_TIMEOUT") == 0 && event->consumed_by == SIM_NONE;
}

static bool was_so(const struct sim_world *world, const struct sim_deed *deed, enum sim_truth truth)
{
    uint64_t since = sim_deed_is_alone(world, deed) ? world->model.units : deed->units;
    return deed->instance->truths[truth] >= since;
}

/* A new run, which keeps what the one before it had recorded before the step. */
static bool is_restarted_from(const struct sim_deed *deed)
{
    for (int64_t run = deed->run + 1; run <= deed->instance->run; run++) {
        const struct sim_step *step = find_step(deed, run - 1);
        if (step != NULL && sim_model_run(deed->instance, run)->kept_before_seq == step->seq)
            return true;
    }
    return false;
}

static bool is_so(struct sim_world *world, const struct sim_deed *deed)
{
    switch (deed->kind) {
    case SIM_DEED_CREATE:
        return is_created(world, deed, deed->id, deed->existed);
    case SIM_DEED_BATCH:
        return is_created(world, deed, deed->id, deed->existed) &&
               is_created(world, deed, "batched", deed->other_existed);
    case SIM_DEED_EVENT:
        return is_sent(deed);
    case SIM_DEED_PAUSE:
        return was_so(world, deed, SIM_TRUTH_PAUSED);
    case SIM_DEED_RESUME:
        return was_so(world, deed, SIM_TRUTH_RESUMED);
    case SIM_DEED_TERMINATE:
        return was_so(world, deed, SIM_TRUTH_TERMINATED);
    case SIM_DEED_RESTART:
        return deed->instance->run > deed->run;
    case SIM_DEED_RESTART_FROM:
        SIM_CHECK(SIM_RULE_KEPT, is_restarted_from(deed), "%s is not restarted from %s", deed->instance->id, deed->id);
        return true;
    case SIM_DEED_RESEND:
        return deed->delivery->resent > deed->units;
    case SIM_DEED_INTERRUPT:
    case SIM_DEED_ROLLBACK:
        return was_so(world, deed, SIM_TRUTH_INTERRUPTED);
    case SIM_DEED_RETRY:
        return deed->instance->run > deed->run;
    case SIM_DEED_SUCCEED:
    case SIM_DEED_FAIL:
        if (find_completion(deed) == NULL)
            return find_kept(deed) != NULL && deed->kind == SIM_DEED_SUCCEED &&
                   strcmp(find_kept(deed)->result, deed->payload) == 0;
        return is_ours(deed, find_completion(deed)) && !came_late(deed, find_completion(deed));
    }
    return false;
}

/* ---- What was refused -------------------------------------------------------------------------------------------------- */

/* Nobody waits for it any more, and it is not there to be completed. */
static bool is_timed_out(const struct sim_deed *deed)
{
    const struct sim_step *step = find_deferred(deed);
    return step != NULL && step->status == PAWL_STEP_ERRORED;
}

static bool was_undone(const struct sim_deed *deed)
{
    for (int64_t run = deed->run; run <= deed->instance->run; run++) {
        for (int i = 2 * SIM_NODES_MAX; i < SIM_STEPS_MAX; i++) {
            if (sim_model_run(deed->instance, run)->steps[i].exists)
                return true;
        }
    }
    return false;
}

static bool has_reason(struct sim_world *world, const struct sim_deed *deed, pawl_status status)
{
    if (status == PAWL_INSTANCE_ID_ALREADY_EXISTS)
        return deed->kind == SIM_DEED_CREATE && !deed->return_existing &&
               sim_model_find(&world->model, "alpha", deed->id) != NULL;
    if (status == PAWL_DEFERRED_COMPLETED)
        return deed->kind >= SIM_DEED_SUCCEED &&
               (find_completion(deed) != NULL ? !is_ours(deed, find_completion(deed)) : find_kept(deed) != NULL);
    if (status == PAWL_INVALID_TOKEN)
        return deed->kind >= SIM_DEED_SUCCEED &&
               (was_so(world, deed, SIM_TRUTH_OVER) || deed->run < deed->instance->run || is_timed_out(deed));
    if (status == PAWL_NOT_REPAIRABLE && deed->kind == SIM_DEED_RETRY)
        return was_undone(deed) || was_so(world, deed, SIM_TRUTH_NOT_ERRORED);
    if (status == PAWL_NOT_REPAIRABLE)
        return deed->kind == SIM_DEED_RESTART_FROM && (was_undone(deed) || was_so(world, deed, SIM_TRUTH_DEMANDED));
    if (status == PAWL_INVALID_STEP_NAME) /* one that began since may have had none of that name at first */
        return deed->kind == SIM_DEED_RESTART_FROM && (!deed->existed || deed->instance->run > deed->run);
    if (status == PAWL_DELIVERY_NOT_FOUND)
        return deed->kind == SIM_DEED_RESEND && !deed->delivery->exists;
    bool restarts = deed->kind == SIM_DEED_RESTART || deed->kind == SIM_DEED_RESTART_FROM;
    return status == PAWL_INSTANCE_TERMINAL && deed->instance != NULL && !restarts &&
           was_so(world, deed, SIM_TRUTH_OVER);
}

void sim_deed_check(struct sim_world *world, const struct sim_deed *deed, pawl_status status)
{
    const char *whose = deed->instance != NULL ? deed->instance->id : deed->id;
    if (world->plant.kind == SIM_PLANT_SILENT_REFUSAL && status == PAWL_INSTANCE_TERMINAL)
        status = PAWL_OK;
    if (status == PAWL_STORE_UNAVAILABLE)
        SIM_CHECK(SIM_RULE_NO_SURPRISE, world->faults > deed->faults, "%s of %s fails without a cause",
                  sim_deed_name(deed->kind), whose);
    else if (status == PAWL_OK)
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED, is_so(world, deed), "%s of %s", sim_deed_name(deed->kind), whose);
    else
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED, has_reason(world, deed, status), "%s of %s was refused: %s",
                  sim_deed_name(deed->kind), whose, pawl_status_name(status));
}
