/* health.c - routes for operators and their tools: liveness, readiness, version, metrics and the API's description. */
#include "http/answer.h"
#include "http/metrics.h"
#include "http/openapi.h"
#include "http/operations.h"
#include "pawl/pawl.h"

enum { READY_MS_MAX = 3000 };

static pawl_status answer_status(pawl_http_call *call, const char *status)
{
    pw_json_open(&call->out, NULL, '{');
    pw_json_string(&call->out, "status", status);
    return pw_http_answer_object(call, 200);
}

pawl_status pw_http_live(pawl_http_call *call)
{
    return answer_status(call, "ok");
}

static bool is_full(pawl_runner *runner)
{
    struct pawl_runner_stats stats = { .is_full = false };
    if (runner != NULL)
        pawl_runner_stats_read(runner, &stats);
    return stats.is_full;
}

pawl_status pw_http_ready(pawl_http_call *call)
{
    if (pw_http_is_draining(call))
        return pw_http_fail(call, 503, "DRAINING", "this server is stopping");
    if (is_full(call->http->options.runner))
        return pw_http_fail(call, 503, "THREADS_BLOCKED",
                            "too many threads are blocked by workflow code or step bodies that do not return: no new "
                            "runs are taken until some of them do");
    pawl_status status = pw_http_prober_ask(&call->http->prober, &call->work.look);
    if (status != PAWL_OK)
        return status;
    call->deadline_ms = pawl_now_ms(call->http->engine) + READY_MS_MAX;
    pw_http_call_wait_for_look(call);
    return pw_http_ready_look(call);
}

pawl_status pw_http_ready_look(pawl_http_call *call)
{
    pawl_status verdict = PAWL_OK;
    bool is_known = pw_http_prober_verdict(&call->http->prober, call->work.look, &verdict);
    if (is_known)
        return verdict == PAWL_OK ? answer_status(call, "ready") : verdict;
    if (pawl_now_ms(call->http->engine) < call->deadline_ms && !pw_http_is_draining(call))
        return pw_http_call_wait(call, call->deadline_ms);
    return pw_http_fail(call, 503, "STORE_UNAVAILABLE", "the store has not answered for %d ms", READY_MS_MAX);
}

pawl_status pw_http_version(pawl_http_call *call)
{
    pw_json_open(&call->out, NULL, '{');
    pw_json_string(&call->out, "name", "pawl");
    pw_json_string(&call->out, "version", pawl_version());
    return pw_http_answer_object(call, 200);
}

pawl_status pw_http_metrics(pawl_http_call *call)
{
    pawl_status status = pw_http_write_metrics(call->http, /* asks_store= */ !call->lacks_store, &call->out);
    return status == PAWL_OK ? pw_http_answer_text(call, PW_HTTP_METRICS_TYPE) : status;
}

pawl_status pw_http_describe(pawl_http_call *call)
{
    pawl_status status = pw_http_write_openapi(call->http->options.mount, &call->out);
    return status == PAWL_OK ? pw_http_answer_text(call, "application/json") : status;
}
