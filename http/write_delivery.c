/* write_delivery.c - what a hook is yet to be told, or could not be told. */
#include "http/write.h"

void pw_http_write_delivery(struct pw_http_text *out, const struct pawl_delivery_record *record)
{
    const struct pawl_delivery *delivery = &record->delivery;
    pw_http_json_open(out, NULL, '{');
    pw_http_json_string(out, "id", delivery->id);
    pw_http_json_string(out, "hook", delivery->hook);
    pw_http_json_string(out, "event", pawl_hook_event_name(delivery->event));
    pw_http_json_string(out, "workflowName", delivery->workflow);
    pw_http_json_string(out, "instanceId", delivery->instance_id);
    pw_http_json_integer(out, "runNumber", delivery->run_number);
    pw_http_json_raw(out, "payload", delivery->payload_json);
    pw_http_json_string(out, "status", pawl_delivery_status_name(record->status));
    pw_http_json_integer(out, "attempts", delivery->attempt);
    pw_http_json_integer(out, "maxAttempts", delivery->attempts_max);
    pw_http_json_time_if(out, "nextAttemptAt", record->next_attempt_at_ms);
    pw_http_json_string_if(out, "lastError", record->last_error);
    pw_http_json_time(out, "createdAt", delivery->created_at_ms);
    pw_http_json_close(out, '}');
}
