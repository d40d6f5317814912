/* run_get.c - pawl instances get, pawl instances history. */
#include <string.h>

#include "history.h"
#include "moment.h"
#include "run.h"
#include "table.h"
#include "timeline.h"
#include "view.h"
#include "reason.h"

enum { STEPS_SHOWN = 20, CHILDREN_SHOWN = 5 };

/* ---- get ------------------------------------------------------------------------------------------------------------- */

static enum exit_code get_instance(struct session *session, const struct reference *reference,
                                   struct answer *out_answer)
{
    struct pw_buffer path = { 0 };
    pw_buffer_put(&path, reference_path(&session->pool, reference));
    if (session_has(session, OPTION_RUN))
        query_put_number(&path, "runNumber", invocation_number(&session->invocation, OPTION_RUN, 0));
    return client_get(session, text_keep(&session->pool, &path), out_answer);
}

/* Reverses the list: steps are fetched newest first and drawn oldest first. */
static void turn_around(json_t *steps)
{
    size_t size = json_array_size(steps);
    for (size_t i = 0; i + 1 < size; i++) {
        json_t *last = json_incref(json_array_get(steps, size - 1));
        (void)json_array_remove(steps, size - 1);
        (void)json_array_insert_new(steps, i, last);
    }
}

/* Adds the newest children to the instance.  If the server refuses, none are shown. */
static void add_children(struct session *session, const struct reference *reference, json_t *instance)
{
    struct answer answer;
    const char *path = pool_format(&session->pool, "%s/children?pageSize=%d", reference_path(&session->pool, reference),
                                   CHILDREN_SHOWN);
    if (client_probe(session, path, &answer) != EXIT_DONE)
        return;
    (void)json_object_set(instance, "children", answer.json);
}

static enum exit_code show_instance(struct session *session, const struct reference *reference, json_t *instance)
{
    bool is_full = session_has(session, OPTION_FULL);
    struct history_query query = { .run = json_number(instance, "meta.runNumber", 0),
                                   .order = is_full ? "asc" : "desc",
                                   .limit = is_full ? 0 : STEPS_SHOWN };
    json_t *history = NULL;
    TRY(history_fetch(session, reference, &query, &history));
    add_children(session, reference, instance);
    if (is_full)
        session->screen.width = 0; /* nothing is cut */
    else
        turn_around(json_at(history, "steps"));
    view_print(session, &session->out, reference, instance, history, is_full);
    return session_print(session);
}

/* Prints the server's answer; with --full the whole history is added to it. */
static enum exit_code print_instance(struct session *session, const struct reference *reference,
                                     const struct answer *answer)
{
    if (session_has(session, OPTION_FULL)) {
        struct history_query query = { .run = json_number(answer->json, "meta.runNumber", 0), .with_logs = true };
        json_t *history = NULL;
        TRY(history_fetch(session, reference, &query, &history));
        (void)json_object_set(answer->json, "history", history);
        session_put_json(session, answer->json);
    } else {
        session_put_answer(session, answer);
    }
    return session_print(session);
}

enum exit_code run_instances_get(struct session *session)
{
    struct reference reference;
    struct answer answer;
    TRY(reference_find(session, &reference));
    TRY(get_instance(session, &reference, &answer));
    if (session_is_json(session))
        return print_instance(session, &reference, &answer);
    if (!session_is_ids(session))
        return show_instance(session, &reference, answer.json);
    pw_buffer_format(&session->out, "%s\n", reference_name(&session->pool, &reference));
    return session_print(session);
}

/* ---- history --------------------------------------------------------------------------------------------------------- */

static bool is_waiting(const json_t *step)
{
    return json_is(step, "status", "waiting");
}

static bool any_waits(const json_t *steps)
{
    json_each(step, steps)
        if (is_waiting(step.value))
            return true;
    return false;
}

/* A history does not say whether its run is over.  If it is, steps that still wait were cut off: each gets "cutOffAt", the
 * time of the run's end, or "" if that is not known. */
static enum exit_code mark_cut_off(struct session *session, const struct reference *reference, const json_t *history)
{
    struct answer answer;
    json_t *steps = json_at(history, "steps");
    if (!any_waits(steps))
        return EXIT_DONE;
    TRY(get_instance(session, reference, &answer));
    bool was_restarted = json_number(answer.json, "meta.runNumber", 0) > json_number(history, "runNumber", 0);
    const char *ended_at = was_restarted ? "" : json_text(answer.json, "meta.completedAt", NULL);
    json_each(step, steps)
        if (ended_at != NULL && is_waiting(step.value))
            (void)json_object_set_new(step.value, "cutOffAt", json_string(ended_at));
    return EXIT_DONE;
}

static bool is_cut_off(const json_t *step)
{
    return json_at(step, "cutOffAt") != NULL;
}

static struct cell show_kind(const struct source *source)
{
    return (struct cell){ step_kind(source->row), STYLE_DIM };
}

static struct cell show_status(const struct source *source)
{
    const char *status = json_text(source->row, "status", "");
    return (struct cell){ status, is_cut_off(source->row) ? STYLE_DIM : status_style(status) };
}

static struct cell show_tries(const struct source *source)
{
    return (struct cell){ attempts_show(source->pool, source->row, "/"), STYLE_DIM };
}

static struct cell show_took(const struct source *source)
{
    const json_t *step = source->row;
    int64_t end_ms = is_cut_off(step) ? json_time_ms(step, "cutOffAt") : source->session->screen.now_ms;
    return (struct cell){ end_ms != 0 ? duration_show(source->pool, step_took_ms(step, end_ms)) : NULL, STYLE_PLAIN };
}

/* The result of a step, its error, or what it waits for. */
static struct cell show_result(const struct source *source)
{
    const json_t *step = source->row;
    const char *error = error_show(source->pool, step, "error");
    if (is_cut_off(step))
        return (struct cell){ step_cut_off(source->pool, step), STYLE_DIM };
    const char *waits = step_waiting(source->pool, step, source->session->screen.now_ms);
    if (waits != NULL)
        return (struct cell){ waits, STYLE_YELLOW };
    if (error[0] != '\0')
        return (struct cell){ error, is_given_up(step) ? STYLE_DIM : STYLE_RED };
    return (struct cell){ json_show(source->pool, json_at(step, "result")), STYLE_PLAIN };
}

static struct cell show_description(const struct source *source)
{
    bool is_full = session_has(source->session, OPTION_FULL);
    return (struct cell){ is_full ? json_text(source->row, "description", NULL) : NULL, STYLE_DIM };
}

static const struct column step_columns[] = {
    { .heading = "STEP", .template = "{name}" },
    { .heading = "KIND", .show = show_kind },
    { .heading = "STATUS", .show = show_status },
    { .heading = "TRIES", .show = show_tries, .is_right = true },
    { .heading = "BEGAN", .template = "{createdAt:exact}" },
    { .heading = "TOOK", .show = show_took, .is_right = true },
    { .heading = "RESULT", .show = show_result, .is_flexible = true },
    { .heading = "", .show = show_description, .is_below = true },
    { .heading = NULL },
};

/* Types that begin with $ are the engine's own: a call, a child or a deferred has ended. */
static struct cell show_event(const struct source *source)
{
    const char *type = json_text(source->row, "type", "");
    if (type[0] == '$')
        type = pool_format(source->pool, "%s of %s", json_flag(source->row, "isFailure") ? "failure" : "answer",
                           strcmp(type, "$deferred") == 0 ? "a deferred" : type + 1);
    return (struct cell){ type, STYLE_PLAIN };
}

static struct cell show_event_id(const struct source *source)
{
    bool is_of_engine = json_text(source->row, "type", "")[0] == '$';
    return (struct cell){ is_of_engine ? NULL : json_text(source->row, "id", NULL), STYLE_DIM };
}

static const struct column event_columns[] = {
    { .heading = "EVENT", .show = show_event },
    { .heading = "SENT", .template = "{createdAt:exact}" },
    { .heading = "TAKEN BY",
      .template = "{consumedByStepKey}",
      .otherwise = "nobody yet",
      .otherwise_style = STYLE_DIM },
    { .heading = "ID", .show = show_event_id },
    { .heading = "PAYLOAD", .template = "{payload:json}", .is_flexible = true },
    { .heading = NULL },
};

static void put_table(struct session *session, const struct column *columns, const json_t *rows)
{
    if (json_array_size(rows) == 0)
        return;
    pw_buffer_put(&session->out, "\n");
    table_show(session, &session->out, columns, rows);
}

static void show_history(struct session *session, const struct reference *reference, const json_t *history)
{
    const json_t *steps = json_at(history, "steps"), *events = json_at(history, "events");
    const json_t *logs = json_at(history, "logs");
    if (session_has(session, OPTION_FULL))
        session->screen.width = 0; /* nothing is cut */
    screen_put(&session->screen, &session->out, STYLE_BOLD, reference_name(&session->pool, reference));
    pw_buffer_format(&session->out, "  run %lld: %s, %s", (long long)json_number(history, "runNumber", 1),
                     counted(&session->pool, (int64_t)json_array_size(steps), "step"),
                     counted(&session->pool, (int64_t)json_array_size(events), "event"));
    if (logs != NULL)
        pw_buffer_format(&session->out, ", %s", counted(&session->pool, (int64_t)json_array_size(logs), "log line"));
    pw_buffer_put(&session->out, "\n");
    put_table(session, step_columns, steps);
    put_table(session, event_columns, events);
    if (json_array_size(logs) > 0)
        pw_buffer_put(&session->out, "\n");
    json_each(log, logs)
        log_print(session, &session->out, log.value);
}

enum exit_code run_instances_history(struct session *session)
{
    struct history_query query = history_query_read(session);
    struct reference reference;
    json_t *history = NULL;
    query.with_logs =
        session_has(session, OPTION_INCLUDE_LOGS) || query.log_level != NULL || query.log_category != NULL;
    TRY(reference_find(session, &reference));
    TRY(history_fetch(session, &reference, &query, &history));
    if (session_is_json(session)) {
        session_put_json(session, history);
    } else {
        TRY(mark_cut_off(session, &reference, history));
        show_history(session, &reference, history);
    }
    return session_print(session);
}
