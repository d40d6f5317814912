/* timeline.c - see timeline.h. */
#include "timeline.h"

#include <string.h>

#include "moment.h"
#include "table.h"
#include "reason.h"

enum { NAME_WIDTH_MAX = 32, BAR_WIDTH_MIN = 10, BAR_WIDTH_MAX = 40, OTHER_COLUMNS = 36 };

struct span {
    int64_t from_ms, to_ms;
};

static bool is_waiting(const json_t *step)
{
    return json_is(step, "status", "waiting");
}

int64_t step_took_ms(const json_t *step, int64_t now_ms)
{
    int64_t from_ms = json_time_ms(step, "createdAt");
    int64_t to_ms = is_waiting(step) ? now_ms : json_time_ms(step, "updatedAt");
    return to_ms > from_ms ? to_ms - from_ms : 0;
}

const char *step_kind(const json_t *step)
{
    const char *type = json_text(step, "type", "");
    return strcmp(type, "waitForEvent") == 0 ? "event" : type;
}

static struct span span_of(const json_t *steps, int64_t end_ms)
{
    struct span span = { end_ms, end_ms };
    json_each(step, steps) {
        int64_t created_ms = json_time_ms(step.value, "createdAt"), updated_ms = json_time_ms(step.value, "updatedAt");
        if (created_ms != 0 && created_ms < span.from_ms)
            span.from_ms = created_ms;
        if (updated_ms > span.to_ms)
            span.to_ms = updated_ms;
    }
    return span;
}

/* Blanks up to the start of the step, then a block for each part of the scale that it took. */
static const char *draw_bar(struct session *session, const json_t *step, struct span span, int64_t now_ms, size_t width)
{
    struct pw_buffer bar = { 0 };
    int64_t whole = span.to_ms > span.from_ms ? span.to_ms - span.from_ms : 1;
    int64_t from = json_time_ms(step, "createdAt") - span.from_ms, took = step_took_ms(step, now_ms);
    size_t before = (size_t)((double)(from > 0 ? from : 0) / (double)whole * (double)width);
    size_t size = (size_t)((double)took / (double)whole * (double)width + 0.5);
    before = before < width ? before : width - 1;
    size = size < 1 ? 1 : size > width - before ? width - before : size;
    pw_buffer_repeat(&bar, " ", before);
    pw_buffer_repeat(&bar, is_waiting(step) ? screen_dot(&session->screen) : screen_bar(&session->screen), size);
    return text_keep(&session->pool, &bar);
}

static size_t bar_width(const struct session *session, const json_t *steps)
{
    size_t name = 4, width = session->screen.width;
    json_each(step, steps) {
        size_t own = text_width(json_text(step.value, "name", ""));
        name = own > name ? own : name;
    }
    name = name < NAME_WIDTH_MAX ? name : NAME_WIDTH_MAX;
    if (width == 0)
        return BAR_WIDTH_MAX;
    size_t left = width > name + OTHER_COLUMNS ? width - name - OTHER_COLUMNS : 0;
    return left < BAR_WIDTH_MIN ? BAR_WIDTH_MIN : left > BAR_WIDTH_MAX ? BAR_WIDTH_MAX : left;
}

static const char *mark_of(const struct session *session, const char *status)
{
    bool has_utf8 = session->screen.has_utf8;
    if (strcmp(status, "completed") == 0)
        return has_utf8 ? "✓" : "+";
    if (strcmp(status, "errored") == 0)
        return has_utf8 ? "✗" : "x";
    return has_utf8 ? "…" : "-";
}

/* The line below a step; "": there is none. */
static const char *remark(struct session *session, const json_t *step, const struct timeline *timeline)
{
    const char *error = error_show(&session->pool, step, "error");
    const json_t *result = json_at(step, "result");
    if (timeline->has_ended && is_waiting(step))
        return step_cut_off(&session->pool, step);
    if (error[0] != '\0')
        return error;
    return timeline->with_results && result != NULL
               ? pool_format(&session->pool, "= %s", json_show(&session->pool, result))
               : "";
}

static void put_step(struct session *session, struct table *table, const json_t *step, const struct timeline *timeline,
                     struct span span, size_t width)
{
    struct pool *pool = &session->pool;
    const char *status = json_text(step, "status", ""), *below = remark(session, step, timeline);
    bool is_over = is_given_up(step) || (timeline->has_ended && is_waiting(step));
    enum style style = is_over ? STYLE_DIM : status_style(status);
    const char *name = safe(pool, json_text(step, "name", ""));
    table_row(table);
    table_cell(table, style, is_over ? "-" : mark_of(session, status));
    table_cell(table, STYLE_PLAIN,
               session->screen.width > 0 ? screen_cut(&session->screen, pool, name, NAME_WIDTH_MAX) : name);
    table_cell(table, STYLE_DIM, step_kind(step));
    table_cell(table, STYLE_DIM, attempts_show(pool, step, "/"));
    table_cell(table, STYLE_PLAIN, duration_show(pool, step_took_ms(step, timeline->end_ms)));
    table_cell(table, style, draw_bar(session, step, span, timeline->end_ms, width));
    if (json_text(step, "description", NULL) != NULL)
        table_below(table, STYLE_DIM, json_text(step, "description", ""));
    if (below[0] != '\0')
        table_below(table, is_over ? STYLE_DIM : below[0] == '=' ? STYLE_PLAIN : STYLE_RED, below);
}

void timeline_print(struct session *session, struct pw_buffer *out, const struct timeline *timeline)
{
    const json_t *steps = timeline->steps;
    struct span span = span_of(steps, timeline->end_ms);
    size_t width = bar_width(session, steps);
    const struct column columns[] = {
        { .heading = "" },
        { .heading = "STEP" },
        { .heading = "KIND" },
        { .heading = "TRIES", .is_right = true },
        { .heading = "TOOK", .is_right = true },
        { .heading = pool_format(&session->pool, "0 to %s", duration_show(&session->pool, span.to_ms - span.from_ms)) },
        { .heading = NULL },
    };
    struct table table;
    table_init(&table, columns, NULL);
    json_each(step, steps)
        put_step(session, &table, step.value, timeline, span, width);
    table_print(&table, &session->screen, out);
    table_free(&table);
}
