/* settle.c - a client reports how something ended: a deferred by its token, or a job by the token of its claim.  A
 * result is passed on as it was received.  A missing result is "no result", which is not null. */
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"

/* pawl_job_settle_async() or pawl_deferred_settle_async().  The route says which. */
typedef void settle_fn(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome, bool *out_is_paused,
                       struct pawl_error *error, pawl_answered_fn *answered, void *user);

static bool is_job(const pawl_http_call *call)
{
    return call->match.route->scope == PAWL_HTTP_WORK;
}

static pawl_status submit(pawl_http_call *call, const struct pawl_outcome *outcome)
{
    struct pw_http_settle_work *work = &call->work.settle;
    settle_fn *settle = is_job(call) ? pawl_job_settle_async : pawl_deferred_settle_async;
    *work = (struct pw_http_settle_work){ .outcome = *outcome };
    pw_http_call_submit(call);
    settle(call->http->engine, call->match.token, &work->outcome, &work->is_paused, &call->error, pw_http_call_answered,
           call);
    return PAWL_OK;
}

pawl_status pw_http_settle_succeed(pawl_http_call *call)
{
    struct pw_http_field result = { .name = "result", .kind = PW_HTTP_ANY };
    if (!pw_http_body_read(call, &result, 1))
        return PAWL_OK;
    return submit(call, &(struct pawl_outcome){ .result_json = result.text });
}

/* `retry`, the last field, exists only for jobs. */
pawl_status pw_http_settle_fail(pawl_http_call *call)
{
    enum { NAME, MESSAGE, RETRY, COUNT };
    struct pw_http_field fields[COUNT] = { [NAME] = { .name = "name", .kind = PW_HTTP_STRING, .is_required = true },
                                           [MESSAGE] = { .name = "message", .kind = PW_HTTP_STRING },
                                           [RETRY] = { .name = "retry", .kind = PW_HTTP_BOOL } };
    if (!pw_http_body_read(call, fields, is_job(call) ? COUNT : RETRY))
        return PAWL_OK;
    const struct pawl_outcome outcome = { .error_name = fields[NAME].text,
                                          .error_message = fields[MESSAGE].text,
                                          .may_retry = !fields[RETRY].is_given || fields[RETRY].number != 0 };
    return submit(call, &outcome);
}

/* Answers {"ok":true}, with "paused" if the run will not go on because it is paused. */
pawl_status pw_http_settle_done(pawl_http_call *call)
{
    pw_json_open(&call->out, NULL, '{');
    pw_json_bool(&call->out, "ok", true);
    if (call->work.settle.is_paused)
        pw_json_bool(&call->out, "paused", true);
    return pw_http_answer_object(call, 200);
}
