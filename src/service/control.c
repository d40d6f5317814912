/* control.c - pause, resume, terminate and interrupt, which the store decides where the run is locked
 * (PW_OP_CONTROL); and restart, and resume after a repair, which are decided from what was read of the run and
 * commit under a fence (edit.h). */
#include "service/control.h"

#include "base/error.h"
#include "service/check.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

/* ---- Decided where the run is locked --------------------------------------------------------------------------- */

/* A pause, a resume, an interruption or a termination in progress. */
struct controlling {
    struct pw_edit edit; /* used by a resume after a repair */
    struct pw_op_control *op;
};

/* Tells the turns of the run.  Called before another turn is delivered, because the turn of the old run must be
 * cancelled, not that of the new one. */
static void follow_up(pawl_engine *engine, const struct pw_op_control *op)
{
    struct pw_word word = { PW_WORD_DEMAND, op->at.instance, op->at.run, .demand = PW_DEMAND_INTERRUPT };
    if (op->what == PAWL_CONTROL_TERMINATE)
        word.kind = PW_WORD_REVOKED;
    else if (op->is_asked)
        word.kind = PW_WORD_PAUSE;
    else if (op->what == PAWL_CONTROL_ROLLBACK)
        word.demand = PW_DEMAND_ROLLBACK;
    else if (op->what != PAWL_CONTROL_INTERRUPT)
        return;
    if (op->is_done)
        pw_engine_tell(engine, word);
}

static pw_edit_fn decide_resume;

/* The end of the request.  If the run waits for repair, an edit resumes it, because that depends on its history. */
static pawl_status controlling_end(struct pw_request *request)
{
    struct controlling *controlling = (struct controlling *)request;
    const struct pw_op_control *op = controlling->op;
    if (request->unit.status == PAWL_OK)
        follow_up(request->engine, op);
    pw_local_settle_offer(request->engine, &request->unit, &op->offer, op->is_held, &op->claim);
    pw_local_settle_event(request->engine, &request->unit, op->finish.answer);
    if (request->unit.refusal != PW_REFUSED_REPAIR)
        return pw_request_report(request);
    pw_edit_init(&controlling->edit, op->workflow, op->id, decide_resume);
    request->again = true;
    return PAWL_OK;
}

/* Prepares the answer with which a terminated run tells its parent. */
static pawl_status add_answer(struct pw_request *request, struct pw_op_control *op)
{
    /* The store fills in the real parent. */
    static const struct pw_link somebody = { .parent = 1, .relation = PW_RELATION_ATTACHED };
    static const struct pw_outcome_told told = { .outcome = PW_OUTCOME_TERMINATED };
    return pw_service_answer(request->engine, &request->unit.arena, &somebody, op->workflow, op->id, &told,
                             &op->finish.answer);
}

static pawl_status controlling_begin(struct controlling *controlling, enum pawl_control what, struct pw_text workflow,
                                     struct pw_text id)
{
    struct pw_request *request = &controlling->edit.request;
    struct pw_op *op = pw_unit_add(&request->unit, PW_OP_CONTROL);
    if (op == NULL)
        return pw_error_plain(request->error, PAWL_NOMEM);
    pw_unit_about(&request->unit, id);
    controlling->op = &op->as.control;
    op->as.control = (struct pw_op_control){ .workflow = workflow, .id = id, .what = what };
    if (what == PAWL_CONTROL_TERMINATE && add_answer(request, controlling->op) != PAWL_OK)
        return pw_error_plain(request->error, PAWL_NOMEM);
    if (what != PAWL_CONTROL_TERMINATE && what != PAWL_CONTROL_PAUSE)
        op->as.control.offer.owner = pw_local_reserve(request->engine, workflow, &op->as.control.offer.lease_ms);
    return PAWL_OK;
}

/* ---- Decided by what the history says ---------------------------------------------------------------------------- */

/* Resumes a run that waits for repair. */
static pawl_status decide_resume(struct pw_edit *edit, struct pawl_error *error)
{
    const struct pw_task *task = &edit->instance.task;
    if (!edit->instance.has_task)
        return pw_error(error, PAWL_INSTANCE_TERMINAL, "instance \"%s\" has finished", edit->instance.id.data);
    if (task->status != PW_TASK_PAUSED || task->kind != PW_TASK_REPAIR)
        return PAWL_OK; /* another caller was faster */
    PAWL_TRY(pw_repair_steps(edit, error));
    return pw_edit_go_on(edit, PW_TASK_RESUME);
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
    /* An error that is not UTF-8 cannot be logged.  It must not prevent the restart. */
    status = pawl_value_pack(scope, &whole, "{s:s, s:V}", "status", pawl_instance_status_name(pw_rows_status(instance)),
                             "error", failure);
    if (status == PAWL_OK)
        status = pawl_value_text(scope, whole, &out_data->data, &out_data->size);
    return status;
}

/* The instance's row has only the outcome of the current run, so the log keeps how the old run ended. */
static pawl_status log_renewal(struct pw_edit *edit, const char *verb, pawl_scope *scope)
{
    struct pw_text data, message;
    const char *text = pawl_scope_format(scope, "%s as run %lld", verb, (long long)edit->instance.run + 1);
    if (text == NULL)
        return PAWL_NOMEM;
    PAWL_TRY(describe_run(scope, &edit->instance, &data));
    struct pw_arena *arena = &edit->request.unit.arena;
    if (!pw_arena_text(arena, pw_text_of(text), &message) || !pw_arena_text(arena, data, &data))
        return PAWL_NOMEM;
    return pw_edit_log(edit, message, data);
}

pawl_status pw_control_renew(struct pw_edit *edit, const char *verb, struct pw_kept kept)
{
    /* Before the log line, because a unit whose checks come first needs no undo. */
    struct pw_op *op = pw_unit_add(&edit->request.unit, PW_OP_RESTART);
    pawl_scope *scope = pawl_scope_new();
    if (op == NULL || scope == NULL) {
        pawl_scope_free(scope);
        return PAWL_NOMEM;
    }
    op->as.restart = (struct pw_op_restart){ .instance = edit->instance.key,
                                             .run = edit->instance.run,
                                             .terms = pw_engine_terms(edit->request.engine, edit->instance.workflow),
                                             .keep_before_seq = kept.before_seq,
                                             .keep_except_seq = kept.except_seq,
                                             .keep_except_dropped = kept.except_dropped };
    op->as.restart.hold_owner =
        pw_local_reserve(edit->request.engine, edit->instance.workflow, &op->as.restart.hold_lease_ms);
    edit->held = op->as.restart.hold_owner != 0 ? op : NULL;
    edit->wakes = true;
    edit->revokes = true;
    pawl_status status = log_renewal(edit, verb, scope);
    pawl_scope_free(scope);
    return status;
}

static pawl_status decide_restart(struct pw_edit *edit, struct pawl_error *error)
{
    (void)error;
    return pw_control_renew(edit, "restarted", (struct pw_kept){ 0 });
}

/* ---- The calls ----------------------------------------------------------------------------------------------- */

/* How an edit decides the control; NULL: the store decides it where the run is locked. */
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

static pawl_status control(pawl_engine *engine, enum pawl_control what, const char *workflow, const char *id,
                           struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct pw_definition *definition;
    struct controlling *controlling =
        pw_request_new(sizeof *controlling, engine, controlling_end, error, answered, user);
    if (controlling == NULL)
        return PAWL_NOMEM;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK && (unsigned)what > PAWL_CONTROL_RETRY)
        status = pw_error(error, PAWL_INVALID, "control %d is not one of enum pawl_control", (int)what);
    pw_edit_fn *decide = decide_of(what);
    if (status == PAWL_OK && decide != NULL)
        pw_edit_init(&controlling->edit, definition->name, pw_text_of(id), decide);
    else if (status == PAWL_OK)
        status = controlling_begin(controlling, what, definition->name, pw_text_of(id));
    return pw_request_go(&controlling->edit.request, status);
}

pawl_status pawl_pause(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_PAUSE, workflow, id, error, NULL, NULL);
}

pawl_status pawl_resume(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_RESUME, workflow, id, error, NULL, NULL);
}

pawl_status pawl_terminate(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_TERMINATE, workflow, id, error, NULL, NULL);
}

pawl_status pawl_restart(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_RESTART, workflow, id, error, NULL, NULL);
}

pawl_status pawl_interrupt(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_INTERRUPT, workflow, id, error, NULL, NULL);
}

pawl_status pawl_terminate_with_rollback(pawl_engine *engine, const char *workflow, const char *id,
                                         struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_ROLLBACK, workflow, id, error, NULL, NULL);
}

pawl_status pawl_retry(pawl_engine *engine, const char *workflow, const char *id, struct pawl_error *error)
{
    return control(engine, PAWL_CONTROL_RETRY, workflow, id, error, NULL, NULL);
}

void pawl_control_async(pawl_engine *engine, enum pawl_control what, const char *workflow, const char *id,
                        struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)control(engine, what, workflow, id, error, answered, user);
}
