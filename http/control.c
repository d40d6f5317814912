/* control.c - what changes an instance, and ticks. */
#include "http/answer.h"
#include "http/body.h"
#include "http/operations.h"
#include "http/write.h"

/* ---- Pause, resume, terminate, interrupt, retry, restart ------------------------------------------------------- */

static void submit(pawl_http_call *call, enum pawl_control what)
{
    pw_http_call_submit(call);
    pawl_control_async(call->http->engine, what, call->match.workflow, call->match.id, &call->error,
                       pw_http_call_answered, call);
}

static void control(pawl_http_call *call, enum pawl_control what)
{
    if (pw_http_body_read(call, NULL, 0))
        submit(call, what);
}

void pw_http_pause(pawl_http_call *call)
{
    control(call, PAWL_CONTROL_PAUSE);
}

void pw_http_resume(pawl_http_call *call)
{
    control(call, PAWL_CONTROL_RESUME);
}

void pw_http_terminate(pawl_http_call *call)
{
    struct pw_http_field rollback = { .name = "rollback", .kind = PW_HTTP_BOOL };
    if (pw_http_body_read(call, &rollback, 1))
        submit(call, rollback.number != 0 ? PAWL_CONTROL_ROLLBACK : PAWL_CONTROL_TERMINATE);
}

void pw_http_interrupt(pawl_http_call *call)
{
    control(call, PAWL_CONTROL_INTERRUPT);
}

void pw_http_retry(pawl_http_call *call)
{
    control(call, PAWL_CONTROL_RETRY);
}

void pw_http_restart(pawl_http_call *call)
{
    struct pw_http_field from = { .name = "from", .kind = PW_HTTP_STRING };
    if (!pw_http_body_read(call, &from, 1))
        return;
    if (from.text == NULL) {
        submit(call, PAWL_CONTROL_RESTART);
        return;
    }
    pw_http_call_submit(call);
    pawl_restart_from_async(call->http->engine, call->match.workflow, call->match.id, from.text, &call->error,
                            pw_http_call_answered, call);
}

void pw_http_control_done(pawl_http_call *call)
{
    if (call->answer == PAWL_OK)
        pw_http_answer_ok(call);
    else
        pw_http_fail_status(call, call->answer);
}

/* ---- Events ---------------------------------------------------------------------------------------------------- */

void pw_http_send_event(pawl_http_call *call)
{
    enum { TYPE, PAYLOAD, ID, COUNT };
    struct pw_http_field fields[COUNT] = { [TYPE] = { .name = "type", .kind = PW_HTTP_STRING, .is_required = true },
                                           [PAYLOAD] = { .name = "payload", .kind = PW_HTTP_ANY },
                                           [ID] = { .name = "id", .kind = PW_HTTP_STRING } };
    struct pawl_send_event_options *options = &call->work.event.options;
    if (!pw_http_body_read(call, fields, COUNT))
        return;
    *options = (struct pawl_send_event_options)PAWL_SEND_EVENT_OPTIONS_INIT;
    options->type = fields[TYPE].text;
    options->payload_json = fields[PAYLOAD].text;
    options->event_id = fields[ID].text;
    pw_http_call_submit(call);
    pawl_send_event_async(call->http->engine, call->match.workflow, call->match.id, options, &call->work.event.standing,
                          &call->error, pw_http_call_answered, call);
}

/* Only of an event that the run had before it has to be read how the run stands.  Whether it can be said changes nothing: who
 * was told 503 would send the event again. */
void pw_http_send_event_done(pawl_http_call *call)
{
    const struct pawl_standing *standing = &call->work.event.standing;
    struct pawl_instance instance = { .status = standing->status, .phase = standing->phase };
    if (call->answer != PAWL_OK) {
        pw_http_fail_status(call, call->answer);
        return;
    }
    pawl_status status = standing->is_known ? PAWL_OK : pw_http_call_get(call, call->scope, &instance);
    pw_http_json_open(&call->out, NULL, '{');
    if (status == PAWL_OK)
        pw_http_write_details(&call->out, "status", &instance);
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}

/* ---- Ticks ----------------------------------------------------------------------------------------------------- */

void pw_http_run_tick(pawl_http_call *call)
{
    enum { INSTANCES, STEPS, COUNT };
    struct pw_http_field fields[COUNT] = { [INSTANCES] = { .name = "maxInstances", .kind = PW_HTTP_COUNT },
                                           [STEPS] = { .name = "maxSteps", .kind = PW_HTTP_COUNT } };
    if (!call->http->options.allow_tick) {
        pw_http_fail(call, 403, "RUNNER_TICK_DISABLED", "ticks over HTTP are not enabled here");
        return;
    }
    if (!pw_http_body_read(call, fields, COUNT))
        return;
    call->work.tick = (struct pw_http_tick){ .max_instances = fields[INSTANCES].number,
                                             .max_steps = fields[STEPS].number,
                                             .answered = pw_http_call_answered,
                                             .user = call };
    pw_http_call_submit(call);
    call->is_ticking = true;
    pawl_status status = pw_http_ticker_add(&call->http->ticker, &call->work.tick);
    if (status != PAWL_OK)
        pw_http_fail_status(call, status);
}

void pw_http_run_tick_done(pawl_http_call *call)
{
    if (call->answer != PAWL_OK) {
        call->error = call->work.tick.error;
        pw_http_fail_status(call, call->answer);
        return;
    }
    pw_http_json_open(&call->out, NULL, '{');
    pw_http_json_integer(&call->out, "processed", call->work.tick.processed);
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}
