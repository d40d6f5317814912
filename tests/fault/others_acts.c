/* others_acts.c - acts of others.h. */
#include "others.h"

enum { LEASE_MS = 30000 };

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
    PAWL_TRY(scenario_look(world, "poster", "po-1", &now, &run, error));
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

pawl_status others_work_outside(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "poster", "po-1", "press", error));
    return scenario_in_scope(world, complete_job, error);
}

pawl_status others_fail_outside(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "poster", "po-1", "press", error));
    return scenario_in_scope(world, fail_job, error);
}

/* ---- Deferreds ------------------------------------------------------------------------------------------------------ */

pawl_status others_answer_early(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(world_drive(world, error));
    if (world->ledger->tokens[0][0] == '\0') /* done again, it may find the run further on */
        return not_yet(error);
    return pawl_deferred_succeed(world->engine, world->ledger->tokens[0], "{\"yes\": true}", error);
}

pawl_status others_answer_late(struct world *world, struct pawl_error *error)
{
    return pawl_deferred_fail(world->engine, world->ledger->tokens[1], "Rejected", "no", error);
}

pawl_status others_let_go(struct world *world, struct pawl_error *error)
{
    return scenario_send(world, "asker", "a-1", "go", error);
}

/* ---- Ends ----------------------------------------------------------------------------------------------------------- */

/* Done again later, it may find the run finished. */
static pawl_status unless_finished(pawl_status status)
{
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status;
}

pawl_status others_terminate_keeper(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "keeper", "k-1", "press", error));
    return unless_finished(pawl_terminate(world->engine, "keeper", "k-1", error));
}

pawl_status others_interrupt_trip(struct world *world, struct pawl_error *error)
{
    PAWL_TRY(drive_to_step(world, "trip", "t-1", "nothing", error));
    return unless_finished(pawl_interrupt(world->engine, "trip", "t-1", error));
}

/* ---- Repair --------------------------------------------------------------------------------------------------------- */

pawl_status others_mend_and_resume(struct world *world, struct pawl_error *error)
{
    if (!world->ledger->is_mended)
        PAWL_TRY(drive_to_step(world, "fragile", "fr-1", "break", error));
    if (!world->ledger->is_mended)
        ledger_mend(world->ledger);
    return unless_finished(pawl_resume(world->engine, "fragile", "fr-1", error));
}

/* A second retry would be one too many: look first. */
pawl_status others_mend_and_retry(struct world *world, struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    if (!world->ledger->is_mended)
        PAWL_TRY(drive_to_step(world, "weak", "w-1", "break", error));
    world->ledger->is_mended = true;
    PAWL_TRY(scenario_look(world, "weak", "w-1", &now, &run, error));
    return run == 1 ? pawl_retry(world->engine, "weak", "w-1", error) : PAWL_OK;
}

pawl_status others_restart_from_second(struct world *world, struct pawl_error *error)
{
    enum pawl_instance_status now;
    int64_t run;
    PAWL_TRY(scenario_look(world, "weak", "w-1", &now, &run, error));
    return run == 2 ? pawl_restart_from(world->engine, "weak", "w-1", "second", error) : PAWL_OK;
}
