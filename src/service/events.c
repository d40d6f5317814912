/* events.c - sends events to runs.  The store decides where the run's row is locked: see PW_OP_EVENT in core/ops.h. */
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
    PAWL_TRY(pw_check_event_type(type, error));
    return pw_json_check(payload, definition->limits.payload_bytes_max, "payload", error);
}

/* ---- Sending --------------------------------------------------------------------------------------------------- */

/* An event in progress.  A place is reserved in the local runner, which takes the run if it waits for the event. */
struct sending {
    struct pw_request request;
    struct pw_op_event *op;
    struct pawl_standing *out_standing; /* or NULL */
};

static pawl_status add_op(struct sending *sending, const struct pw_definition *definition, const char *id,
                          const struct pawl_send_event_options *options)
{
    char *generated = options->event_id == NULL ? pw_arena_take(&sending->request.unit.arena, PW_ID_SIZE) : NULL;
    struct pw_op *op = pw_unit_add(&sending->request.unit, PW_OP_EVENT);
    if (op == NULL || (options->event_id == NULL && generated == NULL))
        return pw_error_plain(sending->request.error, PAWL_NOMEM);
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
    return pw_check_event_id(sending->op->id, sending->request.error);
}

/* The unit is answered.  Sending the same id again is no error: nothing happens, and no run is woken. */
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

/* On success a place is reserved, so sending_end() must follow. */
static pawl_status sending_begin(struct sending *sending, const char *workflow, const char *id,
                                 const struct pawl_send_event_options *options)
{
    struct pawl_send_event_options known = PAWL_SEND_EVENT_OPTIONS_INIT;
    pawl_engine *engine = sending->request.engine;
    struct pawl_error *error = sending->request.error;
    struct pw_definition *definition;
    PAWL_TRY(pw_check_target(engine, workflow, id, &definition, error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    PAWL_TRY(check_event(definition, pw_text_of(known.type), pw_text_of(known.payload_json), error));
    PAWL_TRY(add_op(sending, definition, id, &known));
    sending->op->offer.owner = pw_local_reserve(engine, definition->name, &sending->op->offer.lease_ms);
    return PAWL_OK;
}

static pawl_status send_event(pawl_engine *engine, const char *workflow, const char *id,
                              const struct pawl_send_event_options *options, struct pawl_standing *out_standing,
                              struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct sending *sending = pw_request_new(sizeof *sending, engine, sending_end, error, answered, user);
    if (sending == NULL)
        return PAWL_NOMEM;
    if (out_standing != NULL)
        *out_standing = (struct pawl_standing){ .is_known = false };
    sending->out_standing = out_standing;
    return pw_request_go(&sending->request, sending_begin(sending, workflow, id, options));
}

pawl_status pawl_send_event(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                            const struct pawl_send_event_options *options, struct pawl_instance *out_instance,
                            struct pawl_error *error)
{
    if (out_instance != NULL)
        PAWL_TRY(pw_check_given(scope, "scope", error));
    PAWL_TRY(send_event(engine, workflow, id, options, NULL, error, NULL, NULL));
    if (out_instance == NULL)
        return PAWL_OK;
    return pw_inspect_instance(engine, scope, pw_text_of(workflow), pw_text_of(id), false, out_instance, error);
}

void pawl_send_event_async(pawl_engine *engine, const char *workflow, const char *id,
                           const struct pawl_send_event_options *options, struct pawl_standing *out_standing,
                           struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)send_event(engine, workflow, id, options, out_standing, error, answered, user);
}

/* ---- In another layer's unit ----------------------------------------------------------------------------------- */

pawl_status pw_service_add_event(pawl_engine *engine, struct pw_unit *unit, struct pw_text workflow, struct pw_text id,
                                 struct pw_text type, struct pw_text payload, struct pawl_error *error)
{
    struct pw_definition *definition;
    PAWL_TRY(pw_check_target(engine, workflow.data, id.data, &definition, error));
    PAWL_TRY(check_event(definition, type, payload, error));
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
