/* run_get.c - pawl instances get, pawl instances history. */
#include <string.h>

#include "history.h"
#include "moment.h"
#include "run.h"
#include "table.h"
#include "timeline.h"
#include "view.h"
#include "waiting.h"

enum { STEPS_SHOWN = 20, CHILDREN_SHOWN = 5 };

/* ---- get ------------------------------------------------------------------------------------------------------------- */

static enum exit_code get_instance(struct session *session, const struct reference *reference,
                                   struct answer *out_answer)
{
    struct text path = { NULL, 0, 0 };
    text_put(&path, reference_path(&session->pool, reference));
    if (session_has(session, OPTION_RUN))
        query_put_number(&path, "runNumber", invocation_number(&session->invocation, OPTION_RUN, 0));
    enum exit_code code = client_get(session, text_string(&path), out_answer);
    text_free(&path);
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

/* The newest of what it made goes beside what is known of it.  A server that does not tell has none to show. */
static void add_children(struct session *session, const struct reference *reference, json_t *instance)
{
    struct answer answer;
    const char *path = pool_format(&session->pool, "%s/children?pageSize=%d", reference_path(&session->pool, reference),
                                   CHILDREN_SHOWN);
    if (client_probe(session, path, &answer) != EXIT_DONE)
        return;
    if (json_object_set(instance, "children", answer.json) != 0)
        out_of_memory();
    answer_free(&answer);
}

static enum exit_code show_instance(struct session *session, const struct reference *reference, json_t *instance)
{
    bool is_full = session_has(session, OPTION_FULL);
    struct history_query query = { .run = json_number(instance, "meta.runNumber", 0),
                                   .order = is_full ? "asc" : "desc",
                                   .limit = is_full ? 0 : STEPS_SHOWN };
    json_t *history = NULL;
    enum exit_code code = history_fetch(session, reference, &query, &history);
    if (code != EXIT_DONE)
        return code;
    add_children(session, reference, instance);
    if (is_full)
        session->screen.width = 0; /* nothing is cut */
    else
        turn_around(json_at(history, "steps"));
    view_print(session, &session->out, reference, instance, history, is_full);
    json_decref(history);
    return session_print(session);
}

/* The answer of the server, and with --full the whole history beside it. */
static enum exit_code print_instance(struct session *session, const struct reference *reference,
                                     const struct answer *answer)
{
    if (session_has(session, OPTION_FULL)) {
        struct history_query query = { .run = json_number(answer->json, "meta.runNumber", 0), .with_logs = true };
        json_t *history = NULL;
        enum exit_code code = history_fetch(session, reference, &query, &history);
        if (code != EXIT_DONE)
            return code;
        if (json_object_set_new(answer->json, "history", history) != 0)
            out_of_memory();
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
    enum exit_code code = reference_find(session, &reference);
    if (code == EXIT_DONE)
        code = get_instance(session, &reference, &answer);
    if (code != EXIT_DONE)
        return code;
    if (session_is_ids(session)) {
        text_format(&session->out, "%s\n", reference_name(&session->pool, &reference));
        code = session_print(session);
    } else if (session_is_json(session)) {
        code = print_instance(session, &reference, &answer);
    } else {
        code = show_instance(session, &reference, answer.json);
    }
    answer_free(&answer);
    return code;
}

/* ---- history --------------------------------------------------------------------------------------------------------- */

/* Whether the run of a history is over, and when that was. */
struct run_end {
    bool has_ended;
    int64_t at_ms; /* 0: not known */
};

static bool any_waits(const json_t *steps)
{
    size_t index;
    json_t *step;
    json_array_foreach(steps, index, step)
        if (strcmp(json_text(step, "status", ""), "waiting") == 0)
            return true;
    return false;
}

/* A history does not say; it matters where a step waits, or did until the run ended or was restarted. */
static enum exit_code find_end(struct session *session, const struct reference *reference, const json_t *history,
                               struct run_end *out_end)
{
    struct answer answer;
    *out_end = (struct run_end){ false, 0 };
    if (!any_waits(json_at(history, "steps")))
        return EXIT_DONE;
    enum exit_code code = get_instance(session, reference, &answer);
    if (code != EXIT_DONE)
        return code;
    if (json_number(answer.json, "meta.runNumber", 0) > json_number(history, "runNumber", 0))
        out_end->has_ended = true;
    else
        out_end->at_ms = json_time_ms(answer.json, "meta.completedAt");
    out_end->has_ended = out_end->has_ended || out_end->at_ms != 0;
    answer_free(&answer);
    return EXIT_DONE;
}

static const char *show_took(struct session *session, const json_t *step, const struct run_end *end)
{
    bool is_waiting = strcmp(json_text(step, "status", ""), "waiting") == 0;
    if (is_waiting && end->has_ended && end->at_ms == 0)
        return "";
    return duration_show(&session->pool, step_took_ms(step, end->has_ended ? end->at_ms : session->screen.now_ms));
}

/* What a step did, or why it has not. */
static void put_step_result(struct session *session, struct table *table, const json_t *step, const struct run_end *end)
{
    struct pool *pool = &session->pool;
    const char *error = error_show(pool, step, "error"), *description = json_text(step, "description", NULL);
    const char *waits =
        end->has_ended ? cut_off_sentence(pool, step) : waiting_sentence(pool, step, session->screen.now_ms);
    if (waits != NULL)
        table_cell(table, end->has_ended ? STYLE_DIM : STYLE_YELLOW, waits);
    else if (error[0] != '\0')
        table_cell(table, is_given_up(step) ? STYLE_DIM : STYLE_RED, error);
    else
        table_cell(table, STYLE_PLAIN, json_show(pool, json_at(step, "result")));
    if (description != NULL && session_has(session, OPTION_FULL))
        table_below(table, STYLE_DIM, description);
}

static void put_steps(struct session *session, const json_t *steps, const struct run_end *end)
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
        const char *status = json_text(step, "status", "");
        bool is_cut_off = end->has_ended && strcmp(status, "waiting") == 0;
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, json_text(step, "name", ""));
        table_cell(&table, STYLE_DIM, step_kind(step));
        table_cell(&table, is_cut_off ? STYLE_DIM : status_style(status), status);
        table_cell(&table, STYLE_DIM, attempts_show(pool, step, "/"));
        table_cell(&table, STYLE_PLAIN, moment_show_exact(pool, json_time_ms(step, "createdAt"), now_ms));
        table_cell(&table, STYLE_PLAIN, show_took(session, step, end));
        put_step_result(session, &table, step, end);
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

/* Types with a $ are the engine's: how a call, a child or a deferred ended. */
static const char *event_name(struct pool *pool, const json_t *event)
{
    const char *type = json_text(event, "type", "");
    if (type[0] != '$')
        return type;
    return pool_format(pool, "%s of %s", json_flag(event, "isFailure") ? "failure" : "answer",
                       strcmp(type, "$deferred") == 0 ? "a deferred" : type + 1);
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
        const char *taker = json_text(event, "consumedByStepKey", NULL), *type = json_text(event, "type", "");
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, event_name(pool, event));
        table_cell(&table, STYLE_PLAIN,
                   moment_show_exact(pool, json_time_ms(event, "createdAt"), session->screen.now_ms));
        table_cell(&table, taker != NULL ? STYLE_PLAIN : STYLE_DIM, taker != NULL ? taker : "nobody yet");
        table_cell(&table, STYLE_DIM, type[0] != '$' ? json_text(event, "id", "") : "");
        table_cell(&table, STYLE_PLAIN, json_show(pool, json_at(event, "payload")));
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

static void show_history(struct session *session, const struct reference *reference, const json_t *history,
                         const struct run_end *end)
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
        put_steps(session, steps, end);
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
    struct run_end end = { false, 0 };
    if (session_is_json(session))
        session_put_json(session, history);
    else
        code = find_end(session, &reference, history, &end);
    if (code == EXIT_DONE && !session_is_json(session))
        show_history(session, &reference, history, &end);
    json_decref(history);
    return code == EXIT_DONE ? session_print(session) : code;
}
