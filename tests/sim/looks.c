/* looks.c - what a look at instances, lists, histories and deliveries shows, against the model (invariant 32): directly,
 * and over HTTP. */
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "pawl/service.h"
#include "world.h"

static bool is_same(const char *text, const char *stored)
{
    return strcmp(text != NULL ? text : "", stored) == 0;
}

/* ---- Directly ---------------------------------------------------------------------------------------------------------- */

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
    SIM_CHECK(SIM_RULE_LOOK, (seen.phase == PAWL_PHASE_WAITING_FOR_REPAIR) == sim_awaits_repair(instance), "%s is %s",
              instance->id, pawl_phase_name(seen.phase));
    SIM_CHECK(SIM_RULE_LOOK,
              is_same(seen.output_json, instance->output) && is_same(seen.error_name, instance->error_name) &&
                  is_same(seen.error_message, instance->error_message),
              "%s: output or error", instance->id);
    status = pawl_get_history(engine, scope, instance->workflow, instance->id, &options, &history, NULL);
    SIM_CHECK(SIM_RULE_LOOK,
              status == PAWL_OK && history.step_count == (size_t)run->step_count &&
                  history.event_count == (size_t)run->event_rows,
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

/* How many leaves there are, each of which is a step of the run that waits, or that failed. */
static int count_leaves(const struct sim_instance *instance, const struct pawl_why_node *node)
{
    const struct sim_run *run = &instance->runs[instance->run - 1];
    int count = 0;
    if (node->step != NULL) {
        int at = sim_node_of(pw_text_of(node->step->name));
        bool has_failed = node->kind == PAWL_WHY_FAILED;
        SIM_CHECK(SIM_RULE_LOOK,
                  at != SIM_NONE && run->steps[at].exists &&
                      run->steps[at].state == (has_failed ? PAWL_STATE_FAILED : PAWL_STATE_WAITING),
                  "%s is said to wait in %s", instance->id, node->step->name);
        count++;
    }
    for (const struct pawl_why_node *part = node->parts; part != NULL; part = part->next)
        count += count_leaves(instance, part);
    return count;
}

/* Whatever the state, there is a reason, and it is one of that state.  Nobody gets in between its reads, which may fail. */
static void look_why(struct sim_world *world, pawl_engine *engine, pawl_scope *scope,
                     const struct sim_instance *instance)
{
    static const enum pawl_why_kind of_status[] = {
        [PAWL_PAUSED] = PAWL_WHY_PAUSED,
        [PAWL_COMPLETE] = PAWL_WHY_COMPLETE,
        [PAWL_TERMINATED] = PAWL_WHY_TERMINATED,
        [PAWL_ERRORED] = PAWL_WHY_ERRORED,
    };
    struct pawl_why_answer why;
    enum pawl_instance_status is = sim_status_of(instance);
    enum sim_context before = world->context;
    world->context = SIM_CONTEXT_LOOK;
    pawl_status status = pawl_why(engine, scope, instance->workflow, instance->id, &why, NULL);
    world->context = before;
    if (status == PAWL_STORE_UNAVAILABLE)
        return;
    bool is_fitting =
        is == PAWL_ACTIVE || is == PAWL_WAITING
            ? why.node.kind > PAWL_WHY_ERRORED && why.node.kind != PAWL_WHY_PAUSED && why.node.kind != PAWL_WHY_REPAIR
            : why.node.kind == (sim_awaits_repair(instance) ? PAWL_WHY_REPAIR : of_status[is]);
    SIM_CHECK(SIM_RULE_LOOK, status == PAWL_OK && is_fitting, "%s: %s, it is %s, because %s", instance->id,
              pawl_status_name(status), pawl_instance_status_name(is), pawl_why_kind_name(why.node.kind));
    int leaves = count_leaves(instance, &why.node);
    SIM_CHECK(SIM_RULE_LOOK, leaves > 0 || (why.node.kind != PAWL_WHY_REPAIR && why.node.kind < PAWL_WHY_ALL),
              "%s waits for nothing", instance->id);
}

void sim_look_all(struct sim_world *world)
{
    pawl_scope *scope = pawl_scope_new();
    world->context = SIM_CONTEXT_LOOK;
    for (int i = 0; i < world->model.instance_count; i++) {
        if (sim_is_job(&world->model.instances[i]))
            continue;
        look(world, scope, &world->model.instances[i]);
        look_why(world, world->processes[0].engine, scope, &world->model.instances[i]);
    }
    pawl_scope_free(scope);
}

/* ---- Over HTTP --------------------------------------------------------------------------------------------------------- */

bool sim_shows_text(const pawl_value *shown, const char *path, const char *expected)
{
    return strcmp(pawl_value_string(shown, path, ""), expected) == 0;
}

/* What is stored here is compact JSON. */
bool sim_shows_json(pawl_scope *scope, const pawl_value *shown, const char *path, const char *stored)
{
    const char *text = NULL;
    size_t size;
    return pawl_value_text(scope, pawl_value_at(shown, path), &text, &size) == PAWL_OK && is_same(text, stored);
}

static bool is_status_of(const pawl_value *shown, const struct sim_instance *instance)
{
    bool awaits = strcmp(pawl_value_string(shown, "details.phase", ""), "waitingForRepair") == 0;
    return awaits == sim_awaits_repair(instance) &&
           sim_shows_text(shown, "details.status", pawl_instance_status_name(sim_status_of(instance)));
}

static void look_at_instance(struct sim_world *world, struct sim_process *process, pawl_scope *scope,
                             const struct sim_instance *instance)
{
    char target[SIM_TARGET_MAX];
    const pawl_value *shown;
    (void)snprintf(target, sizeof target, "/api/workflows/%s/instances/%s", instance->workflow, instance->id);
    if (sim_ask_now(world, process, scope, "GET", target, &shown) != PAWL_OK)
        return;
    SIM_CHECK(SIM_RULE_LOOK,
              is_status_of(shown, instance) && sim_shows_text(shown, "id", instance->id) &&
                  sim_shows_text(shown, "meta.workflowName", instance->workflow) &&
                  pawl_value_int(shown, "meta.runNumber", 0) == instance->run,
              "%s is shown otherwise", instance->id);
    SIM_CHECK(SIM_RULE_LOOK,
              sim_shows_json(scope, shown, "meta.params", instance->params) &&
                  sim_shows_json(scope, shown, "details.output", instance->output) &&
                  sim_shows_text(shown, "details.error.name", instance->error_name) &&
                  sim_shows_text(shown, "details.error.message", instance->error_message),
              "%s: params, output or error", instance->id);
}

/* Nothing of a deferred's secret is shown, nor of a job's. */
static bool shows_wait(const pawl_value *shown, const struct sim_step *step)
{
    bool is_event = step->kind == PAWL_STEP_EVENT, is_child = step->kind == PAWL_STEP_CHILD;
    bool is_call = step->kind == PAWL_STEP_CALL && step->awaited_id[0] != '\0';
    return sim_shows_text(shown, "waitsFor.event", is_event ? step->event_type : "") &&
           sim_shows_text(shown, "waitsFor.function", is_call ? "f" : "") &&
           sim_shows_text(shown, "waitsFor.workflowName", is_child ? step->awaited_workflow : "") &&
           sim_shows_text(shown, "waitsFor.instanceId", is_child ? step->awaited_id : "");
}

static void check_shown_step(pawl_scope *scope, const pawl_value *shown, const struct sim_instance *instance,
                             const struct sim_run *run)
{
    const char *name = pawl_value_string(shown, "stepKey", "");
    int node = sim_node_of(pw_text_of(name));
    SIM_CHECK(SIM_RULE_LOOK, node != SIM_NONE && run->steps[node].exists, "%s has a step %s", instance->id, name);
    const struct sim_step *step = &run->steps[node];
    SIM_CHECK(SIM_RULE_LOOK,
              sim_shows_text(shown, "status", pawl_step_status_name(step->status)) &&
                  sim_shows_text(shown, "type", pawl_step_kind_name(step->kind)) &&
                  pawl_value_int(shown, "attempts", -1) == step->attempts &&
                  sim_shows_json(scope, shown, "result", step->result) &&
                  sim_shows_text(shown, "error.name", step->error_name) &&
                  sim_shows_text(shown, "state", pawl_step_state_name(step->state)) &&
                  sim_shows_text(shown, "undoes", step->undoes) && shows_wait(shown, step) &&
                  sim_shows_text(shown, "place.fork", step->fork) &&
                  pawl_value_int(shown, "place.branch", 0) == step->branch &&
                  pawl_value_int(shown, "place.order", 0) == step->order,
              "%s of %s is shown otherwise", name, instance->id);
}

static void check_shown_event(pawl_scope *scope, const pawl_value *shown, const struct sim_instance *instance,
                              const struct sim_event *event)
{
    char step[SIM_TEXT_MAX] = "";
    bool is_answer = event->type[0] == '$', is_secret = strncmp(event->type, "$deferred:", 10) == 0;
    if (event->consumed_by != SIM_NONE)
        (void)snprintf(step, sizeof step, "%s%d", sim_is_await(event->consumed_by) ? "c" : "n",
                       sim_node_at(event->consumed_by));
    SIM_CHECK(SIM_RULE_LOOK, !is_secret || sim_shows_text(shown, "type", "$deferred"), "%s shows the secret of %s",
              pawl_value_string(shown, "type", ""), instance->id);
    SIM_CHECK(SIM_RULE_LOOK,
              (is_answer || (sim_shows_text(shown, "id", event->id) && sim_shows_text(shown, "type", event->type))) &&
                  pawl_value_bool(shown, "isFailure", !event->is_failure) == event->is_failure &&
                  sim_shows_json(scope, shown, "payload", event->payload) &&
                  sim_shows_text(shown, "consumedByStepKey", step),
              "event %s of %s is shown otherwise", event->id, instance->id);
}

static void look_at_history(struct sim_world *world, struct sim_process *process, pawl_scope *scope,
                            struct sim_instance *instance)
{
    char target[SIM_TARGET_MAX];
    int64_t number = sim_between(&world->chance, 1, instance->run);
    const struct sim_run *run = sim_model_run(instance, number);
    const pawl_value *shown;
    (void)snprintf(target, sizeof target, "/api/workflows/%s/instances/%s/history?runNumber=%lld&pageSize=100",
                   instance->workflow, instance->id, (long long)number);
    if (sim_ask_now(world, process, scope, "GET", target, &shown) != PAWL_OK)
        return;
    size_t steps = pawl_value_size(shown, "steps"), events = pawl_value_size(shown, "events");
    SIM_CHECK(SIM_RULE_LOOK,
              steps == (size_t)run->step_count && events == (size_t)run->event_rows &&
                  pawl_value_int(shown, "runNumber", 0) == number,
              "%s, run %lld: %zu steps, %zu events", instance->id, (long long)number, steps, events);
    for (size_t i = 0; i < steps; i++)
        check_shown_step(scope, pawl_value_item(pawl_value_at(shown, "steps"), i), instance, run);
    const struct sim_event *event = run->events;
    for (size_t i = 0; i < events; i++, event++) {
        while (!event->exists)
            event++;
        check_shown_event(scope, pawl_value_item(pawl_value_at(shown, "events"), i), instance, event);
    }
}

/* All pages, newest first. */
static void look_at_list(struct sim_world *world, struct sim_process *process, pawl_scope *scope)
{
    char target[SIM_TARGET_MAX];
    int left = world->model.instance_count, size = 1 + sim_below(&world->chance, 4);
    uint64_t actions = world->counts->actions;
    const pawl_value *shown;
    const char *cursor = "";
    while (cursor != NULL && !process->is_dead) {
        (void)snprintf(target, sizeof target, "/api/workflows/alpha/instances?pageSize=%d%s%s", size,
                       cursor[0] != '\0' ? "&cursor=" : "", cursor);
        if (sim_ask_now(world, process, scope, "GET", target, &shown) != PAWL_OK || world->counts->actions != actions)
            return;
        for (size_t i = 0; i < pawl_value_size(shown, "instances"); i++) {
            do
                left--;
            while (left >= 0 && strcmp(world->model.instances[left].workflow, "alpha") != 0);
            const pawl_value *item = pawl_value_item(pawl_value_at(shown, "instances"), i);
            SIM_CHECK(SIM_RULE_LOOK,
                      left >= 0 && sim_shows_text(item, "id", world->model.instances[left].id) &&
                          is_status_of(item, &world->model.instances[left]),
                      "%s is listed otherwise", pawl_value_string(item, "id", "?"));
        }
        cursor = pawl_value_string(shown, "cursor", NULL);
    }
    while (--left >= 0)
        SIM_CHECK(SIM_RULE_LOOK, strcmp(world->model.instances[left].workflow, "alpha") != 0, "%s is not listed",
                  world->model.instances[left].id);
}

void sim_look_act(struct sim_world *world, struct sim_process *process)
{
    pawl_scope *scope = pawl_scope_new();
    struct sim_instance *instance = &world->model.instances[sim_below(&world->chance, world->model.instance_count)];
    if (sim_is_job(instance))
        instance = &world->model.instances[0]; /* which a client made */
    switch (sim_below(&world->chance, 4)) {
    case 0:
        look_at_list(world, process, scope);
        break;
    case 1:
        look_at_history(world, process, scope, instance);
        break;
    default:
        look_at_instance(world, process, scope, instance);
        look_why(world, process->engine, scope, instance);
        break;
    }
    pawl_scope_free(scope);
}
