/* payload.c - from the row to what a hook is told. */
#include "base/iso.h"
#include "base/limits.h"
#include "hooks/hooks.h"
#include "service/rows.h"

static const char *reason_name(enum pw_hook_reason reason)
{
    switch (reason) {
    case PW_REASON_CREATE:
        return "create";
    case PW_REASON_EVENT:
        return "event";
    case PW_REASON_RESUME:
        return "resume";
    case PW_REASON_RETRY:
        return "retry";
    case PW_REASON_WAKE:
        return "wake";
    }
    return "unknown";
}

static const char *outcome_name(enum pw_outcome outcome)
{
    const struct pw_instance ended = { .outcome = outcome };
    return pawl_instance_status_name(pw_rows_status(&ended));
}

static pawl_status pack_enqueued(pawl_scope *scope, const struct pw_hook_row *row, pawl_value **out_payload)
{
    char due_at[PW_ISO_SIZE];
    pawl_value *due = NULL;
    pawl_status status = PAWL_OK;
    if (row->due_at_ms != 0 && pw_iso_time(row->due_at_ms, due_at))
        status = pawl_value_pack(scope, &due, "s", due_at);
    if (status != PAWL_OK)
        return status;
    return pawl_value_pack(scope, out_payload, "{s:s, s:s, s:I, s:s, s:V}", "workflowName", row->workflow.data,
                           "instanceId", row->instance_id.data, "runNumber", (long long)row->run, "reason",
                           reason_name(row->reason), "dueAt", due);
}

static pawl_status pack_finished(pawl_scope *scope, const struct pw_hook_row *row, pawl_value **out_payload)
{
    pawl_value *failure = NULL;
    pawl_status status = PAWL_OK;
    struct pw_text message = row->error_message.data != NULL ? row->error_message : pw_text_of("");
    if (row->error_name.data != NULL)
        status =
            pawl_value_pack(scope, &failure, "{s:s, s:s}", "name", pw_text_cut(row->error_name, PW_ERROR_NAME_MAX).data,
                            "message", pw_text_cut(message, PW_ERROR_MESSAGE_MAX).data);
    if (status != PAWL_OK)
        return status;
    return pawl_value_pack(scope, out_payload, "{s:s, s:s, s:I, s:s, s:V}", "workflowName", row->workflow.data,
                           "instanceId", row->instance_id.data, "runNumber", (long long)row->run, "status",
                           outcome_name(row->outcome), "error", failure);
}

pawl_status pw_delivery_of_row(pawl_scope *scope, const struct pw_hook_row *row, struct pawl_delivery *out_delivery)
{
    struct pawl_delivery delivery = { .event = row->event,
                                      .run_number = row->run,
                                      .attempt = row->attempts,
                                      .attempts_max = row->attempts_max,
                                      .created_at_ms = row->created_at_ms };
    pawl_value *payload = NULL;
    size_t size;
    pawl_status status =
        row->event == PAWL_HOOK_ENQUEUED ? pack_enqueued(scope, row, &payload) : pack_finished(scope, row, &payload);
    if (status == PAWL_OK)
        status = pawl_value_text(scope, payload, &delivery.payload_json, &size);
    if (status != PAWL_OK)
        return status == PAWL_NOMEM ? status : PAWL_STORE_CORRUPT; /* a name that is none */
    if (!pw_rows_string(scope, row->id, &delivery.id) || !pw_rows_string(scope, row->hook, &delivery.hook) ||
        !pw_rows_string(scope, row->workflow, &delivery.workflow) ||
        !pw_rows_string(scope, row->instance_id, &delivery.instance_id))
        return PAWL_NOMEM;
    *out_delivery = delivery;
    return PAWL_OK;
}
