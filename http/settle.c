/* settle.c - how something ended, told by whoever carried it out: a deferred by its token, a job by that of its claim.
 * A result is handed on as it was received; one that is not there is "no result", which is not null. */
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"

/* Either of the calls that take it. */
typedef void settle_fn(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                       struct pawl_error *error, pawl_answered_fn *answered, void *user);

static void submit(pawl_http_call *call, settle_fn *settle)
{
    pw_http_call_submit(call);
    settle(call->http->engine, call->match.token, &call->work.outcome, &call->error, pw_http_call_answered, call);
}

static void succeed(pawl_http_call *call, settle_fn *settle)
{
    struct pw_http_field result = { .name = "result", .kind = PW_HTTP_ANY };
    if (!pw_http_body_read(call, &result, 1))
        return;
    call->work.outcome = (struct pawl_outcome){ .result_json = result.text };
    submit(call, settle);
}

/* The last field, `retry`, is a job's alone. */
static void fail(pawl_http_call *call, settle_fn *settle, bool is_job)
{
    enum { NAME, MESSAGE, RETRY, COUNT };
    struct pw_http_field fields[COUNT] = { [NAME] = { .name = "name", .kind = PW_HTTP_STRING, .is_required = true },
                                           [MESSAGE] = { .name = "message", .kind = PW_HTTP_STRING },
                                           [RETRY] = { .name = "retry", .kind = PW_HTTP_BOOL } };
    if (!pw_http_body_read(call, fields, is_job ? COUNT : RETRY))
        return;
    call->work.outcome = (struct pawl_outcome){ .error_name = fields[NAME].text,
                                                .error_message = fields[MESSAGE].text,
                                                .may_retry = !fields[RETRY].is_given || fields[RETRY].number != 0 };
    submit(call, settle);
}

void pw_http_deferred_succeed(pawl_http_call *call)
{
    succeed(call, pawl_deferred_settle_async);
}

void pw_http_deferred_fail(pawl_http_call *call)
{
    fail(call, pawl_deferred_settle_async, /* is_job= */ false);
}

void pw_http_job_complete(pawl_http_call *call)
{
    succeed(call, pawl_job_settle_async);
}

void pw_http_job_fail(pawl_http_call *call)
{
    fail(call, pawl_job_settle_async, /* is_job= */ true);
}
