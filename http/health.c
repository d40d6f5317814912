/* health.c - what operators and their tools ask: alive, ready, which version, figures, the API's description. */
#include "http/answer.h"
#include "http/metrics.h"
#include "http/openapi.h"
#include "http/operations.h"
#include "pawl/hooks.h"
#include "pawl/pawl.h"

static void answer_status(pawl_http_call *call, const char *status)
{
    pw_http_json_open(&call->out, NULL, '{');
    pw_http_json_string(&call->out, "status", status);
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}

void pw_http_live(pawl_http_call *call)
{
    answer_status(call, "ok");
}

/* One row of an index is the least that shows that the store can be read.  Of a store of several databases a list needs
 * them all; one of them that is down is no reason to serve nobody, and figures come from those that answer. */
static pawl_status read_store(pawl_http_call *call)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_backlog backlog = { .struct_size = sizeof backlog };
    struct pawl_delivery_page page;
    options.page_size = 1;
    pawl_status status = pawl_list_deliveries(call->http->engine, call->scope, &options, &page, &call->error);
    if (status == PAWL_STORE_UNAVAILABLE && pawl_backlog_read(call->http->engine, &backlog, NULL) == PAWL_OK)
        status = PAWL_OK;
    return status;
}

void pw_http_ready(pawl_http_call *call)
{
    if (pw_http_is_draining(call)) {
        pw_http_fail(call, 503, "DRAINING", "this server is about to stop");
        return;
    }
    pawl_status status = read_store(call);
    if (status == PAWL_OK)
        answer_status(call, "ready");
    else
        pw_http_fail_status(call, status);
}

void pw_http_version(pawl_http_call *call)
{
    pw_http_json_open(&call->out, NULL, '{');
    pw_http_json_string(&call->out, "name", "pawl");
    pw_http_json_string(&call->out, "version", pawl_version());
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}

void pw_http_metrics(pawl_http_call *call)
{
    pawl_status status = pw_http_write_metrics(call->http, &call->out);
    if (status == PAWL_OK)
        pw_http_answer_text(call, PW_HTTP_METRICS_TYPE);
    else
        pw_http_fail_status(call, status);
}

void pw_http_describe(pawl_http_call *call)
{
    pawl_status status = pw_http_write_openapi(call->http->options.mount, &call->out);
    if (status == PAWL_OK)
        pw_http_answer_text(call, "application/json");
    else
        pw_http_fail_status(call, status);
}
