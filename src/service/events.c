/* events.c - events to a run.
 *
 * An event is recorded under the fence of what was read, also while a turn is under way: a turn that suspends at the
 * same instant either has the event counted before it parks, or makes the fence fail, and then the event is sent again
 * to a run that is parked.  Either way somebody looks at it. */
#include "service/events.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/inspect.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

struct event {
    struct pw_text id, type, payload;
    int64_t unread_max; /* of the target's workflow */
};

static pawl_status add_event_op(struct pw_unit *unit, const struct pw_instance *instance, const struct event *event)
{
    struct pw_op *op = pw_unit_add(unit, PW_OP_EVENT);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.event = (struct pw_op_event){
        .instance = instance->key,
        .run = instance->run,
        .id = event->id,
        .type = event->type,
        .payload = event->payload,
        .unread_max = event->unread_max,
    };
    return PAWL_OK;
}

static bool waits_for(const struct pw_edit *edit, const struct pw_step_row *step, struct pw_text type)
{
    return step->status == PAWL_STEP_WAITING && step->kind == PAWL_STEP_EVENT && step->wake_at_ms > edit->now_ms &&
           pw_text_equal(step->wait_event_type, type);
}

/* Is the run parked in a wait for this type that is not over yet?  A late event wakes nobody; it stays for a later
 * wait.  A paused run is left alone, a queued or a running one will look by itself. */
static pawl_status is_awaited(struct pw_edit *edit, struct pw_text type, bool *out_awaited, struct pawl_error *error)
{
    const struct pw_instance *instance = &edit->instance;
    struct pw_store *store = edit->engine->store;
    struct pw_step_row *steps = NULL;
    size_t count = 0;
    *out_awaited = false;
    if (instance->task.status != PW_TASK_WAITING)
        return PAWL_OK;
    *out_awaited = edit->has_step && waits_for(edit, &edit->step, type);
    if (*out_awaited) /* else another branch may wait for it */
        return PAWL_OK;
    pawl_status status = pw_read_waiting_steps(store, edit->arena, instance->key, instance->run, &steps, &count, error);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        *out_awaited |= waits_for(edit, &steps[i], type);
    return PAWL_OK;
}

/* An event on its way: what decide_event() is handed, and what an answer needs. */
struct sending {
    struct event event;
    const struct pw_definition *definition;
    struct pawl_error inner;    /* of an attempt that may still be forgiven */
    struct pawl_error *error;   /* the caller's, or NULL */
    pawl_answered_fn *answered; /* or NULL */
    void *user;
    char generated[PW_ID_SIZE];
};

pawl_status pw_event_find(const struct pw_edit *edit, int64_t run, struct pw_text id, struct pw_event_row *out_event,
                          bool *out_found, struct pawl_error *error)
{
    struct pw_store *store = edit->engine->store;
    return pw_read_event(store, edit->arena, edit->instance.key, run, id, out_event, out_found, error);
}

/* PAWL_INSTANCE_ID_ALREADY_EXISTS when the run, which has ended, has an event of this id: who sends it again, because the
 * first answer was lost, is told as then. */
static pawl_status find_sent(const struct pw_edit *edit, struct pw_text id, struct pawl_error *error)
{
    struct pw_event_row event;
    bool found;
    pawl_status status = pw_event_find(edit, edit->instance.run, id, &event, &found, error);
    if (status != PAWL_OK)
        return status;
    return found ? PAWL_INSTANCE_ID_ALREADY_EXISTS : PAWL_INSTANCE_TERMINAL;
}

static pawl_status decide_event(struct pw_edit *edit, void *user, struct pawl_error *error)
{
    const struct sending *sending = user;
    const struct event *event = &sending->event;
    bool awaited;
    pawl_status status = pw_edit_require_open(edit, error);
    if (status == PAWL_INSTANCE_TERMINAL && event->id.data != sending->generated)
        status = find_sent(edit, event->id, error);
    if (status == PAWL_OK)
        status = is_awaited(edit, event->type, &awaited, error);
    if (status == PAWL_OK)
        status = add_event_op(edit->unit, &edit->instance, event);
    if (status == PAWL_OK)
        edit->event = edit->unit->last;
    if (status == PAWL_OK && awaited)
        status = pw_edit_go_on(edit, PW_TASK_WAKE);
    return status;
}

static pawl_status check_event(const struct pw_definition *definition, const struct event *event,
                               struct pawl_error *error)
{
    pawl_status status = pw_check_event_type(event->type, error);
    if (status == PAWL_OK)
        status = pw_json_check(event->payload, definition->limits.payload_bytes_max, "payload", error);
    return status;
}

static pawl_status sending_init(struct sending *sending, pawl_engine *engine, const char *workflow, const char *id,
                                const struct pawl_send_event_options *options, struct pawl_error *error)
{
    struct pawl_send_event_options known = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pw_definition *definition;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status != PAWL_OK)
        return status;
    *sending = (struct sending){ .definition = definition };
    sending->event = (struct event){ pw_text_of(known.event_id), pw_text_of(known.type), pw_text_of(known.payload_json),
                                     definition->limits.unread_events_max };
    status = check_event(definition, &sending->event, error);
    if (status != PAWL_OK)
        return status;
    if (known.event_id == NULL) {
        pw_engine_make_id(engine, sending->generated);
        sending->event.id = pw_text_of(sending->generated);
    }
    return pw_check_event_id(sending->event.id, error);
}

/* Sending an id again is no error: nothing happens, and nobody is woken. */
static pawl_status forgive_known_id(pawl_status status)
{
    return status == PAWL_INSTANCE_ID_ALREADY_EXISTS ? PAWL_OK : status;
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
    struct pw_text name = sending.definition->name;
    status = forgive_known_id(pw_edit_run(engine, name, pw_text_of(id), decide_event, &sending, &sending.inner));
    if (status != PAWL_OK)
        return pw_edit_report(error, status, &sending.inner);
    return out_instance != NULL ? pw_inspect_instance(engine, scope, name, pw_text_of(id), out_instance, error)
                                : PAWL_OK;
}

static void sent(void *user, pawl_status status)
{
    struct sending *sending = user;
    pawl_answered_fn *answered = sending->answered;
    void *answered_user = sending->user;
    status = forgive_known_id(status);
    if (status != PAWL_OK)
        (void)pw_edit_report(sending->error, status, &sending->inner);
    free(sending);
    answered(answered_user, status);
}

void pawl_send_event_async(pawl_engine *engine, const char *workflow, const char *id,
                           const struct pawl_send_event_options *options, struct pawl_error *error,
                           pawl_answered_fn *answered, void *user)
{
    struct sending *sending = malloc(sizeof *sending);
    pawl_status status = sending != NULL ? sending_init(sending, engine, workflow, id, options, error)
                                         : pw_error_plain(error, PAWL_NOMEM);
    if (status != PAWL_OK) {
        free(sending);
        answered(user, status);
        return;
    }
    sending->answered = answered;
    sending->user = user;
    sending->error = error;
    pw_edit_start(engine, sending->definition->name, pw_text_of(id), decide_event, sending, &sending->inner, sent);
}

/* ---- In somebody else's unit ----------------------------------------------------------------------------------- */

void pw_service_look_at_target(pawl_engine *engine, struct pw_text workflow, struct pw_text id, struct pw_text type,
                               struct pw_event_target *out_target)
{
    struct pw_definition *definition;
    struct pw_arena arena;
    *out_target = (struct pw_event_target){ .is_known = true };
    if (pw_check_target(engine, workflow.data, id.data, &definition, NULL) != PAWL_OK)
        return; /* pw_service_add_event() finds it again, and says so */
    pw_arena_init(&arena);
    struct pw_edit edit = { .engine = engine, .arena = &arena };
    struct pawl_error unused;
    pawl_status status = pw_edit_read(&edit, definition->name, id, &unused);
    if (status == PAWL_OK && edit.instance.has_task)
        status = is_awaited(&edit, type, &out_target->is_awaited, &unused);
    out_target->status = status;
    out_target->at = (struct pw_fence){ edit.instance.key, edit.instance.run, edit.instance.task.epoch };
    out_target->is_open = edit.instance.has_task;
    out_target->outcome = edit.instance.outcome;
    pw_arena_clear(&arena);
}

/* By the unit itself, or by an earlier event to the same instance. */
static bool is_fenced(const struct pw_unit *unit, int64_t instance)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_FENCE && op->as.fence.at.instance == instance)
            return true;
    }
    return false;
}

/* The ops of an event to an instance that was read: never eager, because the unit is the caller's. */
static pawl_status add_foreign_event(struct pw_edit *edit, const struct event *event, bool is_awaited,
                                     struct pawl_error *error)
{
    pawl_status status = pw_edit_require_open(edit, error);
    if (status == PAWL_OK && !is_fenced(edit->unit, edit->instance.key))
        status = pw_edit_foreign_fence(edit);
    if (status == PAWL_OK)
        status = add_event_op(edit->unit, &edit->instance, event);
    if (status == PAWL_OK && is_awaited)
        status = pw_edit_park(edit, PW_TASK_ACTIVE, PW_TASK_WAKE, PW_NOW);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}

pawl_status pw_service_add_event(pawl_engine *engine, struct pw_unit *unit, const struct pw_event_target *target,
                                 struct pw_text workflow, struct pw_text id, struct pw_text type,
                                 struct pw_text payload, struct pawl_error *error)
{
    struct pw_definition *definition;
    assert(target->is_known);
    pawl_status status = pw_check_target(engine, workflow.data, id.data, &definition, error);
    if (status != PAWL_OK)
        return status;
    char *generated = pw_arena_take(&unit->arena, PW_ID_SIZE);
    if (generated == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pw_engine_make_id(engine, generated);
    struct event event = { pw_text_of(generated), type, payload, definition->limits.unread_events_max };
    status = check_event(definition, &event, error);
    if (status != PAWL_OK)
        return status;
    if (target->status == PAWL_INSTANCE_NOT_FOUND)
        return pw_rows_not_found(definition->name, id, error);
    if (target->status != PAWL_OK)
        return pw_error_plain(error, target->status);
    struct pw_edit edit = { .engine = engine, .unit = unit };
    edit.instance = (struct pw_instance){ .key = target->at.instance,
                                          .workflow = definition->name,
                                          .id = id,
                                          .run = target->at.run,
                                          .outcome = target->outcome,
                                          .has_task = target->is_open,
                                          .task = { .epoch = target->at.epoch } };
    return add_foreign_event(&edit, &event, target->is_awaited, error);
}
