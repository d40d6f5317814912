/* execute.c - executes a workflow by key: a second call with the same key gets the result of the first.
 *
 * The instance's id follows from workflow and key.  So this is a create that returns the instance if it exists,
 * followed by a wait for the result like any other (result.c). */
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"

pawl_status pw_http_execute(pawl_http_call *call)
{
    enum { KEY, PARAMS, DISCARD, WAIT, COUNT };
    struct pw_http_field fields[COUNT] = { [KEY] = { .name = "key", .kind = PW_HTTP_STRING },
                                           [PARAMS] = { .name = "params", .kind = PW_HTTP_ANY },
                                           [DISCARD] = { .name = "discard", .kind = PW_HTTP_BOOL },
                                           [WAIT] = { .name = "waitMs", .kind = PW_HTTP_RANGE, .max = INT64_MAX } };
    struct pw_http_execute_work *work = &call->work.execute;
    pawl_status status = PAWL_OK;
    if (!pw_http_body_read(call, fields, COUNT))
        return PAWL_OK;
    work->options = (struct pawl_create_options)PAWL_CREATE_OPTIONS_INIT;
    work->options.params_json = fields[PARAMS].text;
    work->wait_ms = fields[DISCARD].number != 0 ? 0 : fields[WAIT].number;
    if (fields[KEY].text != NULL) {
        status = pawl_execution_id(call->match.workflow, fields[KEY].text, work->id, &call->error);
        work->options.id = work->id;
        work->options.return_existing = true;
    }
    if (status != PAWL_OK)
        return status;
    pw_http_call_submit(call);
    pawl_create_async(call->http->engine, call->scope, call->match.workflow, &work->options, &work->instance,
                      &call->error, pw_http_call_answered, call);
    return PAWL_OK;
}

pawl_status pw_http_execute_carry_on(pawl_http_call *call)
{
    const struct pw_http_execute_work *work = &call->work.execute;
    if (call->state == PW_HTTP_WAITING)
        return pw_http_result_look(call);
    if (work->wait_ms == 0)
        return pw_http_answer_outcome(call, &work->instance);
    call->match.id = work->instance.id;
    call->made = &work->instance;
    return pw_http_result_await(call, work->wait_ms);
}

pawl_status pw_http_poll(pawl_http_call *call)
{
    struct pawl_instance instance;
    pawl_status status =
        pawl_poll(call->http->engine, call->scope, call->match.workflow, call->match.key, &instance, &call->error);
    return status == PAWL_OK ? pw_http_answer_outcome(call, &instance) : status;
}
