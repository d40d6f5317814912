/* answer.c - see answer.h.  Every answer passes end(), which sets the common headers and counts it.  The table
 * `outcomes` is the one place that maps the engine's statuses to HTTP's. */
#include "http/answer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RETRY_AFTER_S = 1 };

/* Bodies for when there is no memory to write one. */
static const char no_memory_body[] = "{\"code\":\"STORE_UNAVAILABLE\",\"message\":\"out of memory; try again\"}";
static const char over_budget_body[] =
    "{\"code\":\"" PW_HTTP_OVER_BUDGET "\",\"message\":\"" PW_HTTP_OVER_BUDGET_TEXT "\"}";

/* ---- Headers --------------------------------------------------------------------------------------------------- */

void pw_http_add_header(pawl_http_call *call, const char *name, const char *value)
{
    assert(call->response.header_count < PW_HTTP_HEADERS_MAX);
    call->headers[call->response.header_count++] = (struct pawl_http_header){ name, value };
}

void pw_http_add_retry_after(pawl_http_call *call, int32_t seconds)
{
    (void)snprintf(call->retry_after, sizeof call->retry_after, "%d", (int)seconds);
    pw_http_add_header(call, "Retry-After", call->retry_after);
}

static void add_common_headers(pawl_http_call *call, const char *content_type)
{
    const char *origin = call->http->options.cors_origin;
    if (content_type != NULL)
        pw_http_add_header(call, "Content-Type", content_type);
    pw_http_add_header(call, "Cache-Control", "no-store");
    pw_http_add_header(call, "X-Content-Type-Options", "nosniff");
    if (origin == NULL)
        return;
    pw_http_add_header(call, "Access-Control-Allow-Origin", origin);
    pw_http_add_header(call, "Access-Control-Expose-Headers", "Retry-After");
    if (strcmp(origin, "*") != 0)
        pw_http_add_header(call, "Vary", "Origin");
}

/* ---- Answers --------------------------------------------------------------------------------------------------- */

/* Completes the response.  If the body could not be written, the client gets a constant 503 body instead. */
static void end(pawl_http_call *call, int status, const char *content_type, bool is_stream)
{
    struct pawl_http_response *response = &call->response;
    bool has_body = !is_stream && !call->is_head && content_type != NULL;
    response->status = status;
    response->is_stream = is_stream;
    response->body = has_body ? call->out.data : "";
    response->body_size = has_body ? call->out.size : 0;
    response->head_size = call->is_head && content_type != NULL ? call->out.size : 0;
    if (call->out.failed) {
        const char *body = call->out.is_refused ? over_budget_body : no_memory_body;
        response->status = 503;
        response->is_stream = false;
        response->body = call->is_head ? "" : body;
        response->body_size = strlen(response->body);
        response->head_size = call->is_head ? strlen(body) : 0;
        content_type = "application/json";
        if (call->retry_after[0] == '\0')
            pw_http_add_retry_after(call, RETRY_AFTER_S);
    }
    add_common_headers(call, content_type);
    response->headers = call->headers;
    call->state = PW_HTTP_ANSWERED;
    pw_http_count(call->http, call->match.route, response->status, pw_http_nanoseconds() - call->began_ns);
}

pawl_status pw_http_answer_json(pawl_http_call *call, int status)
{
    end(call, status, "application/json", false);
    return PAWL_OK;
}

pawl_status pw_http_answer_object(pawl_http_call *call, int status)
{
    pw_json_close(&call->out, '}');
    return pw_http_answer_json(call, status);
}

pawl_status pw_http_answer_text(pawl_http_call *call, const char *content_type)
{
    end(call, 200, content_type, false);
    return PAWL_OK;
}

pawl_status pw_http_answer_empty(pawl_http_call *call)
{
    pw_buffer_reset(&call->out);
    end(call, 204, NULL, false);
    return PAWL_OK;
}

pawl_status pw_http_answer_ok(pawl_http_call *call)
{
    pw_json_open(&call->out, NULL, '{');
    pw_json_bool(&call->out, "ok", true);
    return pw_http_answer_object(call, 200);
}

pawl_status pw_http_answer_stream(pawl_http_call *call)
{
    pw_http_add_header(call, "X-Accel-Buffering", "no"); /* a proxy that buffers would delay events */
    end(call, 200, "text/event-stream", !call->is_head);
    call->response.head_size = 0; /* the length of a stream is unknown */
    return PAWL_OK;
}

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/* Leaves the object open, so that the caller can add members. */
static void write_error(struct pw_buffer *out, const char *code, const char *message)
{
    pw_buffer_reset(out);
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "code", code);
    pw_json_string(out, "message", message);
}

pawl_status pw_http_fail(pawl_http_call *call, int status, const char *code, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    pawl_text_mend(message);
    va_end(arguments);
    write_error(&call->out, code, message);
    if ((status == 503 || status == 429) && call->retry_after[0] == '\0')
        pw_http_add_retry_after(call, RETRY_AFTER_S);
    return pw_http_answer_object(call, status);
}

/* How a client sees each status.  The routes' calls never return the statuses that are missing here, so one of them
 * is a bug of ours: 500. */
static const struct outcome {
    int status;
    const char *code; /* NULL: the status's own name */
} outcomes[PAWL_STATUS_COUNT] = {
    [PAWL_INVALID] = { 400, "VALIDATION_FAILED" },
    [PAWL_INVALID_JSON] = { 400, NULL },
    [PAWL_PAYLOAD_TOO_LARGE] = { 413, NULL },
    [PAWL_WORKFLOW_NOT_FOUND] = { 404, NULL },
    [PAWL_INVALID_INSTANCE_ID] = { 400, NULL },
    [PAWL_INSTANCE_ID_ALREADY_EXISTS] = { 409, NULL },
    [PAWL_INSTANCE_NOT_FOUND] = { 404, NULL },
    [PAWL_INSTANCE_TERMINAL] = { 409, NULL },
    [PAWL_MAX_EVENTS_EXCEEDED] = { 429, NULL },
    [PAWL_INVALID_EVENT_TYPE] = { 400, NULL },
    [PAWL_INVALID_CURSOR] = { 400, NULL },
    [PAWL_DELIVERY_NOT_FOUND] = { 404, NULL },
    [PAWL_INVALID_WORKFLOW_NAME] = { 404, "WORKFLOW_NOT_FOUND" },
    [PAWL_INVALID_STEP_NAME] = { 400, NULL },
    [PAWL_INVALID_FUNCTION_NAME] = { 400, NULL },
    [PAWL_INVALID_TOKEN] = { 404, NULL },
    [PAWL_DEFERRED_COMPLETED] = { 409, NULL },
    [PAWL_JOB_GONE] = { 409, NULL },
    [PAWL_NOT_REPAIRABLE] = { 409, NULL },
    [PAWL_CONFLICT] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_BUSY] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_STOPPED] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_NOMEM] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_STORE_UNAVAILABLE] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_STORE_FULL] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_STORE_READ_ONLY] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_STORE_CORRUPT] = { 503, "STORE_UNAVAILABLE" },
    [PAWL_STORE_TOO_NEW] = { 503, NULL },
};

static struct outcome outcome_of(pawl_status status)
{
    struct outcome outcome = (unsigned)status < PAWL_STATUS_COUNT ? outcomes[status] : (struct outcome){ 0, NULL };
    if (outcome.status == 0)
        return (struct outcome){ 500, "INTERNAL_SERVER_ERROR" };
    if (outcome.code == NULL)
        outcome.code = pawl_status_name(status);
    return outcome;
}

bool pw_http_is_passing(pawl_status status)
{
    return outcome_of(status).status == 503;
}

/* Texts of 5xx are general, because the engine's own may name files and statements. */
void pw_http_fail_status(pawl_http_call *call, pawl_status status)
{
    struct outcome outcome = outcome_of(status);
    const char *text = pawl_status_text(status);
    if (outcome.status == 500)
        text = "internal error; the request is not at fault";
    else if (outcome.status < 500 && call->error.status == status && call->error.text[0] != '\0')
        text = call->error.text;
    pw_http_fail(call, outcome.status, outcome.code, "%s", text);
}

pawl_status pw_http_fail_over_budget(pawl_http_call *call)
{
    return pw_http_fail(call, 503, PW_HTTP_OVER_BUDGET, PW_HTTP_OVER_BUDGET_TEXT);
}

/* ---- Issues ---------------------------------------------------------------------------------------------------- */

void pw_http_issue(pawl_http_call *call, const char *path, const char *format, ...)
{
    char message[PW_HTTP_ISSUE_SIZE];
    va_list arguments;
    if (call->issue_count++ >= PW_HTTP_ISSUES_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pawl_text_mend(message);
    if (call->issue_count == 1) {
        (void)snprintf(call->first_issue, sizeof call->first_issue, "%.80s%s%.160s", path, path[0] != '\0' ? ": " : "",
                       message);
        pawl_text_mend(call->first_issue);
    }
    pw_json_open(&call->issues, NULL, '{');
    pw_json_string(&call->issues, "path", path);
    pw_json_string(&call->issues, "message", message);
    pw_json_close(&call->issues, '}');
}

bool pw_http_fail_issues(pawl_http_call *call)
{
    if (call->issues.failed) {
        pw_http_fail_status(call, PAWL_NOMEM);
        return true;
    }
    if (call->issue_count == 0)
        return false;
    write_error(&call->out, "VALIDATION_FAILED", call->first_issue);
    pw_json_open(&call->out, "issues", '[');
    pw_json_raw(&call->out, NULL, call->issues.data);
    pw_json_close(&call->out, ']');
    (void)pw_http_answer_object(call, 400);
    return true;
}

const char *pawl_http_error_body(pawl_scope *scope, const char *code, const char *message)
{
    struct pw_buffer text = { 0 };
    write_error(&text, code, message);
    pw_json_close(&text, '}');
    const char *body = text.failed ? NULL : pawl_scope_format(scope, "%s", text.data);
    pw_buffer_clear(&text);
    return body != NULL ? body : no_memory_body;
}
