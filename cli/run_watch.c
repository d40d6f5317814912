/* run_watch.c - pawl instances watch: follows an instance; watch_list.c watches a list.
 *
 * On a terminal the steps are drawn in place, and log lines scroll above them.  Elsewhere each change is a line with the
 * server's time.  Lines are in the order of their times: the server sends a status before the steps and log lines that led to
 * it, so the line of a status is held back until they have passed. */
#include <string.h>

#include "history.h"
#include "moment.h"
#include "run.h"
#include "stream.h"
#include "timeline.h"
#include "view.h"
#include "reason.h"
#include "watch_list.h"

enum { INTERVAL_MS = 2000, OTHER_ROWS = 8, STEPS_SHOWN_MIN = 4 };

struct watched {
    struct session *session;
    const struct reference *reference;
    json_t *details; /* the latest; owned */
    json_t *steps;   /* of the run, in the order of their creation; owned */
    int64_t run, changed_ms;
    bool is_drawn; /* on a terminal; else each change is a line */
    json_t *held;  /* a status that is not printed yet; owned; or NULL */
    enum exit_code code;
};

/* The server's time of a change; now if it gives none. */
static int64_t time_of(const struct session *session, const json_t *data)
{
    int64_t ms = json_time_ms(data, json_at(data, "updatedAt") != NULL ? "updatedAt" : "createdAt");
    return ms != 0 ? ms : session->screen.now_ms;
}

static void put_outcome(struct session *session, struct pw_buffer *out, const json_t *details)
{
    const char *error = error_show(&session->pool, details, "error");
    const json_t *output = json_at(details, "output");
    if (error[0] != '\0')
        screen_put(&session->screen, out, STYLE_RED, safe(&session->pool, error));
    else if (output != NULL)
        text_put_safe(out, json_show(&session->pool, output));
}

/* The newest steps that there is room for. */
static const json_t *steps_that_fit(struct watched *watched, struct pw_buffer *drawing)
{
    size_t count = json_array_size(watched->steps), room = terminal_rows();
    room = room > STEPS_SHOWN_MIN + OTHER_ROWS ? room - OTHER_ROWS : STEPS_SHOWN_MIN;
    if (count <= room)
        return watched->steps;
    json_t *shown = pool_json(&watched->session->pool, json_array());
    for (size_t i = count - room; i < count; i++)
        (void)json_array_append(shown, json_array_get(watched->steps, i));
    struct session *session = watched->session;
    screen_note(
        &session->screen, drawing,
        pool_format(&session->pool, "%s before these", counted(&session->pool, (int64_t)(count - room), "step")));
    return shown;
}

/* The scale ends now, or when the run ended. */
static void draw_steps(struct watched *watched, struct pw_buffer *drawing)
{
    struct session *session = watched->session;
    bool has_ended = has_finished(watched->details);
    const json_t *shown = steps_that_fit(watched, drawing);
    timeline_print(session, drawing,
                   &(struct timeline){ .steps = shown,
                                       .end_ms = has_ended ? watched->changed_ms : session->screen.now_ms,
                                       .has_ended = has_ended });
}

/* Draws again, with these lines above it. */
static void redraw(struct watched *watched, const char *above)
{
    struct session *session = watched->session;
    struct pw_buffer drawing = { 0 };
    screen_refresh(&session->screen);
    picture_clear(session);
    pw_buffer_put(&session->out, above);
    view_title(session, &drawing, watched->reference, phase_of(watched->details), watched->run);
    view_waits(session, &drawing, watched->reference, watched->details);
    if (json_array_size(watched->steps) > 0)
        draw_steps(watched, &drawing);
    picture_draw(session, &drawing);
    pw_buffer_clear(&drawing);
    watched->code = session_print(session);
}

static void keep_step(struct watched *watched, const json_t *step)
{
    const char *key = json_text(step, "stepKey", "");
    json_t *kept = (json_t *)step;
    json_each(known, watched->steps) {
        if (json_is(known.value, "stepKey", key)) {
            (void)json_array_set(watched->steps, known.index, kept);
            return;
        }
    }
    (void)json_array_append(watched->steps, kept);
}

static void keep_status(struct watched *watched, const json_t *data)
{
    int64_t run = json_number(data, "runNumber", watched->run);
    if (run != watched->run)
        (void)json_array_clear(watched->steps); /* it was restarted */
    watched->run = run;
    watched->changed_ms = time_of(watched->session, data);
    json_decref(watched->details);
    watched->details = json_incref(json_at(data, "details"));
}

static void put_step_line(struct session *session, const json_t *step)
{
    struct pool *pool = &session->pool;
    const char *status = json_text(step, "status", ""), *error = error_show(pool, step, "error");
    const char *waits = step_waiting(pool, step, session->screen.now_ms);
    struct pw_buffer *out = &session->out;
    screen_put(&session->screen, out, STYLE_DIM,
               moment_show_exact(pool, json_time_ms(step, "updatedAt"), session->screen.now_ms));
    pw_buffer_put(out, "  ");
    screen_put(&session->screen, out, status_style(status), "step ");
    pw_buffer_format(out, "  %s: ", safe(pool, json_text(step, "name", "")));
    if (waits != NULL)
        text_put_safe(out, waits);
    else
        pw_buffer_format(out, "%s after %s%s%s", safe(pool, status), duration_show(pool, step_took_ms(step, 0)),
                         error[0] != '\0' ? ", " : "", safe(pool, error));
    pw_buffer_put(out, "\n");
}

static void put_status_line(struct session *session, const json_t *data)
{
    struct pool *pool = &session->pool;
    const json_t *details = json_at(data, "details");
    const char *phase = phase_of(details);
    int64_t run = json_number(data, "runNumber", 1);
    struct pw_buffer *out = &session->out;
    screen_put(&session->screen, out, STYLE_DIM,
               moment_show_exact(pool, time_of(session, data), session->screen.now_ms));
    pw_buffer_put(out, "  ");
    screen_put(&session->screen, out, status_style(phase), "run  ");
    pw_buffer_format(out, "  %s", safe(pool, phase_show(phase)));
    if (run > 1)
        pw_buffer_format(out, ", run %lld", (long long)run);
    if (has_finished(details)) {
        pw_buffer_put(out, " ");
        put_outcome(session, out, details);
    }
    pw_buffer_put(out, "\n");
}

static void put_held_line(struct watched *watched)
{
    if (watched->held == NULL)
        return;
    put_status_line(watched->session, watched->held);
    json_decref(watched->held);
    watched->held = NULL;
}

/* True if phase and run were printed before.  Only what it waits for is new, and the lines of its steps say that. */
static bool is_known(const struct watched *watched, const json_t *data)
{
    return watched->details != NULL && json_number(data, "runNumber", watched->run) == watched->run &&
           strcmp(phase_of(watched->details), phase_of(json_at(data, "details"))) == 0;
}

/* Each change is a line. */
static void tell(struct watched *watched, const char *event, const json_t *data)
{
    struct session *session = watched->session;
    bool is_status = strcmp(event, "status") == 0;
    if (is_status && is_known(watched, data))
        return;
    if (is_status)
        keep_status(watched, data);
    screen_refresh(&session->screen);
    if (is_status || time_of(session, data) > time_of(session, watched->held))
        put_held_line(watched);
    if (is_status && !has_finished(json_at(data, "details")))
        watched->held = json_incref((json_t *)data);
    else if (is_status)
        put_status_line(session, data);
    else if (strcmp(event, "log") == 0)
        log_print(session, &session->out, data);
    else
        put_step_line(session, data);
    watched->code = session_print(session);
}

static void tell_json(struct watched *watched, const char *event, const json_t *data)
{
    struct session *session = watched->session;
    session_put_line(session, pool_json(&session->pool, json_pack("{s:s, s:O}", "event", event, "data", data)));
    watched->code = session_print(session);
}

static bool take_event(void *user, const char *event, const json_t *data)
{
    struct watched *watched = user;
    struct session *session = watched->session;
    if (session_is_json(session)) {
        tell_json(watched, event, data);
    } else if (!watched->is_drawn) {
        tell(watched, event, data);
    } else {
        struct pw_buffer above = { 0 };
        if (strcmp(event, "step") == 0)
            keep_step(watched, data);
        else if (strcmp(event, "status") == 0)
            keep_status(watched, data);
        else
            log_print(session, &above, data);
        redraw(watched, text_string(&above));
        pw_buffer_clear(&above);
    }
    return watched->code == EXIT_DONE;
}

static void look_again(void *user)
{
    struct watched *watched = user;
    struct session *session = watched->session;
    if (watched->is_drawn && watched->details != NULL)
        redraw(watched, "");
    put_held_line(watched); /* nothing that belongs before it came for a while */
    if (session->out.size > 0)
        watched->code = session_print(session);
}

static enum exit_code watch_instance(struct session *session, const struct reference *reference)
{
    struct watched watched = { .session = session, .reference = reference, .run = 1, .steps = json_array() };
    const struct stream_handler handler = { take_event, look_again, &watched };
    watched.is_drawn = session->screen.is_terminal && session->settings.format == FORMAT_IS_TEXT;
    enum exit_code code = stream_follow(session, reference, &handler);
    put_held_line(&watched);
    if (code == EXIT_DONE && watched.is_drawn && watched.details != NULL) {
        redraw(&watched, "");
        put_outcome(session, &session->out, watched.details);
        if (session->out.size > 0)
            pw_buffer_put(&session->out, "\n");
        watched.code = session_print(session);
    }
    json_decref(watched.steps);
    json_decref(watched.details);
    json_decref(watched.held);
    return code == EXIT_DONE ? watched.code : code;
}

enum exit_code run_instances_watch(struct session *session)
{
    struct reference reference;
    int64_t interval_ms = INTERVAL_MS;
    struct listing listing = listing_read(session);
    listing.is_by_workflow = true;
    listing.workflow = session->settings.workflow;
    if (session_has(session, OPTION_INTERVAL))
        (void)duration_parse(session_option(session, OPTION_INTERVAL), &interval_ms);
    if (session->invocation.argument_count == 0 && !session_has(session, OPTION_ID))
        return watch_list(session, &listing, interval_ms);
    if (session_has(session, OPTION_STATUS))
        return problem_use(&session->problem, "--status is for a list; an instance is watched whatever its status is");
    session->client.patient_until_ms = INT64_MAX;
    TRY(reference_find(session, &reference));
    return watch_instance(session, &reference);
}
