/* scenarios.c - see scenarios.h. */
#include "scenarios.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "others.h"

/* ---- Acts that can be done again ------------------------------------------------------------------------------------ */

pawl_status scenario_in_scope(struct world *world, scenario_scoped_fn *act, struct pawl_error *error)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = PAWL_NOMEM;
    if (scope != NULL)
        status = act(world, scope, error);
    else
        *error = (struct pawl_error){ PAWL_NOMEM, "no scope" };
    pawl_scope_free(scope);
    return status;
}

pawl_status scenario_create(struct world *world, const char *workflow, const char *id, struct pawl_error *error)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    options.id = id;
    options.params_json = "{\"n\": 3, \"of\": [1, 2, \"three\"]}";
    pawl_status status = PAWL_NOMEM;
    if (scope != NULL)
        status = pawl_create(world->engine, scope, workflow, &options, &instance, error);
    else
        *error = (struct pawl_error){ PAWL_NOMEM, "no scope" };
    pawl_scope_free(scope);
    return status == PAWL_INSTANCE_ID_ALREADY_EXISTS ? PAWL_OK : status;
}

pawl_status scenario_look(struct world *world, const char *workflow, const char *id,
                          enum pawl_instance_status *out_status, int64_t *out_run, struct pawl_error *error)
{
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = PAWL_NOMEM;
    if (scope != NULL)
        status = pawl_get(world->engine, scope, workflow, id, &instance, error);
    else
        *error = (struct pawl_error){ PAWL_NOMEM, "no scope" };
    if (status == PAWL_OK) {
        *out_status = instance.status;
        *out_run = instance.run_number;
    }
    pawl_scope_free(scope);
    return status;
}

pawl_status scenario_send(struct world *world, const char *workflow, const char *id, const char *type,
                          struct pawl_error *error)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.event_id = "event-1";
    options.payload_json = "{\"amount\": 12.5}";
    pawl_status status = pawl_send_event(world->engine, NULL, workflow, id, &options, NULL, error);
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status;
}

static pawl_status create_its_own(struct world *world, struct pawl_error *error)
{
    return scenario_create(world, world->scenario->workflow, world->scenario->id, error);
}

static pawl_status pay(struct world *world, struct pawl_error *error)
{
    return scenario_send(world, "order", "o-1", "paid", error);
}

static pawl_status create_batch_in(struct world *world, pawl_scope *scope, struct pawl_error *error)
{
    const struct pawl_batch_item items[] = { { "b-1", "1" }, { "b-2", "{\"two\": 2}" }, { "b-3", NULL } };
    struct pawl_instance *created;
    size_t count;
    return pawl_create_batch(world->engine, scope, "plain", items, 3, &created, &count, error);
}

static pawl_status create_batch(struct world *world, struct pawl_error *error)
{
    return scenario_in_scope(world, create_batch_in, error);
}

static pawl_status tick_once(struct world *world, struct pawl_error *error)
{
    return pawl_runner_tick(world->runner, 1, 1, NULL, error);
}

/* ---- Control ---------------------------------------------------------------------------------------------------------- */

static pawl_status create_three(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(scenario_create(world, "plain", "p-1", error));
    PAWL_TRY(scenario_create(world, "order", "o-1", error));
    return scenario_create(world, "order", "o-2", error);
}

/* Done again later, it may find the run finished. */
static pawl_status unless_finished(pawl_status status)
{
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status;
}

static pawl_status pause_them(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(unless_finished(pawl_pause(world->engine, "plain", "p-1", error)));
    return unless_finished(pawl_pause(world->engine, "order", "o-1", error));
}

static pawl_status resume_them(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(unless_finished(pawl_resume(world->engine, "plain", "p-1", error)));
    return unless_finished(pawl_resume(world->engine, "order", "o-1", error));
}

static pawl_status terminate_one(struct world *world, struct pawl_error *error)
{
    return unless_finished(pawl_terminate(world->engine, "order", "o-2", error));
}

/* A second restart would be one too many: look first. */
static pawl_status restart_one(struct world *world, struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    PAWL_TRY(scenario_look(world, "plain", "p-1", &now, &run, error));
    return run == 1 ? pawl_restart(world->engine, "plain", "p-1", error) : PAWL_OK;
}

/* ---- Looking ------------------------------------------------------------------------------------------------------------ */

static pawl_status fill(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(create_batch(world, error));
    PAWL_TRY(scenario_create(world, "order", "o-1", error));
    PAWL_TRY(pay(world, error));
    return world_drive(world, error);
}

static pawl_status list_all(struct world *world, pawl_scope *scope, struct pawl_error *error)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page = { .cursor = NULL };
    const struct pawl_workflow_info *infos;
    size_t seen = 0, count;
    options.page_size = 2;
    do {
        options.cursor = page.cursor;
        PAWL_TRY(pawl_list(world->engine, scope, "plain", &options, &page, error));
        seen += page.count;
    } while (page.cursor != NULL);
    if (seen != 3)
        ledger_violate(world->ledger, "%zu instances are listed, not 3", seen);
    pawl_status status = pawl_list_workflows(world->engine, scope, &infos, &count);
    *error = (struct pawl_error){ status, "pawl_list_workflows" };
    return status;
}

static pawl_status read_history(struct world *world, pawl_scope *scope, struct pawl_error *error)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history = { .run_number = 0 };
    size_t steps = 0;
    options.page_size = 3;
    options.include_logs = true;
    do {
        options.steps_cursor = history.steps_cursor;
        PAWL_TRY(pawl_get_history(world->engine, scope, "order", "o-1", &options, &history, error));
        for (size_t i = 0; i < history.step_count; i++)
            steps += history.steps[i].name != NULL;
    } while (history.steps_cursor != NULL);
    if (steps != 8)
        ledger_violate(world->ledger, "%zu steps are in the history, not 8", steps);
    return PAWL_OK;
}

static pawl_status page_through(struct world *world, struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    PAWL_TRY(scenario_in_scope(world, list_all, error));
    PAWL_TRY(scenario_in_scope(world, read_history, error));
    PAWL_TRY(scenario_look(world, "order", "o-1", &now, &run, error));
    if (now != PAWL_COMPLETE)
        ledger_violate(world->ledger, "a complete instance is %s", pawl_instance_status_name(now));
    return PAWL_OK;
}

/* ---- Hooks ---------------------------------------------------------------------------------------------------------------- */

static pawl_status hear(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    static const char *const certain[] = { "\"create\"", "\"status\"" };
    char line[LEDGER_TEXT];
    (void)error;
    for (size_t i = 0; i < sizeof certain / sizeof certain[0]; i++) {
        if (strstr(delivery->payload_json, certain[i]) == NULL)
            continue;
        snprintf(line, sizeof line, "%s/%d %s", delivery->instance_id, (int)delivery->run_number, certain[i]);
        ledger_tell(user, line);
    }
    return PAWL_OK;
}

/* A fault may fail any attempt: their number must not end on that. */
pawl_status scenario_register_hook(struct world *world, struct pawl_error *error)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "ledger";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = hear;
    hook.user = world->ledger;
    hook.attempts_max = 1000;
    return pawl_hook_register(world->engine, &hook, error);
}

static pawl_status list_deliveries(struct world *world, pawl_scope *scope, struct pawl_error *error)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page = { .cursor = NULL };
    const char *id = NULL;
    size_t seen = 0;
    options.page_size = 2;
    options.hook = "ledger";
    do {
        options.cursor = page.cursor;
        PAWL_TRY(pawl_list_deliveries(world->engine, scope, &options, &page, error));
        seen += page.count;
        id = page.count > 0 ? page.deliveries[0].delivery.id : id;
    } while (page.cursor != NULL);
    if (seen < 3) /* a run that was taken up meanwhile is told of again */
        ledger_violate(world->ledger, "%zu deliveries are listed, not 3", seen);
    return id != NULL ? pawl_resend_delivery(world->engine, id, error) : PAWL_OK;
}

static pawl_status look_at_deliveries(struct world *world, struct pawl_error *error)
{
    return scenario_in_scope(world, list_deliveries, error);
}

/* ---- Opening ------------------------------------------------------------------------------------------------------------- */

static pawl_status open_world(struct world *world, struct pawl_error *error)
{
    return world->engine != NULL ? PAWL_OK : world_open(world, error);
}

static pawl_status close_world(struct world *world, struct pawl_error *error)
{
    (void)error;
    world_close(world);
    return PAWL_OK;
}

static void advance_nothing(pawl_turn *turn, void *user)
{
    (void)user;
    pawl_turn_suspend(turn);
}

/* What is defined already stays so; a definition that failed must not be there by half. */
static pawl_status define_two(struct world *world, struct pawl_error *error)
{
    static const char *const tags[] = { "a", "b" };
    for (int i = 0; i < 2; i++) {
        struct pawl_definition definition = { .struct_size = sizeof definition,
                                              .name = i == 0 ? "aa-defined" : "zz-defined",
                                              .description = "by hand",
                                              .tags = tags,
                                              .tag_count = 2,
                                              .advance = advance_nothing };
        pawl_status status = pawl_define(world->engine, &definition, error);
        if (status != PAWL_OK && status != PAWL_DUPLICATE_WORKFLOW)
            return status;
    }
    return PAWL_OK;
}

/* A module that was loaded by half says so for ever: it takes a new engine. */
static pawl_status open_and_load(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(open_world(world, error));
    pawl_status status = pawl_load_module(world->engine, FAULT_MODULE, error);
    if (status != PAWL_OK)
        world_close(world);
    return status;
}

/* ---- The kit ---------------------------------------------------------------------------------------------------------------- */

static pawl_status greet(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_return(run, out_result, "V", params);
}

static pawl_status use_kit(struct world *world, struct pawl_error *error)
{
    const struct pawl_workflow workflow = { .name = "greet", .run = greet };
    struct pawl_instance instance;
    struct pawl_history history;
    PAWL_TRY(pawl_register(pawl_world_engine(world->kit), &workflow, error));
    PAWL_TRY(pawl_world_mock_result(world->kit, NULL, "absent", 0, "1", error));
    PAWL_TRY(pawl_world_create(world->kit, "greet", "g-1", "\"hello\"", error));
    PAWL_TRY(pawl_world_advance(world->kit, "2 hours", error));
    PAWL_TRY(pawl_world_get(world->kit, "greet", "g-1", &instance, error));
    PAWL_TRY(pawl_world_history(world->kit, "greet", "g-1", 0, &history, error));
    if (pawl_world_trace(world->kit) == NULL)
        ledger_violate(world->ledger, "the trace is NULL");
    return PAWL_OK;
}

static pawl_status use_a_kit(struct world *world, struct pawl_error *error)
{
    pawl_status status = pawl_world_open(NULL, &world->kit, error);
    if (status == PAWL_OK)
        status = use_kit(world, error);
    pawl_world_close(world->kit);
    world->kit = NULL;
    return status;
}

const struct scenario scenarios[] = {
    { .name = "open",
      .is_about_opening = true,
      .survives_beginning = true,
      .acts = { open_world, define_two, close_world, open_world } },
    { .name = "module",
      .is_about_opening = true,
      .workflow = "loaded",
      .id = "l-1",
      .acts = { open_and_load, create_its_own, world_drive } },
    { .name = "create",
      .survives_beginning = true,
      .workflow = "plain",
      .id = "p-1",
      .acts = { create_its_own, world_drive } },
    { .name = "batch", .survives_beginning = true, .acts = { create_batch, world_drive } },
    { .name = "order",
      .survives_beginning = true,
      .workflow = "order",
      .id = "o-1",
      .acts = { create_its_own, world_drive, pay, world_drive, close_world, open_world, world_drive } },
    { .name = "fan",
      .survives_beginning = true,
      .workflow = "fan",
      .id = "f-1",
      .acts = { create_its_own, world_drive, world_drive } },
    { .name = "control",
      .acts = { create_three, tick_once, tick_once, pause_them, world_drive, terminate_one, resume_them, world_drive,
                restart_one, world_drive, pay, world_drive } },
    { .name = "hooks",
      .has_hook = true,
      .survives_beginning = true,
      .workflow = "order",
      .id = "o-1",
      .acts = { create_its_own, world_drive, pay, world_drive, close_world, open_world, world_drive } },
    { .name = "deliveries", .has_hook = true, .acts = { create_batch, look_at_deliveries, world_drive } },
    { .name = "pages", .prepare = fill, .acts = { page_through } },
    { .name = "call",
      .survives_beginning = true,
      .workflow = "caller",
      .id = "c-1",
      .acts = { create_its_own, world_drive } },
    { .name = "outside",
      .survives_beginning = true,
      .workflow = "poster",
      .id = "po-1",
      .acts = { create_its_own, world_drive, others_fail_outside, world_drive, others_work_outside, world_drive } },
    { .name = "children",
      .survives_beginning = true,
      .workflow = "parent",
      .id = "pa-1",
      .acts = { create_its_own, world_drive } },
    { .name = "attached",
      .survives_beginning = true,
      .workflow = "keeper",
      .id = "k-1",
      .acts = { create_its_own, world_drive, others_terminate_keeper, world_drive } },
    { .name = "deferred",
      .survives_beginning = true,
      .workflow = "asker",
      .id = "a-1",
      .acts = { create_its_own, world_drive, others_answer_early, others_let_go, world_drive, others_answer_late,
                world_drive } },
    { .name = "interrupt",
      .survives_beginning = true,
      .workflow = "trip",
      .id = "t-1",
      .acts = { create_its_own, world_drive, others_interrupt_trip, world_drive } },
    { .name = "repair",
      .workflow = "fragile",
      .id = "fr-1",
      .acts = { create_its_own, world_drive, others_mend_and_resume, world_drive } },
    { .name = "retry",
      .workflow = "weak",
      .id = "w-1",
      .acts = { create_its_own, world_drive, others_mend_and_retry, world_drive, others_restart_from_second,
                world_drive } },
    { .name = "kit", .acts = { use_a_kit } },
};
const size_t scenario_count = sizeof scenarios / sizeof scenarios[0];

const struct scenario *scenario_find(const char *name)
{
    for (size_t i = 0; i < scenario_count; i++) {
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    }
    return NULL;
}
