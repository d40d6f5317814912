/* events.c - events to a run, decided where the run's row is locked: see PW_OP_EVENT in core/ops.h. */
#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/inspect.h"
#include "service/request.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

static pawl_status check_event(const struct pw_definition *definition, struct pw_text type, struct pw_text payload,
                               struct pawl_error *error)
{
    pawl_status status = pw_check_event_type(type, error);
    if (status == PAWL_OK)
        status = pw_json_check(payload, definition->limits.payload_bytes_max, "payload", error);
    return status;
}

/* ---- Sending --------------------------------------------------------------------------------------------------- */

/* An event on its way.  A place is reserved in the local runner, which takes the run if it waits for the event. */
struct sending {
    struct pw_request request;
    const struct pw_definition *definition;
    struct pw_op_event *op;
    struct pawl_standing *out_standing; /* or NULL */
};

static pawl_status add_op(struct sending *sending, const char *id, const struct pawl_send_event_options *options,
                          struct pawl_error *error)
{
    const struct pw_definition *definition = sending->definition;
    char *generated = options->event_id == NULL ? pw_arena_take(&sending->request.unit.arena, PW_ID_SIZE) : NULL;
    struct pw_op *op = pw_unit_add(&sending->request.unit, PW_OP_EVENT);
    if (op == NULL || (options->event_id == NULL && generated == NULL))
        return pw_error_plain(error, PAWL_NOMEM);
    if (generated != NULL)
        pw_engine_make_id(sending->request.engine, generated);
    sending->op = &op->as.event;
    *sending->op = (struct pw_op_event){ .workflow = definition->name,
                                         .to = pw_text_of(id),
                                         .id = pw_text_of(generated != NULL ? generated : options->event_id),
                                         .type = pw_text_of(options->type),
                                         .payload = pw_text_of(options->payload_json),
                                         .unread_max = definition->limits.unread_events_max };
    pw_unit_about(&sending->request.unit, sending->op->to);
    return pw_check_event_id(sending->op->id, error);
}

/* The unit is answered.  Sending an id again is no error: nothing happens, and nobody is woken. */
static pawl_status sending_end(struct pw_request *request)
{
    const struct sending *sending = (const struct sending *)request;
    pw_local_settle_event(request->engine, &request->unit, sending->op);
    if (request->unit.refusal == PW_REFUSED_EVENT_EXISTS)
        return PAWL_OK;
    if (request->unit.status == PAWL_OK && sending->out_standing != NULL)
        *sending->out_standing = pw_rows_standing(&sending->op->task);
    return pw_request_report(request);
}

/* On success a place is reserved, and the sending must be ended. */
static pawl_status sending_begin(struct sending *sending, pawl_engine *engine, const char *workflow, const char *id,
                                 const struct pawl_send_event_options *options, struct pawl_error *error)
{
    struct pawl_send_event_options known = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pw_definition *definition;
    pw_request_init(&sending->request, engine, error, sending_end);
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = check_event(definition, pw_text_of(known.type), pw_text_of(known.payload_json), error);
    if (status != PAWL_OK)
        return status;
    sending->definition = definition;
    status = add_op(sending, id, &known, error);
    if (status == PAWL_OK)
        sending->op->offer.owner = pw_local_reserve(engine, definition->name, &sending->op->offer.lease_ms);
    return status;
}

pawl_status pawl_send_event(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                            const struct pawl_send_event_options *options, struct pawl_instance *out_instance,
                            struct pawl_error *error)
{
    struct sending sending = { .out_standing = NULL };
    pawl_status status = out_instance != NULL ? pw_check_given(scope, "scope", error) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    status = pw_request_run(&sending.request, sending_begin(&sending, engine, workflow, id, options, error));
    if (status != PAWL_OK || out_instance == NULL)
        return status;
    return pw_inspect_instance(engine, scope, sending.definition->name, pw_text_of(id), out_instance, error);
}

void pawl_send_event_async(pawl_engine *engine, const char *workflow, const char *id,
                           const struct pawl_send_event_options *options, struct pawl_standing *out_standing,
                           struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct sending *sending = pw_request_new(sizeof *sending, error, answered, user);
    if (sending == NULL)
        return;
    if (out_standing != NULL)
        *out_standing = (struct pawl_standing){ .is_known = false };
    sending->out_standing = out_standing;
    pw_request_start(&sending->request, sending_begin(sending, engine, workflow, id, options, error));
}

/* ---- In somebody else's unit ----------------------------------------------------------------------------------- */

pawl_status pw_service_add_event(pawl_engine *engine, struct pw_unit *unit, struct pw_text workflow, struct pw_text id,
                                 struct pw_text type, struct pw_text payload, struct pawl_error *error)
{
    struct pw_definition *definition;
    pawl_status status = pw_check_target(engine, workflow.data, id.data, &definition, error);
    if (status == PAWL_OK)
        status = check_event(definition, type, payload, error);
    if (status != PAWL_OK)
        return status;
    char *generated = pw_arena_take(&unit->arena, PW_ID_SIZE);
    struct pw_op *op = generated != NULL ? pw_unit_add(unit, PW_OP_EVENT) : NULL;
    if (op == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pw_engine_make_id(engine, generated);
    op->as.event = (struct pw_op_event){ .workflow = definition->name,
                                         .to = id,
                                         .id = pw_text_of(generated),
                                         .type = type,
                                         .payload = payload,
                                         .unread_max = definition->limits.unread_events_max };
    return PAWL_OK;
}
