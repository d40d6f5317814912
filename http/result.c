/* result.c - waits for the result of an instance.  A watch tells of commits of this process.  Commits of other
 * processes are found by looking again every look_again_ms. */
#include "http/answer.h"
#include "http/operations.h"
#include "http/query.h"
#include "http/write.h"

static bool is_finished(const struct pawl_instance *instance)
{
    return instance->status == PAWL_COMPLETE || instance->status == PAWL_TERMINATED || instance->status == PAWL_ERRORED;
}

pawl_status pw_http_answer_outcome(pawl_http_call *call, const struct pawl_instance *instance)
{
    pw_http_write_outcome(&call->out, instance);
    return pw_http_answer_json(call, is_finished(instance) ? 200 : 202);
}

pawl_status pw_http_result_look(pawl_http_call *call)
{
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new(); /* for this look, so that memory does not grow during a long wait */
    int64_t now_ms = pawl_now_ms(call->http->engine);
    pawl_status status = PAWL_NOMEM;
    if (scope != NULL)
        status = pw_http_call_get(call, scope, &instance);
    if (status != PAWL_OK && call->made != NULL && pw_http_is_passing(status))
        status = pw_http_answer_outcome(call, call->made); /* a client that got 503 would create another one */
    else if (status == PAWL_OK && !is_finished(&instance) && now_ms < call->deadline_ms && !pw_http_is_draining(call))
        status = pw_http_call_look_again(call, now_ms);
    else if (status == PAWL_OK)
        status = pw_http_answer_outcome(call, &instance);
    pawl_scope_free(scope);
    return status;
}

pawl_status pw_http_result_await(pawl_http_call *call, int64_t wait_ms)
{
    pw_http_call_set_deadline(call, wait_ms);
    pawl_status status = pw_http_result_look(call);
    if (status != PAWL_OK || call->state != PW_HTTP_WAITING)
        return status;
    status = pw_http_call_watch(call);
    /* A change between the look and the opening of the watch would go unnoticed, so look once more. */
    return status == PAWL_OK ? pw_http_result_look(call) : status;
}

pawl_status pw_http_result(pawl_http_call *call)
{
    int64_t wait_ms = 0;
    (void)pw_http_query_integer(call, "waitMs", 0, INT64_MAX, &wait_ms);
    return pw_http_fail_issues(call) ? PAWL_OK : pw_http_result_await(call, wait_ms);
}
