/* client.c - what clients do, as chance wants it: half of it over HTTP, the other half by calling the service. */
#include <stdio.h>

#include "fail.h"
#include "pawl/hooks.h"
#include "pawl/service.h"
#include "world.h"

enum { RUNS_RESTARTED_MAX = 4, INSTANCES_WANTED_MAX = 6, EVENTS_WANTED_MAX = 60 };

/* ---- Doing ------------------------------------------------------------------------------------------------------------- */

static pawl_status create(pawl_engine *engine, const struct sim_deed *deed)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    options.id = deed->id;
    options.params_json = deed->payload;
    options.return_existing = deed->return_existing;
    pawl_status status = pawl_create(engine, scope, "alpha", &options, &instance, NULL);
    pawl_scope_free(scope);
    return status;
}

static pawl_status create_batch(pawl_engine *engine, const struct sim_world *world, const struct sim_deed *deed)
{
    struct pawl_batch_item items[] = { { deed->id, deed->payload }, { "batched", deed->payload } };
    struct pawl_instance *instances;
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = pawl_create_batch(engine, scope, "alpha", items, 2, &instances, &count, NULL);
    pawl_scope_free(scope);
    if (status == PAWL_OK && sim_deed_is_alone(world, deed))
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED, count == (size_t)(!deed->existed + !deed->other_existed),
                  "a batch created %zu", count);
    return status;
}

static pawl_status send_event(pawl_engine *engine, const struct sim_deed *deed)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = deed->type;
    options.payload_json = deed->payload;
    options.event_id = deed->has_id ? deed->id : NULL;
    return pawl_send_event(engine, NULL, deed->instance->workflow, deed->instance->id, &options, NULL, NULL);
}

static pawl_status call(struct sim_world *world, pawl_engine *engine, const struct sim_deed *deed)
{
    const struct sim_instance *instance = deed->instance;
    switch (deed->kind) {
    case SIM_DEED_CREATE:
        return create(engine, deed);
    case SIM_DEED_BATCH:
        return create_batch(engine, world, deed);
    case SIM_DEED_EVENT:
        return send_event(engine, deed);
    case SIM_DEED_PAUSE:
        return pawl_pause(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_RESUME:
        return pawl_resume(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_TERMINATE:
        return pawl_terminate(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_RESTART:
        return pawl_restart(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_RESTART_FROM:
        return pawl_restart_from(engine, instance->workflow, instance->id, deed->id, NULL);
    case SIM_DEED_RESEND:
        return pawl_resend_delivery(engine, deed->id, NULL);
    case SIM_DEED_INTERRUPT:
        return pawl_interrupt(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_ROLLBACK:
        return pawl_terminate_with_rollback(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_RETRY:
        return pawl_retry(engine, instance->workflow, instance->id, NULL);
    case SIM_DEED_SUCCEED:
        return pawl_deferred_succeed(engine, deed->id, deed->payload, NULL);
    case SIM_DEED_FAIL:
        return pawl_deferred_fail(engine, deed->id, "Refused", deed->payload, NULL);
    }
    return PAWL_INVALID;
}

static void call_directly(struct sim_world *world, struct sim_process *process, const struct sim_deed *deed)
{
    enum sim_context context = world->context;
    world->context = SIM_CONTEXT_CLIENT;
    process->on_stack++;
    pawl_status status = call(world, process->engine, deed);
    world->context = context;
    sim_trace("%lld process %d: %s of %s -> %s", (long long)world->now_ms, (int)(process - world->processes),
              sim_deed_name(deed->kind), deed->instance != NULL ? deed->instance->id : deed->id,
              pawl_status_name(status));
    sim_deed_check(world, deed, status);
    sim_process_left(world, process);
}

void sim_client_perform(struct sim_world *world, struct sim_deed *deed)
{
    struct sim_process *process = sim_process_choose(world);
    if (process == NULL)
        return;
    world->counts->calls++;
    sim_deed_begin(world, deed);
    if (world->is_calm || deed->kind >= SIM_DEED_INTERRUPT || sim_below(&world->chance, 2) == 0 ||
        !sim_ask_deed(world, process, deed))
        call_directly(world, process, deed);
}

/* ---- Deeds ------------------------------------------------------------------------------------------------------------- */

void sim_client_create(struct sim_world *world)
{
    struct sim_deed deed = { .kind = SIM_DEED_CREATE };
    if (world->model.instance_count >= INSTANCES_WANTED_MAX)
        return;
    (void)snprintf(deed.id, sizeof deed.id, "i%d", sim_below(&world->chance, 6));
    (void)snprintf(deed.payload, sizeof deed.payload, "%d", sim_below(&world->chance, 2));
    if (sim_below(&world->chance, 5) == 0)
        deed.kind = SIM_DEED_BATCH;
    else
        deed.return_existing = sim_below(&world->chance, 3) == 0;
    sim_client_perform(world, &deed);
}

static struct sim_instance *choose(struct sim_world *world)
{
    if (world->model.instance_count == 0)
        return NULL;
    struct sim_instance *instance = &world->model.instances[sim_below(&world->chance, world->model.instance_count)];
    return sim_is_job(instance) ? &world->model.instances[0] : instance; /* the first is a client's */
}

void sim_client_event(struct sim_world *world)
{
    struct sim_instance *instance = choose(world);
    struct sim_deed deed = { .kind = SIM_DEED_EVENT, .instance = instance };
    if (instance == NULL || instance->runs[instance->run - 1].event_count >= EVENTS_WANTED_MAX)
        return;
    (void)snprintf(deed.id, sizeof deed.id, "x%d", sim_below(&world->chance, 4));
    (void)snprintf(deed.payload, sizeof deed.payload, "%d", world->events_sent++);
    deed.type = sim_below(&world->chance, 2) == 0 ? "e0" : "e1";
    deed.has_id = sim_below(&world->chance, 4) == 0;
    sim_client_perform(world, &deed);
}

/* An attached child that has not ended, or its parent; NULL: there is none. */
static struct sim_instance *choose_of_family(struct sim_world *world)
{
    struct sim_model *model = &world->model;
    for (int i = model->instance_count - 1; i >= 0; i--) {
        struct sim_instance *instance = &model->instances[i];
        if (!instance->task.exists || instance->link.relation != PW_RELATION_ATTACHED)
            continue;
        return sim_below(&world->chance, 2) == 0 ? instance : sim_model_by_key(model, instance->link.parent);
    }
    return NULL;
}

/* One that is about to pause seldom is for long, and is where calls meet. */
static struct sim_instance *choose_to_control(struct sim_world *world)
{
    struct sim_model *model = &world->model;
    uint64_t drawn = sim_draw(&world->chance);
    for (int i = 0; i < model->instance_count && drawn >> 63 == 0; i++) {
        if (sim_is_pausing(&model->instances[i]))
            return &model->instances[i];
    }
    if (model->instance_count == 0)
        return NULL;
    struct sim_instance *instance = &model->instances[drawn % (uint64_t)model->instance_count];
    return sim_is_job(instance) ? &model->instances[0] : instance;
}

static enum sim_deed_kind choose_control(const struct sim_instance *instance, int drawn)
{
    int pauses = sim_is_pausing(instance) ? 3 : 4, resumes = sim_is_pausing(instance) ? 7 : 8;
    if (drawn < resumes)
        return drawn < pauses ? SIM_DEED_PAUSE : SIM_DEED_RESUME;
    return drawn < resumes + 1 ? SIM_DEED_TERMINATE : SIM_DEED_RESTART;
}

/* A step of the run that it is in, or a name that maybe none has. */
static void choose_step(struct sim_world *world, struct sim_deed *deed)
{
    const struct sim_run *run = sim_model_run(deed->instance, deed->instance->run);
    int drawn = sim_below(&world->chance, SIM_STEPS_MAX), position = drawn;
    for (int i = 0; i < SIM_STEPS_MAX && !run->steps[position].exists; i++)
        position = (drawn + i) % SIM_STEPS_MAX;
    (void)sim_name_of(sim_below(&world->chance, 8) == 0 ? drawn : position, deed->id);
}

static void restart_from(struct sim_world *world, struct sim_instance *instance)
{
    struct sim_deed deed = { .kind = SIM_DEED_RESTART_FROM, .instance = instance };
    if (instance->run >= RUNS_RESTARTED_MAX)
        return;
    choose_step(world, &deed);
    sim_client_perform(world, &deed);
}

void sim_client_restart_from(struct sim_world *world)
{
    struct sim_instance *instance = choose_to_control(world);
    if (instance != NULL)
        restart_from(world, instance);
}

bool sim_client_mend(struct sim_world *world)
{
    struct sim_instance *instance = world->model.instances, *end = instance + world->model.instance_count;
    while (instance < end && !sim_awaits_repair(instance))
        instance++;
    if (instance == end)
        return false;
    struct sim_deed resume = { .kind = SIM_DEED_RESUME, .instance = instance };
    if (sim_below(&world->chance, 5) == 0)
        restart_from(world, instance);
    else
        sim_client_perform(world, &resume);
    return true;
}

void sim_client_disturb(struct sim_world *world, struct sim_instance *instance)
{
    struct sim_deed deed = { .kind = SIM_DEED_PAUSE, .instance = instance };
    if (sim_below(&world->chance, 2) == 0)
        deed.kind = SIM_DEED_INTERRUPT;
    sim_client_perform(world, &deed);
}

void sim_client_control(struct sim_world *world)
{
    struct sim_deed deed = { .instance = choose_to_control(world) };
    struct sim_instance *relative =
        world->has_others && sim_below(&world->chance, 2) == 0 ? choose_of_family(world) : NULL;
    deed.instance = relative != NULL ? relative : deed.instance;
    int drawn = sim_below(&world->chance, 10);
    if (deed.instance == NULL)
        return;
    deed.kind = choose_control(deed.instance, drawn);
    if (relative != NULL && relative->link.parent == 0 && sim_below(&world->chance, 2) == 0)
        deed.kind = SIM_DEED_TERMINATE;
    if (world->has_others && sim_below(&world->chance, 3) == 0)
        deed.kind = (enum sim_deed_kind)(SIM_DEED_INTERRUPT + sim_below(&world->chance, 3));
    if (deed.kind == SIM_DEED_RETRY && deed.instance->run >= RUNS_RESTARTED_MAX)
        return;
    if (deed.kind != SIM_DEED_RESTART || deed.instance->run < RUNS_RESTARTED_MAX)
        sim_client_perform(world, &deed);
}

/* One that failed, and can be repaired; NULL: there is none. */
static struct sim_instance *choose_failed(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        struct sim_instance *instance = &world->model.instances[i];
        if (instance->outcome == PW_OUTCOME_ERRORED && !sim_is_job(instance) && instance->run < RUNS_RESTARTED_MAX)
            return instance;
    }
    return NULL;
}

/* What is held is asked to pause, its lease expires, and it is interrupted. */
static void interrupt_expired(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        struct sim_instance *instance = &world->model.instances[i];
        struct sim_deed pause = { .kind = SIM_DEED_PAUSE, .instance = instance };
        struct sim_deed interrupt = { .kind = SIM_DEED_INTERRUPT, .instance = instance };
        if (!instance->task.exists || !instance->task.processing || sim_is_job(instance))
            continue;
        sim_client_perform(world, &pause);
        sim_clock_to(world, instance->task.locked_until_ms + 1);
        sim_client_perform(world, &interrupt);
        return;
    }
}

/* Maybe a child is paused, maybe its holder's lease expires, and its parent is cut off. */
void sim_client_family(struct sim_world *world)
{
    struct sim_model *model = &world->model;
    struct sim_instance *child = model->instance_count > 0 ? &model->instances[model->instance_count - 1] : NULL;
    bool is_held = sim_below(&world->chance, 2) == 0; /* else any */
    while (child != NULL && (!child->task.exists || child->link.relation != PW_RELATION_ATTACHED ||
                             (is_held && !child->task.processing)))
        child = child > model->instances ? child - 1 : NULL;
    struct sim_deed retry = { .kind = SIM_DEED_RETRY, .instance = choose_failed(world) };
    if (sim_below(&world->chance, 3) == 0)
        child = NULL;
    if (child == NULL && retry.instance != NULL)
        sim_client_perform(world, &retry);
    else if (child == NULL)
        interrupt_expired(world);
    if (child == NULL)
        return;
    int64_t key = child->link.parent, lease_end_ms = child->task.locked_until_ms;
    struct sim_deed pause = { .kind = SIM_DEED_PAUSE, .instance = child };
    if (sim_below(&world->chance, 2) == 0)
        sim_client_perform(world, &pause);
    if (sim_below(&world->chance, 2) == 0)
        sim_clock_to(world, lease_end_ms + 1);
    struct sim_deed terminate = { .kind = SIM_DEED_TERMINATE, .instance = sim_model_by_key(model, key) };
    sim_client_perform(world, &terminate);
}

/* A deferred that somebody has the token of; now and then one that was completed, or whose run is over. */
void sim_client_complete(struct sim_world *world)
{
    struct sim_instance *instance = choose(world);
    struct sim_deed deed = { .instance = instance };
    if (instance == NULL)
        return;
    int64_t number = sim_between(&world->chance, 1, instance->run);
    const struct sim_run *run = sim_model_run(instance, number);
    for (int node = 0; node < SIM_NODES_MAX; node++) {
        const struct sim_step *step = &run->steps[node];
        if (!step->exists || step->kind != PAWL_STEP_DEFERRED || sim_below(&world->chance, 2) == 0)
            continue;
        deed.kind = sim_below(&world->chance, 3) == 0 ? SIM_DEED_FAIL : SIM_DEED_SUCCEED;
        deed.run = number;
        (void)snprintf(deed.id, sizeof deed.id, "%.10s.%.20s.%lld.%lld.%.40s", instance->workflow, instance->id,
                       (long long)number, (long long)step->seq, step->event_type + sizeof "$deferred:" - 1);
        (void)snprintf(deed.payload, sizeof deed.payload, "%d", sim_below(&world->chance, 3));
        deed.type = step->event_type;
        sim_client_perform(world, &deed);
        return;
    }
}

void sim_client_resume_all(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        struct sim_deed deed = { .kind = SIM_DEED_RESUME, .instance = &world->model.instances[i] };
        bool is_pausing = world->has_others && sim_is_pausing(deed.instance);
        if (deed.instance->task.exists && (deed.instance->task.status == PW_TASK_PAUSED || is_pausing))
            sim_client_perform(world, &deed);
    }
}

bool sim_client_mend_all(struct sim_world *world, enum sim_deed_kind kind)
{
    bool any = false;
    for (int i = 0; i < world->model.instance_count; i++) {
        struct sim_deed deed = { .kind = kind, .instance = &world->model.instances[i] };
        if (!sim_awaits_repair(deed.instance))
            continue;
        sim_client_perform(world, &deed);
        any = true;
    }
    return any;
}

/* ---- Looks ------------------------------------------------------------------------------------------------------------- */

void sim_client_look(struct sim_world *world)
{
    struct sim_instance *instance = choose(world);
    struct sim_process *process = sim_process_choose(world);
    int drawn = sim_below(&world->chance, 3);
    if (instance == NULL || process == NULL)
        return;
    world->counts->calls++;
    if (drawn == 0)
        sim_ask_result(world, process, instance);
    else if (drawn == 1)
        sim_follow_begin(world, instance);
    else
        sim_look_act(world, process);
}
