/* client.c - calls from outside, and whether what they acknowledge is so (invariant 19). */
#include <stdio.h>

#include "fail.h"
#include "pawl/service.h"
#include "world.h"

enum { RUNS_RESTARTED_MAX = 4, INSTANCES_WANTED_MAX = 6, EVENTS_WANTED_MAX = 60 };

/* One call under way. */
struct call {
    struct sim_world *world;
    struct sim_process *process;
    enum sim_context context;
    uint64_t faults, interludes;
};

static bool call_begins(struct sim_world *world, struct call *call)
{
    struct sim_process *process = &world->processes[sim_below(&world->chance, world->process_count)];
    if (process->is_dead)
        return false;
    *call = (struct call){ world, process, world->context, world->faults, world->interludes };
    world->context = SIM_CONTEXT_CLIENT;
    world->counts->calls++;
    process->on_stack++;
    return true;
}

/* Is the world as the call left it, or saw it?  Otherwise others have come in between. */
static bool call_is_fresh(const struct call *call)
{
    const struct sim_world *world = call->world;
    return world->interludes == call->interludes || world->applied > world->applied_at_interlude;
}

static void call_ends(struct call *call, pawl_status status, const char *what, const char *id)
{
    struct sim_world *world = call->world;
    sim_trace("%lld process %d: %s %s -> %s", (long long)world->now_ms, (int)(call->process - world->processes), what,
              id, pawl_status_name(status));
    world->context = call->context;
    bool is_trouble = status == PAWL_STORE_UNAVAILABLE;
    SIM_CHECK(SIM_RULE_NO_SURPRISE, !is_trouble || world->faults > call->faults, "%s %s fails without a cause", what,
              id);
    sim_process_left(world, call->process);
}

/* ---- Creating ---------------------------------------------------------------------------------------------------------- */

static void check_created(struct sim_world *world, const char *id, const char *params, bool existed,
                          bool return_existing, pawl_status status)
{
    const struct sim_instance *instance = sim_model_find(&world->model, "alpha", id);
    if (status == PAWL_OK)
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED,
                  instance != NULL && (existed || strcmp(instance->params, params) == 0) &&
                      (!existed || return_existing),
                  "%s was created", id);
    else if (status != PAWL_STORE_UNAVAILABLE)
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED, status == PAWL_INSTANCE_ID_ALREADY_EXISTS && existed, "%s was refused: %s", id,
                  pawl_status_name(status));
}

static pawl_status create_batch(struct sim_world *world, const struct call *call, pawl_scope *scope, const char *id,
                                const char *params)
{
    struct pawl_batch_item items[] = { { id, params }, { "batched", params } };
    struct pawl_instance *instances;
    size_t count = 0;
    bool existed = sim_model_find(&world->model, "alpha", id) != NULL;
    bool other_existed = sim_model_find(&world->model, "alpha", "batched") != NULL;
    pawl_status status = pawl_create_batch(call->process->engine, scope, "alpha", items, 2, &instances, &count, NULL);
    if (status == PAWL_OK)
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED,
                  count == (size_t)(!existed + !other_existed) &&
                      sim_model_find(&world->model, "alpha", "batched") != NULL &&
                      sim_model_find(&world->model, "alpha", id) != NULL,
                  "a batch created %zu", count);
    return status;
}

void sim_client_create(struct sim_world *world)
{
    struct call call;
    char id[SIM_TEXT_MAX], params[SIM_TEXT_MAX];
    if (world->model.instance_count >= INSTANCES_WANTED_MAX || !call_begins(world, &call))
        return;
    (void)snprintf(id, sizeof id, "i%d", sim_below(&world->chance, 6));
    (void)snprintf(params, sizeof params, "%d", sim_below(&world->chance, 2));
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    bool existed = sim_model_find(&world->model, "alpha", id) != NULL;
    pawl_status status;
    if (sim_below(&world->chance, 5) == 0) {
        status = create_batch(world, &call, scope, id, params);
    } else {
        options.id = id;
        options.params_json = params;
        options.return_existing = sim_below(&world->chance, 3) == 0;
        status = pawl_create(call.process->engine, scope, "alpha", &options, &instance, NULL);
        check_created(world, id, params, existed, options.return_existing, status);
    }
    pawl_scope_free(scope);
    call_ends(&call, status, "create", id);
}

/* ---- Instances that are there -------------------------------------------------------------------------------------------- */

static struct sim_instance *choose(struct sim_world *world)
{
    if (world->model.instance_count == 0)
        return NULL;
    return &world->model.instances[sim_below(&world->chance, world->model.instance_count)];
}

/* What a refusal may be. */
static void check_refusal(const struct call *call, const struct sim_instance *instance, const char *what,
                          pawl_status status)
{
    if (status == PAWL_STORE_UNAVAILABLE || (status == PAWL_INSTANCE_TERMINAL && !call_is_fresh(call)))
        return;
    SIM_CHECK(SIM_RULE_ACKNOWLEDGED, status == PAWL_INSTANCE_TERMINAL && instance->outcome != PW_OUTCOME_OPEN,
              "%s %s was refused: %s", what, instance->id, pawl_status_name(status));
}

static void check_event(const struct sim_instance *instance, const char *id, const char *payload)
{
    const struct sim_run *run = &instance->runs[instance->run - 1];
    bool found = false;
    for (int i = 0; i < run->event_count; i++)
        found |= id != NULL ? strcmp(run->events[i].id, id) == 0 : strcmp(run->events[i].payload, payload) == 0;
    SIM_CHECK(SIM_RULE_ACKNOWLEDGED, found, "an event to %s was sent", instance->id);
}

void sim_client_event(struct sim_world *world)
{
    struct call call;
    struct sim_instance *instance = choose(world);
    char id[SIM_TEXT_MAX], payload[SIM_TEXT_MAX];
    if (instance == NULL || instance->runs[instance->run - 1].event_count >= EVENTS_WANTED_MAX ||
        !call_begins(world, &call))
        return;
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    (void)snprintf(id, sizeof id, "x%d", sim_below(&world->chance, 4));
    (void)snprintf(payload, sizeof payload, "%d", world->events_sent++);
    options.type = sim_below(&world->chance, 2) == 0 ? "e0" : "e1";
    options.payload_json = payload;
    options.event_id = sim_below(&world->chance, 4) == 0 ? id : NULL;
    pawl_status status =
        pawl_send_event(call.process->engine, NULL, instance->workflow, instance->id, &options, NULL, NULL);
    if (status == PAWL_OK)
        check_event(instance, options.event_id, payload);
    else
        check_refusal(&call, instance, "an event to", status);
    call_ends(&call, status, "event to", instance->id);
}

enum control { PAUSE, RESUME, TERMINATE, RESTART };
static const char *const control_names[] = { "pause", "resume", "terminate", "restart" };

static void check_control(const struct sim_instance *instance, enum control what, int64_t run_before)
{
    const struct sim_task *task = &instance->task;
    bool asked = task->exists && (task->status == PW_TASK_PAUSED || task->pause_requested);
    bool holds = what == PAUSE       ? asked
                 : what == RESUME    ? task->exists && !asked
                 : what == TERMINATE ? instance->outcome == PW_OUTCOME_TERMINATED
                                     : task->exists && instance->run > run_before;
    SIM_CHECK(SIM_RULE_ACKNOWLEDGED, holds, "%s %s", control_names[what], instance->id);
}

static void control(struct sim_world *world, struct sim_instance *instance, enum control what)
{
    struct call call;
    int64_t run_before = instance->run;
    pawl_status status = PAWL_OK;
    if (!call_begins(world, &call))
        return;
    pawl_engine *engine = call.process->engine;
    if (what == PAUSE)
        status = pawl_pause(engine, instance->workflow, instance->id, NULL);
    else if (what == RESUME)
        status = pawl_resume(engine, instance->workflow, instance->id, NULL);
    else if (what == TERMINATE)
        status = pawl_terminate(engine, instance->workflow, instance->id, NULL);
    else
        status = pawl_restart(engine, instance->workflow, instance->id, NULL);
    if (world->plant.kind == SIM_PLANT_SILENT_REFUSAL && status == PAWL_INSTANCE_TERMINAL)
        status = PAWL_OK;
    if (status != PAWL_OK)
        check_refusal(&call, instance, control_names[what], status);
    else if (call_is_fresh(&call))
        check_control(instance, what, run_before);
    call_ends(&call, status, control_names[what], instance->id);
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

static enum control choose_control(const struct sim_instance *instance, int drawn)
{
    if (sim_is_pausing(instance))
        return drawn < 3 ? PAUSE : drawn < 7 ? RESUME : drawn < 8 ? TERMINATE : RESTART;
    return drawn < 4 ? PAUSE : drawn < 8 ? RESUME : drawn < 9 ? TERMINATE : RESTART;
}

void sim_client_control(struct sim_world *world)
{
    struct sim_instance *instance = choose_to_control(world);
    int drawn = sim_below(&world->chance, 10);
    if (instance == NULL)
        return;
    enum control what = choose_control(instance, drawn);
    if (what != RESTART || instance->run < RUNS_RESTARTED_MAX)
        control(world, instance, what);
}

void sim_client_resume_all(struct sim_world *world)
{
    for (int i = 0; i < world->model.instance_count; i++) {
        struct sim_instance *instance = &world->model.instances[i];
        if (instance->task.exists && instance->task.status == PW_TASK_PAUSED)
            control(world, instance, RESUME);
    }
}

/* ---- Looking ----------------------------------------------------------------------------------------------------------- */

static bool is_same(const char *text, const char *stored)
{
    return strcmp(text != NULL ? text : "", stored) == 0;
}

static void look(struct sim_world *world, pawl_scope *scope, struct sim_instance *instance)
{
    pawl_engine *engine = world->processes[0].engine;
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_instance seen;
    struct pawl_history history;
    options.page_size = 100;
    options.run_number = sim_between(&world->chance, 1, instance->run);
    const struct sim_run *run = &instance->runs[options.run_number - 1];
    pawl_status status = pawl_get(engine, scope, instance->workflow, instance->id, &seen, NULL);
    SIM_CHECK(SIM_RULE_LOOK,
              status == PAWL_OK && seen.status == sim_status_of(instance) && seen.run_number == instance->run,
              "%s: %s, %s, run %lld", instance->id, pawl_status_name(status), pawl_instance_status_name(seen.status),
              (long long)seen.run_number);
    SIM_CHECK(SIM_RULE_LOOK,
              is_same(seen.output_json, instance->output) && is_same(seen.error_name, instance->error_name) &&
                  is_same(seen.error_message, instance->error_message),
              "%s: output or error", instance->id);
    status = pawl_get_history(engine, scope, instance->workflow, instance->id, &options, &history, NULL);
    SIM_CHECK(SIM_RULE_LOOK,
              status == PAWL_OK && history.step_count == (size_t)run->step_count &&
                  history.event_count == (size_t)run->event_count,
              "%s, run %lld: %zu steps, %zu events", instance->id, (long long)options.run_number, history.step_count,
              history.event_count);
    for (size_t i = 0; i < history.step_count; i++) {
        const struct pawl_step_record *record = &history.steps[i];
        const struct sim_step *step = &run->steps[sim_node_of(pw_text_of(record->name))];
        SIM_CHECK(SIM_RULE_LOOK,
                  record->status == step->status && record->attempts == step->attempts &&
                      is_same(record->result_json, step->result) && is_same(record->error_name, step->error_name),
                  "%s of %s, run %lld", record->name, instance->id, (long long)options.run_number);
    }
}

void sim_client_look(struct sim_world *world)
{
    pawl_scope *scope = pawl_scope_new();
    for (int i = 0; i < world->model.instance_count; i++)
        look(world, scope, &world->model.instances[i]);
    pawl_scope_free(scope);
}
