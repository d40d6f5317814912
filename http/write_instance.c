/* write_instance.c - writes instances in the shapes that the routes need. */
#include "http/write.h"

void pw_http_write_details(struct pw_buffer *out, const char *key, const struct pawl_instance *instance)
{
    const char *status = pawl_instance_status_name(instance->status), *phase = pawl_phase_name(instance->phase);
    pw_json_open(out, key, '{');
    pw_json_string(out, "status", instance->is_unrecorded ? "unknown" : status);
    pw_json_string(out, "phase", instance->is_unrecorded ? "unknown" : phase);
    pw_http_write_failure(out, instance->error_name, instance->error_message);
    pw_json_raw_if(out, "output", instance->output_json);
    if (instance->waiting_for != NULL)
        pw_http_write_waiting_for(out, instance->waiting_for);
    pw_json_close(out, '}');
}

void pw_http_write_instance(struct pw_buffer *out, const struct pawl_instance *instance)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", instance->id);
    pw_http_write_details(out, "details", instance);
    pw_json_close(out, '}');
}

static void write_listed(struct pw_buffer *out, const struct pawl_instance *instance, bool has_workflow)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", instance->id);
    if (has_workflow)
        pw_json_string(out, "workflowName", instance->workflow);
    pw_http_write_details(out, "details", instance);
    pw_json_string_if(out, "version", instance->version);
    pw_json_time(out, "createdAt", instance->created_at_ms);
    pw_json_time(out, "updatedAt", instance->updated_at_ms);
    pw_json_close(out, '}');
}

void pw_http_write_listed(struct pw_buffer *out, const struct pawl_instance *instance)
{
    write_listed(out, instance, /* has_workflow= */ false);
}

void pw_http_write_child(struct pw_buffer *out, const struct pawl_instance *instance)
{
    write_listed(out, instance, /* has_workflow= */ true);
}

static void write_run(struct pw_buffer *out, const struct pawl_instance *instance)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", instance->id);
    pw_json_integer(out, "runNumber", instance->run_number);
    pw_http_write_details(out, "details", instance);
}

void pw_http_write_outcome(struct pw_buffer *out, const struct pawl_instance *instance)
{
    write_run(out, instance);
    pw_json_close(out, '}');
}

void pw_http_write_status_event(struct pw_buffer *out, const struct pawl_instance *instance)
{
    write_run(out, instance);
    pw_json_time(out, "updatedAt", instance->updated_at_ms);
    pw_json_close(out, '}');
}

static void write_run_times(struct pw_buffer *out, const struct pawl_instance *instance)
{
    pw_json_time_or_null(out, "startedAt", instance->started_at_ms);
    pw_json_time_or_null(out, "completedAt", instance->completed_at_ms);
    pw_json_time_if(out, "replacedAt", instance->replaced_at_ms);
}

void pw_http_write_run(struct pw_buffer *out, const struct pawl_instance *instance)
{
    pw_json_open(out, NULL, '{');
    pw_json_integer(out, "runNumber", instance->run_number);
    pw_http_write_details(out, "details", instance);
    pw_json_string_if(out, "version", instance->version);
    write_run_times(out, instance);
    pw_json_close(out, '}');
}

static void write_parent(struct pw_buffer *out, const struct pawl_parent *parent)
{
    pw_json_open(out, "parent", '{');
    pw_json_string(out, "workflowName", parent->workflow);
    pw_json_string(out, "instanceId", parent->id);
    pw_json_integer(out, "runNumber", parent->run_number);
    pw_json_bool(out, "attached", parent->is_attached);
    pw_json_close(out, '}');
}

static void write_meta(struct pw_buffer *out, const struct pawl_instance *instance)
{
    pw_json_open(out, "meta", '{');
    pw_json_string(out, "workflowName", instance->workflow);
    pw_json_integer(out, "runNumber", instance->run_number);
    pw_json_string_if(out, "version", instance->version);
    pw_json_raw_if(out, "params", instance->params_json);
    if (instance->parent != NULL)
        write_parent(out, instance->parent);
    if (instance->is_interrupted)
        pw_json_bool(out, "interrupted", true);
    if (instance->demand != PAWL_DEMAND_NONE)
        pw_json_string(out, "demand", pawl_demand_name(instance->demand));
    pw_json_time(out, "createdAt", instance->created_at_ms);
    pw_json_time(out, "updatedAt", instance->updated_at_ms);
    write_run_times(out, instance);
    if (instance->current_step != NULL) {
        pw_json_open(out, "currentStep", '{');
        pw_http_write_step_members(out, instance->current_step);
        pw_json_close(out, '}');
    }
    pw_json_close(out, '}');
}

void pw_http_write_with_meta(struct pw_buffer *out, const struct pawl_instance *instance)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", instance->id);
    pw_http_write_details(out, "details", instance);
    write_meta(out, instance);
    pw_json_close(out, '}');
}
