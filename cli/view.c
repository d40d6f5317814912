/* view.c - see view.h. */
#include "view.h"

#include <string.h>

#include "moment.h"
#include "table.h"
#include "timeline.h"
#include "reason.h"

const char *phase_of(const json_t *details)
{
    return json_text(details, "phase", json_text(details, "status", "?"));
}

bool has_finished(const json_t *details)
{
    const char *status = json_text(details, "status", "");
    return strcmp(status, "complete") == 0 || strcmp(status, "errored") == 0 || strcmp(status, "terminated") == 0;
}

const char *phase_show(const char *phase)
{
    if (strcmp(phase, "waitingForRepair") == 0)
        return "waiting for repair";
    return strcmp(phase, "waitingForPause") == 0 ? "about to pause" : phase;
}

const char *demand_show(const json_t *meta)
{
    const char *demand = json_text(meta, "demand", NULL);
    if (demand == NULL)
        return NULL;
    if (strcmp(demand, "rollback") == 0)
        return "terminated with rollback: what its steps did is undone before it ends";
    return strcmp(demand, "terminate") == 0 ? "terminated with its parent: it is about to end"
                                            : "interrupted: what its steps did is undone before it ends";
}

void view_title(struct session *session, struct pw_buffer *out, const struct reference *reference, const char *phase,
                int64_t run)
{
    const struct screen *screen = &session->screen;
    screen_put(screen, out, STYLE_BOLD, reference_name(&session->pool, reference));
    pw_buffer_put(out, "  ");
    screen_put(screen, out, status_style(phase), safe(&session->pool, phase_show(phase)));
    if (run > 1)
        screen_put(screen, out, STYLE_DIM, pool_format(&session->pool, "  run %lld", (long long)run));
    pw_buffer_put(out, "\n");
}

static void put_line(struct session *session, struct pw_buffer *out, enum style style, const char *sentence)
{
    screen_put(&session->screen, out, style, safe(&session->pool, sentence));
    pw_buffer_put(out, "\n");
}

void view_waits(struct session *session, struct pw_buffer *out, const struct reference *reference,
                const json_t *details)
{
    const json_t *node = json_at(details, "waitingFor");
    const char *reason = json_text(node, "reason", ""), *phase = phase_of(details), *failed = "a step failed for good";
    bool is_repair = strcmp(reason, "waitingForRepair") == 0, is_paused = is_repair || strcmp(reason, "paused") == 0;
    const json_t *first = json_array_get(json_at(node, "parts"), 0);
    if (node != NULL && !is_paused)
        reason_put(session, out, status_style(phase), "", node);
    if (!is_paused)
        return;
    if (json_is(first, "reason", "failed"))
        failed = reason_sentence(&session->pool, first, session->screen.now_ms);
    if (is_repair)
        put_line(session, out, status_style(phase),
                 pool_format(&session->pool, "paused: %s; mend it, then pawl instances resume %s", failed,
                             reference_name(&session->pool, reference)));
    json_each(part, json_at(node, "parts"))
        if (!json_is(part.value, "reason", "failed"))
            reason_put(session, out, status_style(phase), "paused while ", part.value);
}

/* ---- What is known about it -------------------------------------------------------------------------------------------- */

static struct cell show_changed(const struct source *source)
{
    const char *template = "{meta.updatedAt:time}, {meta.updatedAt:ago}";
    if (json_time_ms(source->row, "meta.completedAt") != 0)
        return (struct cell){ NULL, STYLE_PLAIN }; /* that is what changed last */
    return (struct cell){ template_fill(source->pool, template, source->row, source->session->screen.now_ms),
                          STYLE_PLAIN };
}

static struct cell show_end(const struct source *source)
{
    const char *template = "{meta.completedAt:time}, {meta.completedAt:ago}";
    const char *when = template_fill(source->pool, template, source->row, source->session->screen.now_ms);
    int64_t started_ms = json_time_ms(source->row, "meta.startedAt");
    int64_t took_ms = started_ms != 0 ? json_time_ms(source->row, "meta.completedAt") - started_ms : 0;
    if (when != NULL)
        when = pool_format(source->pool, "%s, after %s", when, duration_show(source->pool, took_ms));
    return (struct cell){ when, STYLE_PLAIN };
}

/* Who made it. */
static struct cell show_parent(const struct source *source)
{
    const json_t *parent = json_at(source->row, "meta.parent");
    bool is_attached = json_flag(parent, "attached");
    return (struct cell){ template_fill(source->pool,
                                        is_attached ? "{workflowName}/{instanceId}, run {runNumber}"
                                                    : "{workflowName}/{instanceId}, run {runNumber}, detached",
                                        parent, 0),
                          STYLE_PLAIN };
}

/* What it made. */
static struct cell show_children(const struct source *source)
{
    const char *line = NULL;
    json_each(child, json_at(source->row, "children.instances"))
        line = pool_format(source->pool, "%s%s%s/%s %s", child.index > 0 ? line : "", child.index > 0 ? ", " : "",
                           json_text(child.value, "workflowName", "?"), json_text(child.value, "id", "?"),
                           phase_show(phase_of(json_at(child.value, "details"))));
    if (line != NULL && json_flag(source->row, "children.hasNextPage"))
        line = pool_format(source->pool, "%s, and more (pawl instances children)", line);
    return (struct cell){ line, STYLE_PLAIN };
}

static const struct column facts[] = {
    { .heading = "version", .template = "{meta.version}" },
    { .heading = "created", .template = "{meta.createdAt:time}, {meta.createdAt:ago}" },
    { .heading = "started", .template = "{meta.startedAt:time}, {meta.startedAt:ago}" },
    { .heading = "changed", .show = show_changed },
    { .heading = "finished", .show = show_end },
    { .heading = "replaced", .template = "{meta.replacedAt:time}, {meta.replacedAt:ago}" },
    { .heading = "parent", .show = show_parent },
    { .heading = "children", .show = show_children },
    { .heading = NULL },
};

/* With --full they are printed whole instead. */
static const struct column payload_facts[] = { { .heading = "params", .template = "{meta.params:json}" },
                                               { .heading = "output", .template = "{details.output:json}" },
                                               { .heading = "error", .template = "{details.error:error}" },
                                               { .heading = NULL } };

static void put_facts(struct session *session, struct pw_buffer *out, const json_t *instance, bool is_full)
{
    const char *error = error_show(&session->pool, instance, "details.error");
    struct table table;
    table_init_facts(&table);
    table_add_facts(&table, session, facts, instance);
    if (!is_full)
        table_add_facts(&table, session, payload_facts, instance);
    table_print(&table, &session->screen, out);
    table_free(&table);
    if (error[0] != '\0' && is_full)
        pw_buffer_format(out, "error  %s\n", safe(&session->pool, error));
}

static void put_payload(struct pw_buffer *out, const char *name, const json_t *value)
{
    if (value == NULL)
        return;
    pw_buffer_format(out, "\n%s\n", name);
    json_write(out, value, 2);
    pw_buffer_put(out, "\n");
}

/* ---- All of it ----------------------------------------------------------------------------------------------------------- */

void view_print(struct session *session, struct pw_buffer *out, const struct reference *reference,
                const json_t *instance, const json_t *history, bool is_full)
{
    const json_t *details = json_at(instance, "details"), *steps = json_at(history, "steps");
    const char *demand = demand_show(json_at(instance, "meta"));
    int64_t ended_ms = json_time_ms(instance, "meta.completedAt");
    view_title(session, out, reference, phase_of(details), json_number(instance, "meta.runNumber", 1));
    if (demand != NULL)
        put_line(session, out, STYLE_MAGENTA, demand);
    view_waits(session, out, reference, details);
    pw_buffer_put(out, "\n");
    put_facts(session, out, instance, is_full);
    if (is_full) {
        put_payload(out, "params", json_at(instance, "meta.params"));
        put_payload(out, "output", json_at(details, "output"));
    }
    if (json_array_size(steps) == 0)
        return;
    pw_buffer_put(out, "\n");
    timeline_print(session, out,
                   &(struct timeline){ .steps = steps,
                                       .end_ms = ended_ms != 0 ? ended_ms : session->screen.now_ms,
                                       .has_ended = ended_ms != 0,
                                       .with_results = is_full });
    if (json_flag(history, "stepsHasNextPage") && !is_full)
        screen_note(&session->screen, out, "earlier steps are not shown; --full shows all");
}
