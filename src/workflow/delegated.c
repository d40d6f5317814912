/* delegated.c - durable calls that others finish: a worker runs a function, a child ends, or the holder of a token
 * completes a deferred. */
#include <string.h>

#include "workflow/run.h"

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

pawl_status pawl_call(pawl_run *run, const char *name, const char *function, const struct pawl_step_options *options,
                      const pawl_value *data, pawl_value **out_result)
{
    struct pawl_job_request request = { .function = function };
    struct pw_plan plan;
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, name));
    PAWL_TRY(pw_run_plan(run, options, &plan));
    PAWL_TRY(pawl_value_text(run->scope, data, &request.data_json, &request.data_size));
    PAWL_TRY(pw_run_relay(run, pawl_recall_call(run->lane, name, strlen(name), &request, &plan.policy, &answer)));
    return pw_run_answer(run, name, &plan, data, &answer, out_result);
}

/* ---- Children ---------------------------------------------------------------------------------------------------- */

/* What a step that creates a child needs. */
struct pw_child {
    const char *workflow;
    const char *id; /* NULL: one is generated */
    bool attached;
    const pawl_value *params;
};

static pawl_status create_child(pawl_step *step, const struct pw_body *body, const pawl_value *input,
                                pawl_value **out_result)
{
    const struct pw_child *child = body->child;
    const char *id;
    (void)input;
    PAWL_TRY(pawl_step_create_child(step, child->workflow, child->id, child->attached, child->params, &id));
    return pawl_result(step, out_result, "s", id);
}

pawl_status pawl_start_child(pawl_run *run, const char *name, const char *workflow,
                             const struct pawl_child_options *options, const pawl_value *params, const char **out_id)
{
    struct pw_child child = { .workflow = workflow,
                              .id = options != NULL ? options->id : NULL,
                              .attached = options == NULL || !options->detached,
                              .params = params };
    pawl_value *made;
    PAWL_TRY(pw_run_ready(run, name));
    if (workflow == NULL)
        return pw_run_misused(run, PAWL_INVALID, "a child needs a workflow");
    struct pw_body body = { .name = name, .run = create_child, .child = &child };
    PAWL_TRY(pw_run_do(run, NULL, &body, NULL, &made));
    const char *id = pawl_value_string(made, NULL, NULL);
    if (id == NULL)
        return pawl_run_fail(run, pawl_status_name(PAWL_STEP_TYPE_MISMATCH),
                             "step \"%.256s\" has another result than the id of a child", name);
    if (out_id != NULL)
        *out_id = id;
    return PAWL_OK;
}

pawl_status pawl_await_child(pawl_run *run, const char *name, const char *workflow, const char *id,
                             pawl_value **out_result)
{
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, name));
    if (workflow == NULL || id == NULL)
        return pw_run_misused(run, PAWL_INVALID, "a child is awaited by its workflow and its id");
    PAWL_TRY(pw_run_relay(run, pawl_recall_child(run->lane, name, strlen(name), workflow, id, &answer)));
    return pw_run_answer(run, name, NULL, NULL, &answer, out_result);
}

pawl_status pawl_run_child(pawl_run *run, const char *name, const char *workflow,
                           const struct pawl_child_options *options, const pawl_value *params, pawl_value **out_result)
{
    const char *id;
    PAWL_TRY(pawl_start_child(run, name, workflow, options, params, &id));
    const char *await = pw_derived_name(run, "await: ", name);
    return await != NULL ? pawl_await_child(run, await, workflow, id, out_result) : PAWL_NOMEM;
}

/* ---- Deferreds --------------------------------------------------------------------------------------------------- */

pawl_status pawl_deferred_token(pawl_run *run, const char *name, const char **out_token)
{
    PAWL_TRY(pw_run_ready(run, name));
    return pw_run_relay(run, pawl_recall_token(run->lane, name, strlen(name), out_token));
}

pawl_status pawl_await_deferred(pawl_run *run, const char *name, const char *timeout, pawl_value **out_result)
{
    int64_t timeout_ms = 0;
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, name));
    if (timeout != NULL)
        PAWL_TRY(pw_run_duration(run, timeout, "the timeout of a deferred", &timeout_ms));
    if (timeout != NULL && timeout_ms == 0)
        return pw_run_misused(run, PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE,
                              "a wait for a deferred lasts 1 ms to 365 days, or has no timeout (NULL): not 0 ms");
    PAWL_TRY(pw_run_relay(run, pawl_recall_deferred(run->lane, name, strlen(name), timeout_ms, &answer)));
    return pw_run_waited(run, &answer, out_result);
}
