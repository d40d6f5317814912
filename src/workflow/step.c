/* step.c - what a step's body can use: its result or failure, what it registers, what it may ask.
 *
 * A body runs in one of three ways: as an attempt whose outcome is recorded (`records`), as a job, whose end is
 * recorded instead, or bare, without an attempt.  Only the first can register changes. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "value/value.h"
#include "workflow/run.h"

/* ---- Running a body ---------------------------------------------------------------------------------------------- */

/* True if the same call would be refused again. */
static bool is_misuse(pawl_status status)
{
    return status == PAWL_INVALID || status == PAWL_INVALID_JSON || status == PAWL_INVALID_LOG ||
           status == PAWL_PAYLOAD_TOO_LARGE;
}

static void fail_with(const pawl_step *step, pawl_status status, struct pw_verdict *out_outcome)
{
    *out_outcome = (struct pw_verdict){ .status = status,
                                        .failure = pw_failure_of(status, step->failed, step->failure),
                                        .may_retry = status != PAWL_NON_RETRYABLE && !is_misuse(status) };
}

static pawl_status call_function(pawl_step *step, const struct pw_body *body, const pawl_value *input,
                                 pawl_value **out_result)
{
    return body->function(step, input, out_result);
}

struct pw_body pw_body_of(const char *name, pawl_step_fn *function)
{
    return (struct pw_body){ .name = name, .run = function != NULL ? call_function : NULL, .function = function };
}

void pw_step_call(pawl_step *step, const struct pw_body *body, const pawl_value *input, struct pw_verdict *out_outcome)
{
    pawl_value *result = NULL;
    struct pw_verdict outcome = { .status = PAWL_OK };
    pawl_status status = pw_wrap_step(step, body, input, &result);
    if (pw_scope_status(step->run->scope) != PAWL_OK) /* the input belongs to the run's scope */
        status = pw_scope_status(step->run->scope);
    else if (pw_scope_status(step->scope) != PAWL_OK)
        status = pw_scope_status(step->scope);
    if (status == PAWL_OK)
        status = pawl_value_text(step->scope, result, &outcome.result, &outcome.result_size);
    outcome.value = result;
    if (status != PAWL_OK)
        fail_with(step, status, &outcome);
    *out_outcome = outcome;
}

pawl_status pw_step_run(pawl_run *run, pawl_attempt *attempt, const struct pw_body *body, const pawl_value *input)
{
    pawl_step step = { .run = run,
                       .name = body->name,
                       .attempt = attempt,
                       .number = pawl_attempt_number(attempt),
                       .records = true,
                       .user = run->user,
                       .scope = pawl_scope_new(),
                       .failed = PAWL_OK };
    struct pw_verdict outcome;
    if (step.scope == NULL)
        fail_with(&step, PAWL_NOMEM, &outcome);
    else
        pw_step_call(&step, body, input, &outcome);
    pawl_status status = outcome.status == PAWL_OK ? pawl_attempt_complete(attempt, outcome.result, outcome.result_size)
                                                   : pawl_attempt_fail(attempt, outcome.failure.name,
                                                                       outcome.failure.message, outcome.may_retry);
    pawl_scope_free(step.scope);
    return status;
}

/* ---- How it ends ------------------------------------------------------------------------------------------------- */

pawl_status pawl_result(pawl_step *step, pawl_value **out_result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = pawl_value_vpack(step->scope, out_result, format, arguments);
    va_end(arguments);
    if (status == PAWL_OK || status == PAWL_NOMEM)
        return status;
    return pawl_fail_for_good(step, pawl_status_name(status), "the result's format or a text in it is not valid");
}

static pawl_status note_failure(pawl_step *step, pawl_status status, const char *name, const char *format,
                                va_list arguments)
{
    struct pawl_failure failure;
    if (!pw_failure_format(step->scope, name, format, arguments, &failure))
        return PAWL_NOMEM;
    step->failed = status;
    step->failure = failure;
    return status;
}

pawl_status pawl_fail(pawl_step *step, const char *error_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = note_failure(step, PAWL_FAILED, error_name, format, arguments);
    va_end(arguments);
    return status;
}

pawl_status pawl_fail_for_good(pawl_step *step, const char *error_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = note_failure(step, PAWL_NON_RETRYABLE, error_name, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- What it registers ------------------------------------------------------------------------------------------- */

/* The text of a value that will be recorded with the step. */
static pawl_status text_to_record(const pawl_step *step, const pawl_value *value, struct pw_text *out_text)
{
    return step->records ? pawl_value_text(step->scope, value, &out_text->data, &out_text->size) : PAWL_INVALID;
}

static pawl_status register_sql(pawl_step *step, enum pawl_mutation_when when, const char *sql, const char *format,
                                va_list arguments)
{
    pawl_value *parameters = NULL;
    struct pw_text text;
    if (format != NULL)
        PAWL_TRY(pawl_value_vpack(step->scope, &parameters, format, arguments));
    if (parameters != NULL && pawl_value_kind(parameters, NULL) != PAWL_KIND_ARRAY)
        return PAWL_INVALID;
    PAWL_TRY(text_to_record(step, parameters, &text));
    return pawl_attempt_sql(step->attempt, when, sql, text.data, text.size);
}

pawl_status pawl_step_sql(pawl_step *step, const char *sql, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = register_sql(step, PAWL_WITH_SUCCESS, sql, format, arguments);
    va_end(arguments);
    return status;
}

pawl_status pawl_step_sql_on_failure(pawl_step *step, const char *sql, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_status status = register_sql(step, PAWL_WITH_FAILURE, sql, format, arguments);
    va_end(arguments);
    return status;
}

pawl_status pawl_step_mutate(pawl_step *step, enum pawl_mutation_when when, pawl_mutation_fn *mutate, const void *data,
                             size_t size)
{
    return step->records ? pawl_attempt_mutate(step->attempt, when, mutate, data, size) : PAWL_INVALID;
}

pawl_status pawl_step_create(pawl_step *step, const char *workflow, const char *instance_id, const pawl_value *params)
{
    struct pw_text text;
    PAWL_TRY(text_to_record(step, params, &text));
    return pawl_attempt_create(step->attempt, workflow, instance_id, text.data, text.size);
}

pawl_status pawl_step_create_child(pawl_step *step, const char *workflow, const char *instance_id, bool attached,
                                   const pawl_value *params, const char **out_id)
{
    struct pw_text text;
    PAWL_TRY(text_to_record(step, params, &text));
    return pawl_attempt_create_child(step->attempt, workflow, instance_id, attached, text.data, text.size, out_id);
}

pawl_status pawl_step_send_event(pawl_step *step, const char *workflow, const char *instance_id, const char *type,
                                 const pawl_value *payload)
{
    struct pw_text text;
    PAWL_TRY(text_to_record(step, payload, &text));
    return pawl_attempt_send_event(step->attempt, workflow, instance_id, type, text.data, text.size);
}

pawl_status pawl_step_log(pawl_step *step, enum pawl_log_level level, const char *category, const pawl_value *data,
                          const char *format, ...)
{
    va_list arguments;
    if (step->attempt == NULL)
        return PAWL_INVALID;
    /* A job records no step, and its attempt's lines are dropped with the attempt.  So the line goes to the run. */
    pawl_attempt *attempt = step->records ? step->attempt : NULL;
    va_start(arguments, format);
    pawl_status status = pw_run_log(step->run, attempt, step->scope, level, category, data, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- What it may ask --------------------------------------------------------------------------------------------- */

const char *pawl_step_name(const pawl_step *step)
{
    return step->name;
}

const pawl_run *pawl_step_run(const pawl_step *step)
{
    return step->run;
}

int64_t pawl_step_attempt(const pawl_step *step)
{
    return step->number;
}

int64_t pawl_step_deadline_ms(const pawl_step *step)
{
    return step->attempt != NULL ? pawl_attempt_deadline_ms(step->attempt) : 0;
}

int64_t pawl_step_remaining_ms(const pawl_step *step)
{
    return step->attempt != NULL ? pawl_attempt_remaining_ms(step->attempt) : INT64_MAX;
}

bool pawl_step_cancelled(const pawl_step *step)
{
    return step->attempt != NULL && pawl_attempt_cancelled(step->attempt);
}

void *pawl_step_user(const pawl_step *step)
{
    return step->user;
}

pawl_scope *pawl_step_scope(pawl_step *step)
{
    return step->scope;
}

pawl_engine *pawl_step_engine(const pawl_step *step)
{
    return pawl_run_engine(step->run);
}
