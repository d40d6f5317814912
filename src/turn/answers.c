/* answers.c - steps that others finish: a worker takes a job, a child ends, or the holder of a token completes a
 * deferred.
 *
 * Each waits for an *answer*: an event of the engine's own whose type names what is awaited.  An ending job or child
 * records the answer for its parent in the same transaction, and completing a deferred records it for the run that
 * waits.  An answer may come before the wait, which then finds it.  If an answer may have gone to an earlier run, or
 * is missing for another reason, the wait looks at the job or child itself. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "engine/functions.h"
#include "history/retry.h"
#include "service/rows.h"
#include "service/service.h"
#include "turn/recall.h"
#include "value/value.h"

enum { SECRET_BYTES = 16 };

/* ---- How a wait ends -------------------------------------------------------------------------------------------- */

static pawl_status end_well(struct pw_call *call, struct pw_event *event, struct pw_text result)
{
    struct pw_attempt_outcome outcome = { .attempt = call->step->row.attempts, .event = event, .result = result };
    return pw_boundary_complete(call->lane, call->step, &outcome);
}

/* The payload is {"name", "message", "retry"}.  Any other payload is a failure as well. */
static pawl_status end_badly(struct pw_call *call, struct pw_event *event)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_value *told = NULL;
    bool is_read = scope != NULL && pw_value_of_text(scope, event->row.payload, &told) == PAWL_OK;
    struct pw_attempt_outcome outcome = { .attempt = call->step->row.attempts,
                                          .name = pawl_value_string(told, "name", pawl_status_name(PAWL_FAILED)),
                                          .message = pawl_value_string(told, "message", ""),
                                          .may_retry = pawl_value_bool(told, "retry", true) && call->policy != NULL,
                                          .policy = call->policy,
                                          .event = event };
    is_read = is_read && pw_scope_status(scope) != PAWL_NOMEM;
    pawl_status status =
        is_read ? pw_boundary_fail(call->lane, call->step, &outcome) : pw_turn_out_of_memory(call->lane->turn);
    pawl_scope_free(scope);
    return status;
}

/* Ends the wait if its answer is there.  *out_taken false: there is none yet. */
static pawl_status take_answer(struct pw_call *call, bool *out_taken)
{
    struct pw_event *event =
        pw_history_event_for(call->lane->turn->history, call->step->row.wait_event_type, INT64_MAX);
    *out_taken = event != NULL;
    if (event == NULL)
        return PAWL_OK;
    return event->row.is_failure ? end_badly(call, event) : end_well(call, event, event->row.payload);
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

/* Makes the step wait for the end of this instance. */
static pawl_status await_instance(struct pw_call *call, struct pw_text workflow, struct pw_text id)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_arena *arena = &turn->history->arena;
    struct pw_step_row *row = &call->step->row;
    bool is_kept = pw_arena_text(arena, workflow, &row->awaited_workflow) &&
                   pw_arena_text(arena, id, &row->awaited_id) &&
                   pw_answer_type(arena, workflow, id, &row->wait_event_type);
    return is_kept ? PAWL_OK : pw_turn_out_of_memory(turn);
}

bool pw_job_of_step(const struct pw_step *step, struct pw_job *out_job)
{
    out_job->workflow = step->row.awaited_workflow;
    out_job->id = step->row.awaited_id;
    return step->row.kind == PAWL_STEP_CALL && step->row.next_retry_at_ms == 0 && step->row.awaited_id.size > 0;
}

/* Reads the instance whose end is awaited.  Drops the lock meanwhile.  PAWL_INSTANCE_NOT_FOUND: it does not exist. */
static pawl_status look_at_target(struct pw_call *call, struct pw_arena *arena, struct pw_instance *out_instance)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_text workflow = call->step->row.awaited_workflow, id = call->step->row.awaited_id;
    pw_turn_unlock(turn);
    pawl_status status = pw_read_instance(turn->engine->store, arena, workflow, id, out_instance, NULL);
    pw_turn_lock(turn);
    call->now_ms = pawl_now_ms(turn->engine);
    if (status != PAWL_OK && status != PAWL_INSTANCE_NOT_FOUND) {
        turn->trouble = status;
        return pw_lane_suspend(call->lane);
    }
    return pw_lane_is_over(call->lane) ? pw_lane_suspend(call->lane) : status;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

/* The params of a job: {"step": ..., "attempt": ..., "timeoutMs": ..., "data": ...}, where data is the caller's JSON
 * unchanged. */
static pawl_status write_order(struct pw_call *call, struct pw_text *out_params)
{
    pawl_turn *turn = call->lane->turn;
    const struct pawl_job_request *job = call->job;
    const struct pw_step_row *row = &call->step->row;
    pawl_scope *scope = pawl_scope_new();
    pawl_value *head;
    const char *text = NULL;
    size_t size;
    bool is_written = scope != NULL &&
                      pawl_value_pack(scope, &head, "{s:s, s:I, s:I}", "step", row->name.data, "attempt", row->attempts,
                                      "timeoutMs", row->timeout_ms) == PAWL_OK &&
                      pawl_value_text(scope, head, &text, &size) == PAWL_OK;
    if (is_written && job->data_json != NULL) /* it replaces the closing brace */
        text =
            pawl_scope_format(scope, "%.*s,\"data\":%.*s}", (int)size - 1, text, (int)job->data_size, job->data_json);
    is_written = is_written && text != NULL && pw_arena_text(&turn->arena, pw_text_of(text), out_params);
    pawl_scope_free(scope);
    return is_written ? PAWL_OK : pw_turn_out_of_memory(turn);
}

/* Names a new job, and sets the type of its answer. */
static pawl_status name_job(struct pw_call *call, struct pw_job *out_job)
{
    const struct pw_step_row *row = &call->step->row;
    char buffer[PW_JOB_WORKFLOW_SIZE], id[PW_ID_SIZE];
    pw_engine_make_id(call->lane->turn->engine, id);
    pawl_status status = await_instance(call, pw_function_workflow(call->job->function, buffer), pw_text_of(id));
    out_job->workflow = row->awaited_workflow;
    out_job->id = row->awaited_id;
    return status;
}

/* Begins another attempt: creates a job. */
static pawl_status order_job(struct pw_call *call)
{
    struct pw_step_row *row = &call->step->row;
    struct pw_job job = { .params = { NULL, 0 } };
    bool is_begun, is_mocked;
    PAWL_TRY(pw_recall_begin(call, &is_begun));
    if (!is_begun)
        return PAWL_OK;
    PAWL_TRY(pw_recall_mock(call, &is_mocked));
    if (is_mocked)
        return PAWL_OK;
    row->attempts++;
    row->next_retry_at_ms = 0;
    row->error_name = row->error_message = (struct pw_text){ NULL, 0 };
    row->wake_at_ms = pw_time_after(call->now_ms, call->policy->timeout_ms);
    PAWL_TRY(pw_recall_describe(call));
    PAWL_TRY(write_order(call, &job.params));
    PAWL_TRY(name_job(call, &job));
    return pw_boundary_record(&(struct pw_boundary){ .lane = call->lane, .step = call->step, .makes = &job });
}

/* Ends the job and the attempt.  The store refuses that if an event came that this turn has not seen (T3). */
static pawl_status give_up_job(struct pw_call *call, pawl_status why)
{
    struct pw_job job;
    struct pw_attempt_outcome failure = { .attempt = call->step->row.attempts,
                                          .why = why,
                                          .may_retry = true,
                                          .policy = call->policy,
                                          .ends = pw_job_of_step(call->step, &job) ? &job : NULL };
    return pw_boundary_fail(call->lane, call->step, &failure);
}

/* The job has ended and no answer is known: the answer was not read yet, or the job was ended from outside. */
static pawl_status miss_answer(struct pw_call *call)
{
    bool taken;
    PAWL_TRY(pw_recall_read_events(call->lane));
    PAWL_TRY(take_answer(call, &taken));
    return taken ? PAWL_OK : give_up_job(call, PAWL_JOB_ENDED);
}

/* The time until the next look.  A job that nobody takes is looked at less and less often, but at least once a
 * minute.  So is a job with a creation time in the future, which happens if the clock was set back. */
static int64_t longer(int64_t timeout_ms, int64_t queued_ms)
{
    int64_t patience_ms = queued_ms < PW_LOOK_AT_JOB_MS ? queued_ms : PW_LOOK_AT_JOB_MS;
    return timeout_ms > patience_ms ? timeout_ms : patience_ms;
}

/* The timeout has passed since the job was created.  It counts only from when the job was taken, so look at the job
 * before giving it up. */
static pawl_status look_at_job(struct pw_call *call)
{
    int64_t timeout_ms = call->step->row.timeout_ms;
    struct pw_arena arena = { 0 };
    struct pw_instance job = { .started_at_ms = 0 };
    pawl_status status = look_at_target(call, &arena, &job);
    pw_arena_clear(&arena);
    if (status == PAWL_INSTANCE_NOT_FOUND || (status == PAWL_OK && job.outcome != PW_OUTCOME_OPEN))
        return miss_answer(call);
    if (status != PAWL_OK)
        return status;
    bool is_taken = job.started_at_ms > 0;
    int64_t began_ms = is_taken ? job.started_at_ms : call->now_ms;
    int64_t queued_ms = is_taken ? 0 : llabs(call->now_ms - job.created_at_ms);
    if (call->now_ms >= pw_time_after(began_ms, timeout_ms))
        return give_up_job(call, PAWL_STEP_TIMEOUT);
    return pw_recall_wait_for_event(call, pw_time_after(began_ms, longer(timeout_ms, queued_ms)), false);
}

/* The run is interrupted while the job is pending.  The job ends before anything is undone, because a job that
 * completed later would never be undone.  The call has not failed: it is given up, so that a restart from a later
 * step makes it again.  The store refuses this if an event came that this turn has not seen. */
static pawl_status interrupt_call(struct pw_call *call)
{
    struct pw_step *step = call->step;
    struct pw_job job;
    if (!pw_job_of_step(step, &job))
        return pw_recall_interrupt(call->lane);
    pw_step_stamp(call->lane->turn->history, step, call->now_ms);
    pw_step_row_set(&step->row, PAWL_STATE_GIVEN_UP);
    step->row.error_name = pw_text_of(pawl_status_name(PAWL_STEP_ABANDONED));
    step->row.error_message = pw_text_of("the run was interrupted while its job was out");
    return pw_boundary_record(
        &(struct pw_boundary){ .lane = call->lane, .step = step, .unless_new_events = true, .ends = &job });
}

/* A call is in one of three states: no job is pending (order one), a job is pending (wait for its answer, or look at
 * it when the timeout may be over), or the last attempt failed (wait for the retry). */
static pawl_status call_look(struct pw_call *call)
{
    pawl_lane *lane = call->lane;
    const struct pw_step_row *row = &call->step->row;
    bool is_out = row->wait_event_type.size > 0 && row->next_retry_at_ms == 0, taken = false;
    pawl_status status = is_out ? take_answer(call, &taken) : PAWL_OK;
    if (status != PAWL_OK || taken)
        return status;
    if (pw_recall_is_interrupted(lane->turn))
        return interrupt_call(call);
    if (row->next_retry_at_ms > call->now_ms)
        return pw_recall_wait(lane, row->next_retry_at_ms, PW_TASK_RETRY);
    if (!is_out)
        return order_job(call);
    if (call->now_ms < row->wake_at_ms)
        return pw_recall_wait_for_event(call, row->wake_at_ms, false);
    if (lane->turn->answered < lane->after) /* the job may not be durable yet */
        return pw_lane_await(lane, lane->after);
    return look_at_job(call);
}

static pawl_status check_call(const struct pw_call *call)
{
    pawl_lane *lane = call->lane;
    struct pawl_error error = { PAWL_OK, "" };
    struct pw_text data = { call->job->data_json, call->job->data_size };
    const char *wrong = pawl_policy_wrong(call->policy);
    if (wrong != NULL)
        return pw_lane_error(lane, PAWL_INVALID, "a call: %s", wrong);
    if (pw_function_check(call->job->function, &error) == PAWL_OK &&
        pw_json_check(data, lane->turn->definition->limits.payload_bytes_max, "the data of a call", &error) == PAWL_OK)
        return PAWL_OK;
    return pw_lane_error(lane, error.status, "%s", error.text);
}

pawl_status pawl_recall_call(pawl_lane *lane, const char *name, size_t name_size, const struct pawl_job_request *job,
                             const struct pawl_policy *policy, struct pawl_answer *out_answer)
{
    struct pawl_policy room;
    struct pw_call call = {
        lane, { name, name_size }, PAWL_STEP_CALL, out_answer, .policy = pw_recall_policy(policy, &room), .job = job
    };
    if (lane->suspended)
        return PAWL_SUSPENDED;
    PAWL_TRY(check_call(&call));
    return pw_recall_ask(&call, call_look);
}

/* ---- Children ---------------------------------------------------------------------------------------------------- */

/* An absent name or message is taken from `why`. */
static pawl_status fail_wait(struct pw_call *call, pawl_status why, struct pw_text name, struct pw_text message)
{
    struct pw_attempt_outcome failure = {
        .attempt = call->step->row.attempts, .why = why, .name = name.data, .message = message.data
    };
    return pw_boundary_fail(call->lane, call->step, &failure);
}

/* Looks at the child itself, because its end may have been told to an earlier run, or to none.  PAWL_OK with
 * *out_ended false: the child is running. */
static pawl_status look_at_child(struct pw_call *call, bool *out_ended)
{
    struct pw_arena arena = { 0 };
    struct pw_instance child;
    struct pw_text none = { NULL, 0 };
    pawl_status status = look_at_target(call, &arena, &child);
    *out_ended = true;
    if (status == PAWL_INSTANCE_NOT_FOUND)
        status = fail_wait(call, status, none, none);
    else if (status == PAWL_OK &&
             (child.link.parent != call->lane->turn->claim.fence.instance || child.link.relation == PW_RELATION_NONE))
        status = fail_wait(call, PAWL_INVALID, none,
                           pw_text_of("this instance was not made as a child of the one that waits for it"));
    else if (status == PAWL_OK && child.outcome == PW_OUTCOME_COMPLETE)
        status = end_well(call, NULL, child.output);
    else if (status == PAWL_OK && child.outcome == PW_OUTCOME_ERRORED)
        status = fail_wait(call, PAWL_FAILED, child.error_name, child.error_message);
    else if (status == PAWL_OK && child.outcome == PW_OUTCOME_TERMINATED)
        status = fail_wait(call, PAWL_CHILD_TERMINATED, none, child.error_message);
    else
        *out_ended = false;
    pw_arena_clear(&arena);
    return status;
}

/* Looks for the answer of the child.  If there is none at the first look, the child itself is read, because it may
 * have ended before this run waited.  Then the step waits for the event. */
static pawl_status child_look(struct pw_call *call)
{
    struct pw_step_row *row = &call->step->row;
    bool ended = false;
    pawl_status status = PAWL_OK;
    /* New, put back by a repair, or the code now waits for another child. */
    if (!pw_text_equal(row->awaited_workflow, call->workflow) || !pw_text_equal(row->awaited_id, call->id)) {
        status = await_instance(call, call->workflow, call->id);
        row->wake_at_ms = 0; /* so that the child itself is looked at below */
    }
    if (status == PAWL_OK)
        status = take_answer(call, &ended);
    if (status != PAWL_OK || ended)
        return status;
    if (call->now_ms >= row->wake_at_ms) {
        status = look_at_child(call, &ended);
        if (status != PAWL_OK || ended)
            return status;
        row->wake_at_ms = 0;
    }
    int64_t wake_at_ms = row->wake_at_ms > 0 ? row->wake_at_ms : pw_time_after(call->now_ms, PW_DELAY_MS_MAX);
    return pw_recall_wait_for_event(call, wake_at_ms, false);
}

pawl_status pawl_recall_child(pawl_lane *lane, const char *name, size_t name_size, const char *workflow,
                              const char *instance_id, struct pawl_answer *out_answer)
{
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (workflow == NULL || !pw_text_is_identifier(pw_text_of(workflow), PW_WORKFLOW_NAME_MAX, false))
        return pw_lane_error(lane, PAWL_INVALID_WORKFLOW_NAME, "\"%.80s\": %s", workflow != NULL ? workflow : "",
                             pawl_status_text(PAWL_INVALID_WORKFLOW_NAME));
    if (instance_id == NULL || !pw_text_is_identifier(pw_text_of(instance_id), PW_INSTANCE_ID_MAX, true))
        return pw_lane_error(lane, PAWL_INVALID_INSTANCE_ID, "\"%.120s\": %s", instance_id != NULL ? instance_id : "",
                             pawl_status_text(PAWL_INVALID_INSTANCE_ID));
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_CHILD, .answer = out_answer };
    call.workflow = pw_text_of(workflow);
    call.id = pw_text_of(instance_id);
    return pw_recall_ask(&call, child_look);
}

/* ---- Deferreds --------------------------------------------------------------------------------------------------- */

/* Gives the deferred its secret, the part of its token that cannot be guessed.  It lacks one if it is new or if its
 * row was damaged: a token expects a type that begins with PW_DEFERRED_TYPE. */
static pawl_status need_secret(struct pw_call *call)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_text *kept = &call->step->row.wait_event_type;
    unsigned char bytes[SECRET_BYTES];
    char type[sizeof PW_DEFERRED_TYPE + 2 * SECRET_BYTES];
    if (pw_text_begins_with(*kept, PW_DEFERRED_TYPE))
        return PAWL_OK;
    turn->engine->random.fill(turn->engine->random.user, bytes, sizeof bytes);
    int size = snprintf(type, sizeof type, "%s", PW_DEFERRED_TYPE);
    for (size_t i = 0; i < sizeof bytes; i++)
        size += snprintf(type + size, sizeof type - (size_t)size, "%02x", bytes[i]);
    return pw_arena_text(&turn->history->arena, pw_text_of(type), kept) ? PAWL_OK : pw_turn_out_of_memory(turn);
}

static pawl_status token_look(struct pw_call *call)
{
    pawl_turn *turn = call->lane->turn;
    const struct pw_step *step = call->step;
    PAWL_TRY(need_secret(call));
    if (!step->in_store)
        PAWL_TRY(pw_recall_record(call));
    const char *token = pw_deferred_token(&turn->history->arena, turn->claim.workflow, turn->claim.id,
                                          turn->claim.fence.run, step->row.seq, step->row.wait_event_type);
    *call->answer = (struct pawl_answer){ .kind = PAWL_ANSWER_DONE, .result_json = token };
    call->is_answered = true;
    return token != NULL ? PAWL_OK : pw_turn_out_of_memory(turn);
}

pawl_status pawl_recall_token(pawl_lane *lane, const char *name, size_t name_size, const char **out_token)
{
    struct pawl_answer answer;
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_DEFERRED, &answer, .wants_token = true };
    if (lane->suspended)
        return PAWL_SUSPENDED;
    pawl_status status = pw_recall_ask(&call, token_look);
    if (status == PAWL_OK)
        *out_token = answer.result_json;
    return status;
}

/* A deferred gets a wake time at its first wait.  Without a timeout the wait is renewed whenever that time has come. */
static pawl_status deferred_look(struct pw_call *call)
{
    static const char late[] = "nobody completed the deferred in time";
    struct pw_step_row *row = &call->step->row;
    int64_t timeout_ms = call->duration_ms;
    bool taken = false;
    PAWL_TRY(need_secret(call));
    PAWL_TRY(take_answer(call, &taken));
    if (taken)
        return PAWL_OK;
    bool is_new = row->wake_at_ms == 0, is_over = !is_new && call->now_ms >= row->wake_at_ms;
    if (is_over && timeout_ms > 0)
        return pw_recall_time_out(call, late, late);
    if (!is_new && !is_over)
        return pw_recall_wait_for_event(call, row->wake_at_ms, false);
    row->timeout_ms = timeout_ms;
    return pw_recall_wait_for_event(call, pw_time_after(call->now_ms, timeout_ms > 0 ? timeout_ms : PW_DELAY_MS_MAX),
                                    false);
}

pawl_status pawl_recall_deferred(pawl_lane *lane, const char *name, size_t name_size, int64_t timeout_ms,
                                 struct pawl_answer *out_answer)
{
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_DEFERRED, out_answer, .duration_ms = timeout_ms };
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (timeout_ms < 0 || timeout_ms > PW_DELAY_MS_MAX)
        return pw_lane_error(lane, PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE,
                             "a wait for a deferred lasts up to 365 days, or has no timeout: not %lld ms",
                             (long long)timeout_ms);
    return pw_recall_ask(&call, deferred_look);
}
