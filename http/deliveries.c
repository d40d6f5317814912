/* deliveries.c - lists the deliveries of hooks that are pending or have failed, and resends them. */
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"
#include "http/query.h"
#include "http/write.h"

pawl_status pw_http_list_deliveries(pawl_http_call *call)
{
    static const char *const statuses[] = { "pending", "failed", NULL };
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page;
    size_t position;
    options.has_status = pw_http_query_word(call, "status", statuses, &position);
    if (options.has_status)
        options.status = position == 0 ? PAWL_DELIVERY_PENDING : PAWL_DELIVERY_FAILED;
    options.hook = pw_http_query(call, "hook");
    options.cursor = pw_http_query(call, "cursor");
    pw_http_query_page_size(call, &options.page_size);
    if (pw_http_fail_issues(call))
        return PAWL_OK;
    pawl_status status = pawl_list_deliveries(call->http->engine, call->scope, &options, &page, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_json_open(&call->out, NULL, '{');
    pw_json_open(&call->out, "deliveries", '[');
    for (size_t i = 0; i < page.count; i++)
        pw_http_write_delivery(&call->out, &page.deliveries[i]);
    pw_json_close(&call->out, ']');
    pw_http_write_cursor(&call->out, "cursor", "hasNextPage", page.cursor);
    return pw_http_answer_object(call, 200);
}

pawl_status pw_http_resend(pawl_http_call *call)
{
    if (!pw_http_body_read(call, NULL, 0))
        return PAWL_OK;
    pw_http_call_submit(call);
    pawl_resend_delivery_async(call->http->engine, call->match.delivery, &call->error, pw_http_call_answered, call);
    return PAWL_OK;
}
