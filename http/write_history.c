/* write_history.c - writes what a run did: steps, events and log lines. */
#include "http/write.h"

#include <stdio.h>
#include <string.h>

void pw_http_write_failure(struct pw_buffer *out, const char *name, const char *message)
{
    if (name == NULL)
        return;
    pw_json_open(out, "error", '{');
    pw_json_string(out, "name", name);
    pw_json_string(out, "message", message != NULL ? message : "");
    pw_json_close(out, '}');
}

/* Writes null for 0. */
static void write_number_or_null(struct pw_buffer *out, const char *key, int64_t number)
{
    if (number == 0)
        pw_json_raw(out, key, NULL);
    else
        pw_json_integer(out, key, number);
}

void pw_http_write_step_job(struct pw_buffer *out, const struct pawl_step_job *job)
{
    pw_json_open(out, "job", '{');
    pw_json_string(out, "function", job->function);
    if (job->is_taken) {
        pw_json_string(out, "takenBy", job->is_outside ? "outside" : "runner");
        pw_json_time(out, "takenAt", job->taken_at_ms);
        pw_json_time(out, "leasedUntil", job->leased_until_ms);
    }
    pw_json_string_if(out, "runner", job->runner_id);
    pw_json_time_if(out, "deadline", job->deadline_ms);
    pw_json_close(out, '}');
}

/* Leaves out the id of a call's job.  Only the worker that claims the job gets it. */
static void write_waits_for(struct pw_buffer *out, const struct pawl_step_record *step)
{
    const struct pawl_waits_for *awaited = step->waits_for;
    pw_json_open(out, "waitsFor", '{');
    pw_json_string_if(out, "event", awaited->event_type);
    pw_json_string_if(out, "function", awaited->function);
    if (awaited->workflow != NULL) {
        pw_json_string(out, "workflowName", awaited->workflow);
        pw_json_string(out, "instanceId", awaited->id);
    }
    if (step->kind == PAWL_STEP_EVENT || step->kind == PAWL_STEP_DEFERRED)
        pw_json_time_or_null(out, "until", awaited->until_ms);
    pw_json_close(out, '}');
}

static void write_place(struct pw_buffer *out, const struct pawl_step_place *place)
{
    pw_json_open(out, "place", '{');
    if (place->fork != NULL) {
        pw_json_string(out, "fork", place->fork);
        pw_json_string(out, "kind", pawl_fork_kind_name(place->kind));
        pw_json_integer(out, "branch", place->branch);
    }
    pw_json_integer(out, "order", place->order);
    pw_json_raw_if(out, "within", place->within_json);
    pw_json_close(out, '}');
}

void pw_http_write_step_members(struct pw_buffer *out, const struct pawl_step_record *step)
{
    pw_json_string(out, "stepKey", step->name);
    pw_json_string(out, "name", step->name);
    pw_json_string_if(out, "description", step->description);
    pw_json_string(out, "type", pawl_step_kind_name(step->kind));
    pw_json_string(out, "status", pawl_step_status_name(step->status));
    pw_json_string(out, "state", pawl_step_state_name(step->state));
    pw_json_string_if(out, "undoes", step->undoes);
    if (step->place.order != 0)
        write_place(out, &step->place);
    pw_json_integer(out, "attempts", step->attempts);
    write_number_or_null(out, "maxAttempts", step->attempts_max);
    write_number_or_null(out, "timeoutMs", step->timeout_ms);
    pw_json_time_or_null(out, "nextRetryAt", step->next_retry_at_ms);
    pw_json_time_or_null(out, "wakeAt", step->wake_at_ms);
    pw_json_string(out, "waitEventType", step->waits_for != NULL ? step->waits_for->event_type : NULL);
    if (step->waits_for != NULL)
        write_waits_for(out, step);
    if (step->job != NULL)
        pw_http_write_step_job(out, step->job);
    pw_http_write_failure(out, step->error_name, step->error_message);
}

void pw_http_write_step(struct pw_buffer *out, const struct pawl_step_record *step)
{
    pw_json_open(out, NULL, '{');
    pw_http_write_step_members(out, step);
    pw_json_integer(out, "runNumber", step->run_number);
    pw_json_raw_if(out, "result", step->result_json);
    pw_json_time(out, "createdAt", step->created_at_ms);
    pw_json_time(out, "updatedAt", step->updated_at_ms);
    pw_json_close(out, '}');
}

void pw_http_write_event(struct pw_buffer *out, const struct pawl_event_record *event)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", event->id);
    pw_json_integer(out, "runNumber", event->run_number);
    pw_json_string(out, "type", event->type);
    pw_json_bool(out, "isFailure", event->is_failure);
    pw_json_raw_if(out, "payload", event->payload_json);
    pw_json_time(out, "createdAt", event->created_at_ms);
    pw_json_time_or_null(out, "deliveredAt", event->delivered_at_ms);
    pw_json_string(out, "consumedByStepKey", event->consumed_by_step);
    pw_json_close(out, '}');
}

void pw_http_write_log(struct pw_buffer *out, const struct pawl_log_record *log)
{
    char id[24];
    (void)snprintf(id, sizeof id, "%lld", (long long)log->id);
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", id);
    pw_json_integer(out, "runNumber", log->run_number);
    pw_json_string(out, "stepKey", log->step);
    write_number_or_null(out, "attempt", log->attempt);
    pw_json_string(out, "level", pawl_log_level_name(log->level));
    pw_json_string(out, "category", log->category);
    pw_json_string(out, "message", log->message);
    pw_json_raw(out, "data", log->data_json);
    pw_json_bool(out, "isReplay", log->is_replay);
    pw_json_time(out, "createdAt", log->created_at_ms);
    pw_json_close(out, '}');
}

void pw_http_write_cursor(struct pw_buffer *out, const char *cursor_key, const char *flag_key, const char *cursor)
{
    if (cursor != NULL)
        pw_json_string(out, cursor_key, cursor);
    pw_json_bool(out, flag_key, cursor != NULL);
}

void pw_http_write_history(struct pw_buffer *out, const struct pawl_history *history, bool has_logs)
{
    pw_json_open(out, NULL, '{');
    pw_json_integer(out, "runNumber", history->run_number);
    pw_json_open(out, "steps", '[');
    for (size_t i = 0; i < history->step_count; i++)
        pw_http_write_step(out, &history->steps[i]);
    pw_json_close(out, ']');
    pw_http_write_cursor(out, "stepsCursor", "stepsHasNextPage", history->steps_cursor);
    pw_json_open(out, "events", '[');
    for (size_t i = 0; i < history->event_count; i++)
        pw_http_write_event(out, &history->events[i]);
    pw_json_close(out, ']');
    pw_http_write_cursor(out, "eventsCursor", "eventsHasNextPage", history->events_cursor);
    if (has_logs) {
        pw_json_open(out, "logs", '[');
        for (size_t i = 0; i < history->log_count; i++)
            pw_http_write_log(out, &history->logs[i]);
        pw_json_close(out, ']');
        pw_http_write_cursor(out, "logsCursor", "logsHasNextPage", history->logs_cursor);
    }
    pw_json_close(out, '}');
}
