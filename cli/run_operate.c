/* run_operate.c - pawl status, pawl tick. */
#include <string.h>

#include "metrics.h"
#include "moment.h"
#include "reference.h"
#include "run.h"
#include "table.h"

/* ---- status ---------------------------------------------------------------------------------------------------------- */

struct figures {
    const char *version;
    bool is_ready;
    const char *not_ready_why;
    int64_t round_trip_ms;
    size_t workflow_count;
    bool has_metrics; /* the token may not be allowed to read them */
    const char *no_metrics_why;
    bool store_is_up;
    int64_t active, waiting, paused;
    int64_t complete, errored, terminated;
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
    figures->active = whole(metrics, "pawl_instances{status=\"active\"}");
    figures->waiting = whole(metrics, "pawl_instances{status=\"waiting\"}");
    figures->paused = whole(metrics, "pawl_instances{status=\"paused\"}");
    figures->complete = whole(metrics, "pawl_runs_finished_total{status=\"complete\"}");
    figures->errored = whole(metrics, "pawl_runs_finished_total{status=\"errored\"}");
    figures->terminated = whole(metrics, "pawl_runs_finished_total{status=\"terminated\"}");
    figures->due = whole(metrics, "pawl_queue_depth");
    figures->oldest_due_ms = (int64_t)(metrics_value(metrics, "pawl_queue_oldest_age_seconds", 0) * 1000);
    figures->in_flight = whole(metrics, "pawl_runner_in_flight");
    figures->streams = whole(metrics, "pawl_http_streams");
    figures->pending = whole(metrics, "pawl_hook_deliveries{status=\"pending\"}");
    figures->failed = whole(metrics, "pawl_hook_deliveries{status=\"failed\"}");
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
    code = client_ask_within(session, "GET", "/health/ready", NULL, 1000, &answer);
    figures->is_ready = code == EXIT_DONE;
    figures->not_ready_why = code != EXIT_DONE ? pool_string(&session->pool, session->problem.text) : NULL;
    if (code == EXIT_DONE)
        answer_free(&answer);
    code = metrics_read(session, &metrics);
    if (code == EXIT_UNREACHABLE)
        return code;
    figures->no_metrics_why = code != EXIT_DONE ? pool_string(&session->pool, session->problem.text) : NULL;
    if (code == EXIT_DONE) {
        read_metrics(&metrics, figures);
        metrics_free(&metrics);
        return workflow_names(session, &names, &figures->workflow_count);
    }
    return EXIT_DONE;
}

static void put_count(struct session *session, struct text *line, int64_t count, const char *word, enum style style)
{
    if (line->size > 0)
        text_put(line, ", ");
    screen_put(&session->screen, line, count > 0 ? style : STYLE_PLAIN,
               pool_format(&session->pool, "%lld %s", (long long)count, word));
}

static void put_line(struct session *session, const char *name, const char *value)
{
    screen_put(&session->screen, &session->out, STYLE_DIM, pool_format(&session->pool, "%-10s", name));
    text_format(&session->out, "%s\n", value);
}

static void put_instances(struct session *session, const struct figures *figures)
{
    struct text line = { NULL, 0, 0 };
    put_count(session, &line, figures->active, "active", STYLE_CYAN);
    put_count(session, &line, figures->waiting, "waiting", STYLE_YELLOW);
    put_count(session, &line, figures->paused, "paused", STYLE_MAGENTA);
    put_line(session, "instances", text_string(&line));
    text_reset(&line);
    put_count(session, &line, figures->complete, "complete", STYLE_GREEN);
    put_count(session, &line, figures->errored, "errored", STYLE_RED);
    put_count(session, &line, figures->terminated, "terminated", STYLE_PLAIN);
    text_put(&line, " since the server was started");
    put_line(session, "finished", text_string(&line));
    text_free(&line);
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
        put_line(session, "store", "cannot be read");
        return;
    }
    put_instances(session, figures);
    put_line(session, "due",
             figures->due == 0 ? "nothing waits for a runner"
                               : pool_format(pool, "%lld, the oldest since %s", (long long)figures->due,
                                             duration_show(pool, figures->oldest_due_ms)));
    put_line(session, "runner", pool_format(pool, "holds %s", counted(pool, figures->in_flight, "run")));
    struct text hooks = { NULL, 0, 0 };
    put_count(session, &hooks, figures->pending, "pending", STYLE_YELLOW);
    put_count(session, &hooks, figures->failed, "failed", STYLE_RED);
    put_line(session, "hooks", text_string(&hooks));
    text_free(&hooks);
}

static json_t *pack_status(const struct session *session, const struct figures *figures)
{
    json_t *json =
        json_pack("{s:{s:s, s:s, s:b, s:I}}", "server", "baseUrl", session->settings.shown_url, "version",
                  figures->version, "ready", figures->is_ready, "roundTripMs", (json_int_t)figures->round_trip_ms);
    json_t *more =
        json_pack("{s:I, s:{s:I, s:I, s:I}, s:{s:I, s:I, s:I}, s:{s:I, s:I}, s:{s:I}, s:{s:I, s:I}}", "workflows",
                  (json_int_t)figures->workflow_count, "instances", "active", (json_int_t)figures->active, "waiting",
                  (json_int_t)figures->waiting, "paused", (json_int_t)figures->paused, "finishedSinceStart", "complete",
                  (json_int_t)figures->complete, "errored", (json_int_t)figures->errored, "terminated",
                  (json_int_t)figures->terminated, "queue", "due", (json_int_t)figures->due, "oldestDueMs",
                  (json_int_t)figures->oldest_due_ms, "runner", "inFlight", (json_int_t)figures->in_flight, "hooks",
                  "pending", (json_int_t)figures->pending, "failed", (json_int_t)figures->failed);
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
    session->problem.text[0] = '\0'; /* it is part of what was shown */
    return code == EXIT_DONE && (!figures.is_ready || !figures.has_metrics) ? EXIT_REFUSED : code;
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
        session_put_json(session, answer.json);
    else if (processed == 0)
        text_put(&session->out, "nothing was due\n");
    else
        text_format(&session->out, "%s processed\n", counted(&session->pool, processed, "instance"));
    answer_free(&answer);
    return session_print(session);
}
