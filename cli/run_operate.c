/* run_operate.c - pawl status, pawl tick. */
#include <string.h>

#include "metrics.h"
#include "moment.h"
#include "reference.h"
#include "run.h"
#include "table.h"

/* ---- status ---------------------------------------------------------------------------------------------------------- */

/* By status, as the server names them; first those that have not finished. */
enum { OPEN_COUNT = 3, STATUS_COUNT = 6 };
static const char *const statuses[STATUS_COUNT] = {
    "active", "waiting", "paused", "complete", "errored", "terminated"
};

struct count {
    int64_t number;
    bool has_more; /* than the server counts */
};

struct figures {
    const char *version;
    bool is_ready;
    const char *not_ready_why;
    int64_t round_trip_ms;
    size_t workflow_count;
    bool has_metrics; /* the token may not be allowed to read them */
    const char *no_metrics_why;
    bool store_is_up;
    bool has_counts;
    const char *no_counts_why;
    struct count counts[STATUS_COUNT];
    int64_t due, in_flight, streams, pending, failed;
    int64_t oldest_due_ms;
};

static int64_t whole(const struct metrics *metrics, const char *name)
{
    return (int64_t)(metrics_value(metrics, name, 0) + 0.5);
}

static void read_metrics(const struct metrics *metrics, struct figures *figures)
{
    figures->has_metrics = true;
    figures->store_is_up = whole(metrics, "pawl_store_up") == 1;
    figures->due = whole(metrics, "pawl_queue_depth");
    figures->oldest_due_ms = (int64_t)(metrics_value(metrics, "pawl_queue_oldest_age_seconds", 0) * 1000);
    figures->in_flight = whole(metrics, "pawl_runner_in_flight");
    figures->streams = whole(metrics, "pawl_http_streams");
    figures->pending = whole(metrics, "pawl_hook_deliveries{status=\"pending\"}");
    figures->failed = whole(metrics, "pawl_hook_deliveries{status=\"failed\"}");
}

/* Of the workflow that is named on the command line, or of all. */
static enum exit_code read_counts(struct session *session, struct figures *figures)
{
    const char *workflow = session_option(session, OPTION_WORKFLOW);
    struct text path = { NULL, 0, 0 };
    struct answer answer;
    text_put(&path, "/status");
    query_put(&path, "workflow", workflow);
    enum exit_code code = client_probe(session, text_string(&path), &answer);
    text_free(&path);
    if (code == EXIT_REFUSED && workflow != NULL && strcmp(session->problem.code, "WORKFLOW_NOT_FOUND") == 0)
        return explain_workflow(session, code, workflow);
    if (code != EXIT_DONE) {
        figures->no_counts_why = pool_string(&session->pool, session->problem.text);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        const json_t *count = json_object_get(json_at(answer.json, "instances"), statuses[i]);
        figures->counts[i] = (struct count){ json_number(count, "count", 0), json_flag(count, "hasMore") };
    }
    figures->has_counts = true;
    answer_free(&answer);
    return EXIT_DONE;
}

/* What is open to everybody must be answered; the rest is shown as far as it is. */
static enum exit_code gather(struct session *session, struct figures *figures)
{
    struct answer answer;
    struct metrics metrics;
    const char **names;
    int64_t began_ms = moment_monotonic_ms();
    enum exit_code code = client_get(session, "/version", &answer);
    if (code != EXIT_DONE)
        return code;
    figures->round_trip_ms = moment_monotonic_ms() - began_ms;
    figures->version = pool_string(&session->pool, json_text(answer.json, "version", "?"));
    answer_free(&answer);
    code = client_probe(session, "/health/ready", &answer);
    figures->is_ready = code == EXIT_DONE;
    figures->not_ready_why = code != EXIT_DONE ? pool_string(&session->pool, session->problem.text) : NULL;
    if (code == EXIT_DONE)
        answer_free(&answer);
    code = metrics_read(session, &metrics);
    if (code == EXIT_UNREACHABLE)
        return code;
    figures->no_metrics_why = code != EXIT_DONE ? pool_string(&session->pool, session->problem.text) : NULL;
    if (code != EXIT_DONE)
        return EXIT_DONE;
    read_metrics(&metrics, figures);
    metrics_free(&metrics);
    code = workflow_names(session, &names, &figures->workflow_count);
    return code == EXIT_DONE && figures->store_is_up ? read_counts(session, figures) : code;
}

static void put_count(struct session *session, struct text *line, struct count count, const char *word)
{
    if (line->size > 0)
        text_put(line, ", ");
    screen_put(&session->screen, line, count.number > 0 ? status_style(word) : STYLE_PLAIN,
               pool_format(&session->pool, "%s%s %s", number_show(&session->pool, count.number),
                           count.has_more ? "+" : "", word));
}

static void put_line(struct session *session, const char *name, const char *value)
{
    screen_put(&session->screen, &session->out, STYLE_DIM, pool_format(&session->pool, "%-10s", name));
    text_format(&session->out, "%s\n", value);
}

static void put_counts(struct session *session, const struct figures *figures, const char *name, size_t from, size_t to)
{
    struct text line = { NULL, 0, 0 };
    for (size_t i = from; i < to; i++)
        put_count(session, &line, figures->counts[i], statuses[i]);
    if (session_has(session, OPTION_WORKFLOW))
        text_format(&line, " (of %s)", session_option(session, OPTION_WORKFLOW));
    put_line(session, name, text_string(&line));
    text_free(&line);
}

static void put_instances(struct session *session, const struct figures *figures)
{
    if (!figures->has_counts) {
        put_line(session, "instances",
                 pool_format(&session->pool, "cannot be counted: %s", safe(&session->pool, figures->no_counts_why)));
        return;
    }
    put_counts(session, figures, "instances", 0, OPEN_COUNT);
    put_counts(session, figures, "finished", OPEN_COUNT, STATUS_COUNT);
}

static void show_status(struct session *session, const struct figures *figures)
{
    struct pool *pool = &session->pool;
    struct text line = { NULL, 0, 0 };
    text_format(&line, "%s, pawl %s, ", safe(pool, session->settings.shown_url), safe(pool, figures->version));
    screen_put(&session->screen, &line, figures->is_ready ? STYLE_GREEN : STYLE_RED,
               figures->is_ready ? "ready" : "not ready");
    text_format(&line, ", answers in %s", duration_show(pool, figures->round_trip_ms));
    put_line(session, "server", text_string(&line));
    text_free(&line);
    if (!figures->is_ready)
        put_line(session, "", safe(pool, figures->not_ready_why));
    if (!figures->has_metrics) {
        put_line(session, "figures", safe(pool, figures->no_metrics_why));
        return;
    }
    put_line(session, "workflows", pool_format(pool, "%zu", figures->workflow_count));
    if (!figures->store_is_up) {
        put_line(session, "store", "the server answers, but its database does not");
        return;
    }
    put_instances(session, figures);
    put_line(session, "due",
             figures->due == 0 ? "nothing waits for a runner"
                               : pool_format(pool, "%lld, the oldest since %s", (long long)figures->due,
                                             duration_show(pool, figures->oldest_due_ms)));
    put_line(session, "runner", pool_format(pool, "holds %s", counted(pool, figures->in_flight, "run")));
    struct text hooks = { NULL, 0, 0 };
    put_count(session, &hooks, (struct count){ figures->pending, false }, "pending");
    put_count(session, &hooks, (struct count){ figures->failed, false }, "failed");
    put_line(session, "hooks", text_string(&hooks));
    text_free(&hooks);
}

/* {"active": 3, ..., "hasMore": ["complete"]} */
static json_t *pack_counts(const struct figures *figures)
{
    json_t *json = json_object(), *more = json_array();
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        if (json_object_set_new(json, statuses[i], json_integer(figures->counts[i].number)) != 0 ||
            (figures->counts[i].has_more && json_array_append_new(more, json_string(statuses[i])) != 0))
            out_of_memory();
    }
    if (json_object_set_new(json, "hasMore", more) != 0)
        out_of_memory();
    return json;
}

static json_t *pack_status(const struct session *session, const struct figures *figures)
{
    json_t *json =
        json_pack("{s:{s:s, s:s, s:b, s:I}}", "server", "baseUrl", session->settings.shown_url, "version",
                  figures->version, "ready", figures->is_ready, "roundTripMs", (json_int_t)figures->round_trip_ms);
    json_t *more = json_pack(
        "{s:I, s:o*, s:{s:I, s:I}, s:{s:I}, s:{s:I, s:I}}", "workflows", (json_int_t)figures->workflow_count,
        "instances", figures->has_counts ? pack_counts(figures) : NULL, "queue", "due", (json_int_t)figures->due,
        "oldestDueMs", (json_int_t)figures->oldest_due_ms, "runner", "inFlight", (json_int_t)figures->in_flight,
        "hooks", "pending", (json_int_t)figures->pending, "failed", (json_int_t)figures->failed);
    if (json == NULL || more == NULL || (figures->has_metrics && json_object_update(json, more) != 0))
        out_of_memory();
    json_decref(more);
    return json;
}

enum exit_code run_status(struct session *session)
{
    struct figures figures = { .version = "" };
    enum exit_code code = gather(session, &figures);
    if (code != EXIT_DONE)
        return code;
    if (session_is_json(session)) {
        json_t *json = pack_status(session, &figures);
        session_put_json(session, json);
        json_decref(json);
    } else {
        show_status(session, &figures);
    }
    code = session_print(session);
    if (code != EXIT_DONE)
        return code;
    session->problem.text[0] = '\0'; /* it is part of what was shown */
    return figures.is_ready && figures.has_counts ? EXIT_DONE : EXIT_REFUSED;
}

/* ---- tick ------------------------------------------------------------------------------------------------------------ */

enum exit_code run_tick(struct session *session)
{
    const char *instances = session_option(session, OPTION_MAX_INSTANCES);
    const char *steps = session_option(session, OPTION_MAX_STEPS);
    const char *body = pool_format(&session->pool, "{%s%s%s%s%s}", instances != NULL ? "\"maxInstances\":" : "",
                                   instances != NULL ? instances : "", instances != NULL && steps != NULL ? "," : "",
                                   steps != NULL ? "\"maxSteps\":" : "", steps != NULL ? steps : "");
    struct answer answer;
    enum exit_code code = client_ask(session, "POST", "/_runner/tick", body, &answer);
    if (code != EXIT_DONE)
        return code;
    int64_t processed = json_number(answer.json, "processed", 0);
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else if (processed == 0)
        text_put(&session->out, "nothing was due\n");
    else
        text_format(&session->out, "%s processed\n", counted(&session->pool, processed, "instance"));
    answer_free(&answer);
    return session_print(session);
}
