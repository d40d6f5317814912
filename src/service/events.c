/* events.c - events to a run, decided where the run's row is locked: see PW_OP_EVENT in core/ops.h. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/inspect.h"
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
    pawl_engine *engine;
    const struct pw_definition *definition;
    struct pw_unit unit;
    struct pw_op_event *op;
    struct pawl_standing *out_standing; /* or NULL */
    struct pawl_error *error;           /* the caller's, or NULL */
    pawl_answered_fn *answered;         /* or NULL */
    void *user;
};

static pawl_status add_op(struct sending *sending, const char *id, const struct pawl_send_event_options *options,
                          struct pawl_error *error)
{
    const struct pw_definition *definition = sending->definition;
    char *generated = options->event_id == NULL ? pw_arena_take(&sending->unit.arena, PW_ID_SIZE) : NULL;
    struct pw_op *op = pw_unit_add(&sending->unit, PW_OP_EVENT);
    if (op == NULL || (options->event_id == NULL && generated == NULL))
        return pw_error_plain(error, PAWL_NOMEM);
    if (generated != NULL)
        pw_engine_make_id(sending->engine, generated);
    sending->op = &op->as.event;
    *sending->op = (struct pw_op_event){ .workflow = definition->name,
                                         .to = pw_text_of(id),
                                         .id = pw_text_of(generated != NULL ? generated : options->event_id),
                                         .type = pw_text_of(options->type),
                                         .payload = pw_text_of(options->payload_json),
                                         .unread_max = definition->limits.unread_events_max };
    pw_unit_about(&sending->unit, sending->op->to);
    return pw_check_event_id(sending->op->id, error);
}

/* On success a place is reserved, and the sending must be ended. */
static pawl_status sending_init(struct sending *sending, pawl_engine *engine, const char *workflow, const char *id,
                                const struct pawl_send_event_options *options, struct pawl_error *error)
{
    struct pawl_send_event_options known = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pw_definition *definition;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = check_event(definition, pw_text_of(known.type), pw_text_of(known.payload_json), error);
    if (status != PAWL_OK)
        return status;
    *sending = (struct sending){ .engine = engine, .definition = definition, .error = error };
    pw_unit_init(&sending->unit);
    status = add_op(sending, id, &known, error);
    if (status != PAWL_OK)
        pw_unit_clear(&sending->unit);
    else
        sending->op->offer.owner = pw_local_reserve(engine, definition->name, &sending->op->offer.lease_ms);
    return status;
}

/* The unit is answered.  Sending an id again is no error: nothing happens, and nobody is woken. */
static pawl_status sending_end(struct sending *sending)
{
    const struct pw_op_event *op = sending->op;
    pawl_status status = sending->unit.status;
    pw_local_settle_offer(sending->engine, &sending->unit, op);
    if (status == PAWL_OK && sending->out_standing != NULL)
        *sending->out_standing = pw_rows_standing(&op->task);
    if (sending->unit.refusal == PW_REFUSED_EVENT_EXISTS)
        status = PAWL_OK;
    if (status != PAWL_OK)
        (void)pw_edit_report(sending->error, status, &sending->unit.error);
    pw_unit_clear(&sending->unit);
    return status;
}

pawl_status pawl_send_event(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                            const struct pawl_send_event_options *options, struct pawl_instance *out_instance,
                            struct pawl_error *error)
{
    struct sending sending;
    pawl_status status = out_instance != NULL ? pw_check_given(scope, "scope", error) : PAWL_OK;
    if (status == PAWL_OK)
        status = sending_init(&sending, engine, workflow, id, options, error);
    if (status != PAWL_OK)
        return status;
    (void)pw_engine_run(engine, &sending.unit);
    status = sending_end(&sending);
    if (status != PAWL_OK || out_instance == NULL)
        return status;
    return pw_inspect_instance(engine, scope, sending.definition->name, pw_text_of(id), out_instance, error);
}

static void sent(struct pw_unit *unit, void *user)
{
    struct sending *sending = user;
    pawl_answered_fn *answered = sending->answered;
    void *answered_user = sending->user;
    (void)unit;
    pawl_status status = sending_end(sending);
    free(sending);
    answered(answered_user, status);
}

void pawl_send_event_async(pawl_engine *engine, const char *workflow, const char *id,
                           const struct pawl_send_event_options *options, struct pawl_standing *out_standing,
                           struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct sending *sending = malloc(sizeof *sending);
    pawl_status status = sending != NULL ? sending_init(sending, engine, workflow, id, options, error)
                                         : pw_error_plain(error, PAWL_NOMEM);
    if (status != PAWL_OK) {
        free(sending);
        answered(user, status);
        return;
    }
    if (out_standing != NULL)
        *out_standing = (struct pawl_standing){ .is_known = false };
    sending->out_standing = out_standing;
    sending->answered = answered;
    sending->user = user;
    sending->unit.done = sent;
    sending->unit.user = sending;
    pw_engine_send(engine, &sending->unit);
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
