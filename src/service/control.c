/* control.c - pause, resume, terminate, restart.  Each decides on what it read and commits under a fence (edit.h), so
 * two of them at once happen one after the other, in some order. */
#include "base/error.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/rows.h"
#include "value/value.h"

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
    if (edit->instance.task.status == PW_TASK_PAUSED)
        return pw_edit_go_on(edit, PW_TASK_RESUME);
    return ask_for_pause(edit, false);
}

static pawl_status decide_terminate(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    pawl_status status = pw_edit_require_open(edit, error);
    if (status == PAWL_OK)
        status = pw_edit_log(edit, pw_text_of("terminated"), (struct pw_text){ NULL, 0 });
    if (status != PAWL_OK)
        return status;
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_FINISH);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.finish = (struct pw_op_finish){ .instance = edit->instance.key, .outcome = PW_OUTCOME_TERMINATED };
    edit->revokes = true;
    return PAWL_OK;
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
static pawl_status log_restart(struct pw_edit *edit, pawl_scope *scope)
{
    struct pw_text data, message;
    const char *text = pawl_scope_format(scope, "restarted as run %lld", (long long)edit->instance.run + 1);
    if (text == NULL)
        return PAWL_NOMEM;
    pawl_status status = describe_run(scope, &edit->instance, &data);
    if (status != PAWL_OK)
        return status;
    if (!pw_arena_text(edit->arena, pw_text_of(text), &message) || !pw_arena_text(edit->arena, data, &data))
        return PAWL_NOMEM;
    return pw_edit_log(edit, message, data);
}

static pawl_status decide_restart(struct pw_edit *edit, void *unused, struct pawl_error *error)
{
    (void)unused;
    (void)error;
    /* Before the log line: a unit whose checks come first needs no undoing. */
    struct pw_op *op = pw_unit_add(edit->unit, PW_OP_RESTART);
    pawl_scope *scope = pawl_scope_new();
    if (op == NULL || scope == NULL) {
        pawl_scope_free(scope);
        return PAWL_NOMEM;
    }
    op->as.restart = (struct pw_op_restart){ .instance = edit->instance.key, .run = edit->instance.run };
    op->as.restart.hold_owner = pw_local_reserve(edit->engine, edit->instance.workflow, &op->as.restart.hold_lease_ms);
    edit->held = op->as.restart.hold_owner != 0 ? op : NULL;
    edit->wakes = true;
    edit->revokes = true;
    pawl_status status = log_restart(edit, scope);
    pawl_scope_free(scope);
    return status;
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
