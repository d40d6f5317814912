/* attempt.c - one attempt at a step's body: what it may ask, what it registers and how it ends; and log lines.
 *
 * An attempt is in its turn's list from its making until its body returns.  The body runs without the turn's lock.
 * It ends in one of four ways: it completes, it fails, it is dropped (a job, whose outcome the turn records), or it
 * outlives its timeout.  In the last case the watchdog records the timeout and marks the attempt `expired`, and what
 * the body returns later is dropped.
 *
 * What a body registers is copied at once.  It becomes part of the unit that records the step's outcome, or is
 * dropped with the attempt. */
#include "turn/attempt.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "history/retry.h"
#include "service/service.h"
#include "turn/lines.h"
#include "value/value.h"

pawl_attempt *pw_attempt_new(pawl_lane *lane, struct pw_step *step, const struct pawl_policy *policy)
{
    pawl_attempt *attempt = calloc(1, sizeof *attempt);
    assert(lane->turn->phase == PW_TURN_PASSING && !step->running); /* a turn that was given up begins no body */
    if (attempt == NULL)
        return NULL;
    attempt->turn = lane->turn;
    attempt->lane = lane;
    attempt->step = step;
    attempt->number = step->row.attempts + 1;
    attempt->deadline_ms = pw_engine_monotonic_ms(lane->turn->engine) + policy->timeout_ms;
    attempt->policy = *policy;
    attempt->begun_us = pw_system_monotonic_us();
    step->running = true;
    attempt->next = lane->turn->attempts;
    if (attempt->next != NULL)
        attempt->next->previous = attempt;
    lane->turn->attempts = attempt;
    pw_turn_ref(lane->turn);
    return attempt;
}

int64_t pawl_attempt_number(const pawl_attempt *attempt)
{
    return attempt->number;
}

static int64_t left_ms(const pawl_attempt *attempt)
{
    return attempt->deadline_ms - pw_engine_monotonic_ms(attempt->turn->engine);
}

bool pw_attempt_is_late(const pawl_attempt *attempt)
{
    return left_ms(attempt) < 0;
}

int64_t pawl_attempt_remaining_ms(const pawl_attempt *attempt)
{
    int64_t ms = left_ms(attempt);
    return ms > 0 ? ms : 0;
}

int64_t pawl_attempt_deadline_ms(const pawl_attempt *attempt)
{
    return pw_time_after(pawl_now_ms(attempt->turn->engine), left_ms(attempt));
}

bool pawl_attempt_cancelled(const pawl_attempt *attempt)
{
    return atomic_load(&attempt->turn->cancelled) || pw_lane_is_abandoned(attempt->lane) || pw_attempt_is_late(attempt);
}

/* ---- Mutations --------------------------------------------------------------------------------------------------- */

/* Copies the mutation with all its texts. */
static pawl_status register_mutation(pawl_attempt *attempt, const struct pw_mutation *given)
{
    pawl_turn *turn = attempt->turn;
    struct pw_arena *arena = &turn->arena;
    pawl_status status = PAWL_OK;
    pw_turn_lock(turn);
    struct pw_mutation copy = *given, *mutation = pw_arena_take(arena, sizeof *mutation);
    struct pw_text *texts[] = { &copy.sql, &copy.parameters, &copy.data,   &copy.workflow,
                                &copy.id,  &copy.type,       &copy.payload };
    bool is_complete = mutation != NULL;
    for (size_t i = 0; is_complete && i < sizeof texts / sizeof texts[0]; i++)
        is_complete = pw_arena_text(arena, *texts[i], texts[i]);
    if (!is_complete) {
        status = pw_turn_out_of_memory(turn);
    } else {
        *mutation = copy;
        *(attempt->last_mutation != NULL ? &attempt->last_mutation->next : &attempt->mutations) = mutation;
        attempt->last_mutation = mutation;
    }
    pw_turn_unlock(turn);
    return status;
}

pawl_status pawl_attempt_sql(pawl_attempt *attempt, enum pawl_mutation_when when, const char *sql,
                             const char *parameters_json, size_t parameters_size)
{
    if (sql == NULL)
        return PAWL_INVALID;
    return register_mutation(attempt, &(struct pw_mutation){ .kind = PW_MUTATION_SQL,
                                                             .when = when,
                                                             .sql = pw_text_of(sql),
                                                             .parameters = { parameters_json, parameters_size } });
}

pawl_status pawl_attempt_mutate(pawl_attempt *attempt, enum pawl_mutation_when when, pawl_mutation_fn *mutate,
                                const void *data, size_t size)
{
    if (mutate == NULL)
        return PAWL_INVALID;
    return register_mutation(
        attempt,
        &(struct pw_mutation){ .kind = PW_MUTATION_CALL, .when = when, .call = mutate, .data = { data, size } });
}

/* Makes an id if none is given. */
static pawl_status register_create(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                   enum pw_relation relation, struct pw_text params, const char **out_id)
{
    char made[PW_ID_SIZE];
    if (workflow == NULL)
        return PAWL_INVALID;
    if (instance_id == NULL) {
        pw_engine_make_id(attempt->turn->engine, made);
        instance_id = made;
    }
    pawl_status status = register_mutation(attempt, &(struct pw_mutation){ .kind = PW_MUTATION_CREATE,
                                                                           .when = PAWL_WITH_SUCCESS,
                                                                           .workflow = pw_text_of(workflow),
                                                                           .id = pw_text_of(instance_id),
                                                                           .payload = params,
                                                                           .relation = relation });
    if (status == PAWL_OK && out_id != NULL)
        *out_id = attempt->last_mutation->id.data;
    return status;
}

pawl_status pawl_attempt_create(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                const char *params_json, size_t params_size)
{
    return register_create(attempt, workflow, instance_id, PW_RELATION_NONE,
                           (struct pw_text){ params_json, params_size }, NULL);
}

pawl_status pawl_attempt_create_child(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                      bool attached, const char *params_json, size_t params_size, const char **out_id)
{
    return register_create(attempt, workflow, instance_id, attached ? PW_RELATION_ATTACHED : PW_RELATION_DETACHED,
                           (struct pw_text){ params_json, params_size }, out_id);
}

pawl_status pawl_attempt_send_event(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                    const char *type, const char *payload_json, size_t payload_size)
{
    if (workflow == NULL || instance_id == NULL || type == NULL)
        return PAWL_INVALID;
    return register_mutation(attempt, &(struct pw_mutation){ .kind = PW_MUTATION_EVENT,
                                                             .when = PAWL_WITH_SUCCESS,
                                                             .workflow = pw_text_of(workflow),
                                                             .id = pw_text_of(instance_id),
                                                             .type = pw_text_of(type),
                                                             .payload = { payload_json, payload_size } });
}

/* ---- How it ends ------------------------------------------------------------------------------------------------- */

/* With the lock held. */
static bool is_open(const pawl_attempt *attempt)
{
    return !attempt->expired && pw_turn_is_open(attempt->turn);
}

/* With the lock held: records how the body ended, as `given` says: a result or a failure. */
static pawl_status record_outcome(pawl_attempt *attempt, const struct pw_attempt_outcome *given)
{
    const struct pawl_limits *limits = &attempt->turn->definition->limits;
    struct pw_attempt_outcome outcome = *given;
    struct pawl_error error = { PAWL_OK, "" };
    outcome.attempt = attempt->number;
    outcome.policy = &attempt->policy;
    outcome.mutations = attempt->mutations;
    outcome.logs = attempt->logs;
    if (outcome.why == PAWL_OK)
        outcome.why = pw_json_check(outcome.result, limits->payload_bytes_max, "the step's result", &error);
    if (outcome.why == PAWL_OK)
        return pw_boundary_complete(attempt->lane, attempt->step, &outcome);
    if (error.status != PAWL_OK)
        outcome.message = error.text;
    pawl_status status = pw_boundary_fail(attempt->lane, attempt->step, &outcome);
    return status == PAWL_OK && pw_lane_is_abandoned(attempt->lane) ? PAWL_SUSPENDED : status;
}

pawl_status pw_attempt_time_out(pawl_attempt *attempt)
{
    return record_outcome(attempt, &(struct pw_attempt_outcome){ .why = PAWL_STEP_TIMEOUT, .may_retry = true });
}

/* Takes the lock, and takes the attempt off the turn's list, so that the watchdog leaves it alone. */
static void settle(pawl_attempt *attempt)
{
    pw_turn_lock(attempt->turn);
    attempt->step->running = false;
    *(attempt->previous != NULL ? &attempt->previous->next : &attempt->turn->attempts) = attempt->next;
    if (attempt->next != NULL)
        attempt->next->previous = attempt->previous;
}

/* Drops the lock and frees the attempt.  If other bodies are late, the watchdog may have waited for this one to give
 * the turn up. */
static void let_go(pawl_attempt *attempt)
{
    pawl_turn *turn = attempt->turn;
    const struct pw_turn_host *host = turn->host;
    const pawl_attempt *late = turn->attempts;
    while (late != NULL && !late->expired)
        late = late->next;
    bool others_wait = late != NULL;
    pw_lane_enter_code(attempt->lane);
    pw_turn_unlock(turn);
    if (attempt->blocked.number != 0)
        host->call_returns(host->runner, turn, &attempt->blocked);
    if (others_wait)
        host->look_at(host->runner, 0);
    free(attempt);
    pw_turn_unref(turn);
}

static void count_body(const pawl_attempt *attempt)
{
    pw_stats_body(&attempt->turn->engine->stats, pw_system_monotonic_us() - attempt->begun_us);
}

/* The body has returned.  If the watchdog has already recorded a timeout, the outcome is dropped and the lane
 * suspends: it goes on with the retry or with the failure.  A body that returned too late, before the watchdog
 * noticed, also counts as timed out. */
static pawl_status attempt_end(pawl_attempt *attempt, const struct pw_attempt_outcome *outcome)
{
    pawl_lane *lane = attempt->lane;
    const struct pw_step_row *row = &attempt->step->row;
    pawl_status status = PAWL_SUSPENDED;
    count_body(attempt);
    settle(attempt);
    if (attempt->expired && row->next_retry_at_ms > 0)
        pw_lane_wait_until(lane, row->next_retry_at_ms, PW_TASK_RETRY);
    if (is_open(attempt))
        status = pw_attempt_is_late(attempt) ? pw_attempt_time_out(attempt) : record_outcome(attempt, outcome);
    if (status == PAWL_SUSPENDED)
        lane->suspended = true;
    if (attempt->expired && row->status == PAWL_STEP_ERRORED)
        lane->commit_wanted = attempt->turn->submitted; /* the branch goes on with this failure once it is durable */
    let_go(attempt);
    return status;
}

void pw_attempt_give_back(pawl_attempt *attempt)
{
    settle(attempt);
    let_go(attempt);
}

/* The body of a job has returned.  Nothing is recorded for the attempt unless it is late, because the end of the
 * turn records the job's outcome. */
void pawl_attempt_drop(pawl_attempt *attempt)
{
    count_body(attempt);
    settle(attempt);
    bool is_dropped = is_open(attempt), is_late = pw_attempt_is_late(attempt);
    if (is_dropped && is_late)
        (void)pw_attempt_time_out(attempt);
    if (!is_dropped || is_late) { /* the timeout counts, and the next pass finds it */
        attempt->lane->suspended = true;
        attempt->lane->commit_wanted = attempt->turn->submitted;
    }
    let_go(attempt);
}

pawl_status pawl_attempt_complete(pawl_attempt *attempt, const char *result_json, size_t result_size)
{
    return attempt_end(attempt, &(struct pw_attempt_outcome){ .result = { result_json, result_size } });
}

pawl_status pawl_attempt_fail(pawl_attempt *attempt, const char *error_name, const char *error_message, bool may_retry)
{
    return attempt_end(attempt, &(struct pw_attempt_outcome){ .why = PAWL_FAILED,
                                                              .name = error_name,
                                                              .message = error_message != NULL ? error_message : "",
                                                              .may_retry = may_retry });
}

/* ---- Logs -------------------------------------------------------------------------------------------------------- */

static pawl_status check_line(pawl_lane *lane, enum pawl_log_level level, struct pw_text category,
                              struct pw_text message, struct pw_text data)
{
    struct pawl_error error;
    if (level != PAWL_LOG_DEBUG && level != PAWL_LOG_INFO && level != PAWL_LOG_WARN && level != PAWL_LOG_ERROR)
        return pw_lane_error(lane, PAWL_INVALID_LOG, "a log level is debug, info, warn or error");
    if (message.data == NULL || message.size > PW_LOG_MESSAGE_MAX || !pw_text_is_utf8(message))
        return pw_lane_error(lane, PAWL_INVALID_LOG, "a log message is at most %d bytes of UTF-8; this one is %s",
                             PW_LOG_MESSAGE_MAX, message.size > PW_LOG_MESSAGE_MAX ? "longer" : "not");
    if (category.size == 0 || category.size > PW_LOG_CATEGORY_MAX || !pw_text_is_utf8(category))
        return pw_lane_error(lane, PAWL_INVALID_LOG, "a log category is 1 to %d bytes of UTF-8", PW_LOG_CATEGORY_MAX);
    if (pw_text_equal(category, pw_text_of("system")))
        return pw_lane_error(lane, PAWL_INVALID_LOG, "the log category \"system\" is the engine's own");
    pawl_status status =
        pw_json_check(data, lane->turn->definition->limits.payload_bytes_max, "the log line's data", &error);
    return status == PAWL_OK ? PAWL_OK : pw_lane_error(lane, status, "%s", error.text);
}

/* With the lock held. */
static pawl_status append_line(pawl_lane *lane, pawl_attempt *attempt, const struct pw_log_row *row)
{
    struct pw_log_line *line = pw_log_line_new(lane->turn, row);
    if (line == NULL)
        return pw_turn_out_of_memory(lane->turn);
    if (attempt != NULL)
        pw_log_append(&attempt->logs, line);
    else
        pw_lines_say(lane, line);
    return PAWL_OK;
}

pawl_status pawl_lane_log(pawl_lane *lane, pawl_attempt *attempt, enum pawl_log_level level, const char *category,
                          const char *message, const char *data_json, size_t data_size)
{
    pawl_turn *turn = lane->turn;
    struct pw_log_row row = { .level = level,
                              .category = pw_text_of(category != NULL ? category : "workflow"),
                              .message = pw_text_of(message),
                              .data = { data_json, data_size },
                              .created_at_ms = pawl_now_ms(turn->engine) };
    if (attempt == NULL && lane->suspended)
        return PAWL_SUSPENDED;
    pawl_status status = check_line(lane, level, row.category, row.message, row.data);
    if (status != PAWL_OK)
        return status;
    pw_turn_lock(turn);
    if (attempt != NULL) {
        row.step = attempt->step->row.name;
        row.attempt = attempt->number;
    }
    /* A line is not new if an earlier pass of this turn wrote it, or if the lane lost a race and only shows what it
     * waits for. */
    bool is_new = attempt != NULL;
    if (turn->stop == PW_STOP_GIVEN_UP)
        status = PAWL_SUSPENDED;
    else if (attempt == NULL && !pw_lane_is_abandoned(lane) && !pw_lines_count(lane, &is_new))
        status = pw_turn_out_of_memory(turn);
    if (status == PAWL_OK && is_new)
        status = append_line(lane, attempt, &row);
    pw_turn_unlock(turn);
    return status;
}
