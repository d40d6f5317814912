/* recall.c - answers durable calls: from history, with "run the body now", or with "suspended".
 *
 * Every durable call but a race goes through pw_recall_ask():
 *
 *   1. pw_recall_enter() leaves user code, and takes the lock once there is room for what the call may record.
 *   2. pw_recall_reach() finds the step by its name or adds it, and refuses a name that two concurrent lanes use.
 *   3. look_once() answers from history if the outcome is known and can no longer be refused.  Otherwise it calls
 *      the `look` of the step's kind, which does the one thing that can be done about the step now: begin an
 *      attempt, consume an event, time out, or suspend the lane.
 *   4. It looks again until there is an answer.
 *
 * A look may drop the lock to read or to wait.  So each look starts by checking whether the lane is over.  answers.c
 * has the looks of steps that others finish; lanes.c has races. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "history/retry.h"
#include "service/rows.h"
#include "turn/attempt.h"
#include "turn/lines.h"
#include "turn/lanes.h"
#include "turn/lease.h"
#include "turn/recall.h"

/* ---- Reaching a step -------------------------------------------------------------------------------------------- */

bool pw_lane_is_over(const pawl_lane *lane)
{
    return lane->suspended || pw_turn_is_stopped(lane->turn);
}

/* An interrupted run does nothing new until it unwinds.  Finished steps are still answered, so that every replay
 * gets to the same place. */
pawl_status pw_recall_interrupt(pawl_lane *lane)
{
    lane->told_interruption = true;
    return pw_lane_error(lane, PAWL_INTERRUPTED, "%s", pawl_status_text(PAWL_INTERRUPTED));
}

bool pw_recall_is_interrupted(const pawl_turn *turn)
{
    return turn->demand != PW_DEMAND_NONE && !turn->unwinding;
}

/* Compensations do not count, because a run that met its limit must still be undone. */
static pawl_status check_limit(pawl_lane *lane, struct pw_text name, enum pawl_step_kind kind)
{
    const pawl_turn *turn = lane->turn;
    const struct pawl_limits *limits = &turn->definition->limits;
    bool is_wait = pw_step_kind_is_wait(kind);
    int64_t most = is_wait ? limits->waits_max : limits->steps_max;
    if (turn->unwinding || (is_wait ? turn->history->waits : turn->history->counted) < most)
        return PAWL_OK;
    return pw_lane_error(lane, is_wait ? PAWL_MAX_WAITS_EXCEEDED : PAWL_MAX_STEPS_EXCEEDED,
                         "%s \"%.80s\" would be one more than the %lld allowed", is_wait ? "wait" : "step", name.data,
                         (long long)most);
}

/* A loop that uses the same name in every round makes no progress and never ends, because each call is answered from
 * memory. */
static pawl_status check_repeats(pawl_lane *lane, const struct pw_step *step)
{
    pawl_turn *turn = lane->turn;
    if (step->reached_pass != turn->history->pass || turn->unwinding || turn->repeats++ < PW_REPEATS_MAX)
        return PAWL_OK;
    bool is_wait = pw_step_kind_is_wait(step->row.kind);
    return pw_lane_error(
        lane, is_wait ? PAWL_MAX_WAITS_EXCEEDED : PAWL_MAX_STEPS_EXCEEDED,
        "%s \"%.80s\" was called again, the %dth time that a name is used twice: a name in a loop must "
        "change with every round",
        is_wait ? "wait" : "step", step->row.name.data, PW_REPEATS_MAX);
}

static pawl_status find_or_add(struct pw_call *call, struct pw_text name)
{
    pawl_lane *lane = call->lane;
    enum pawl_step_kind kind = call->kind;
    pawl_turn *turn = lane->turn;
    struct pw_step *step = pw_history_find(turn->history, name);
    if (step == NULL && pw_lane_is_abandoned(lane))
        return pw_lane_suspend(lane);
    if (step == NULL && kind != PAWL_STEP_FIRST && pw_recall_is_interrupted(turn))
        return pw_recall_interrupt(lane);
    if (step == NULL) {
        PAWL_TRY(check_limit(lane, name, kind));
        step = pw_history_add(turn->history, name, kind);
        if (step == NULL || !pw_place_note(lane, step))
            return pw_turn_out_of_memory(turn);
    }
    if (step->row.kind != kind)
        return pw_lane_error(lane, PAWL_STEP_TYPE_MISMATCH,
                             "step \"%.80s\" is a %s in this run's history, and cannot be a %s as well",
                             step->row.name.data, pawl_step_kind_name(step->row.kind), pawl_step_kind_name(kind));
    call->step = step;
    return PAWL_OK;
}

bool pw_is_step_name(struct pw_text text)
{
    return text.size > 0 && text.size <= PW_STEP_NAME_MAX && pw_text_is_utf8(text) &&
           memchr(text.data, '\0', text.size) == NULL;
}

/* Most replays reach the steps in the order in which they were recorded.  The expected next step is recognised by
 * its kind and name alone, without a look-up or a check of the name. */
pawl_status pw_recall_reach(struct pw_call *call)
{
    pawl_lane *lane = call->lane;
    const struct pw_mocks *mocks = lane->turn->engine->mocks;
    struct pw_step *expected = lane->expected;
    struct pw_text name = call->name;
    if (pw_lane_is_over(lane))
        return pw_lane_suspend(lane);
    if (name.data == NULL)
        return pw_lane_error(lane, PAWL_INVALID_STEP_NAME, "a step needs a name");
    bool is_expected = expected != NULL && expected->row.kind == call->kind && pw_text_equal(expected->row.name, name);
    if (!is_expected)
        name = pw_text_trim(name);
    if (!is_expected && !pw_is_step_name(name))
        return pw_lane_error(lane, PAWL_INVALID_STEP_NAME, "a step name is 1 to %d bytes of UTF-8, this one has %zu",
                             PW_STEP_NAME_MAX, name.size);
    if (mocks != NULL && mocks->reached != NULL)
        mocks->reached(mocks->user, lane, name, call->kind);
    call->step = expected;
    if (!is_expected)
        PAWL_TRY(find_or_add(call, name));
    struct pw_step *step = call->step;
    lane->expected = step->next;
    if (lane->calls == 0 || lane->reached != step) /* the same step is asked for again after its body has run */
        lane->calls++;
    lane->reached = step;
    uint64_t pass = lane->turn->history->pass;
    if (step->running || (step->reached_pass == pass && pw_lanes_are_concurrent(step->lane, lane)))
        return pw_lane_error(lane, PAWL_DUPLICATE_STEP_KEY,
                             "step \"%.80s\" is called twice at once; give the two different names",
                             step->row.name.data);
    PAWL_TRY(check_repeats(lane, step));
    step->reached_pass = pass;
    step->lane = lane;
    pw_lines_meet(lane, step);
    return PAWL_OK;
}

/* ---- Giving an answer ------------------------------------------------------------------------------------------- */

static void answer(struct pw_call *call)
{
    struct pw_history *history = call->lane->turn->history;
    struct pw_step *step = call->step;
    const struct pw_step_row *row = &step->row;
    bool is_done = row->status == PAWL_STEP_COMPLETED;
    *call->answer = (struct pawl_answer){ .kind = is_done ? PAWL_ANSWER_DONE : PAWL_ANSWER_FAILED,
                                          .result_json = row->result.data,
                                          .result_size = row->result.size,
                                          .event_at_ms = row->event_at_ms,
                                          .finished_at_ms = row->updated_at_ms,
                                          .order = row->seq,
                                          .error_name = row->error_name.data,
                                          .error_message = row->error_message.data,
                                          .is_replay = pw_step_is_replay(history, step),
                                          .is_new = pw_step_note_answer(history, step, call->lane->began) };
    if (!is_done && row->error_name.data == NULL) /* the row was written by hand */
        call->answer->error_name = pawl_status_name(PAWL_FAILED);
    pw_lines_pass(call->lane, step);
    call->is_answered = true;
}

pawl_status pw_recall_wait(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind)
{
    pw_lane_wait_until(lane, at_ms, kind);
    return pw_lane_suspend(lane);
}

/* True if the step's branch lost a race.  The turn may have ended before the race was recorded; then another branch
 * wins it in this turn. */
static bool has_lost(const struct pw_step *step)
{
    return step->row.kind == PAWL_STEP_DO && pw_step_state(&step->row) == PAWL_STATE_ABANDONED;
}

pawl_status pw_recall_outcome(struct pw_call *call)
{
    pawl_lane *lane = call->lane;
    struct pw_step *step = call->step;
    while (step->unsettled != 0 && !pw_lane_is_over(lane))
        PAWL_TRY(pw_lane_await(lane, step->unsettled));
    if (pw_lane_is_over(lane))
        return pw_lane_suspend(lane);
    bool is_accepted = step->rejected == PW_REFUSED_NOT, lost = is_accepted && has_lost(step);
    bool is_abandoned = pw_lane_is_abandoned(lane);
    if (is_accepted && !lost && pw_step_is_finished(step))
        answer(call);
    if (call->is_answered || !(lost || is_abandoned))
        return PAWL_OK;
    return !is_abandoned && pw_recall_is_interrupted(lane->turn) ? pw_recall_interrupt(lane) : pw_lane_suspend(lane);
}

pawl_status pw_recall_enter(pawl_lane *lane)
{
    pawl_turn *turn = lane->turn;
    struct pw_commit *commit = turn->engine->commit;
    pw_turn_lock(turn);
    pw_lane_leave_code(lane, false);
    if (!pw_commit_has_room_for(commit, turn->about)) {
        pw_turn_unlock(turn);
        pw_commit_await_room(commit, turn->about);
        pw_turn_lock(turn);
    }
    if (turn->submitted - turn->answered < PW_TURN_UNDURABLE_MAX || pw_lane_is_over(lane))
        return PAWL_OK;
    return pw_lane_await(lane, turn->submitted - PW_TURN_UNDURABLE_MAX / 2);
}

/* The store refused a timeout because an event came meanwhile: the wait goes on, as its stored row says. */
static void take_back_timeout(pawl_turn *turn, struct pw_step *step)
{
    step->rejected = PW_REFUSED_NOT;
    turn->rejections--;
    pw_step_row_set(&step->row, PAWL_STATE_WAITING);
    step->row.next_retry_at_ms = 0;
    step->row.error_name = step->row.error_message = (struct pw_text){ NULL, 0 };
}

/* What a look does for every kind of step.  In an interrupted run, the answers to calls are still accepted, because
 * completed jobs must be undone. */
static pawl_status look_once(struct pw_call *call, pw_look_fn *look)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_step *step = call->step;
    pawl_status status = call->wants_token ? PAWL_OK : pw_recall_outcome(call);
    if (status == PAWL_OK && !call->wants_token && pw_recall_is_interrupted(turn) &&
        (call->is_answered ? pw_step_state(&step->row) == PAWL_STATE_GIVEN_UP : call->kind != PAWL_STEP_CALL))
        return pw_recall_interrupt(call->lane);
    if (status != PAWL_OK || call->is_answered)
        return status;
    bool awaits_event = call->kind != PAWL_STEP_DO && call->kind != PAWL_STEP_SLEEP && !call->wants_token;
    if (awaits_event) {
        if (step->rejected != PW_REFUSED_NOT)
            take_back_timeout(turn, step);
        if (turn->event_hint > turn->history->event_seq)
            return pw_recall_read_events(call->lane);
        call->lane->events_seen = turn->history->event_seq;
    }
    call->now_ms = pawl_now_ms(turn->engine);
    return look(call);
}

pawl_status pw_recall_ask(struct pw_call *call, pw_look_fn *look)
{
    pawl_lane *lane = call->lane;
    call->is_answered = false;
    pawl_status status = pw_recall_enter(lane);
    if (status == PAWL_OK)
        status = pw_recall_reach(call);
    while (status == PAWL_OK && !call->is_answered)
        status = look_once(call, look);
    if (status != PAWL_OK && pw_turn_is_over(lane->turn))
        status = pw_lane_suspend(lane); /* trouble of the store ends the turn and is no answer to the workflow */
    if (status != PAWL_OK || call->answer->kind != PAWL_ANSWER_RUN) /* a body runs next, under a timeout of its own */
        pw_lane_enter_code(lane);
    pw_turn_unlock(lane->turn);
    return status;
}

pawl_status pawl_lane_check(pawl_lane *lane)
{
    pawl_turn *turn = lane->turn;
    pawl_status status = PAWL_OK;
    pw_turn_lock(turn);
    if (pw_lane_is_over(lane))
        status = pw_lane_suspend(lane);
    else if (pw_recall_is_interrupted(turn))
        status = pw_recall_interrupt(lane);
    pw_turn_unlock(turn);
    return status;
}

const struct pawl_policy *pw_recall_policy(const struct pawl_policy *policy, struct pawl_policy *room)
{
    if (policy != NULL)
        return policy;
    pawl_policy_default(room);
    return room;
}

pawl_status pw_recall_record(struct pw_call *call)
{
    pw_step_stamp(call->lane->turn->history, call->step, call->now_ms);
    return pw_boundary_record(&(struct pw_boundary){ .lane = call->lane, .step = call->step });
}

/* ---- Steps with a body ------------------------------------------------------------------------------------------ */

/* The store refused what the attempt registered: the attempt has failed (T3). */
static pawl_status tell_rejection(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy)
{
    enum pw_refusal why = step->rejected;
    bool unique = why == PW_REFUSED_UNIQUE || why == PW_REFUSED_INSTANCE_EXISTS || why == PW_REFUSED_EVENT_EXISTS;
    pawl_status status = unique ? PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION : pw_refusal_status(why);
    bool is_for_good = unique || why == PW_REFUSED_NO_INSTANCE || why == PW_REFUSED_ENDED;
    struct pw_attempt_outcome failure = { .attempt = step->row.attempts,
                                          .why = status,
                                          .message = step->rejected_text.data != NULL ? step->rejected_text.data : "",
                                          .may_retry = !is_for_good,
                                          .policy = policy,
                                          .mutations = step->mutations };
    if (step->row.status != PAWL_STEP_ERRORED || pw_lane_is_abandoned(lane))
        return pw_boundary_fail(lane, step, &failure);
    /* The refused changes were those registered for the failure: the failure stands, without them. */
    struct pw_boundary boundary = { .lane = lane, .step = step, .when = PAWL_WITH_FAILURE };
    if (!pw_log_system(lane->turn, &boundary.verdict, PAWL_LOG_ERROR, step->row.name, step->row.attempts,
                       "a change registered for this failure was refused: %.400s", failure.message))
        return pw_turn_out_of_memory(lane->turn);
    return pw_boundary_record(&boundary);
}

pawl_status pw_recall_begin(struct pw_call *call, bool *out_begun)
{
    struct pw_step *step = call->step;
    pw_step_stamp(call->lane->turn->history, step, call->now_ms);
    step->row.attempts_max = pw_policy_attempts_max(call->policy);
    step->row.timeout_ms = call->policy->timeout_ms;
    *out_begun = pw_attempts_left(step->row.attempts, step->row.attempts_max);
    if (*out_begun)
        return PAWL_OK;
    struct pw_attempt_outcome failure = { .attempt = step->row.attempts, .why = PAWL_STEP_MAX_ATTEMPTS_EXCEEDED };
    return pw_boundary_fail(call->lane, step, &failure);
}

pawl_status pw_recall_describe(struct pw_call *call)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_step_row *row = &call->step->row;
    struct pw_text text = pw_text_cut(pw_text_of(call->policy->description), PW_DESCRIPTION_MAX);
    if (text.data == NULL || pw_text_equal(text, row->description))
        return PAWL_OK;
    return pw_arena_text(&turn->history->arena, text, &row->description) ? PAWL_OK : pw_turn_out_of_memory(turn);
}

pawl_status pw_recall_mock(struct pw_call *call, bool *out_mocked)
{
    pawl_lane *lane = call->lane;
    struct pw_step *step = call->step;
    const struct pw_mocks *mocks = lane->turn->engine->mocks;
    struct pw_mock mock = { .kind = PW_MOCK_NONE };
    struct pw_attempt_outcome outcome = { .attempt = step->row.attempts + 1, .policy = call->policy };
    if (mocks != NULL && mocks->find != NULL)
        mock = mocks->find(mocks->user, lane->turn->definition->name, step->row.name, outcome.attempt);
    *out_mocked = mock.kind != PW_MOCK_NONE;
    switch (mock.kind) {
    case PW_MOCK_NONE:
        return PAWL_OK;
    case PW_MOCK_TIMEOUT:
        outcome.why = PAWL_STEP_TIMEOUT;
        outcome.may_retry = true;
        return pw_boundary_fail(lane, step, &outcome);
    case PW_MOCK_FAILURE:
        outcome.name = mock.error_name.data;
        outcome.message = mock.error_message.data;
        outcome.may_retry = mock.may_retry;
        return pw_boundary_fail(lane, step, &outcome);
    case PW_MOCK_RESULT:
        outcome.result = mock.result;
        return pw_boundary_complete(lane, step, &outcome);
    }
    return PAWL_OK;
}

/* Notes which step this one undoes, because a repair must know it as soon as there is a row. */
static bool note_undone(struct pw_call *call)
{
    struct pw_step_row *row = &call->step->row;
    struct pw_text undone = pw_text_cut(pw_text_trim(pw_text_of(call->policy->undoes)), PW_STEP_NAME_MAX);
    return undone.size == 0 || row->undoes.data != NULL ||
           pw_arena_text(&call->lane->turn->history->arena, undone, &row->undoes);
}

/* True if this is the run's first compensation.  Once anything is undone, no repair may keep what was done.  So the
 * row of the first compensation is durable before its body runs.  In an interrupted run the demand on the task
 * already says so. */
static bool begins_undoing(const pawl_turn *turn, const struct pw_step *step)
{
    return turn->unwinding && turn->undoing_told == 0 && turn->demand == PW_DEMAND_NONE && !step->in_store;
}

/* Hands the body out, once everything that must be durable before it is.  Each unmet condition submits or waits for
 * a unit, and the next look checks again. */
static pawl_status begin_attempt(struct pw_call *call)
{
    pawl_lane *lane = call->lane;
    pawl_turn *turn = lane->turn;
    struct pw_step *step = call->step;
    bool is_begun, is_mocked;
    if (turn->unwinding && lane->after < turn->undoing_told)
        lane->after = turn->undoing_told; /* another lane recorded it */
    if (turn->answered < lane->after)
        return pw_lane_await(lane, lane->after);
    if (!note_undone(call))
        return pw_turn_out_of_memory(turn);
    PAWL_TRY(pw_recall_begin(call, &is_begun));
    if (!is_begun)
        return PAWL_OK;
    if (begins_undoing(turn, step)) {
        pawl_status status = pw_boundary_record(&(struct pw_boundary){ .lane = lane, .step = step, .announces = true });
        turn->undoing_told = lane->after;
        return status;
    }
    int64_t lease_ms = pw_turn_lease_wanted(turn, call->policy->timeout_ms);
    if (lease_ms != 0) {
        pawl_status status = pw_boundary_submit_empty(turn, lease_ms);
        lane->after = turn->submitted;
        return status;
    }
    /* Log lines and mutations stay in memory until the turn ends, so a run with many of them goes on in a new turn.
     * What was written on the way to the first body does not count: the new turn would write it again and get no
     * further. */
    if (turn->bytes_replayed == 0)
        turn->bytes_replayed = turn->arena.used;
    if (turn->arena.used - turn->bytes_replayed > PW_TURN_BYTES_MAX || !turn->host->take_step(turn->host->runner)) {
        if (turn->stop == PW_STOP_NOT)
            turn->stop = PW_STOP_BUDGET;
        return pw_lane_suspend(lane);
    }
    PAWL_TRY(pw_recall_mock(call, &is_mocked));
    if (is_mocked)
        return PAWL_OK;
    PAWL_TRY(pw_recall_describe(call));
    step->policy = *call->policy;
    pawl_attempt *attempt = pw_attempt_new(lane, step, call->policy);
    if (attempt == NULL)
        return pw_turn_out_of_memory(turn);
    *call->answer = (struct pawl_answer){ .kind = PAWL_ANSWER_RUN, .attempt = attempt };
    call->is_answered = true;
    return PAWL_OK;
}

static pawl_status step_look(struct pw_call *call)
{
    const struct pw_step *step = call->step;
    if (step->rejected != PW_REFUSED_NOT)
        return tell_rejection(call->lane, call->step, call->policy);
    if (call->now_ms < step->row.next_retry_at_ms)
        return pw_recall_wait(call->lane, step->row.next_retry_at_ms, PW_TASK_RETRY);
    return begin_attempt(call);
}

pawl_status pawl_recall_step(pawl_lane *lane, const char *name, size_t name_size, const struct pawl_policy *policy,
                             struct pawl_answer *out_answer)
{
    pawl_turn *turn = lane->turn;
    struct pawl_policy room;
    struct pw_call call = {
        lane, { name, name_size }, PAWL_STEP_DO, out_answer, .policy = pw_recall_policy(policy, &room)
    };
    if (lane->suspended)
        return PAWL_SUSPENDED;
    const char *wrong = pawl_policy_wrong(call.policy);
    if (wrong != NULL)
        return pw_lane_error(lane, PAWL_INVALID, "step \"%.*s\": %s", (int)(name_size < 80 ? name_size : 80), name,
                             wrong);
    for (;;) {
        pawl_status status = pw_recall_ask(&call, step_look);
        if (status != PAWL_OK || out_answer->kind != PAWL_ANSWER_RUN)
            return status;
        pw_commit_kick(turn->engine->commit); /* a body may take long, and no commit should wait for it */
        turn->host->look_at(turn->host->runner, out_answer->attempt->deadline_ms);
        /* Both take locks, where the thread may wait or the process may be stopped.  So the lease is checked again,
         * last. */
        if (pw_turn_lease_wanted(turn, call.policy->timeout_ms) == 0)
            return PAWL_OK;
        pw_attempt_give_back(out_answer->attempt);
    }
}

/* ---- Sleeps ------------------------------------------------------------------------------------------------------ */

static pawl_status sleep_look(struct pw_call *call)
{
    const struct pw_mocks *mocks = call->lane->turn->engine->mocks;
    struct pw_step_row *row = &call->step->row;
    bool is_new = !call->step->in_store;
    if (is_new)
        row->wake_at_ms = call->wake_at_ms != 0 ? call->wake_at_ms : pw_time_after(call->now_ms, call->duration_ms);
    bool is_over = call->now_ms >= row->wake_at_ms || (mocks != NULL && mocks->sleeps_disabled);
    if (is_new || is_over) {
        pw_step_row_set(row, is_over ? PAWL_STATE_COMPLETED : PAWL_STATE_WAITING);
        pawl_status status = pw_recall_record(call);
        if (status != PAWL_OK || is_over)
            return status;
    }
    return pw_recall_wait(call->lane, row->wake_at_ms, PW_TASK_WAKE);
}

pawl_status pawl_recall_sleep(pawl_lane *lane, const char *name, size_t name_size, int64_t duration_ms,
                              struct pawl_answer *out_answer)
{
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (duration_ms < 0 || duration_ms > PW_DELAY_MS_MAX)
        return pw_lane_error(lane, PAWL_SLEEP_RANGE, "a sleep lasts 0 ms to 365 days, not %lld ms",
                             (long long)duration_ms);
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_SLEEP, out_answer, .duration_ms = duration_ms };
    return pw_recall_ask(&call, sleep_look);
}

pawl_status pawl_recall_sleep_until(pawl_lane *lane, const char *name, size_t name_size, int64_t wake_at_ms,
                                    struct pawl_answer *out_answer)
{
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (wake_at_ms > PW_TIME_MS_MAX)
        return pw_lane_error(lane, PAWL_SLEEP_RANGE, "%lld ms since 1970 is past the year 9999", (long long)wake_at_ms);
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_SLEEP, .answer = out_answer };
    /* 0 means "none" in a row; any past time ends the sleep at once. */
    call.wake_at_ms = wake_at_ms > 0 ? wake_at_ms : 1;
    return pw_recall_ask(&call, sleep_look);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

pawl_status pw_recall_read_events(pawl_lane *lane)
{
    pawl_turn *turn = lane->turn;
    struct pw_store *store = turn->engine->store;
    const struct pw_fence *fence = &turn->claim.fence;
    struct pw_arena arena = { 0 };
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    int64_t known = turn->history->event_seq, hint = turn->event_hint;
    pw_turn_unlock(turn);
    pawl_status status = pw_read_new_events(store, &arena, fence->instance, fence->run, known, &rows, &count, NULL);
    pw_turn_lock(turn);
    if (status != PAWL_OK) {
        turn->trouble = status;
        status = pw_lane_suspend(lane);
    } else if (turn->history->event_seq == known) {
        if (!pw_history_load_events(turn->history, rows, count))
            status = pw_turn_out_of_memory(turn);
        if (turn->history->event_seq < hint)
            turn->history->event_seq = hint;
        pw_turn_note_gap(turn, turn->history, known, rows, count);
    }
    pw_arena_clear(&arena);
    return status;
}

static pawl_status take_event(struct pw_call *call, struct pw_event *event)
{
    struct pw_step *step = call->step;
    pw_step_stamp(call->lane->turn->history, step, pw_not_before(call->now_ms, event->row.created_at_ms));
    pw_step_row_set(&step->row, PAWL_STATE_COMPLETED);
    step->row.result = event->row.payload;
    step->row.event_at_ms = event->row.created_at_ms;
    return pw_boundary_record(&(struct pw_boundary){ .lane = call->lane, .step = step, .event = event });
}

pawl_status pw_recall_time_out(struct pw_call *call, const char *message, const char *said)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_step *step = call->step;
    struct pw_boundary boundary = { .lane = call->lane, .step = step, .unless_new_events = true };
    pw_step_finish(turn->history, step, PAWL_STATE_FAILED, call->now_ms);
    step->row.error_name = pw_text_of(pawl_status_name(PAWL_WAIT_FOR_EVENT_TIMEOUT));
    step->row.error_message = pw_text_of(message);
    if (!pw_log_system(turn, &boundary.verdict, PAWL_LOG_WARN, step->row.name, 0, "%s", said))
        return pw_turn_out_of_memory(turn);
    return pw_boundary_record(&boundary);
}

static pawl_status time_out(struct pw_call *call)
{
    char said[PW_EVENT_TYPE_MAX + 32];
    snprintf(said, sizeof said, "no event \"%s\" came in time", call->step->row.wait_event_type.data);
    return pw_recall_time_out(call, pawl_status_text(PAWL_WAIT_FOR_EVENT_TIMEOUT), said);
}

pawl_status pw_recall_wait_for_event(struct pw_call *call, int64_t wake_at_ms, bool is_changed)
{
    struct pw_step_row *row = &call->step->row;
    if (is_changed || !call->step->in_store || row->wake_at_ms != wake_at_ms) {
        row->wake_at_ms = wake_at_ms;
        PAWL_TRY(pw_recall_record(call));
    }
    call->lane->waits_for_event = true;
    return pw_recall_wait(call->lane, wake_at_ms, PW_TASK_WAKE);
}

/* The latest time of an event that this wait accepts.  An event that is here before the wait is over is in time, and
 * so is one that was sent before the wait began.  Their times say otherwise only after the clock was set back,
 * because the times of a run never go back (H4). */
static int64_t events_until(const struct pw_step *step, int64_t now_ms)
{
    return now_ms < step->row.wake_at_ms ? INT64_MAX : pw_not_before(step->row.wake_at_ms, step->row.created_at_ms);
}

static pawl_status event_look(struct pw_call *call)
{
    pawl_turn *turn = call->lane->turn;
    struct pw_step_row *row = &call->step->row;
    if (!call->step->in_store)
        row->wake_at_ms = pw_time_after(call->now_ms, call->duration_ms);
    /* New, or the workflow's code now waits for another type. */
    bool is_changed = !pw_text_equal(row->wait_event_type, call->type);
    if (is_changed && !pw_arena_text(&turn->history->arena, call->type, &row->wait_event_type))
        return pw_turn_out_of_memory(turn);
    struct pw_event *event = pw_history_event_for(turn->history, call->type, events_until(call->step, call->now_ms));
    if (event != NULL)
        return take_event(call, event);
    return call->now_ms >= row->wake_at_ms ? time_out(call)
                                           : pw_recall_wait_for_event(call, row->wake_at_ms, is_changed);
}

pawl_status pawl_recall_event(pawl_lane *lane, const char *name, size_t name_size, const char *type, int64_t timeout_ms,
                              struct pawl_answer *out_answer)
{
    if (lane->suspended)
        return PAWL_SUSPENDED;
    if (type == NULL || !pw_text_is_identifier(pw_text_of(type), PW_EVENT_TYPE_MAX, true))
        return pw_lane_error(lane, PAWL_INVALID_EVENT_TYPE, "\"%.120s\" is not an event type: %s",
                             type != NULL ? type : "", pawl_status_text(PAWL_INVALID_EVENT_TYPE));
    if (timeout_ms < PW_EVENT_TIMEOUT_MS_MIN || timeout_ms > PW_DELAY_MS_MAX)
        return pw_lane_error(lane, PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE,
                             "a wait for an event lasts 1 second to 365 days, not %lld ms", (long long)timeout_ms);
    struct pw_call call = { lane, { name, name_size }, PAWL_STEP_EVENT, out_answer, .duration_ms = timeout_ms };
    call.type = pw_text_of(type);
    return pw_recall_ask(&call, event_look);
}

/* The step's own lane if it has lost a race by now: then the step has not failed.  Otherwise any lane will do. */
static pawl_lane *lane_to_blame(pawl_turn *turn, const struct pw_step *step)
{
    bool is_reached = step->reached_pass == turn->history->pass;
    return is_reached && pw_lane_is_abandoned(step->lane) ? step->lane : &turn->main;
}

/* With the lock held.  The turn closes before the workflow reaches these steps again. */
pawl_status pw_recall_record_rejections(pawl_turn *turn)
{
    pawl_status status = PAWL_OK;
    for (struct pw_step *step = turn->history->first; step != NULL && status == PAWL_OK; step = step->next) {
        if (step->rejected == PW_REFUSED_NOT)
            continue;
        if (step->row.kind != PAWL_STEP_DO)
            take_back_timeout(turn, step);
        else
            status = tell_rejection(lane_to_blame(turn, step), step, &step->policy);
    }
    return status;
}
