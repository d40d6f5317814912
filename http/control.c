/* control.c - routes that change an instance (pause, resume, terminate, interrupt, retry, restart, events), and
 * ticks.
 *
 * All work alike.  The first step reads the body and submits the change to the engine, which answers from its
 * committing thread once the change is durable (pw_http_call_answered()).  That wakes the connection, and the
 * route's second step writes the answer.  An event, for example, goes through pw_http_send_event(), the engine, and
 * pw_http_send_event_done(). */
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"
#include "http/write.h"

/* ---- Pause, resume, terminate, interrupt, retry, restart ------------------------------------------------------- */

static pawl_status submit(pawl_http_call *call, enum pawl_control what)
{
    pw_http_call_submit(call);
    pawl_control_async(call->http->engine, what, call->match.workflow, call->match.id, &call->error,
                       pw_http_call_answered, call);
    return PAWL_OK;
}

static pawl_status control(pawl_http_call *call, enum pawl_control what)
{
    return pw_http_body_read(call, NULL, 0) ? submit(call, what) : PAWL_OK;
}

pawl_status pw_http_pause(pawl_http_call *call)
{
    return control(call, PAWL_CONTROL_PAUSE);
}

pawl_status pw_http_resume(pawl_http_call *call)
{
    return control(call, PAWL_CONTROL_RESUME);
}

pawl_status pw_http_terminate(pawl_http_call *call)
{
    struct pw_http_field rollback = { .name = "rollback", .kind = PW_HTTP_BOOL };
    if (!pw_http_body_read(call, &rollback, 1))
        return PAWL_OK;
    return submit(call, rollback.number != 0 ? PAWL_CONTROL_ROLLBACK : PAWL_CONTROL_TERMINATE);
}

pawl_status pw_http_interrupt(pawl_http_call *call)
{
    return control(call, PAWL_CONTROL_INTERRUPT);
}

pawl_status pw_http_retry(pawl_http_call *call)
{
    return control(call, PAWL_CONTROL_RETRY);
}

pawl_status pw_http_restart(pawl_http_call *call)
{
    struct pw_http_field from = { .name = "from", .kind = PW_HTTP_STRING };
    if (!pw_http_body_read(call, &from, 1))
        return PAWL_OK;
    if (from.text == NULL)
        return submit(call, PAWL_CONTROL_RESTART);
    pw_http_call_submit(call);
    pawl_restart_from_async(call->http->engine, call->match.workflow, call->match.id, from.text, &call->error,
                            pw_http_call_answered, call);
    return PAWL_OK;
}

/* ---- Events ---------------------------------------------------------------------------------------------------- */

pawl_status pw_http_send_event(pawl_http_call *call)
{
    enum { TYPE, PAYLOAD, ID, COUNT };
    struct pw_http_field fields[COUNT] = { [TYPE] = { .name = "type", .kind = PW_HTTP_STRING, .is_required = true },
                                           [PAYLOAD] = { .name = "payload", .kind = PW_HTTP_ANY },
                                           [ID] = { .name = "id", .kind = PW_HTTP_STRING } };
    struct pawl_send_event_options *options = &call->work.event.options;
    if (!pw_http_body_read(call, fields, COUNT))
        return PAWL_OK;
    *options = (struct pawl_send_event_options)PAWL_SEND_EVENT_OPTIONS_INIT;
    options->type = fields[TYPE].text;
    options->payload_json = fields[PAYLOAD].text;
    options->event_id = fields[ID].text;
    pw_http_call_submit(call);
    pawl_send_event_async(call->http->engine, call->match.workflow, call->match.id, options, &call->work.event.standing,
                          &call->error, pw_http_call_answered, call);
    return PAWL_OK;
}

/* The engine knows the run's status unless the event was a duplicate.  Then it is read.  If that fails, the status
 * is left out: the event is recorded, and a client that got 503 would send it again. */
pawl_status pw_http_send_event_done(pawl_http_call *call)
{
    const struct pawl_standing *standing = &call->work.event.standing;
    struct pawl_instance instance = { .status = standing->status, .phase = standing->phase };
    pawl_status status = standing->is_known ? PAWL_OK : pw_http_call_get(call, call->scope, &instance);
    pw_json_open(&call->out, NULL, '{');
    if (status == PAWL_OK)
        pw_http_write_details(&call->out, "status", &instance);
    return pw_http_answer_object(call, 200);
}

/* ---- Ticks ----------------------------------------------------------------------------------------------------- */

pawl_status pw_http_run_tick(pawl_http_call *call)
{
    enum { INSTANCES, STEPS, COUNT };
    struct pw_http_field fields[COUNT] = { [INSTANCES] = { .name = "maxInstances", .kind = PW_HTTP_COUNT },
                                           [STEPS] = { .name = "maxSteps", .kind = PW_HTTP_COUNT } };
    if (!call->http->options.allow_tick)
        return pw_http_fail(call, 403, "RUNNER_TICK_DISABLED", "ticks over HTTP are not enabled here");
    if (!pw_http_body_read(call, fields, COUNT))
        return PAWL_OK;
    call->work.tick = (struct pw_http_tick){ .max_instances = fields[INSTANCES].number,
                                             .max_steps = fields[STEPS].number,
                                             .error = &call->error,
                                             .answered = pw_http_call_answered,
                                             .user = call };
    pw_http_call_submit(call);
    call->is_ticking = true;
    return pw_http_ticker_add(&call->http->ticker, &call->work.tick);
}

pawl_status pw_http_run_tick_done(pawl_http_call *call)
{
    pw_json_open(&call->out, NULL, '{');
    pw_json_integer(&call->out, "processed", call->work.tick.processed);
    return pw_http_answer_object(call, 200);
}
