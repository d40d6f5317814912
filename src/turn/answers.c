/* answers.c - steps that others finish: a worker that was given a job, a child that ends, whoever has a deferred's token.
 *
 * Each waits for an *answer*, an event of the engine's own whose type names what is waited for, and which is recorded with
 * what it tells of: a job or a child that ends tells its parent in the same transaction.  An answer may come before the wait,
 * and whoever is late finds it there.  Where it may have gone to an earlier run, or be missing for another reason, the wait
 * looks at the job or the child itself. */
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

/* What is read from, or packed into, an answer's payload for a short while. */
struct failure_told {
    pawl_scope *scope;
    const char *name, *message;
    bool may_retry;
};

/* {"name", "message", "retry"}.  PAWL_NOMEM, or PAWL_OK: a payload that is not that tells a failure all the same. */
static pawl_status read_failure(struct failure_told *told, struct pw_text payload)
{
    pawl_value *value = NULL;
    *told = (struct failure_told){ .scope = pawl_scope_new() };
    pawl_status status = told->scope != NULL ? pw_value_of_text(told->scope, payload, &value) : PAWL_NOMEM;
    if (status != PAWL_OK)
        return PAWL_NOMEM;
    told->name = pawl_value_string(value, "name", pawl_status_name(PAWL_FAILED));
    told->message = pawl_value_string(value, "message", "");
    told->may_retry = pawl_value_bool(value, "retry", true);
    return pw_scope_status(told->scope) == PAWL_NOMEM ? PAWL_NOMEM : PAWL_OK;
}

/* Now, and not before the event came that ends the wait, if one does. */
static void stamp(pawl_lane *lane, struct pw_step *step, const struct pw_event *event)
{
    int64_t now_ms = pawl_now_ms(lane->turn->engine);
    pw_step_stamp(lane->turn->history, step, pw_not_before(now_ms, event != NULL ? event->row.created_at_ms : 0));
}

/* ---- How a wait ends -------------------------------------------------------------------------------------------- */

static pawl_status end_well(pawl_lane *lane, struct pw_step *step, struct pw_event *event, struct pw_text result)
{
    pawl_turn *turn = lane->turn;
    if (!pw_arena_text(&turn->history->arena, result, &step->row.result))
        return pw_turn_out_of_memory(turn);
    if (event != NULL)
        event->taken = true;
    stamp(lane, step, event);
    pw_step_finish(turn->history, step, PAWL_STATE_COMPLETED, pawl_now_ms(turn->engine));
    step->row.next_retry_at_ms = 0;
    step->row.error_name = step->row.error_message = (struct pw_text){ NULL, 0 };
    step->row.event_at_ms = event != NULL ? event->row.created_at_ms : 0;
    return pw_boundary_record(&(struct pw_boundary){ .lane = lane, .step = step, .event = event });
}

/* policy NULL: there is no other attempt. */
static pawl_status end_badly(pawl_lane *lane, struct pw_step *step, struct pw_event *event,
                             const struct pawl_policy *policy, struct pw_text payload)
{
    struct failure_told told;
    if (read_failure(&told, payload) != PAWL_OK) {
        pawl_scope_free(told.scope);
        return pw_turn_out_of_memory(lane->turn);
    }
    if (event != NULL)
        event->taken = true;
    stamp(lane, step, event);
    struct pw_attempt_failure failure = { .attempt = step->row.attempts,
                                          .name = told.name,
                                          .message = told.message,
                                          .may_retry = policy != NULL && told.may_retry,
                                          .policy = policy,
                                          .event = event };
    pawl_status status = pw_boundary_fail(lane, step, &failure);
    pawl_scope_free(told.scope);
    return status;
}

static pawl_status take_answer(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy, bool *out_taken)
{
    struct pw_event *event = pw_history_event_for(lane->turn->history, step->row.wait_event_type, INT64_MAX);
    *out_taken = event != NULL;
    if (event == NULL)
        return PAWL_OK;
    return event->row.is_failure ? end_badly(lane, step, event, policy, event->row.payload)
                                 : end_well(lane, step, event, event->row.payload);
}

/* ---- Looking -------------------------------------------------------------------------------------------------------- */

/* The step waits for the end of this instance, from now on.  False when memory is out. */
static bool await_instance(pawl_lane *lane, struct pw_step *step, struct pw_text workflow, struct pw_text id)
{
    struct pw_arena *arena = &lane->turn->history->arena;
    return pw_arena_text(arena, workflow, &step->row.awaited_workflow) &&
           pw_arena_text(arena, id, &step->row.awaited_id) &&
           pw_answer_type(arena, workflow, id, &step->row.wait_event_type);
}

bool pw_job_of_step(const struct pw_step *step, struct pw_job *out_job)
{
    out_job->workflow = step->row.awaited_workflow;
    out_job->id = step->row.awaited_id;
    return step->row.kind == PAWL_STEP_CALL && step->row.next_retry_at_ms == 0 && step->row.awaited_id.size > 0;
}

/* Reads the instance whose end is waited for.  Lets go of the lock meanwhile.  PAWL_INSTANCE_NOT_FOUND: there is none. */
static pawl_status look_at_target(pawl_lane *lane, const struct pw_step *step, struct pw_arena *arena,
                                  struct pw_instance *out_instance)
{
    pawl_turn *turn = lane->turn;
    struct pw_store *store = turn->engine->store;
    struct pw_text workflow = step->row.awaited_workflow, id = step->row.awaited_id;
    pw_turn_unlock(turn);
    pawl_status status = pw_read_instance(store, arena, workflow, id, out_instance, NULL);
    pw_turn_lock(turn);
    if (status != PAWL_OK && status != PAWL_INSTANCE_NOT_FOUND) {
        turn->trouble = status;
        return pw_lane_suspend(lane);
    }
    return pw_lane_is_over(lane) ? pw_lane_suspend(lane) : status;
}

/* What every wait does first.  PAWL_OK with *out_decided false: there is no answer yet.  Of a run that was interrupted the
 * answers to its calls are still taken, because what was done is to be undone. */
static pawl_status answer_look(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy,
                               struct pawl_answer *out_answer, bool *out_decided)
{
    pawl_turn *turn = lane->turn;
    bool taken = false;
    pawl_status status = pw_recall_choice(lane, step, out_answer, out_decided);
    bool is_interrupted = status == PAWL_OK && pw_recall_is_interrupted(turn);
    if (is_interrupted &&
        (*out_decided ? pw_step_state(&step->row) == PAWL_STATE_GIVEN_UP : step->row.kind != PAWL_STEP_CALL))
        return pw_recall_interrupt(lane);
    if (status != PAWL_OK || *out_decided)
        return status;
    if (step->rejected != PW_REFUSED_NOT)
        pw_recall_take_back_timeout(turn, step);
    if (turn->event_hint > turn->history->event_seq) {
        status = pw_recall_read_events(lane);
        return status == PAWL_OK ? PAWL_CONFLICT : status;
    }
    lane->events_seen = turn->history->event_seq;
    if (step->row.wait_event_type.size > 0 && step->row.next_retry_at_ms == 0)
        status = take_answer(lane, step, policy, &taken);
    return status == PAWL_OK && taken ? PAWL_CONFLICT : status;
}

/* Parks the wait until then, and records that when the row does not say so yet. */
static pawl_status wait_until(pawl_lane *lane, struct pw_step *step, int64_t wake_at_ms)
{
    if (!step->in_store || step->row.wake_at_ms != wake_at_ms) {
        step->row.wake_at_ms = wake_at_ms;
        stamp(lane, step, NULL);
        pawl_status status = pw_boundary_record(&(struct pw_boundary){ .lane = lane, .step = step });
        if (status != PAWL_OK)
            return status;
    }
    lane->waits_for_event = true;
    return pw_recall_wait(lane, wake_at_ms, PW_TASK_WAKE);
}

/* ---- Jobs ------------------------------------------------------------------------------------------------------------- */

/* {"step": ..., "attempt": ..., "timeoutMs": ..., "data": ...}, where data is as it was given. */
static pawl_status write_order(pawl_lane *lane, const struct pw_step *step, const struct pawl_job_request *call,
                               struct pw_text *out_params)
{
    pawl_turn *turn = lane->turn;
    pawl_scope *scope = pawl_scope_new();
    pawl_value *head, *data = NULL;
    struct pw_text text = { NULL, 0 };
    pawl_status status = scope != NULL ? PAWL_OK : PAWL_NOMEM;
    if (status == PAWL_OK && call->data_json != NULL)
        status = pw_value_of_text(scope, (struct pw_text){ call->data_json, call->data_size }, &data);
    if (status == PAWL_OK)
        status = pawl_value_pack(scope, &head, "{s:s, s:I, s:I}", "step", step->row.name.data, "attempt",
                                 step->row.attempts, "timeoutMs", step->row.timeout_ms);
    if (status == PAWL_OK)
        status = pawl_value_text(scope, head, &text.data, &text.size);
    if (status == PAWL_OK && data != NULL) {
        struct pw_text head_text = { text.data, text.size - 1 }; /* but for the brace */
        size_t size = head_text.size + sizeof ",\"data\":}" - 1 + call->data_size;
        char *whole = pw_arena_take(&turn->arena, size + 1);
        if (whole != NULL)
            snprintf(whole, size + 1, "%.*s,\"data\":%.*s}", (int)head_text.size, head_text.data, (int)call->data_size,
                     call->data_json);
        *out_params = (struct pw_text){ whole, size };
        status = whole != NULL ? PAWL_OK : PAWL_NOMEM;
    } else if (status == PAWL_OK && !pw_arena_text(&turn->arena, text, out_params)) {
        status = PAWL_NOMEM;
    }
    pawl_scope_free(scope);
    return status == PAWL_OK ? PAWL_OK : pw_turn_out_of_memory(turn);
}

/* The names of a new job, and the type of its answer. */
static pawl_status name_job(pawl_lane *lane, struct pw_step *step, const struct pawl_job_request *call,
                            struct pw_job *out_job)
{
    pawl_turn *turn = lane->turn;
    char buffer[PW_JOB_WORKFLOW_SIZE], id[PW_ID_SIZE];
    struct pw_text workflow = pw_function_workflow(call->function, buffer);
    pw_engine_make_id(turn->engine, id);
    if (!pw_arena_text(&turn->arena, workflow, &out_job->workflow) ||
        !pw_arena_text(&turn->arena, pw_text_of(id), &out_job->id) ||
        !await_instance(lane, step, out_job->workflow, out_job->id))
        return pw_turn_out_of_memory(turn);
    return PAWL_OK;
}

/* Another attempt: a job for whoever takes it. */
static pawl_status order_job(pawl_lane *lane, struct pw_step *step, const struct pawl_job_request *call,
                             const struct pawl_policy *policy)
{
    pawl_turn *turn = lane->turn;
    struct pw_job job = { .params = { NULL, 0 } };
    bool mocked;
    stamp(lane, step, NULL);
    step->row.attempts_max = pw_policy_attempts_max(policy);
    step->row.timeout_ms = policy->timeout_ms;
    if (!pw_attempts_left(step->row.attempts, step->row.attempts_max)) {
        pawl_status exceeded = PAWL_STEP_MAX_ATTEMPTS_EXCEEDED;
        struct pw_attempt_failure failure = { .attempt = step->row.attempts,
                                              .name = pawl_status_name(exceeded),
                                              .message = pawl_status_text(exceeded),
                                              .policy = policy };
        return pw_boundary_fail(lane, step, &failure);
    }
    pawl_status status = pw_recall_mock(lane, step, policy, &mocked);
    if (status != PAWL_OK || mocked)
        return status;
    step->row.attempts++;
    step->row.next_retry_at_ms = 0;
    step->row.error_name = step->row.error_message = (struct pw_text){ NULL, 0 };
    step->row.wake_at_ms = pw_time_after(pawl_now_ms(turn->engine), policy->timeout_ms);
    status = pw_recall_describe(lane, step, policy);
    if (status == PAWL_OK)
        status = write_order(lane, step, call, &job.params);
    if (status == PAWL_OK)
        status = name_job(lane, step, call, &job);
    if (status != PAWL_OK)
        return status;
    return pw_boundary_record(&(struct pw_boundary){ .lane = lane, .step = step, .makes = &job });
}

/* Holds only if no event came that this turn has not seen (T3). */
static pawl_status give_up_job(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy, pawl_status why)
{
    struct pw_job job;
    struct pw_attempt_failure failure = { .attempt = step->row.attempts,
                                          .name = pawl_status_name(why),
                                          .message = pawl_status_text(why),
                                          .may_retry = true,
                                          .policy = policy,
                                          .ends = pw_job_of_step(step, &job) ? &job : NULL };
    stamp(lane, step, NULL);
    return pw_boundary_fail(lane, step, &failure);
}

/* The job ended, and no answer has come: one is on its way to this turn, or somebody ended it from outside. */
static pawl_status miss_answer(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy)
{
    bool taken;
    pawl_status status = pw_recall_read_events(lane);
    if (status == PAWL_OK)
        status = take_answer(lane, step, policy, &taken);
    return status != PAWL_OK || taken ? status : give_up_job(lane, step, policy, PAWL_JOB_ENDED);
}

/* A job that nobody takes is looked at more and more seldom, but at least once a minute.  So is one that is of a later time,
 * because the clock was set back: nobody can take it before. */
static int64_t longer(int64_t timeout_ms, int64_t queued_ms)
{
    int64_t patience_ms = queued_ms < PW_LOOK_AT_JOB_MS ? queued_ms : PW_LOOK_AT_JOB_MS;
    return timeout_ms > patience_ms ? timeout_ms : patience_ms;
}

/* The time is over for a job that was taken at once.  The timeout counts from when it was taken, if it was. */
static pawl_status look_at_job(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy)
{
    struct pw_arena arena = { 0 };
    struct pw_instance job = { .started_at_ms = 0 };
    pawl_status status = look_at_target(lane, step, &arena, &job);
    int64_t now_ms = pawl_now_ms(lane->turn->engine);
    int64_t began_ms = job.started_at_ms > 0 ? job.started_at_ms : now_ms;
    int64_t queued_ms = status == PAWL_OK && job.started_at_ms == 0 ? llabs(now_ms - job.created_at_ms) : 0;
    bool is_open = status == PAWL_OK && job.outcome == PW_OUTCOME_OPEN;
    pw_arena_clear(&arena);
    if (status != PAWL_OK && status != PAWL_INSTANCE_NOT_FOUND)
        return status;
    if (!is_open)
        status = miss_answer(lane, step, policy);
    else if (now_ms >= pw_time_after(began_ms, step->row.timeout_ms))
        status = give_up_job(lane, step, policy, PAWL_STEP_TIMEOUT);
    else
        return wait_until(lane, step, pw_time_after(began_ms, longer(step->row.timeout_ms, queued_ms)));
    return status == PAWL_OK ? PAWL_CONFLICT : status;
}

/* A job that is out ends before anything is undone: were it done afterwards, nobody would undo it.  The call has not failed: it
 * is given up, so that a restart from a later step makes it again.  Holds only if no event came that this turn has not seen. */
static pawl_status interrupt_call(pawl_lane *lane, struct pw_step *step)
{
    struct pw_job job;
    if (!pw_job_of_step(step, &job))
        return pw_recall_interrupt(lane);
    stamp(lane, step, NULL);
    pw_step_row_set(&step->row, PAWL_STATE_GIVEN_UP);
    step->row.error_name = pw_text_of(pawl_status_name(PAWL_STEP_ABANDONED));
    step->row.error_message = pw_text_of("the run was interrupted while its job was out");
    pawl_status status = pw_boundary_record(
        &(struct pw_boundary){ .lane = lane, .step = step, .unless_new_events = true, .ends = &job });
    return status == PAWL_OK ? PAWL_CONFLICT : status;
}

struct order {
    const struct pawl_job_request *call;
    const struct pawl_policy *policy;
};

static pawl_status call_look(pawl_lane *lane, struct pw_step *step, const void *question,
                             struct pawl_answer *out_answer)
{
    const struct order *order = question;
    const struct pawl_policy *policy = order->policy;
    bool decided;
    pawl_status status = answer_look(lane, step, policy, out_answer, &decided);
    if (status != PAWL_OK || decided)
        return status;
    if (pw_recall_is_interrupted(lane->turn))
        return interrupt_call(lane, step);
    int64_t now_ms = pawl_now_ms(lane->turn->engine);
    if (step->row.next_retry_at_ms > now_ms)
        return pw_recall_wait(lane, step->row.next_retry_at_ms, PW_TASK_RETRY);
    if (step->row.wait_event_type.size == 0 || step->row.next_retry_at_ms > 0) {
        status = order_job(lane, step, order->call, policy);
        return status == PAWL_OK ? PAWL_CONFLICT : status;
    }
    if (now_ms < step->row.wake_at_ms)
        return wait_until(lane, step, step->row.wake_at_ms);
    if (lane->turn->answered < lane->after) { /* the job may not be there yet */
        status = pw_lane_await(lane, lane->after);
        return status == PAWL_OK ? PAWL_CONFLICT : status;
    }
    return look_at_job(lane, step, policy);
}

static pawl_status check_call(pawl_lane *lane, const struct pawl_job_request *call, const struct pawl_policy *policy)
{
    struct pawl_error error = { PAWL_OK, "" };
    const char *wrong = pawl_policy_wrong(policy);
    if (wrong != NULL)
        return pw_lane_error(lane, PAWL_INVALID, "a call: %s", wrong);
    if (pw_function_check(call->function, &error) != PAWL_OK)
        return pw_lane_error(lane, error.status, "%s", error.text);
    struct pw_text data = { call->data_json, call->data_size };
    pawl_status status =
        pw_json_check(data, lane->turn->definition->limits.payload_bytes_max, "the data of a call", &error);
    return status == PAWL_OK ? PAWL_OK : pw_lane_error(lane, status, "%s", error.text);
}

pawl_status pawl_recall_call(pawl_lane *lane, const char *name, size_t name_size, const struct pawl_job_request *call,
                             const struct pawl_policy *policy, struct pawl_answer *out_answer)
{
    struct pawl_policy default_policy;
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (policy == NULL) {
        pawl_policy_default(&default_policy);
        policy = &default_policy;
    }
    pawl_status status = check_call(lane, call, policy);
    if (status != PAWL_OK)
        return status;
    struct order order = { call, policy };
    struct pw_call_name step = { name, name_size, PAWL_STEP_CALL };
    return pw_recall_ask(lane, &step, call_look, &order, out_answer);
}

/* ---- Children ----------------------------------------------------------------------------------------------------------- */

static pawl_status fail_wait(pawl_lane *lane, struct pw_step *step, pawl_status why, struct pw_text name,
                             struct pw_text message)
{
    struct pw_attempt_failure failure = { .attempt = step->row.attempts,
                                          .name = name.data != NULL ? name.data : pawl_status_name(why),
                                          .message = message.data != NULL ? message.data : pawl_status_text(why) };
    stamp(lane, step, NULL);
    return pw_boundary_fail(lane, step, &failure);
}

/* Its end may have been told to an earlier run, or to none.  PAWL_OK with *out_ended false: it goes on. */
static pawl_status look_at_child(pawl_lane *lane, struct pw_step *step, bool *out_ended)
{
    struct pw_arena arena = { 0 };
    struct pw_instance child;
    struct pw_text none = { NULL, 0 };
    pawl_status status = look_at_target(lane, step, &arena, &child);
    *out_ended = true;
    if (status == PAWL_INSTANCE_NOT_FOUND)
        status = fail_wait(lane, step, status, none, none);
    else if (status == PAWL_OK &&
             (child.link.parent != lane->turn->claim.fence.instance || child.link.relation == PW_RELATION_NONE))
        status = fail_wait(lane, step, PAWL_INVALID, none,
                           pw_text_of("this instance was not made as a child of the one that waits for it"));
    else if (status == PAWL_OK && child.outcome == PW_OUTCOME_COMPLETE)
        status = end_well(lane, step, NULL, child.output);
    else if (status == PAWL_OK && child.outcome == PW_OUTCOME_ERRORED)
        status = fail_wait(lane, step, PAWL_FAILED, child.error_name, child.error_message);
    else if (status == PAWL_OK && child.outcome == PW_OUTCOME_TERMINATED)
        status = fail_wait(lane, step, PAWL_CHILD_TERMINATED, none, child.error_message);
    else
        *out_ended = false;
    pw_arena_clear(&arena);
    return status;
}

struct child {
    const char *workflow, *id;
};

static pawl_status child_look(pawl_lane *lane, struct pw_step *step, const void *question,
                              struct pawl_answer *out_answer)
{
    const struct child *child = question;
    pawl_turn *turn = lane->turn;
    struct pw_text workflow = pw_text_of(child->workflow), id = pw_text_of(child->id);
    bool decided, ended = false;
    /* New, put back by a repair, or the code waits for another one now. */
    bool is_changed = !pw_step_is_finished(step) && (!pw_text_equal(step->row.awaited_workflow, workflow) ||
                                                     !pw_text_equal(step->row.awaited_id, id));
    if (is_changed && !await_instance(lane, step, workflow, id))
        return pw_turn_out_of_memory(turn);
    if (is_changed)
        step->row.wake_at_ms = 0; /* it is looked at, in whichever round */
    pawl_status status = answer_look(lane, step, NULL, out_answer, &decided);
    if (status != PAWL_OK || decided)
        return status;
    int64_t now_ms = pawl_now_ms(turn->engine);
    if (now_ms >= step->row.wake_at_ms) {
        status = look_at_child(lane, step, &ended);
        if (status != PAWL_OK || ended)
            return status == PAWL_OK ? PAWL_CONFLICT : status;
        step->row.wake_at_ms = 0;
    }
    return wait_until(lane, step,
                      step->row.wake_at_ms > 0 ? step->row.wake_at_ms : pw_time_after(now_ms, PW_DELAY_MS_MAX));
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
    struct child child = { workflow, instance_id };
    struct pw_call_name step = { name, name_size, PAWL_STEP_CHILD };
    return pw_recall_ask(lane, &step, child_look, &child, out_answer);
}

/* ---- Deferreds ------------------------------------------------------------------------------------------------------------ */

/* Gives the deferred its secret, which is all that its token needs besides names. */
static pawl_status make_secret(pawl_lane *lane, struct pw_step *step)
{
    pawl_turn *turn = lane->turn;
    unsigned char bytes[SECRET_BYTES];
    char type[sizeof PW_DEFERRED_TYPE + 2 * SECRET_BYTES];
    turn->engine->random.fill(turn->engine->random.user, bytes, sizeof bytes);
    int size = snprintf(type, sizeof type, "%s", PW_DEFERRED_TYPE);
    for (size_t i = 0; i < sizeof bytes; i++)
        size += snprintf(type + size, sizeof type - (size_t)size, "%02x", bytes[i]);
    return pw_arena_text(&turn->history->arena, pw_text_of(type), &step->row.wait_event_type)
               ? PAWL_OK
               : pw_turn_out_of_memory(turn);
}

/* New; or its row was damaged, and a token is read behind these letters. */
static pawl_status need_secret(pawl_lane *lane, struct pw_step *step)
{
    return pw_text_begins_with(step->row.wait_event_type, PW_DEFERRED_TYPE) ? PAWL_OK : make_secret(lane, step);
}

static pawl_status token_look(pawl_lane *lane, struct pw_step *step, const void *question,
                              struct pawl_answer *out_answer)
{
    pawl_turn *turn = lane->turn;
    pawl_status status = need_secret(lane, step);
    (void)question;
    if (status == PAWL_OK && !step->in_store) {
        stamp(lane, step, NULL);
        status = pw_boundary_record(&(struct pw_boundary){ .lane = lane, .step = step });
    }
    if (status != PAWL_OK)
        return status;
    const char *token = pw_deferred_token(&turn->history->arena, turn->claim.workflow, turn->claim.id,
                                          turn->claim.fence.run, step->row.seq, step->row.wait_event_type);
    *out_answer = (struct pawl_answer){ .kind = PAWL_ANSWER_DONE, .result_json = token };
    return token != NULL ? PAWL_OK : pw_turn_out_of_memory(turn);
}

pawl_status pawl_recall_token(pawl_lane *lane, const char *name, size_t name_size, const char **out_token)
{
    struct pw_call_name step = { name, name_size, PAWL_STEP_DEFERRED };
    struct pawl_answer answer;
    if (lane->suspended)
        return PAWL_SUSPENDED;
    pawl_status status = pw_recall_ask(lane, &step, token_look, NULL, &answer);
    if (status == PAWL_OK)
        *out_token = answer.result_json;
    return status;
}

static pawl_status deferred_look(pawl_lane *lane, struct pw_step *step, const void *question,
                                 struct pawl_answer *out_answer)
{
    const int64_t timeout_ms = *(const int64_t *)question;
    static const char late[] = "nobody completed the deferred in time";
    bool decided;
    pawl_status status = need_secret(lane, step);
    if (status == PAWL_OK)
        status = answer_look(lane, step, NULL, out_answer, &decided);
    if (status != PAWL_OK || decided)
        return status;
    int64_t now_ms = pawl_now_ms(lane->turn->engine);
    bool is_over = step->row.wake_at_ms > 0 && now_ms >= step->row.wake_at_ms;
    if (is_over && timeout_ms > 0) {
        status = pw_recall_time_out(lane, step, now_ms, late, late);
        return status == PAWL_OK ? PAWL_CONFLICT : status;
    }
    bool is_new = step->row.wake_at_ms == 0 || is_over;
    if (is_new)
        step->row.timeout_ms = timeout_ms;
    return wait_until(lane, step,
                      is_new ? pw_time_after(now_ms, timeout_ms > 0 ? timeout_ms : PW_DELAY_MS_MAX)
                             : step->row.wake_at_ms);
}

pawl_status pawl_recall_deferred(pawl_lane *lane, const char *name, size_t name_size, int64_t timeout_ms,
                                 struct pawl_answer *out_answer)
{
    struct pw_call_name step = { name, name_size, PAWL_STEP_DEFERRED };
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (timeout_ms < 0 || timeout_ms > PW_DELAY_MS_MAX)
        return pw_lane_error(lane, PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE,
                             "a wait for a deferred lasts up to 365 days, or has no timeout: not %lld ms",
                             (long long)timeout_ms);
    return pw_recall_ask(lane, &step, deferred_look, &timeout_ms, out_answer);
}
