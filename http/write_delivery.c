/* write_delivery.c - writes a delivery of a hook that is pending or has failed. */
#include "http/write.h"

void pw_http_write_delivery(struct pw_buffer *out, const struct pawl_delivery_record *record)
{
    const struct pawl_delivery *delivery = &record->delivery;
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", delivery->id);
    pw_json_string(out, "hook", delivery->hook);
    pw_json_string(out, "event", pawl_hook_event_name(delivery->event));
    pw_json_string(out, "workflowName", delivery->workflow);
    pw_json_string(out, "instanceId", delivery->instance_id);
    pw_json_integer(out, "runNumber", delivery->run_number);
    pw_json_raw(out, "payload", delivery->payload_json);
    pw_json_string(out, "status", pawl_delivery_status_name(record->status));
    pw_json_integer(out, "attempts", delivery->attempt);
    pw_json_integer(out, "maxAttempts", delivery->attempts_max);
    pw_json_time_if(out, "nextAttemptAt", record->next_attempt_at_ms);
    pw_json_string_if(out, "lastError", record->last_error);
    pw_json_time(out, "createdAt", delivery->created_at_ms);
    pw_json_close(out, '}');
}
