/* rows.c - see rows.h.  Only this file combines the live task and the ended instance into one status and phase. */
#include "service/rows.h"

#include <assert.h>

#include "base/error.h"
#include "engine/functions.h"
#include "service/service.h"
#include "value/value.h"

pawl_status pw_rows_not_found(struct pw_text workflow, struct pw_text id, struct pawl_error *error)
{
    return pw_error(error, PAWL_INSTANCE_NOT_FOUND, "workflow \"%.*s\" has no instance \"%.*s\"", (int)workflow.size,
                    workflow.data, (int)id.size, id.data);
}

pawl_status pw_rows_read(pawl_engine *engine, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                         struct pw_instance *out_row, struct pawl_error *error)
{
    pawl_status status = pw_read_instance(engine->store, arena, workflow, id, out_row, error);
    return status == PAWL_INSTANCE_NOT_FOUND ? pw_rows_not_found(workflow, id, error) : status;
}

pawl_status pw_rows_check_run(const char *id, int64_t newest, int64_t run, struct pawl_error *error)
{
    if (run >= 0 && run <= newest)
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID, "instance \"%s\" has no run %lld; it has the runs 1 to %lld", id,
                    (long long)run, (long long)newest);
}

enum pawl_instance_status pw_rows_status(const struct pw_instance *row)
{
    static const enum pawl_instance_status of_task[] = {
        [PW_TASK_ACTIVE] = PAWL_ACTIVE,
        [PW_TASK_WAITING] = PAWL_WAITING,
        [PW_TASK_PAUSED] = PAWL_PAUSED,
    };
    static const enum pawl_instance_status of_outcome[] = {
        [PW_OUTCOME_COMPLETE] = PAWL_COMPLETE,
        [PW_OUTCOME_TERMINATED] = PAWL_TERMINATED,
        [PW_OUTCOME_ERRORED] = PAWL_ERRORED,
    };
    return row->outcome == PW_OUTCOME_OPEN ? of_task[row->task.status] : of_outcome[row->outcome];
}

/* The phase refines the status: an active run is queued or running, and a paused one may wait for repair. */
enum pawl_phase pw_rows_phase(const struct pw_instance *row)
{
    static const enum pawl_phase of_status[PAWL_INSTANCE_STATUSES] = {
        [PAWL_ACTIVE] = PAWL_PHASE_RUNNING,        [PAWL_WAITING] = PAWL_PHASE_WAITING,
        [PAWL_PAUSED] = PAWL_PHASE_PAUSED,         [PAWL_COMPLETE] = PAWL_PHASE_COMPLETE,
        [PAWL_TERMINATED] = PAWL_PHASE_TERMINATED, [PAWL_ERRORED] = PAWL_PHASE_ERRORED,
    };
    enum pawl_instance_status status = pw_rows_status(row);
    if (status == PAWL_ACTIVE && !row->task.processing)
        return PAWL_PHASE_QUEUED;
    if (status == PAWL_ACTIVE && row->task.pause_requested)
        return PAWL_PHASE_WAITING_FOR_PAUSE;
    if (status == PAWL_PAUSED && row->task.kind == PW_TASK_REPAIR)
        return PAWL_PHASE_WAITING_FOR_REPAIR;
    return of_status[status];
}

struct pawl_standing pw_rows_standing(const struct pw_task *task)
{
    const struct pw_instance row = { .outcome = PW_OUTCOME_OPEN, .has_task = true, .task = *task };
    return (struct pawl_standing){ .is_known = true, .status = pw_rows_status(&row), .phase = pw_rows_phase(&row) };
}

static_assert((int)PAWL_DEMAND_NONE == (int)PW_DEMAND_NONE && (int)PAWL_DEMAND_INTERRUPT == (int)PW_DEMAND_INTERRUPT &&
                  (int)PAWL_DEMAND_ROLLBACK == (int)PW_DEMAND_ROLLBACK &&
                  (int)PAWL_DEMAND_TERMINATE == (int)PW_DEMAND_TERMINATE,
              "demands are shown by their numbers");

bool pw_rows_string(pawl_scope *scope, struct pw_text text, const char **out_string)
{
    struct pw_text copy = { NULL, 0 };
    if (text.data != NULL && !pw_scope_text(scope, text, &copy))
        return false;
    *out_string = copy.data;
    return true;
}

const char *pw_rows_runner_id(pawl_scope *scope, int64_t owner)
{
    return pawl_scope_format(scope, "%lld", (long long)owner);
}

pawl_status pw_rows_instance(pawl_scope *scope, const struct pw_instance *row, struct pawl_instance *out_instance)
{
    struct pawl_instance instance = {
        .run_number = row->run,
        .status = pw_rows_status(row),
        .phase = pw_rows_phase(row),
        .created_at_ms = row->created_at_ms,
        .updated_at_ms = row->updated_at_ms,
        .started_at_ms = row->started_at_ms,
        .completed_at_ms = row->completed_at_ms,
        .demand = row->has_task ? (enum pawl_demand)row->task.demand : PAWL_DEMAND_NONE,
    };
    instance.is_interrupted = instance.demand != PAWL_DEMAND_NONE;
    if (!pw_rows_string(scope, row->workflow, &instance.workflow) || !pw_rows_string(scope, row->id, &instance.id) ||
        !pw_rows_string(scope, row->terms.version, &instance.version) ||
        !pw_rows_string(scope, row->params, &instance.params_json) ||
        !pw_rows_string(scope, row->output, &instance.output_json) ||
        !pw_rows_string(scope, row->error_name, &instance.error_name) ||
        !pw_rows_string(scope, row->error_message, &instance.error_message))
        return PAWL_NOMEM;
    *out_instance = instance;
    return PAWL_OK;
}

pawl_status pw_rows_parent(pawl_scope *scope, const struct pw_link *link, const struct pw_instance *parent,
                           const struct pawl_parent **out_parent)
{
    struct pawl_parent *shown = pw_scope_take(scope, sizeof *shown);
    if (shown == NULL || !pw_rows_string(scope, parent->workflow, &shown->workflow) ||
        !pw_rows_string(scope, parent->id, &shown->id))
        return PAWL_NOMEM;
    shown->run_number = link->run;
    shown->is_attached = link->relation == PW_RELATION_ATTACHED;
    *out_parent = shown;
    return PAWL_OK;
}

/* Shows what a step waits for; *out_waits_for stays NULL for a step that waits for nobody else.  A deferred is
 * awaited only once it has a wake time.  Before that only its token was taken. */
static bool show_wait(pawl_scope *scope, const struct pw_step_row *row, const struct pawl_waits_for **out_waits_for)
{
    const struct pw_text none = { NULL, 0 };
    bool is_call = row->kind == PAWL_STEP_CALL, is_event = row->kind == PAWL_STEP_EVENT;
    bool is_deferred = row->kind == PAWL_STEP_DEFERRED && row->wake_at_ms != 0;
    bool is_answer =
        (is_call || row->kind == PAWL_STEP_CHILD) && row->awaited_workflow.size > 0 && row->awaited_id.size > 0;
    if (!is_event && !is_deferred && !is_answer)
        return true;
    struct pawl_waits_for *shown = pw_scope_take(scope, sizeof *shown);
    if (shown == NULL)
        return false;
    *out_waits_for = shown;
    shown->until_ms = is_event || (is_deferred && row->timeout_ms != 0) ? row->wake_at_ms : 0;
    return pw_rows_string(scope, is_event ? row->wait_event_type : none, &shown->event_type) &&
           pw_rows_string(scope, is_call ? pw_function_of(row->awaited_workflow) : none, &shown->function) &&
           pw_rows_string(scope, is_call ? none : row->awaited_workflow, &shown->workflow) &&
           pw_rows_string(scope, row->awaited_id, &shown->id);
}

pawl_status pw_rows_step(pawl_scope *scope, int64_t run, const void *step_row, void *out_step)
{
    const struct pw_step_row *row = step_row;
    struct pawl_step_record step = {
        .run_number = run,
        .kind = row->kind,
        .status = row->status,
        .state = pw_step_state(row),
        .place = { .kind = row->place.kind, .branch = row->place.branch, .order = row->place.order },
        .attempts = row->attempts,
        .attempts_max = row->attempts_max,
        .timeout_ms = row->timeout_ms,
        .next_retry_at_ms = row->next_retry_at_ms,
        .wake_at_ms = row->wake_at_ms,
        .created_at_ms = row->created_at_ms,
        .updated_at_ms = row->updated_at_ms,
    };
    if (!pw_rows_string(scope, row->name, &step.name) || !pw_rows_string(scope, row->description, &step.description) ||
        !pw_rows_string(scope, row->place.fork, &step.place.fork) ||
        !pw_rows_string(scope, row->place.outer, &step.place.within_json) ||
        !pw_rows_string(scope, row->undoes, &step.undoes) || !show_wait(scope, row, &step.waits_for) ||
        !pw_rows_string(scope, row->result, &step.result_json) ||
        !pw_rows_string(scope, row->error_name, &step.error_name) ||
        !pw_rows_string(scope, row->error_message, &step.error_message))
        return PAWL_NOMEM;
    *(struct pawl_step_record *)out_step = step;
    return PAWL_OK;
}

/* Hides the secret in the type of the event that completes a deferred. */
static struct pw_text shown_type(struct pw_text type)
{
    return pw_text_begins_with(type, PW_DEFERRED_TYPE) ? (struct pw_text){ type.data, strlen("$deferred") } : type;
}

pawl_status pw_rows_event(pawl_scope *scope, int64_t run, const void *event_row, void *out_event)
{
    const struct pw_event_row *row = event_row;
    struct pawl_event_record event = {
        .run_number = run,
        .is_failure = row->is_failure,
        .created_at_ms = row->created_at_ms,
        .delivered_at_ms = row->delivered_at_ms,
    };
    if (!pw_rows_string(scope, row->id, &event.id) || !pw_rows_string(scope, shown_type(row->type), &event.type) ||
        !pw_rows_string(scope, row->payload, &event.payload_json) ||
        !pw_rows_string(scope, row->consumed_by, &event.consumed_by_step))
        return PAWL_NOMEM;
    *(struct pawl_event_record *)out_event = event;
    return PAWL_OK;
}

pawl_status pw_rows_log(pawl_scope *scope, int64_t run, const void *log_row, void *out_log)
{
    const struct pw_log_row *row = log_row;
    struct pawl_log_record log = {
        .id = row->seq,
        .run_number = run,
        .attempt = row->attempt,
        .level = row->level,
        .is_replay = row->is_replay,
        .created_at_ms = row->created_at_ms,
    };
    if (!pw_rows_string(scope, row->step, &log.step) || !pw_rows_string(scope, row->category, &log.category) ||
        !pw_rows_string(scope, row->message, &log.message) || !pw_rows_string(scope, row->data, &log.data_json))
        return PAWL_NOMEM;
    *(struct pawl_log_record *)out_log = log;
    return PAWL_OK;
}
