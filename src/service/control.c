/* control.c - pause, resume, terminate, restart, interrupt.  Each decides on what it read and commits under a fence
 * (edit.h), so two of them at once happen one after the other, in some order. */
#include "service/control.h"

#include "base/error.h"
#include "service/check.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

static const struct pw_text none = { NULL, 0 };

/* A turn is under way and may go on: an expired lease is nobody's. */
static bool is_held(const struct pw_edit *edit)
{
    return edit->instance.task.processing && edit->instance.task.locked_until_ms > edit->now_ms;
}

static pawl_status ask_for_pause(struct pw_edit *edit, bool requested)
{
    if (edit->instance.task.pause_requested == requested)
        return PAWL_OK;
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_PAUSE);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.pause = (struct pw_op_pause){ .instance = edit->instance.key, .requested = requested };
    edit->asks_to_pause = requested;
    return PAWL_OK;
}

static pawl_status decide_pause(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    pawl_status status = pw_edit_require_open(edit, error);
    if (status != PAWL_OK || edit->instance.task.status == PW_TASK_PAUSED)
        return status;
    if (is_held(edit))
        return ask_for_pause(edit, true);
    /* The due time is kept: timers go on counting. */
    return pw_edit_park(edit, PW_TASK_PAUSED, edit->instance.task.kind, /* due_at_ms= */ 0);
}

static pawl_status decide_resume(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    pawl_status status = pw_edit_require_open(edit, error);
    if (status != PAWL_OK)
        return status;
    if (edit->instance.task.status != PW_TASK_PAUSED)
        return ask_for_pause(edit, false);
    if (edit->instance.task.kind == PW_TASK_REPAIR)
        status = pw_repair_steps(edit, error);
    return status == PAWL_OK ? pw_edit_go_on(edit, PW_TASK_RESUME) : status;
}

/* ---- Ending and beginning anew --------------------------------------------------------------------------------- */

/* This is demanded of children that are attached to the run, and its jobs end. */
static pawl_status reach_children(struct pw_edit *edit, enum pw_demand demand)
{
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_REACH);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.reach = (struct pw_op_reach){ .parent = edit->instance.key, .run = edit->instance.run, .demand = demand };
    return PAWL_OK;
}

static pawl_status decide_terminate(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    const struct pw_outcome_told told = { .outcome = PW_OUTCOME_TERMINATED };
    (void)unused;
    pawl_status status = pw_edit_require_open(edit, error);
    if (status == PAWL_OK)
        status = pw_edit_log(edit, pw_text_of("terminated"), none);
    struct pw_op *op = status == PAWL_OK ? pw_unit_add(edit->unit, PW_OP_FINISH) : NULL;
    if (op == NULL)
        return status != PAWL_OK ? status : PAWL_NOMEM;
    op->as.finish = (struct pw_op_finish){
        .instance = edit->instance.key,
        .outcome = PW_OUTCOME_TERMINATED,
        .newest_ms = edit->instance.updated_at_ms,
        .demand_seen = PW_DEMAND_TERMINATE,
        .reach = { .parent = edit->instance.key, .run = edit->instance.run, .demand = PW_DEMAND_TERMINATE }
    };
    edit->revokes = true;
    status = pw_service_answer(edit->engine, &edit->unit->arena, &edit->instance.link, edit->instance.workflow,
                               edit->instance.id, &told, &op->as.finish.answer);
    edit->answer = op->as.finish.answer;
    return status;
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

/* ---- Interrupting ---------------------------------------------------------------------------------------------- */

/* A turn under way goes on, and hears of it; whatever else the run is at, a pause included, it is taken up at once. */
static pawl_status demand_of_run(struct pw_edit *edit, enum pw_demand demand, const char *message,
                                 struct pawl_error *error)
{
    pawl_status status = pw_edit_require_open(edit, error);
    const struct pw_task *task = &edit->instance.task;
    bool is_paused = task->status == PW_TASK_PAUSED || task->pause_requested;
    if (status != PAWL_OK || (task->demand >= demand && !is_paused))
        return status;
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_DEMAND);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.demand = (struct pw_op_demand){ .instance = edit->instance.key, .demand = demand };
    edit->demands = demand;
    status = pw_edit_log(edit, pw_text_of(message), none);
    if (status == PAWL_OK)
        status = reach_children(edit, PW_DEMAND_NONE); /* its jobs end now: what a worker did later nobody would undo */
    if (status == PAWL_OK && !is_held(edit))
        status = pw_edit_go_on(edit, PW_TASK_RESUME);
    return status;
}

static pawl_status decide_interrupt(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    return demand_of_run(edit, PW_DEMAND_INTERRUPT, "interrupt requested", error);
}

static pawl_status decide_rollback(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    return demand_of_run(edit, PW_DEMAND_ROLLBACK, "termination with rollback requested", error);
}

/* ---- The calls ----------------------------------------------------------------------------------------------- */

static pw_edit_fn *decide_of(enum pawl_control control)
{
    switch (control) {
    case PAWL_CONTROL_PAUSE:
        return decide_pause;
    case PAWL_CONTROL_RESUME:
        return decide_resume;
    case PAWL_CONTROL_TERMINATE:
        return decide_terminate;
    case PAWL_CONTROL_RESTART:
        return decide_restart;
    case PAWL_CONTROL_INTERRUPT:
        return decide_interrupt;
    case PAWL_CONTROL_ROLLBACK:
        return decide_rollback;
    case PAWL_CONTROL_RETRY:
        return pw_repair_retry;
    }
    return NULL;
}

static pawl_status control_now(pawl_engine *engine, enum pawl_control control, const char *workflow, const char *id,
                               struct pawl_error *error)
{
    struct pw_definition *definition;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status != PAWL_OK)
        return status;
    return pw_edit_run(engine, definition->name, pw_text_of(id), decide_of(control), /* user= */ NULL, error);
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

void pawl_control_async(pawl_engine *engine, enum pawl_control control, const char *workflow, const char *id,
                        struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct pw_definition *definition;
    pw_edit_fn *decide = decide_of(control);
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK && decide == NULL)
        status = pw_error(error, PAWL_INVALID, "control %d is not one of enum pawl_control", (int)control);
    if (status != PAWL_OK)
        answered(user, status);
    else
        pw_edit_start(engine, definition->name, pw_text_of(id), decide, user, error, answered);
}
