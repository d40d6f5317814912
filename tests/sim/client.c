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
    case SIM_DEED_RESEND:
        return pawl_resend_delivery(engine, deed->id, NULL);
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
    if (world->is_calm || sim_below(&world->chance, 2) == 0 || !sim_ask_deed(world, process, deed))
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
    return &world->model.instances[sim_below(&world->chance, world->model.instance_count)];
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

/* One that is about to pause seldom is for long, and is where calls meet. */
static struct sim_instance *choose_to_control(struct sim_world *world)
{
    struct sim_model *model = &world->model;
    uint64_t drawn = sim_draw(&world->chance);
    for (int i = 0; i < model->instance_count && drawn >> 63 == 0; i++) {
        if (sim_is_pausing(&model->instances[i]))
            return &model->instances[i];
    }
    return model->instance_count > 0 ? &model->instances[drawn % (uint64_t)model->instance_count] : NULL;
}

static enum sim_deed_kind choose_control(const struct sim_instance *instance, int drawn)
{
    int pauses = sim_is_pausing(instance) ? 3 : 4, resumes = sim_is_pausing(instance) ? 7 : 8;
    if (drawn < resumes)
        return drawn < pauses ? SIM_DEED_PAUSE : SIM_DEED_RESUME;
    return drawn < resumes + 1 ? SIM_DEED_TERMINATE : SIM_DEED_RESTART;
}

void sim_client_control(struct sim_world *world)
{
    struct sim_deed deed = { .instance = choose_to_control(world) };
    int drawn = sim_below(&world->chance, 10);
    if (deed.instance == NULL)
        return;
    deed.kind = choose_control(deed.instance, drawn);
    if (deed.kind != SIM_DEED_RESTART || deed.instance->run < RUNS_RESTARTED_MAX)
        sim_client_perform(world, &deed);
}

void sim_client_resume_all(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        struct sim_deed deed = { .kind = SIM_DEED_RESUME, .instance = &world->model.instances[i] };
        if (deed.instance->task.exists && deed.instance->task.status == PW_TASK_PAUSED)
            sim_client_perform(world, &deed);
    }
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
