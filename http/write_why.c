/* write_why.c - writes why an instance waits: the tree of pawl_why(), and its short form in an instance's details. */
#include "http/write.h"

static void write_command(struct pw_buffer *out, const struct pawl_why_command *command)
{
    if (command->verb == PAWL_VERB_NONE)
        return;
    pw_json_open(out, "command", '{');
    pw_json_string(out, "verb", pawl_verb_name(command->verb));
    if (command->workflow != NULL) {
        pw_json_string(out, "workflowName", command->workflow);
        pw_json_string(out, "instanceId", command->id);
    }
    if (command->event_type != NULL)
        pw_json_string(out, "event", command->event_type);
    if (command->function != NULL)
        pw_json_string(out, "function", command->function);
    pw_json_close(out, '}');
}

/* Writes what the step waits for, or its error. */
static void write_step(struct pw_buffer *out, const struct pawl_why_node *node)
{
    const struct pawl_step_record *step = node->step;
    const struct pawl_waits_for *awaited = step->waits_for;
    pw_json_string(out, "step", step->name);
    if (step->undoes != NULL)
        pw_json_string(out, "undoes", step->undoes);
    if (awaited != NULL && awaited->event_type != NULL)
        pw_json_string(out, "event", awaited->event_type);
    if (awaited != NULL && awaited->function != NULL)
        pw_json_string(out, "function", awaited->function);
    if (awaited != NULL && awaited->workflow != NULL) {
        pw_json_string(out, "workflowName", awaited->workflow);
        pw_json_string(out, "instanceId", awaited->id);
    }
    if (node->has_phase)
        pw_json_string(out, "phase", pawl_phase_name(node->phase));
    if (step->attempts != 0)
        pw_json_integer(out, "attempts", step->attempts);
    if (step->attempts_max != 0)
        pw_json_integer(out, "maxAttempts", step->attempts_max);
    if (step->job != NULL)
        pw_http_write_step_job(out, step->job);
    pw_http_write_failure(out, step->error_name, step->error_message);
}

static bool counts_runners(enum pawl_why_kind kind)
{
    return kind == PAWL_WHY_QUEUED || kind == PAWL_WHY_UNSERVED || kind == PAWL_WHY_LOST || kind == PAWL_WHY_WORKER;
}

/* is_short leaves out what only pawl_why() reports. */
static void write_members(struct pw_buffer *out, const struct pawl_why_node *node, bool is_short)
{
    pw_json_string(out, "reason", pawl_why_kind_name(node->kind));
    if (node->fork != NULL)
        pw_json_string(out, "fork", node->fork);
    if (node->branch >= 0)
        pw_json_integer(out, "branch", node->branch);
    if (node->step != NULL)
        write_step(out, node);
    if (node->since_ms != 0)
        pw_json_time(out, "since", node->since_ms);
    if (node->until_ms != 0)
        pw_json_time(out, "until", node->until_ms);
    if (!is_short && counts_runners(node->kind))
        pw_json_integer(out, "runners", node->runners);
    if (node->runner_id != NULL) {
        pw_json_open(out, "runner", '{');
        pw_json_string(out, "id", node->runner_id);
        pw_json_string(out, "name", node->runner_name);
        pw_json_close(out, '}');
    }
    if (node->more != 0)
        pw_json_integer(out, "more", node->more);
    write_command(out, &node->command);
}

/* Recursion is safe: the tree is as deep as the workflow's forks are nested, and the engine limits the levels that
 * it reports. */
static void write_node(struct pw_buffer *out, const char *key, const struct pawl_why_node *node, bool is_short)
{
    pw_json_open(out, key, '{');
    write_members(out, node, is_short);
    if (node->parts != NULL) {
        pw_json_open(out, "parts", '[');
        for (const struct pawl_why_node *part = node->parts; part != NULL; part = part->next)
            write_node(out, NULL, part, is_short);
        pw_json_close(out, ']');
    }
    pw_json_close(out, '}');
}

void pw_http_write_waiting_for(struct pw_buffer *out, const struct pawl_why_node *node)
{
    write_node(out, "waitingFor", node, /* is_short= */ true);
}

void pw_http_write_why(struct pw_buffer *out, const struct pawl_why_answer *why)
{
    const struct pawl_instance *instance = &why->instance;
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "id", instance->id);
    pw_json_string(out, "workflowName", instance->workflow);
    pw_json_integer(out, "runNumber", instance->run_number);
    pw_json_string(out, "status", pawl_instance_status_name(instance->status));
    pw_json_string(out, "phase", pawl_phase_name(instance->phase));
    if (instance->demand != PAWL_DEMAND_NONE)
        pw_json_string(out, "demand", pawl_demand_name(instance->demand));
    pw_http_write_failure(out, instance->error_name, instance->error_message);
    if (why->last_step != NULL) {
        pw_json_open(out, "lastStep", '{');
        pw_json_string(out, "name", why->last_step->name);
        pw_json_string(out, "status", pawl_step_status_name(why->last_step->status));
        pw_json_time(out, "updatedAt", why->last_step->updated_at_ms);
        pw_json_close(out, '}');
    }
    pw_json_bool(out, "undone", why->is_undone);
    write_node(out, "why", &why->node, /* is_short= */ false);
    pw_json_close(out, '}');
}
