/* repair.c - continues a run where it stopped: tries failed steps again and keeps what had finished.
 *
 * A run that waits for repair goes on by itself once its failed steps are put back.  A run that has ended needs a
 * new run, which begins with the steps that it keeps of the old one.  Neither is possible once the work of the steps
 * was undone. */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/control.h"
#include "service/rows.h"

static bool has_failed(const struct pw_step_row *step)
{
    return pw_step_state(step) == PAWL_STATE_FAILED;
}

/* PAWL_OK continues with the next step. */
typedef pawl_status visit_fn(struct pw_edit *edit, const struct pw_step_row *step, void *user);

/* Visits all steps of the run in order of their numbers.  The rows stay in the edit's arena. */
static pawl_status visit_steps(struct pw_edit *edit, visit_fn *visit, void *user, struct pawl_error *error)
{
    struct pw_store *store = edit->request.engine->store;
    struct pw_history_query query = { .instance = edit->instance.key, .run = edit->instance.run };
    size_t count = 0;
    query.max = PW_PAGE_SIZE_MAX;
    do {
        struct pw_step_row *rows = NULL;
        pawl_status status = pw_read_steps(store, &edit->request.unit.arena, &query, &rows, &count, error);
        for (size_t i = 0; status == PAWL_OK && i < count; i++) {
            status = visit(edit, &rows[i], user);
            query.after_seq = rows[i].seq;
        }
        if (status != PAWL_OK)
            return status;
    } while (count == query.max);
    return PAWL_OK;
}

/* ---- A run that waits for repair ------------------------------------------------------------------------------- */

/* Not a deferred, because somebody failed it on purpose and can do so only once.  Not a wait or a race, because they
 * do no work of their own. */
bool pw_repair_can_mend(const struct pw_step_row *step)
{
    return has_failed(step) &&
           (step->kind == PAWL_STEP_DO || step->kind == PAWL_STEP_CALL || step->kind == PAWL_STEP_CHILD);
}

/* Puts the step back to its state before the first attempt. */
static pawl_status put_back(struct pw_edit *edit, const struct pw_step_row *step, void *user)
{
    size_t *names_size = user;
    if (!pw_repair_can_mend(step))
        return PAWL_OK;
    struct pw_op *op = pw_unit_add(&edit->request.unit, PW_OP_STEP);
    if (op == NULL)
        return PAWL_NOMEM;
    op->as.step = (struct pw_op_step){ .instance = edit->instance.key,
                                       .run = edit->instance.run,
                                       .row = { .seq = step->seq,
                                                .name = step->name,
                                                .description = step->description,
                                                .undoes = step->undoes,
                                                .kind = step->kind,
                                                .status = PAWL_STEP_WAITING,
                                                .state = PAWL_STATE_WAITING,
                                                .attempts_max = step->attempts_max,
                                                .timeout_ms = step->timeout_ms,
                                                .created_at_ms = step->created_at_ms,
                                                .updated_at_ms = pw_not_before(edit->now_ms, step->updated_at_ms) } };
    *names_size += step->name.size + strlen(", ");
    return PAWL_OK;
}

static char *append(char *at, struct pw_text text)
{
    memcpy(at, text.data, text.size);
    return at + text.size;
}

/* "resumed after repair, and tried again: charge, ship" */
static pawl_status log_mended(struct pw_edit *edit, size_t names_size)
{
    const struct pw_text beginning = pw_text_of("resumed after repair, and tried again");
    char *text = pw_arena_take(&edit->request.unit.arena, beginning.size + names_size + 1);
    if (text == NULL)
        return PAWL_NOMEM;
    char *at = append(text, beginning);
    const char *between = ": ";
    for (const struct pw_op *op = edit->request.unit.first; op != NULL; op = op->next) {
        if (op->kind != PW_OP_STEP)
            continue;
        at = append(at, pw_text_of(between));
        at = append(at, op->as.step.row.name);
        between = ", ";
    }
    struct pw_text message = pw_text_cut((struct pw_text){ text, (size_t)(at - text) }, PW_LOG_MESSAGE_MAX);
    pawl_status status = pw_edit_log(edit, message, (struct pw_text){ NULL, 0 });
    if (status == PAWL_OK)
        edit->request.unit.last->as.log.row.is_repair = true;
    return status;
}

pawl_status pw_repair_steps(struct pw_edit *edit, struct pawl_error *error)
{
    size_t names_size = 0;
    pawl_status status = visit_steps(edit, put_back, &names_size, error);
    return status == PAWL_OK && names_size > 0 ? log_mended(edit, names_size) : status;
}

/* ---- A new run that goes on ------------------------------------------------------------------------------------ */

/* What a restart needs to know about the old run's steps. */
struct survey {
    struct pw_text name;              /* the step to find; absent: none */
    int64_t named_seq;                /* 0: no step has that name */
    int64_t failed_seq, failed_at_ms; /* the step that failed last; 0: none failed */
    bool is_undone;
};

static pawl_status survey_step(struct pw_edit *edit, const struct pw_step_row *step, void *user)
{
    struct survey *survey = user;
    (void)edit;
    survey->is_undone |= step->undoes.data != NULL;
    if (survey->name.data != NULL && pw_text_equal(step->name, survey->name))
        survey->named_seq = step->seq;
    if (has_failed(step) && step->updated_at_ms >= survey->failed_at_ms) {
        survey->failed_seq = step->seq;
        survey->failed_at_ms = step->updated_at_ms;
    }
    return PAWL_OK;
}

static pawl_status survey_steps(struct pw_edit *edit, struct survey *survey, struct pawl_error *error)
{
    pawl_status status = visit_steps(edit, survey_step, survey, error);
    bool is_being_undone = edit->instance.has_task && edit->instance.task.demand != PW_DEMAND_NONE;
    if (status == PAWL_OK && (survey->is_undone || is_being_undone))
        return pw_error(error, PAWL_NOT_REPAIRABLE,
                        "what the steps of instance \"%s\" did %s, so none can be kept; restart it",
                        edit->instance.id.data,
                        survey->is_undone ? "was undone" : "is being undone, because the run was told to stop");
    return status;
}

pawl_status pw_repair_retry(struct pw_edit *edit, struct pawl_error *error)
{
    const struct pw_instance *instance = &edit->instance;
    struct survey survey = { .name = { NULL, 0 } };
    if (instance->has_task && instance->task.kind == PW_TASK_REPAIR)
        return pw_error(error, PAWL_NOT_REPAIRABLE, "instance \"%s\" is paused and waits for repair: resume it",
                        instance->id.data);
    if (instance->outcome != PW_OUTCOME_ERRORED)
        return pw_error(error, PAWL_NOT_REPAIRABLE, "instance \"%s\" is %s; only one that is errored can be retried",
                        instance->id.data, pawl_instance_status_name(pw_rows_status(instance)));
    PAWL_TRY(survey_steps(edit, &survey, error));
    return pw_control_renew(edit, "retried",
                            (struct pw_kept){ .before_seq = INT64_MAX, .except_seq = survey.failed_seq });
}

/* Refuses the unit if something was demanded since the read.  Neither a demand on a run that is held nor the run's
 * first compensation changes the task's epoch, but both raise its event number.  Then the edit decides again. */
static void refuse_if_demanded(struct pw_edit *edit)
{
    if (!edit->instance.has_task)
        return;
    struct pw_op_fence *fence = &edit->request.unit.first->as.fence;
    fence->unless_new_events = true;
    fence->event_seq_seen = edit->instance.task.event_seq;
}

/* A restart from a step in progress. */
struct restarting {
    struct pw_edit edit;
    const char *step;
};

static pawl_status decide_restart_from(struct pw_edit *edit, struct pawl_error *error)
{
    const char *step = ((const struct restarting *)edit)->step;
    struct survey survey = { .name = pw_text_of(step) };
    char shown[PW_SHOWN_SIZE];
    PAWL_TRY(survey_steps(edit, &survey, error));
    if (survey.named_seq == 0)
        return pw_error(error, PAWL_INVALID_STEP_NAME, "run %lld of instance \"%s\" has no step \"%s\"",
                        (long long)edit->instance.run, edit->instance.id.data, pw_check_shown(survey.name, shown));
    refuse_if_demanded(edit);
    char verb[sizeof "restarted from \"\"" + PW_STEP_NAME_MAX];
    (void)snprintf(verb, sizeof verb, "restarted from \"%s\"", step);
    return pw_control_renew(edit, verb, (struct pw_kept){ .before_seq = survey.named_seq, .except_dropped = true });
}

static pawl_status restart_from(pawl_engine *engine, const char *workflow, const char *id, const char *step,
                                struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct pw_definition *definition;
    struct restarting *restarting = pw_request_new(sizeof *restarting, engine, /* end= */ NULL, error, answered, user);
    if (restarting == NULL)
        return PAWL_NOMEM;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(step, "step", error);
    if (status == PAWL_OK)
        pw_edit_init(&restarting->edit, definition->name, pw_text_of(id), decide_restart_from);
    restarting->step = step;
    return pw_request_go(&restarting->edit.request, status);
}

pawl_status pawl_restart_from(pawl_engine *engine, const char *workflow, const char *id, const char *step,
                              struct pawl_error *error)
{
    return restart_from(engine, workflow, id, step, error, NULL, NULL);
}

void pawl_restart_from_async(pawl_engine *engine, const char *workflow, const char *id, const char *step,
                             struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)restart_from(engine, workflow, id, step, error, answered, user);
}
