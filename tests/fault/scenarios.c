/* scenarios.c - see scenarios.h. */
#include "scenarios.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

enum { LEASE_MS = 30000 };

/* ---- Acts that can be done again ------------------------------------------------------------------------------------ */

/* Does it with a scope of its own.  That there is none is told as any want of memory. */
typedef pawl_status scoped_fn(struct world *world, pawl_scope *scope, struct pawl_error *error);
static pawl_status in_scope(struct world *world, scoped_fn *act, struct pawl_error *error)
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

/* An instance that is there already is fine. */
static pawl_status create(struct world *world, const char *workflow, const char *id, struct pawl_error *error)
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

/* Its status and run number, which is all that acts ask for. */
static pawl_status look(struct world *world, const char *workflow, const char *id,
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

/* An event for an instance that has finished is fine. */
static pawl_status send(struct world *world, const char *workflow, const char *id, const char *type,
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
    return create(world, world->scenario->workflow, world->scenario->id, error);
}

static pawl_status pay(struct world *world, struct pawl_error *error)
{
    return send(world, "order", "o-1", "paid", error);
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
    return in_scope(world, create_batch_in, error);
}

static pawl_status tick_once(struct world *world, struct pawl_error *error)
{
    return pawl_runner_tick(world->runner, 1, 1, NULL, error);
}

/* ---- Control ---------------------------------------------------------------------------------------------------------- */

static pawl_status create_three(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(create(world, "plain", "p-1", error));
    PAWL_TRY(create(world, "order", "o-1", error));
    return create(world, "order", "o-2", error);
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
    PAWL_TRY(look(world, "plain", "p-1", &now, &run, error));
    return run == 1 ? pawl_restart(world->engine, "plain", "p-1", error) : PAWL_OK;
}

/* ---- Looking ------------------------------------------------------------------------------------------------------------ */

static pawl_status fill(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(create_batch(world, error));
    PAWL_TRY(create(world, "order", "o-1", error));
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
    PAWL_TRY(in_scope(world, list_all, error));
    PAWL_TRY(in_scope(world, read_history, error));
    PAWL_TRY(look(world, "order", "o-1", &now, &run, error));
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
    return in_scope(world, list_deliveries, error);
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

/* ---- Waiting for the scene ------------------------------------------------------------------------------------------ */

/* Memory that runs out in bodies holds a run up, and driving it says nothing of it: there will be another attempt.  So what
 * an act finds missing is memory; once there is enough of it, nothing may be missing. */
static pawl_status not_yet(struct pawl_error *error)
{
    *error = (struct pawl_error){ PAWL_NOMEM, "the run has not come that far" };
    return PAWL_NOMEM;
}

/* PAWL_OK: it waits in that step, or is over. */
static pawl_status drive_to_step(struct world *world, const char *workflow, const char *id, const char *step,
                                 struct pawl_error *error)
{
    struct pawl_instance instance;
    PAWL_TRY(world_drive(world, error));
    pawl_scope *scope = pawl_scope_new();
    if (scope == NULL)
        return not_yet(error);
    pawl_status status = pawl_get(world->engine, scope, workflow, id, &instance, error);
    if (status == PAWL_OK && instance.status <= PAWL_PAUSED &&
        (instance.current_step == NULL || strcmp(instance.current_step->name, step) != 0))
        status = not_yet(error);
    pawl_scope_free(scope);
    return status;
}

/* ---- A worker outside ----------------------------------------------------------------------------------------------- */

static pawl_status claim(struct world *world, pawl_scope *scope, const struct pawl_job **out_job,
                         struct pawl_error *error)
{
    static const char *const functions[] = { "press" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    options.functions = functions;
    options.function_count = 1;
    options.lease_ms = LEASE_MS;
    PAWL_TRY(pawl_job_claim(world->engine, scope, &options, &jobs, &count, error));
    if (count > 1)
        ledger_violate(world->ledger, "%zu jobs were claimed, not 1", count);
    *out_job = count > 0 ? &jobs[0] : NULL;
    return PAWL_OK;
}

/* One that an earlier try claimed, and then died with, is due when its lease is over. */
static pawl_status claim_patiently(struct world *world, pawl_scope *scope, const struct pawl_job **out_job,
                                   struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    PAWL_TRY(claim(world, scope, out_job, error));
    if (*out_job != NULL)
        return PAWL_OK;
    PAWL_TRY(look(world, "poster", "po-1", &now, &run, error));
    if (now >= PAWL_COMPLETE)
        return PAWL_OK; /* it has its answer */
    if (now != PAWL_WAITING)
        return not_yet(error);
    world->now_ms += LEASE_MS + 1;
    PAWL_TRY(claim(world, scope, out_job, error));
    return *out_job != NULL ? PAWL_OK : not_yet(error);
}

static pawl_status work(struct world *world, pawl_scope *scope, bool fails, struct pawl_error *error)
{
    const struct pawl_job *job = NULL;
    int64_t until_ms = 0;
    PAWL_TRY(claim_patiently(world, scope, &job, error));
    if (job == NULL)
        return PAWL_OK;
    if (strcmp(job->step, "press") != 0 || strcmp(job->instance_id, "po-1") != 0 || job->data_json == NULL)
        ledger_violate(world->ledger, "the job is another one: %s of %s", job->step, job->instance_id);
    if (job->attempt > 1)
        fails = false;
    world->now_ms += 1000;
    PAWL_TRY(pawl_job_heartbeat(world->engine, job->token, LEASE_MS, &until_ms, error));
    if (until_ms != world->now_ms + LEASE_MS)
        ledger_violate(world->ledger, "the heartbeat did not renew the lease");
    return fails ? pawl_job_fail(world->engine, job->token, "Jam", "the press is jammed", true, error)
                 : pawl_job_complete(world->engine, job->token, "{\"pages\": 12}", error);
}

static pawl_status complete_job(struct world *world, pawl_scope *scope, struct pawl_error *error)
{
    return work(world, scope, false, error);
}

static pawl_status fail_job(struct world *world, pawl_scope *scope, struct pawl_error *error)
{
    return work(world, scope, true, error);
}

static pawl_status work_outside(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "poster", "po-1", "press", error));
    return in_scope(world, complete_job, error);
}

static pawl_status fail_outside(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "poster", "po-1", "press", error));
    return in_scope(world, fail_job, error);
}

/* ---- Deferreds ------------------------------------------------------------------------------------------------------ */

static pawl_status answer_early(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(world_drive(world, error));
    if (world->ledger->tokens[0][0] == '\0') /* done again, it may find the run further on */
        return not_yet(error);
    return pawl_deferred_succeed(world->engine, world->ledger->tokens[0], "{\"yes\": true}", error);
}

static pawl_status answer_late(struct world *world, struct pawl_error *error)
{
    return pawl_deferred_fail(world->engine, world->ledger->tokens[1], "Rejected", "no", error);
}

static pawl_status let_go(struct world *world, struct pawl_error *error)
{
    return send(world, "asker", "a-1", "go", error);
}

/* ---- Ends ----------------------------------------------------------------------------------------------------------- */

static pawl_status terminate_keeper(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "keeper", "k-1", "press", error));
    return unless_finished(pawl_terminate(world->engine, "keeper", "k-1", error));
}

static pawl_status interrupt_trip(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "trip", "t-1", "nothing", error));
    return unless_finished(pawl_interrupt(world->engine, "trip", "t-1", error));
}

/* ---- Repair --------------------------------------------------------------------------------------------------------- */

static pawl_status mend_and_resume(struct world *world, struct pawl_error *error)
{
    if (!world->ledger->is_mended)
        PAWL_TRY(drive_to_step(world, "fragile", "fr-1", "break", error));
    if (!world->ledger->is_mended)
        ledger_mend(world->ledger);
    return unless_finished(pawl_resume(world->engine, "fragile", "fr-1", error));
}

/* A second retry would be one too many: look first. */
static pawl_status mend_and_retry(struct world *world, struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    if (!world->ledger->is_mended)
        PAWL_TRY(drive_to_step(world, "weak", "w-1", "break", error));
    world->ledger->is_mended = true;
    PAWL_TRY(look(world, "weak", "w-1", &now, &run, error));
    return run == 1 ? pawl_retry(world->engine, "weak", "w-1", error) : PAWL_OK;
}

static pawl_status restart_from_second(struct world *world, struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    PAWL_TRY(look(world, "weak", "w-1", &now, &run, error));
    return run == 2 ? pawl_restart_from(world->engine, "weak", "w-1", "second", error) : PAWL_OK;
}

/* ---- The list ------------------------------------------------------------------------------------------------------- */

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
      .acts = { create_its_own, world_drive, fail_outside, world_drive, work_outside, world_drive } },
    { .name = "children",
      .survives_beginning = true,
      .workflow = "parent",
      .id = "pa-1",
      .acts = { create_its_own, world_drive } },
    { .name = "attached",
      .survives_beginning = true,
      .workflow = "keeper",
      .id = "k-1",
      .acts = { create_its_own, world_drive, terminate_keeper, world_drive } },
    { .name = "deferred",
      .survives_beginning = true,
      .workflow = "asker",
      .id = "a-1",
      .acts = { create_its_own, world_drive, answer_early, let_go, world_drive, answer_late, world_drive } },
    { .name = "interrupt",
      .survives_beginning = true,
      .workflow = "trip",
      .id = "t-1",
      .acts = { create_its_own, world_drive, interrupt_trip, world_drive } },
    { .name = "repair",
      .workflow = "fragile",
      .id = "fr-1",
      .acts = { create_its_own, world_drive, mend_and_resume, world_drive } },
    { .name = "retry",
      .workflow = "weak",
      .id = "w-1",
      .acts = { create_its_own, world_drive, mend_and_retry, world_drive, restart_from_second, world_drive } },
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
