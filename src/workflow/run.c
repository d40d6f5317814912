/* run.c - durable calls of a workflow: steps, sleeps, events, logs; and what all durable calls share.
 *
 * A durable call checks that the run may still make one (pw_run_ready), asks the engine (pawl_recall_...), keeps the failure for
 * pawl_run_failure() if there is one (pw_run_relay), and hands on the value.  Values and texts live in the scope of the pass. */
#include "workflow/run.h"

#include <stdio.h>
#include <string.h>

#include "common/duration.h"
#include "base/error.h"
#include "base/limits.h"
#include "value/value.h"

bool pw_run_begin(pawl_run *run, pawl_value **out_params)
{
    run->lane = pawl_turn_lane(run->turn);
    run->scope = pawl_scope_new();
    pawl_turn_describe(run->turn, &run->info);
    struct pw_text params = { run->info.params_json, run->info.params_size };
    return run->scope != NULL && pw_value_of_text(run->scope, params, out_params) == PAWL_OK;
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

pawl_status pw_run_failed(pawl_run *run, pawl_status status, const char *name, const char *message)
{
    run->failed = status;
    run->failure = (struct pawl_failure){ name, message != NULL ? message : "" };
    return status;
}

pawl_status pw_run_relay(pawl_run *run, pawl_status status)
{
    if (status == PAWL_OK || pw_is_undecided(status))
        return status;
    const char *text = pawl_scope_format(run->scope, "%s", pawl_lane_error(run->lane));
    return pw_run_failed(run, status, pawl_status_name(status), text != NULL ? text : pawl_status_text(status));
}

pawl_status pw_run_misused(pawl_run *run, pawl_status status, const char *text)
{
    return pw_run_failed(run, status, pawl_status_name(status), text);
}

static pawl_status fail_with(pawl_run *run, const struct pawl_error *error)
{
    const char *text = pawl_scope_format(run->scope, "%s", error->text);
    return text != NULL ? pw_run_failed(run, error->status, pawl_status_name(error->status), text) : PAWL_NOMEM;
}

struct pawl_failure pawl_run_failure(const pawl_run *run)
{
    return run->failure.name != NULL ? run->failure : (struct pawl_failure){ "", "" };
}

bool pw_failure_format(pawl_scope *scope, const char *name, const char *format, va_list arguments,
                       struct pawl_failure *out_failure)
{
    char message[PW_ERROR_MESSAGE_MAX];
    (void)pw_text_format(message, sizeof message, format, arguments);
    out_failure->name = pawl_scope_format(scope, "%s", name != NULL ? name : "FAILED");
    out_failure->message = pawl_scope_format(scope, "%s", message);
    return out_failure->name != NULL && out_failure->message != NULL;
}

pawl_status pawl_run_fail(pawl_run *run, const char *error_name, const char *format, ...)
{
    struct pawl_failure failure;
    va_list arguments;
    va_start(arguments, format);
    bool is_kept = pw_failure_format(run->scope, error_name, format, arguments, &failure);
    va_end(arguments);
    return is_kept ? pw_run_failed(run, PAWL_FAILED, failure.name, failure.message) : PAWL_NOMEM;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static pawl_status read_duration(const char *text, const char *what, int64_t *out_ms, struct pawl_error *error)
{
    if (pw_duration_parse(text, out_ms))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID_DURATION,
                    "\"%.80s\" is not a duration for %s: it is a number of milliseconds, or a number with ms, seconds, "
                    "minutes, hours, days or weeks, as in \"10 minutes\"",
                    text, what);
}

pawl_status pw_run_duration(pawl_run *run, const char *text, const char *what, int64_t *out_ms)
{
    struct pawl_error error;
    return read_duration(text, what, out_ms, &error) == PAWL_OK ? PAWL_OK : fail_with(run, &error);
}

pawl_status pw_policy_merge(struct pawl_policy *policy, const struct pawl_step_options *options,
                            struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    policy->description = options != NULL ? options->description : NULL;
    if (options == NULL)
        return PAWL_OK;
    if (options->retries != 0)
        policy->retries_max = options->retries == PAWL_NO_RETRIES ? 0 : options->retries;
    if (options->delay != NULL)
        status = read_duration(options->delay, "the delay of a retry", &policy->delay_ms, error);
    if (options->backoff != PAWL_BACKOFF_DEFAULT)
        policy->backoff = options->backoff;
    if (status == PAWL_OK && options->timeout != NULL)
        status = read_duration(options->timeout, "a timeout", &policy->timeout_ms, error);
    return status;
}

pawl_status pw_run_plan(pawl_run *run, const struct pawl_step_options *options, struct pw_plan *out_plan)
{
    const struct pawl_compensation *compensate = options != NULL ? options->compensate : NULL;
    struct pawl_error error;
    *out_plan = (struct pw_plan){ .policy = run->registration->policy,
                                  .compensate = compensate,
                                  .undo_policy = run->registration->policy };
    if (pw_policy_merge(&out_plan->policy, options, &error) != PAWL_OK)
        return fail_with(run, &error);
    if (compensate == NULL)
        return PAWL_OK;
    if (compensate->undo == NULL)
        return pw_run_misused(run, PAWL_INVALID, "a compensation needs a function");
    if (compensate->options != NULL && compensate->options->compensate != NULL)
        return pw_run_misused(run, PAWL_INVALID, "a compensation is not compensated itself");
    if (pw_policy_merge(&out_plan->undo_policy, compensate->options, &error) != PAWL_OK)
        return fail_with(run, &error);
    const char *wrong = pawl_policy_wrong(&out_plan->undo_policy);
    return wrong == NULL ? PAWL_OK : pw_run_misused(run, PAWL_INVALID, wrong);
}

bool pw_run_is_stopped(const pawl_run *run)
{
    return run->parked || pawl_lane_suspended(run->lane);
}

/* Suspension is sticky and comes before every other error.  A read that ran out of memory answered "absent", so no
 * decision that the workflow based on it may count. */
pawl_status pw_run_ready(pawl_run *run, const char *name)
{
    if (pw_run_is_stopped(run))
        return PAWL_SUSPENDED;
    PAWL_TRY(pw_scope_status(run->scope));
    if (name == NULL)
        return pw_run_misused(run, PAWL_INVALID_STEP_NAME, "a step needs a name");
    if (pw_text_begins_with(pw_text_trim(pw_text_of(name)), PW_UNDOING))
        return pw_run_misused(run, PAWL_INVALID_STEP_NAME,
                              "a step's name must not begin with \"" PW_UNDOING
                              "\": the steps that undo others are named so");
    return PAWL_OK;
}

static pawl_status give_value(pawl_run *run, const struct pawl_answer *answer, pawl_value **out_value)
{
    struct pw_text text = { answer->result_json, answer->result_size };
    run->failed = PAWL_OK; /* an earlier failure was handled */
    return out_value != NULL ? pw_value_of_text(run->scope, text, out_value) : PAWL_OK;
}

/* Returns the failure, or parks the run for repair if the workflow asks for that.  A run that should stop is not
 * parked, because nobody could repair it. */
static pawl_status give_failure(pawl_run *run, const struct pawl_answer *answer)
{
    if (!run->registration->suspend_on_failure)
        return pw_run_failed(run, PAWL_FAILED, answer->error_name, answer->error_message);
    PAWL_TRY(pw_run_relay(run, pawl_lane_check(run->lane)));
    run->parked = true;
    return PAWL_SUSPENDED;
}

pawl_status pw_run_answer(pawl_run *run, const char *name, const struct pw_plan *plan, const pawl_value *input,
                          const struct pawl_answer *answer, pawl_value **out_result)
{
    if (answer->kind == PAWL_ANSWER_FAILED)
        return give_failure(run, answer);
    if (plan != NULL && plan->compensate != NULL)
        PAWL_TRY(pw_undo_note(run, name, plan, input, answer));
    return give_value(run, answer, out_result);
}

/* Never parks for repair, because a timeout or another's answer cannot be taken back. */
pawl_status pw_run_waited(pawl_run *run, const struct pawl_answer *answer, pawl_value **out_result)
{
    if (answer->kind != PAWL_ANSWER_FAILED)
        return give_value(run, answer, out_result);
    bool late = strcmp(answer->error_name, pawl_status_name(PAWL_WAIT_FOR_EVENT_TIMEOUT)) == 0;
    return pw_run_failed(run, late ? PAWL_WAIT_FOR_EVENT_TIMEOUT : PAWL_FAILED, answer->error_name,
                         answer->error_message);
}

pawl_status pw_run_step(pawl_run *run, const struct pawl_policy *policy, const struct pw_body *body,
                        const pawl_value *input, struct pawl_answer *out_answer)
{
    for (;;) {
        PAWL_TRY(pw_run_relay(run, pawl_recall_step(run->lane, body->name, strlen(body->name), policy, out_answer)));
        if (out_answer->kind != PAWL_ANSWER_RUN)
            return PAWL_OK;
        PAWL_TRY(pw_step_run(run, out_answer->attempt, body, input));
    }
}

pawl_status pw_run_do(pawl_run *run, const struct pawl_step_options *options, const struct pw_body *body,
                      const pawl_value *input, pawl_value **out_result)
{
    struct pw_plan plan;
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, body->name));
    if (body->run == NULL)
        return pw_run_misused(run, PAWL_INVALID, "a step needs a body");
    PAWL_TRY(pw_run_plan(run, options, &plan));
    PAWL_TRY(pw_run_step(run, &plan.policy, body, input, &answer));
    return pw_run_answer(run, body->name, &plan, input, &answer, out_result);
}

pawl_status pawl_do(pawl_run *run, const char *name, const struct pawl_step_options *options, pawl_step_fn *body,
                    const pawl_value *input, pawl_value **out_result)
{
    struct pw_body called = pw_body_of(name, body);
    return pw_run_do(run, options, &called, input, out_result);
}

/* ---- Sleeps ------------------------------------------------------------------------------------------------------ */

pawl_status pawl_sleep_ms(pawl_run *run, const char *name, int64_t duration_ms)
{
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, name));
    return pw_run_relay(run, pawl_recall_sleep(run->lane, name, strlen(name), duration_ms, &answer));
}

pawl_status pawl_sleep(pawl_run *run, const char *name, const char *duration)
{
    int64_t duration_ms;
    PAWL_TRY(pw_run_ready(run, name));
    PAWL_TRY(pw_run_duration(run, duration != NULL ? duration : "", "a sleep", &duration_ms));
    return pawl_sleep_ms(run, name, duration_ms);
}

pawl_status pawl_sleep_until(pawl_run *run, const char *name, int64_t wake_at_ms)
{
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, name));
    return pw_run_relay(run, pawl_recall_sleep_until(run->lane, name, strlen(name), wake_at_ms, &answer));
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

pawl_status pawl_wait_for_event(pawl_run *run, const char *name, const char *type, const char *timeout,
                                struct pawl_event *out_event)
{
    int64_t timeout_ms = PW_EVENT_TIMEOUT_MS_DEFAULT;
    struct pawl_answer answer;
    PAWL_TRY(pw_run_ready(run, name));
    if (timeout != NULL)
        PAWL_TRY(pw_run_duration(run, timeout, "the timeout of a wait", &timeout_ms));
    PAWL_TRY(pw_run_relay(run, pawl_recall_event(run->lane, name, strlen(name), type, timeout_ms, &answer)));
    struct pawl_event event = { .sent_at_ms = answer.event_at_ms };
    PAWL_TRY(pw_run_waited(run, &answer, out_event != NULL ? &event.payload : NULL));
    if (out_event == NULL)
        return PAWL_OK;
    event.type = pawl_scope_format(run->scope, "%s", type);
    if (event.type == NULL)
        return PAWL_NOMEM;
    *out_event = event;
    return PAWL_OK;
}

/* ---- Results, logs, and what a run knows of itself --------------------------------------------------------------- */

pawl_status pawl_return(pawl_run *run, pawl_value **out_result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = pawl_value_vpack(run->scope, out_result, format, arguments);
    va_end(arguments);
    if (status == PAWL_OK || status == PAWL_NOMEM)
        return status;
    return pw_run_misused(run, status, "the result's format or a text in it is not valid");
}

pawl_status pw_run_log(pawl_run *run, pawl_attempt *attempt, pawl_scope *scope, enum pawl_log_level level,
                       const char *category, const pawl_value *data, const char *format, va_list arguments)
{
    char message[PW_LOG_MESSAGE_MAX + 2]; /* room to notice that a message is too long */
    const char *text;
    size_t size;
    vsnprintf(message, sizeof message, format, arguments);
    PAWL_TRY(pawl_value_text(scope, data, &text, &size));
    return pawl_lane_log(run->lane, attempt, level, category, message, text, size);
}

pawl_status pawl_log(pawl_run *run, enum pawl_log_level level, const char *category, const pawl_value *data,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = pw_run_log(run, NULL, run->scope, level, category, data, format, arguments);
    va_end(arguments);
    return pw_run_relay(run, status);
}

const char *pawl_run_format(pawl_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = pw_scope_format_list(run->scope, format, arguments);
    va_end(arguments);
    return text;
}

const char *pawl_run_workflow(const pawl_run *run)
{
    return run->info.workflow;
}

const char *pawl_run_id(const pawl_run *run)
{
    return run->info.instance_id;
}

int64_t pawl_run_number(const pawl_run *run)
{
    return run->info.run_number;
}

int64_t pawl_run_created_at_ms(const pawl_run *run)
{
    return run->info.created_at_ms;
}

void *pawl_run_user(const pawl_run *run)
{
    return run->user;
}

pawl_scope *pawl_run_scope(pawl_run *run)
{
    return run->scope;
}

pawl_engine *pawl_run_engine(const pawl_run *run)
{
    return pawl_turn_engine(run->turn);
}

const struct pawl_parent *pawl_run_parent(const pawl_run *run)
{
    return run->info.parent.workflow != NULL ? &run->info.parent : NULL;
}
