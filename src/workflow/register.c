/* register.c - registers a workflow with the engine, and runs it as a turn function.
 *
 * advance() is one pass: it makes the run, calls the workflow function through the middleware, judges how it ended,
 * undoes what must be undone, and tells the turn. */
#include "base/error.h"
#include "value/value.h"
#include "workflow/run.h"

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* Decides how the pass ended.  A suspended run stays suspended, whatever the function returned. */
static void judge(pawl_run *run, pawl_status status, const pawl_value *result, struct pw_verdict *out)
{
    if (status == PAWL_OK)
        status = pawl_value_text(run->scope, result, &out->result, &out->result_size);
    if (pw_scope_status(run->scope) != PAWL_OK)
        status = pw_scope_status(run->scope);
    if (status != PAWL_NOMEM && pw_run_is_stopped(run))
        status = PAWL_SUSPENDED;
    else if (status == PAWL_SUSPENDED)
        status = pw_run_failed(run, PAWL_FAILED, "SUSPENDED_FOR_NOTHING",
                               "the workflow returned PAWL_SUSPENDED, but no durable call had said so");
    out->status = status;
    out->failure = pw_failure_of(status, run->failed, run->failure);
}

/* Undoes what was done if the run failed or was interrupted.  A failed run keeps its error.  The error of an interrupted run
 * is the interruption, or the first compensation that failed. */
static void unwind(pawl_run *run, struct pw_verdict *ending)
{
    if (ending->status == PAWL_OK) /* an interruption may have come after the last durable call */
        ending->status = pawl_lane_check(run->lane);
    bool interrupted = pawl_turn_interrupted(run->turn);
    if (pw_is_undecided(ending->status) || (ending->status == PAWL_OK && !interrupted))
        return;
    pawl_status status = pw_undo_all(run);
    if (pw_is_undecided(status)) {
        ending->status = status;
    } else if (interrupted) {
        ending->status = PAWL_INTERRUPTED;
        ending->failure = status != PAWL_OK ? run->failure
                                            : (struct pawl_failure){ pawl_status_name(PAWL_INTERRUPTED),
                                                                     pawl_status_text(PAWL_INTERRUPTED) };
    }
}

static void end_turn(pawl_run *run, const struct pw_verdict *ending)
{
    if (ending->status == PAWL_OK)
        pawl_turn_finish(run->turn, ending->result, ending->result_size);
    else if (!pw_is_undecided(ending->status))
        pawl_turn_fail(run->turn, ending->failure.name, ending->failure.message);
    else if (run->parked && ending->status == PAWL_SUSPENDED)
        pawl_turn_await_repair(run->turn);
    else
        pawl_turn_suspend(run->turn);
}

static void advance(pawl_turn *turn, void *user)
{
    const struct pw_registration *registration = user;
    struct pw_undo *_Atomic undos = NULL;
    pawl_run run = { .turn = turn,
                     .shelf = registration->shelf,
                     .registration = registration,
                     .user = registration->user,
                     .undos = &undos,
                     .failed = PAWL_OK };
    pawl_value *params, *result = NULL;
    struct pw_verdict ending = { .status = PAWL_NOMEM };
    if (pw_run_begin(&run, &params)) {
        pawl_status status = pw_wrap_run(&run, params, &result);
        judge(&run, status, result, &ending);
        unwind(&run, &ending);
    }
    end_turn(&run, &ending);
    pawl_scope_free(run.scope);
}

/* ---- Registering ------------------------------------------------------------------------------------------------- */

pawl_status pw_define_workflow(pawl_engine *engine, struct pw_registration *registration,
                               const struct pawl_workflow *workflow, struct pawl_error *error)
{
    struct pawl_definition definition = { .struct_size = sizeof definition,
                                          .name = registration->name,
                                          .limits = registration->limits,
                                          .advance = advance,
                                          .user = registration };
    if (workflow != NULL) {
        definition.description = workflow->description;
        definition.version = workflow->version;
        definition.tags = workflow->tags;
        definition.tag_count = pw_count_texts(workflow->tags);
        definition.permissions = workflow->permissions;
        definition.permission_count = pw_count_texts(workflow->permissions);
        definition.run_inline = workflow->mode == PAWL_MODE_INLINE ? pw_run_inline : NULL;
    }
    return pawl_define(engine, &definition, error);
}

static pawl_status check(const struct pawl_workflow *workflow, struct pw_registration *registration,
                         struct pawl_error *error)
{
    const struct pawl_step_options *steps = workflow->steps;
    const char *name = workflow->name != NULL ? workflow->name : "";
    pawl_policy_default(&registration->policy);
    PAWL_TRY(pw_policy_merge(&registration->policy, steps, error));
    const char *wrong = pawl_policy_wrong(&registration->policy);
    if (wrong == NULL && steps != NULL && (steps->description != NULL || steps->compensate != NULL))
        wrong = "a description and a compensation are a step's own";
    if (wrong != NULL)
        return pw_error(error, PAWL_INVALID, "the default step options of workflow \"%.80s\": %s", name, wrong);
    if (workflow->mode != PAWL_MODE_REMOTE && workflow->mode != PAWL_MODE_INLINE)
        return pw_error(error, PAWL_INVALID, "the mode of workflow \"%.80s\" is neither remote nor inline", name);
    return PAWL_OK;
}

/* Memory taken from the shelf stays there until the engine is closed, even if the workflow is refused, so that the engine
 * never points at freed memory. */
pawl_status pawl_register(pawl_engine *engine, const struct pawl_workflow *workflow, struct pawl_error *error)
{
    if (engine == NULL || workflow == NULL || workflow->run == NULL)
        return pw_error(error, PAWL_INVALID, "a workflow needs a name and a run function");
    struct pw_shelf *shelf = pw_shelf_of(engine);
    struct pw_registration *registration = shelf != NULL ? pw_shelf_take(shelf, sizeof *registration) : NULL;
    const char *name = registration != NULL ? pw_shelf_text(shelf, workflow->name) : NULL;
    if (name == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *registration = (struct pw_registration){ .shelf = shelf,
                                              .name = name,
                                              .limits = workflow->limits,
                                              .run = workflow->run,
                                              .user = workflow->user,
                                              .suspend_on_failure = workflow->suspend_on_failure };
    pawl_status status = check(workflow, registration, error);
    if (status == PAWL_OK)
        status = pw_define_workflow(engine, registration, workflow, error);
    if (status == PAWL_OK)
        pw_shelf_add(shelf, &shelf->workflows, &registration->entry);
    return status;
}
