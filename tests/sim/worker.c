/* worker.c - workers outside: they claim jobs at any process, are slow, answer late, twice, or never (invariant 42). */
#include <stdio.h>

#include "fail.h"
#include "pawl/service.h"
#include "world.h"

static void claim(struct sim_world *world, pawl_engine *engine, struct sim_job *job)
{
    static const char *const functions[] = { "f" };
    static const int64_t leases_ms[] = { 1000, 5000, 30000 };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    uint64_t faults = world->faults;
    pawl_scope *scope = pawl_scope_new();
    options.functions = functions;
    options.function_count = 1;
    options.lease_ms = leases_ms[sim_below(&world->chance, 3)];
    pawl_status status = pawl_job_claim(engine, scope, &options, &jobs, &count, NULL);
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK || world->faults > faults, "a worker's claim fails: %s",
              pawl_status_name(status));
    if (status == PAWL_OK && count > 0) {
        const struct sim_instance *instance = sim_model_find(&world->model, "@f", jobs[0].id);
        SIM_CHECK(SIM_RULE_JOB_RESULT, instance != NULL, "a worker is given job %s, which is none", jobs[0].id);
        (void)snprintf(job->token, sizeof job->token, "%s", jobs[0].token);
        job->key = instance->key;
        job->fence = (struct pw_fence){ instance->key, instance->run, instance->task.epoch };
        job->deadline_ms = jobs[0].deadline_ms;
        job->attempt = jobs[0].attempt;
        sim_trace("%lld a worker claims job %s", (long long)world->now_ms, jobs[0].id);
    }
    pawl_scope_free(scope);
}

/* Once a job is gone it stays so. */
static bool is_gone(struct sim_world *world, const struct sim_job *job)
{
    return !sim_model_holds(&world->model, &job->fence) || world->model.latest_ms >= job->deadline_ms;
}

static void check_said(struct sim_world *world, struct sim_job *job, pawl_status status, uint64_t faults)
{
    sim_trace("%lld a worker speaks of %lld -> %s", (long long)world->now_ms, (long long)job->key,
              pawl_status_name(status));
    if (status == PAWL_JOB_GONE) {
        SIM_CHECK(SIM_RULE_JOB_RESULT, is_gone(world, job), "job %lld is said to be gone", (long long)job->key);
        if (sim_below(&world->chance, 2) == 0)
            job->token[0] = '\0'; /* some do not believe it */
    } else {
        SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK || world->faults > faults, "a worker is refused: %s",
                  pawl_status_name(status));
    }
}

static void settle(struct sim_world *world, pawl_engine *engine, struct sim_job *job)
{
    char text[SIM_TEXT_MAX];
    uint64_t faults = world->faults;
    bool fails = sim_below(&world->chance, 3) == 0 && job->attempt < 4;
    const struct sim_instance *instance = sim_model_by_key(&world->model, job->key);
    (void)snprintf(text, sizeof text, "%d", -1 - world->jobs_said++);
    pawl_status status =
        fails ? pawl_job_fail(engine, job->token, "Worker", text, sim_below(&world->chance, 2) == 0, NULL)
              : pawl_job_complete(engine, job->token, text, NULL);
    if (status == PAWL_OK)
        SIM_CHECK(SIM_RULE_JOB_RESULT, strcmp(fails ? instance->error_message : instance->output, text) == 0,
                  "job %s ended otherwise than its worker said", instance->id);
    check_said(world, job, status, faults);
}

void sim_worker_act(struct sim_world *world)
{
    struct sim_process *process = sim_process_choose(world);
    struct sim_job *job = &world->jobs[sim_below(&world->chance, SIM_JOBS_MAX)];
    enum sim_context context = world->context;
    uint64_t faults = world->faults;
    if (process == NULL)
        return;
    world->context = SIM_CONTEXT_CLIENT;
    process->on_stack++;
    int drawn = sim_below(&world->chance, 6);
    struct sim_job now = *job; /* others may come in between, and use its place */
    if (now.token[0] == '\0')
        claim(world, process->engine, &now);
    else if (drawn == 0)
        check_said(world, &now,
                   pawl_job_heartbeat(process->engine, now.token, 1000 + sim_below(&world->chance, 9000), NULL, NULL),
                   faults);
    else if (drawn == 1)
        now.token[0] = '\0'; /* it dies */
    else
        settle(world, process->engine, &now);
    *job = now;
    world->context = context;
    sim_process_left(world, process);
}
