/* create.c - creates one instance, or a batch of them. */
#include "common/limits.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"
#include "http/write.h"

#include <stdio.h>
#include <string.h>

/* ---- One ------------------------------------------------------------------------------------------------------- */

pawl_status pw_http_create(pawl_http_call *call)
{
    enum { ID, PARAMS, ON_CONFLICT, COUNT };
    struct pw_http_field fields[COUNT] = { [ID] = { .name = "id", .kind = PW_HTTP_STRING },
                                           [PARAMS] = { .name = "params", .kind = PW_HTTP_ANY },
                                           [ON_CONFLICT] = { .name = "onConflict", .kind = PW_HTTP_STRING } };
    struct pw_http_create_work *work = &call->work.create;
    if (!pw_http_body_read(call, fields, COUNT))
        return PAWL_OK;
    if (fields[ON_CONFLICT].text != NULL && strcmp(fields[ON_CONFLICT].text, "return") != 0)
        pw_http_issue(call, "onConflict", "must be \"return\" or left out");
    if (pw_http_fail_issues(call))
        return PAWL_OK;
    work->options = (struct pawl_create_options)PAWL_CREATE_OPTIONS_INIT;
    work->options.id = fields[ID].text;
    work->options.params_json = fields[PARAMS].text;
    work->options.return_existing = fields[ON_CONFLICT].text != NULL;
    pw_http_call_submit(call);
    pawl_create_async(call->http->engine, call->scope, call->match.workflow, &work->options, &work->instance,
                      &call->error, pw_http_call_answered, call);
    return PAWL_OK;
}

pawl_status pw_http_create_done(pawl_http_call *call)
{
    pw_http_write_instance(&call->out, &call->work.create.instance);
    return pw_http_answer_json(call, 200);
}

/* ---- Many ------------------------------------------------------------------------------------------------------ */

static void read_item(pawl_http_call *call, size_t position, char *text, size_t size, struct pawl_batch_item *out_item)
{
    enum { ID, PARAMS, COUNT };
    struct pw_http_field fields[COUNT] = { [ID] = { .name = "id", .kind = PW_HTTP_STRING, .is_required = true },
                                           [PARAMS] = { .name = "params", .kind = PW_HTTP_ANY } };
    char path[32];
    (void)snprintf(path, sizeof path, "instances[%zu]", position);
    if (text[0] != '{') {
        pw_http_issue(call, path, "is not an object");
        return;
    }
    pw_http_object_read(call, text, size, path, fields, COUNT);
    *out_item = (struct pawl_batch_item){ fields[ID].text, fields[PARAMS].text };
}

static pawl_status read_items(pawl_http_call *call, char *list, size_t size)
{
    struct pw_http_batch_work *work = &call->work.batch;
    struct pawl_json_part part;
    size_t position = 0;
    work->items = pawl_scope_take(call->scope, PW_BATCH_CREATE_MAX * sizeof *work->items);
    if (work->items == NULL)
        return PAWL_NOMEM;
    while (pawl_json_next(list, size, &position, &part)) {
        if (work->count == PW_BATCH_CREATE_MAX) {
            pw_http_issue(call, "instances", "has more than %d elements", PW_BATCH_CREATE_MAX);
            break;
        }
        read_item(call, work->count, list + (part.text - list), part.size, &work->items[work->count]);
        work->count++;
    }
    return PAWL_OK;
}

pawl_status pw_http_create_batch(pawl_http_call *call)
{
    struct pw_http_field instances = { .name = "instances", .kind = PW_HTTP_LIST, .is_required = true };
    struct pw_http_batch_work *work = &call->work.batch;
    if (!pw_http_body_read(call, &instances, 1))
        return PAWL_OK;
    pawl_status status = read_items(call, instances.text, instances.size);
    if (status != PAWL_OK || pw_http_fail_issues(call))
        return status;
    pw_http_call_submit(call);
    pawl_create_batch_async(call->http->engine, call->scope, call->match.workflow, work->items, work->count,
                            &work->instances, &work->created, &call->error, pw_http_call_answered, call);
    return PAWL_OK;
}

pawl_status pw_http_create_batch_done(pawl_http_call *call)
{
    const struct pw_http_batch_work *work = &call->work.batch;
    pw_json_open(&call->out, NULL, '{');
    pw_json_open(&call->out, "instances", '[');
    for (size_t i = 0; i < work->created; i++)
        pw_http_write_instance(&call->out, &work->instances[i]);
    pw_json_close(&call->out, ']');
    return pw_http_answer_object(call, 200);
}
