/* payload.c - makes what a hook is told from a delivery's row. */
#include "common/iso.h"
#include "base/limits.h"
#include "hooks/hooks.h"
#include "service/rows.h"

/* The names of enum pw_hook_reason; 0 is none.  Stores check the range. */
static const char *const reasons[] = { "unknown",
                                       [PW_REASON_CREATE] = "create",
                                       [PW_REASON_EVENT] = "event",
                                       [PW_REASON_RESUME] = "resume",
                                       [PW_REASON_RETRY] = "retry",
                                       [PW_REASON_WAKE] = "wake" };

/* Packs the due time; *out_due stays NULL if the run is due at once. */
static pawl_status pack_due(pawl_scope *scope, const struct pw_hook_row *row, pawl_value **out_due)
{
    char due_at[PW_ISO_SIZE];
    if (row->due_at_ms == 0 || !pw_iso_time(row->due_at_ms, due_at))
        return PAWL_OK;
    return pawl_value_pack(scope, out_due, "s", due_at);
}

/* Packs the error; *out_failure stays NULL if the run has not failed. */
static pawl_status pack_failure(pawl_scope *scope, const struct pw_hook_row *row, pawl_value **out_failure)
{
    struct pw_text message = row->error_message.data != NULL ? row->error_message : pw_text_of("");
    if (row->error_name.data == NULL)
        return PAWL_OK;
    return pawl_value_pack(scope, out_failure, "{s:s, s:s}", "name",
                           pw_text_cut(row->error_name, PW_ERROR_NAME_MAX).data, "message",
                           pw_text_cut(message, PW_ERROR_MESSAGE_MAX).data);
}

static pawl_status pack(pawl_scope *scope, const struct pw_hook_row *row, pawl_value **out_payload)
{
    const struct pw_instance ended = { .outcome = row->outcome };
    bool is_due = row->event == PAWL_HOOK_ENQUEUED;
    const char *how = is_due ? reasons[row->reason] : pawl_instance_status_name(pw_rows_status(&ended));
    pawl_value *what = NULL;
    pawl_status status = is_due ? pack_due(scope, row, &what) : pack_failure(scope, row, &what);
    if (status != PAWL_OK)
        return status;
    return pawl_value_pack(scope, out_payload, "{s:s, s:s, s:I, s:s, s:V}", "workflowName", row->workflow.data,
                           "instanceId", row->instance_id.data, "runNumber", (long long)row->run,
                           is_due ? "reason" : "status", how, is_due ? "dueAt" : "error", what);
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
    pawl_status status = pack(scope, row, &payload);
    if (status == PAWL_OK)
        status = pawl_value_text(scope, payload, &delivery.payload_json, &size);
    if (status != PAWL_OK)
        return status == PAWL_NOMEM ? status : PAWL_STORE_CORRUPT; /* a text that is not UTF-8 */
    if (!pw_rows_string(scope, row->id, &delivery.id) || !pw_rows_string(scope, row->hook, &delivery.hook) ||
        !pw_rows_string(scope, row->workflow, &delivery.workflow) ||
        !pw_rows_string(scope, row->instance_id, &delivery.instance_id))
        return PAWL_NOMEM;
    *out_delivery = delivery;
    return PAWL_OK;
}
