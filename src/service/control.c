/* control.c - pause, resume, terminate, interrupt, which are decided where the run is locked (PW_OP_CONTROL); and restart, and resume
 * after a repair, which go by what was read of the run and commit under a fence (edit.h). */
#include "service/control.h"

#include <stdlib.h>

#include "base/error.h"
#include "service/check.h"
#include "service/request.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

/* ---- Decided where the run is locked --------------------------------------------------------------------------- */

/* A pause, a resume, an interruption or a termination under way. */
struct controlling {
    struct pw_request request;
    struct pw_op_control *op;
};

/* Revoking comes before delivering: it is the old run's turn that must see itself cancelled, not the new one's. */
static void follow_up(pawl_engine *engine, const struct pw_op_control *op)
{
    if (!op->is_done)
        return;
    if (op->what == PAWL_CONTROL_TERMINATE)
        pw_engine_revoke(engine, op->at.instance, op->at.run);
    if (op->is_asked)
        pw_engine_pause(engine, op->at.instance);
    if (op->what == PAWL_CONTROL_INTERRUPT)
        pw_engine_interrupt(engine, op->at.instance, op->at.run, PW_DEMAND_INTERRUPT);
    if (op->what == PAWL_CONTROL_ROLLBACK)
        pw_engine_interrupt(engine, op->at.instance, op->at.run, PW_DEMAND_ROLLBACK);
}

static pawl_status controlling_end(struct pw_request *request)
{
    const struct pw_op_control *op = ((const struct controlling *)request)->op;
    if (request->unit.status == PAWL_OK)
        follow_up(request->engine, op);
    pw_local_settle_offer(request->engine, &request->unit, &op->offer, op->is_held, &op->claim);
    pw_local_settle_event(request->engine, &request->unit, op->finish.answer);
    return pw_request_report(request);
}

/* The end of a terminated run is an answer to its parent. */
static pawl_status add_answer(struct controlling *controlling)
{
    static const struct pw_link somebody = { .parent = 1, .relation = PW_RELATION_ATTACHED }; /* the store knows who */
    static const struct pw_outcome_told told = { .outcome = PW_OUTCOME_TERMINATED };
    struct pw_op_control *op = controlling->op;
    return pw_service_answer(controlling->request.engine, &controlling->request.unit.arena, &somebody, op->workflow,
                             op->id, &told, &op->finish.answer);
}

static pawl_status controlling_begin(struct controlling *controlling, pawl_engine *engine, enum pawl_control what,
                                     struct pw_text workflow, struct pw_text id, struct pawl_error *error)
{
    struct pw_request *request = &controlling->request;
    pw_request_init(request, engine, error, controlling_end);
    struct pw_op *op = pw_unit_add(&request->unit, PW_OP_CONTROL);
    if (op == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pw_unit_about(&request->unit, id);
    controlling->op = &op->as.control;
    op->as.control = (struct pw_op_control){ .workflow = workflow, .id = id, .what = what };
    if (what == PAWL_CONTROL_TERMINATE && add_answer(controlling) != PAWL_OK)
        return pw_error_plain(error, PAWL_NOMEM);
    if (what != PAWL_CONTROL_TERMINATE && what != PAWL_CONTROL_PAUSE)
        op->as.control.offer.owner = pw_local_reserve(engine, workflow, &op->as.control.offer.lease_ms);
    return PAWL_OK;
}

/* ---- Decided by what the history says ---------------------------------------------------------------------------- */

/* Resumes a run that waits for repair. */
static pawl_status decide_resume(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    const struct pw_task *task = &edit->instance.task;
    (void)unused;
    if (!edit->instance.has_task)
        return pw_error(error, PAWL_INSTANCE_TERMINAL, "instance \"%s\" has finished", edit->instance.id.data);
    if (task->status != PW_TASK_PAUSED || task->kind != PW_TASK_REPAIR)
        return PAWL_OK; /* somebody was faster */
    pawl_status status = pw_repair_steps(edit, error);
    return status == PAWL_OK ? pw_edit_go_on(edit, PW_TASK_RESUME) : status;
}

/* {"status":"errored","error":{"name":"...","message":"..."}} */
static pawl_status describe_run(pawl_scope *scope, const struct pw_instance *instance, struct pw_text *out_data)
{
    pawl_value *failure = NULL, *whole;
    pawl_status status = PAWL_OK;
    if (instance->error_name.data != NULL)
        status = pawl_value_pack(scope, &failure, "{s:s, s:s}", "name", instance->error_name.data, "message",
                                 instance->error_message.data != NULL ? instance->error_message.data : "");
    if (status == PAWL_NOMEM)
        return status;
    /* An error that is no UTF-8 and so cannot be told must not be in the way of the restart. */
    status = pawl_value_pack(scope, &whole, "{s:s, s:V}", "status", pawl_instance_status_name(pw_rows_status(instance)),
                             "error", failure);
    if (status == PAWL_OK)
        status = pawl_value_text(scope, whole, &out_data->data, &out_data->size);
    return status;
}

/* The row of the instance carries only the current run's outcome; the log keeps how the old run stood. */
static pawl_status log_renewal(struct pw_edit *edit, const char *verb, pawl_scope *scope)
{
    struct pw_text data, message;
    const char *text = pawl_scope_format(scope, "%s as run %lld", verb, (long long)edit->instance.run + 1);
    if (text == NULL)
        return PAWL_NOMEM;
    pawl_status status = describe_run(scope, &edit->instance, &data);
    if (status != PAWL_OK)
        return status;
    if (!pw_arena_text(edit->arena, pw_text_of(text), &message) || !pw_arena_text(edit->arena, data, &data))
        return PAWL_NOMEM;
    return pw_edit_log(edit, message, data);
}

pawl_status pw_control_renew(struct pw_edit *edit, const char *verb, struct pw_kept kept)
{
    /* Before the log line: a unit whose checks come first needs no undoing. */
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_RESTART);
    pawl_scope *scope = pawl_scope_new();
    if (op == NULL || scope == NULL) {
        pawl_scope_free(scope);
        return PAWL_NOMEM;
    }
    op->as.restart = (struct pw_op_restart){ .instance = edit->instance.key,
                                             .run = edit->instance.run,
                                             .terms = pw_engine_terms(edit->engine, edit->instance.workflow),
                                             .keep_before_seq = kept.before_seq,
                                             .keep_except_seq = kept.except_seq,
                                             .keep_except_dropped = kept.except_dropped };
    op->as.restart.hold_owner = pw_local_reserve(edit->engine, edit->instance.workflow, &op->as.restart.hold_lease_ms);
    edit->held = op->as.restart.hold_owner != 0 ? op : NULL;
    edit->wakes = true;
    edit->revokes = true;
    pawl_status status = log_renewal(edit, verb, scope);
    pawl_scope_free(scope);
    return status;
}

static pawl_status decide_restart(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    (void)error;
    return pw_control_renew(edit, "restarted", (struct pw_kept){ 0 });
}

/* ---- The calls ----------------------------------------------------------------------------------------------- */

/* NULL: it is decided where the run is locked. */
static pw_edit_fn *decide_of(enum pawl_control control)
{
    switch (control) {
    case PAWL_CONTROL_RESTART:
        return decide_restart;
    case PAWL_CONTROL_RETRY:
        return pw_repair_retry;
    case PAWL_CONTROL_PAUSE:
    case PAWL_CONTROL_RESUME:
    case PAWL_CONTROL_TERMINATE:
    case PAWL_CONTROL_INTERRUPT:
    case PAWL_CONTROL_ROLLBACK:
        break;
    }
    return NULL;
}

static pawl_status control_now(pawl_engine *engine, enum pawl_control control, const char *workflow, const char *id,
                               struct pawl_error *error)
{
    struct pw_definition *definition;
    struct controlling controlling = { .op = NULL };
    pw_edit_fn *decide = decide_of(control);
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status != PAWL_OK)
        return status;
    if (decide != NULL)
        return pw_edit_run(engine, definition->name, pw_text_of(id), decide, /* user= */ NULL, error);
    status = controlling_begin(&controlling, engine, control, definition->name, pw_text_of(id), error);
    status = pw_request_run(&controlling.request, status);
    if (controlling.request.unit.refusal == PW_REFUSED_REPAIR)
        return pw_edit_run(engine, definition->name, pw_text_of(id), decide_resume, /* user= */ NULL, error);
    return status;
}

pawl_status pawl_pause(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_PAUSE, workflow, id, error);
}

pawl_status pawl_resume(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_RESUME, workflow, id, error);
}

pawl_status pawl_terminate(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_TERMINATE, workflow, id, error);
}

pawl_status pawl_restart(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_RESTART, workflow, id, error);
}

pawl_status pawl_interrupt(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_INTERRUPT, workflow, id, error);
}

pawl_status pawl_terminate_with_rollback(pawl_engine *engine, const char *workflow, const char *id,
                                         struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_ROLLBACK, workflow, id, error);
}

pawl_status pawl_retry(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control_now(engine, PAWL_CONTROL_RETRY, workflow, id, error);
}

static void controlled(struct pw_unit *unit, void *user)
{
    struct controlling *controlling = user;
    const struct pw_op_control *op = controlling->op;
    struct pw_request *request = &controlling->request;
    if (unit->refusal != PW_REFUSED_REPAIR) {
        pw_request_finish(request);
        return;
    }
    (void)request->end(request); /* which gives the place back */
    pw_edit_start(request->engine, op->workflow, op->id, decide_resume, /* decide_user= */ NULL, request->error,
                  request->answered, request->user);
    pw_unit_clear(unit);
    free(controlling);
}

void pawl_control_async(pawl_engine *engine, enum pawl_control control, const char *workflow, const char *id,
                        struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct pw_definition *definition;
    pw_edit_fn *decide = decide_of(control);
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK && (unsigned)control > PAWL_CONTROL_RETRY)
        status = pw_error(error, PAWL_INVALID, "control %d is not one of enum pawl_control", (int)control);
    if (status != PAWL_OK) {
        answered(user, status);
        return;
    }
    if (decide != NULL) {
        pw_edit_start(engine, definition->name, pw_text_of(id), decide, /* decide_user= */ NULL, error, answered, user);
        return;
    }
    struct controlling *controlling = pw_request_new(sizeof *controlling, error, answered, user);
    if (controlling == NULL)
        return;
    status = controlling_begin(controlling, engine, control, definition->name, pw_text_of(id), error);
    controlling->request.unit.done = controlled;
    pw_request_start(&controlling->request, status);
}
