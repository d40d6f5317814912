/* run_get.c - pawl instances get, pawl instances history. */
#include <string.h>

#include "history.h"
#include "moment.h"
#include "run.h"
#include "table.h"
#include "timeline.h"
#include "view.h"
#include "waiting.h"

enum { STEPS_SHOWN = 20 };

/* ---- get ------------------------------------------------------------------------------------------------------------- */

static enum exit_code get_instance(struct session *session, const struct reference *reference,
                                   struct answer *out_answer)
{
    enum exit_code code = client_get(session, reference_path(&session->pool, reference), out_answer);
    return explain_workflow(session, code, reference->workflow);
}

/* The newest first is what was asked for; the oldest first is what is drawn. */
static void turn_around(json_t *steps)
{
    size_t size = json_array_size(steps);
    for (size_t i = 0; i + 1 < size; i++) {
        json_t *last = json_incref(json_array_get(steps, size - 1));
        (void)json_array_remove(steps, size - 1);
        if (json_array_insert_new(steps, i, last) != 0)
            out_of_memory();
    }
}

static enum exit_code show_instance(struct session *session, const struct reference *reference, const json_t *instance)
{
    bool is_full = session_has(session, OPTION_FULL);
    struct history_query query = { .run = json_number(instance, "meta.runNumber", 0),
                                   .order = is_full ? "asc" : "desc",
                                   .limit = is_full ? 0 : STEPS_SHOWN };
    json_t *history = NULL;
    enum exit_code code = history_fetch(session, reference, &query, &history);
    if (code != EXIT_DONE)
        return code;
    if (is_full)
        session->screen.width = 0; /* nothing is cut */
    else
        turn_around(json_at(history, "steps"));
    view_print(session, &session->out, reference, instance, history, is_full);
    json_decref(history);
    return session_print(session);
}

/* The answer of the server, and with --full the whole history beside it. */
static enum exit_code print_instance(struct session *session, const struct reference *reference, json_t *instance)
{
    if (session_has(session, OPTION_FULL)) {
        struct history_query query = { .run = json_number(instance, "meta.runNumber", 0), .with_logs = true };
        json_t *history = NULL;
        enum exit_code code = history_fetch(session, reference, &query, &history);
        if (code != EXIT_DONE)
            return code;
        if (json_object_set_new(instance, "history", history) != 0)
            out_of_memory();
    }
    session_put_json(session, instance);
    return session_print(session);
}

enum exit_code run_instances_get(struct session *session)
{
    struct reference reference;
    struct answer answer;
    enum exit_code code = reference_find(session, &reference);
    if (code == EXIT_DONE)
        code = get_instance(session, &reference, &answer);
    if (code != EXIT_DONE)
        return code;
    if (session_is_ids(session)) {
        text_format(&session->out, "%s\n", reference_name(&session->pool, &reference));
        code = session_print(session);
    } else if (session_is_json(session)) {
        code = print_instance(session, &reference, answer.json);
    } else {
        code = show_instance(session, &reference, answer.json);
    }
    answer_free(&answer);
    return code;
}

/* ---- history --------------------------------------------------------------------------------------------------------- */

static void put_steps(struct session *session, const json_t *steps)
{
    static const struct column columns[] = { { .heading = "STEP" },
                                             { .heading = "KIND" },
                                             { .heading = "STATUS" },
                                             { .heading = "TRIES", .is_right = true },
                                             { .heading = "BEGAN" },
                                             { .heading = "TOOK", .is_right = true },
                                             { .heading = "RESULT", .is_flexible = true } };
    struct pool *pool = &session->pool;
    int64_t now_ms = session->screen.now_ms;
    struct table table;
    size_t index;
    json_t *step;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(steps, index, step) {
        const char *status = json_text(step, "status", ""), *error = error_show(pool, step, "error");
        const char *waits = waiting_sentence(pool, step, now_ms);
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, json_text(step, "name", ""));
        table_cell(&table, STYLE_DIM, step_kind(step));
        table_cell(&table, status_style(status), status);
        table_cell(&table, STYLE_DIM, attempts_show(pool, step, "/"));
        table_cell(&table, STYLE_PLAIN, moment_show_exact(pool, json_time_ms(step, "createdAt"), now_ms));
        table_cell(&table, STYLE_PLAIN, duration_show(pool, step_took_ms(step, now_ms)));
        if (waits != NULL)
            table_cell(&table, STYLE_YELLOW, waits);
        else if (error[0] != '\0')
            table_cell(&table, STYLE_RED, error);
        else
            table_cell(&table, STYLE_PLAIN, json_show(pool, json_at(step, "result")));
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

static void put_events(struct session *session, const json_t *events)
{
    static const struct column columns[] = { { .heading = "EVENT" },
                                             { .heading = "SENT" },
                                             { .heading = "TAKEN BY" },
                                             { .heading = "ID" },
                                             { .heading = "PAYLOAD", .is_flexible = true } };
    struct pool *pool = &session->pool;
    struct table table;
    size_t index;
    json_t *event;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(events, index, event) {
        const char *taker = json_text(event, "consumedByStepKey", NULL);
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, json_text(event, "type", ""));
        table_cell(&table, STYLE_PLAIN,
                   moment_show_exact(pool, json_time_ms(event, "createdAt"), session->screen.now_ms));
        table_cell(&table, taker != NULL ? STYLE_PLAIN : STYLE_DIM, taker != NULL ? taker : "nobody yet");
        table_cell(&table, STYLE_DIM, json_text(event, "id", ""));
        table_cell(&table, STYLE_PLAIN, json_show(pool, json_at(event, "payload")));
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

static void show_history(struct session *session, const struct reference *reference, const json_t *history)
{
    const json_t *steps = json_at(history, "steps"), *events = json_at(history, "events");
    const json_t *logs = json_at(history, "logs");
    size_t index;
    json_t *log;
    if (session_has(session, OPTION_FULL))
        session->screen.width = 0; /* nothing is cut */
    screen_put(&session->screen, &session->out, STYLE_BOLD, reference_name(&session->pool, reference));
    text_format(&session->out, "  run %lld: %s, %s", (long long)json_number(history, "runNumber", 1),
                counted(&session->pool, (int64_t)json_array_size(steps), "step"),
                counted(&session->pool, (int64_t)json_array_size(events), "event"));
    if (logs != NULL)
        text_format(&session->out, ", %s", counted(&session->pool, (int64_t)json_array_size(logs), "log line"));
    text_put(&session->out, "\n");
    if (json_array_size(steps) > 0) {
        text_put(&session->out, "\n");
        put_steps(session, steps);
    }
    if (json_array_size(events) > 0) {
        text_put(&session->out, "\n");
        put_events(session, events);
    }
    if (json_array_size(logs) > 0)
        text_put(&session->out, "\n");
    json_array_foreach(logs, index, log)
        log_print(session, &session->pool, &session->out, log);
}

enum exit_code run_instances_history(struct session *session)
{
    struct history_query query = {
        .run = invocation_number(&session->invocation, OPTION_RUN, 0),
        .order = session_option(session, OPTION_ORDER),
        .log_level = session_option(session, OPTION_LOG_LEVEL),
        .log_category = session_option(session, OPTION_LOG_CATEGORY),
        .no_replay = session_has(session, OPTION_NO_REPLAY),
    };
    struct reference reference;
    json_t *history = NULL;
    query.with_logs =
        session_has(session, OPTION_INCLUDE_LOGS) || query.log_level != NULL || query.log_category != NULL;
    enum exit_code code = reference_find(session, &reference);
    if (code == EXIT_DONE)
        code = history_fetch(session, &reference, &query, &history);
    if (code != EXIT_DONE)
        return code;
    if (session_is_json(session))
        session_put_json(session, history);
    else
        show_history(session, &reference, history);
    json_decref(history);
    return session_print(session);
}
