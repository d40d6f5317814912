/* function.c - functions: registered by name, and run as jobs or called bare.
 *
 * As a job, a function runs as one attempt in a turn of its own.  Only the end of the job is recorded, or its
 * timeout; the end answers the run that called it.  Called bare (pawl_invoke()), a function is a plain call in the
 * calling run. */
#include <string.h>

#include "base/error.h"
#include "pawl/service.h"
#include "value/value.h"
#include "workflow/run.h"

/* ---- As a job ---------------------------------------------------------------------------------------------------- */

/* Records the end of the job.  Its attempt is not recorded, because the calling run counts the attempts. */
static void end_job(pawl_turn *turn, const struct pw_verdict *outcome)
{
    if (pawl_lane_suspended(pawl_turn_lane(turn)))
        pawl_turn_suspend(turn);
    else if (outcome->status == PAWL_OK)
        pawl_turn_finish(turn, outcome->result, outcome->result_size);
    else if (outcome->may_retry)
        pawl_turn_fail(turn, outcome->failure.name, outcome->failure.message);
    else
        pawl_turn_fail_for_good(turn, outcome->failure.name, outcome->failure.message);
}

static void run_job(pawl_run *run, const struct pw_function *function, const pawl_value *job, pawl_attempt *attempt)
{
    struct pw_body body = pw_body_of(pawl_value_string(job, "step", function->name), function->run);
    pawl_step step = { .run = run,
                       .name = body.name,
                       .attempt = attempt,
                       .number = pawl_value_int(job, "attempt", 1),
                       .user = function->user,
                       .scope = run->scope,
                       .failed = PAWL_OK };
    struct pw_verdict outcome;
    pw_step_call(&step, &body, pawl_value_at(job, "data"), &outcome);
    pawl_attempt_drop(attempt);
    end_job(run->turn, &outcome);
}

static void take_job(pawl_run *run, const struct pw_function *function, const pawl_value *job)
{
    struct pawl_policy policy;
    struct pawl_answer answer;
    pawl_policy_default(&policy);
    policy.retries_max = 0;
    policy.timeout_ms = pawl_value_int(job, "timeoutMs", policy.timeout_ms);
    pawl_status status = pawl_recall_step(run->lane, "call", strlen("call"), &policy, &answer);
    if (pw_is_undecided(status))
        pawl_turn_suspend(run->turn);
    else if (status != PAWL_OK)
        pawl_turn_fail_for_good(run->turn, pawl_status_name(status), pawl_lane_error(run->lane));
    else if (answer.kind == PAWL_ANSWER_FAILED) /* the timeout, which an earlier pass recorded */
        pawl_turn_fail(run->turn, answer.error_name, answer.error_message);
    else if (answer.kind == PAWL_ANSWER_DONE)
        pawl_turn_finish(run->turn, answer.result_json, answer.result_size);
    else
        run_job(run, function, job, answer.attempt);
}

static void carry_out(pawl_turn *turn, void *user)
{
    const struct pw_function *function = user;
    pawl_run run = { .turn = turn, .shelf = function->shelf, .user = function->user, .failed = PAWL_OK };
    pawl_value *job;
    if (pw_run_begin(&run, &job))
        take_job(&run, function, job);
    else
        pawl_turn_suspend(turn);
    pawl_scope_free(run.scope);
}

/* ---- Bare -------------------------------------------------------------------------------------------------------- */

pawl_status pawl_invoke(pawl_run *run, const char *function, const pawl_value *data, pawl_value **out_result)
{
    if (pw_run_is_stopped(run))
        return PAWL_SUSPENDED;
    const struct pw_function *called = function != NULL ? pw_shelf_function(run->shelf, function) : NULL;
    if (called == NULL)
        return pawl_run_fail(run, pawl_status_name(PAWL_INVALID), "no function \"%.80s\" is registered here",
                             function != NULL ? function : "");
    /* In the run's own scope, because the result belongs to the run. */
    struct pw_body body = pw_body_of(called->name, called->run);
    pawl_step step = {
        .run = run, .name = called->name, .number = 1, .user = called->user, .scope = run->scope, .failed = PAWL_OK
    };
    struct pw_verdict outcome;
    pw_step_call(&step, &body, data, &outcome);
    if (outcome.status == PAWL_NOMEM)
        return PAWL_NOMEM;
    if (outcome.status != PAWL_OK)
        return pw_run_failed(run, PAWL_FAILED, outcome.failure.name, outcome.failure.message);
    run->failed = PAWL_OK; /* an earlier failure was handled */
    if (out_result != NULL)
        *out_result = outcome.value;
    return PAWL_OK;
}

/* ---- Registering ------------------------------------------------------------------------------------------------- */

pawl_status pw_define_function(pawl_engine *engine, struct pw_function *function, const char *description,
                               struct pawl_error *error)
{
    struct pawl_definition definition = { .struct_size = sizeof definition,
                                          .name = function->name,
                                          .description = description,
                                          .advance = carry_out,
                                          .user = function,
                                          .is_function = true };
    return pawl_define(engine, &definition, error);
}

pawl_status pawl_register_function(pawl_engine *engine, const struct pawl_function *function, struct pawl_error *error)
{
    if (engine == NULL || function == NULL || function->run == NULL)
        return pw_error(error, PAWL_INVALID, "a function needs a name and something to run");
    if (function->concurrency < 0)
        return pw_error(error, PAWL_INVALID, "the concurrency of a function is 0, for no limit, or more; not %d",
                        (int)function->concurrency);
    struct pw_shelf *shelf = pw_shelf_of(engine);
    struct pw_function *kept = shelf != NULL ? pw_shelf_take(shelf, sizeof *kept) : NULL;
    const char *name = kept != NULL ? pw_shelf_text(shelf, function->name) : NULL;
    if (name == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *kept = (struct pw_function){ .shelf = shelf, .name = name, .run = function->run, .user = function->user };
    pawl_status status = pw_define_function(engine, kept, function->description, error);
    if (status == PAWL_OK && function->concurrency > 0)
        status = pawl_limit_function(engine, name, function->concurrency, error);
    if (status == PAWL_OK)
        pw_shelf_add(shelf, &shelf->functions, &kept->entry);
    return status;
}
