/* run_status.c - pawl status: the server and its figures, as far as the token may read them.
 *
 * First the JSON that --json prints is gathered; the lines for people are made from it. */
#include <stdlib.h>
#include <string.h>

#include "common/thread.h"
#include "moment.h"
#include "reference.h"
#include "run.h"
#include "table.h"

/* By status, as the server names them; first those that have not finished. */
enum { OPEN_COUNT = 3, STATUS_COUNT = 6 };
static const char *const statuses[STATUS_COUNT] = {
    "active", "waiting", "paused", "complete", "errored", "terminated"
};

struct status {
    json_t *json; /* {server, workflows?, instances?, queue?, runner?, hooks?} */
    bool store_is_up;
    /* Why a part is missing; NULL: it is there. */
    const char *not_ready_why, *no_metrics_why, *no_counts_why;
};

/* ---- Gathering ------------------------------------------------------------------------------------------------------- */

/* Why the server did not answer; NULL: it did. */
static const char *why_not(struct session *session, enum exit_code code)
{
    return code != EXIT_DONE ? pool_string(&session->pool, session->problem.text) : NULL;
}

/* A figure from the text that the server writes for Prometheus; 0 if it is missing.  name: with its labels. */
static double figure(const char *metrics, const char *name)
{
    size_t size = strlen(name);
    for (const char *line = metrics; *line != '\0';) {
        if (strncmp(line, name, size) == 0 && line[size] == ' ')
            return strtod(line + size + 1, NULL);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return 0;
}

static json_int_t whole(const char *metrics, const char *name)
{
    return (json_int_t)(figure(metrics, name) + 0.5);
}

static void add_metrics(struct status *status, const char *metrics)
{
    (void)json_object_set_new(status->json, "queue",
                              json_pack("{s:I, s:I}", "due", whole(metrics, "pawl_queue_depth"), "oldestDueMs",
                                        (json_int_t)(figure(metrics, "pawl_queue_oldest_age_seconds") * 1000)));
    (void)json_object_set_new(status->json, "runner",
                              json_pack("{s:I}", "inFlight", whole(metrics, "pawl_runner_in_flight")));
    (void)json_object_set_new(status->json, "hooks",
                              json_pack("{s:I, s:I}", "pending",
                                        whole(metrics, "pawl_hook_deliveries{status=\"pending\"}"), "failed",
                                        whole(metrics, "pawl_hook_deliveries{status=\"failed\"}")));
}

/* {"active": 3, ..., "hasMore": ["complete"]}, of the workflow that is named on the command line, or of all. */
static enum exit_code add_counts(struct session *session, struct status *status)
{
    const char *workflow = session_option(session, OPTION_WORKFLOW);
    struct pw_buffer path = { 0 };
    struct answer answer;
    pw_buffer_put(&path, "/status");
    query_put(&path, "workflow", workflow);
    enum exit_code code = client_probe(session, text_keep(&session->pool, &path), &answer);
    if (code == EXIT_REFUSED && workflow != NULL && strcmp(session->problem.code, "WORKFLOW_NOT_FOUND") == 0)
        return explain_workflow(session, code, workflow);
    status->no_counts_why = why_not(session, code);
    if (code != EXIT_DONE)
        return EXIT_DONE;
    json_t *counts = json_object(), *more = json_array();
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        const json_t *count = json_object_get(json_at(answer.json, "instances"), statuses[i]);
        (void)json_object_set_new(counts, statuses[i], json_integer(json_number(count, "count", 0)));
        if (json_flag(count, "hasMore"))
            (void)json_array_append_new(more, json_string(statuses[i]));
    }
    (void)json_object_set_new(counts, "hasMore", more);
    (void)json_object_set_new(status->json, "instances", counts);
    return EXIT_DONE;
}

/* /version must be answered.  The rest is shown as far as the server answers it. */
static enum exit_code gather(struct session *session, struct status *status)
{
    struct answer answer;
    const char **names;
    size_t count;
    int64_t began_ms = pw_monotonic_ms();
    TRY(client_get(session, "/version", &answer));
    int64_t took_ms = pw_monotonic_ms() - began_ms;
    const char *version = json_text(answer.json, "version", "?");
    enum exit_code code = client_probe(session, "/health/ready", &answer);
    status->not_ready_why = why_not(session, code);
    (void)json_object_set_new(status->json, "server",
                              json_pack("{s:s, s:s, s:b, s:I}", "baseUrl", session->settings.shown_url, "version",
                                        version, "ready", code == EXIT_DONE, "roundTripMs", (json_int_t)took_ms));
    code = client_get(session, "/metrics", &answer);
    if (code == EXIT_UNREACHABLE)
        return code;
    status->no_metrics_why = why_not(session, code);
    if (code != EXIT_DONE)
        return EXIT_DONE;
    TRY(workflow_names(session, &names, &count));
    status->store_is_up = whole(answer.body, "pawl_store_up") == 1;
    (void)json_object_set_new(status->json, "workflows", json_integer((json_int_t)count));
    if (status->store_is_up)
        TRY(add_counts(session, status));
    add_metrics(status, answer.body);
    return EXIT_DONE;
}

/* ---- Showing --------------------------------------------------------------------------------------------------------- */

static void put_line(struct session *session, const char *name, const char *value)
{
    screen_put(&session->screen, &session->out, STYLE_DIM, pool_format(&session->pool, "%-10s", name));
    pw_buffer_format(&session->out, "%s\n", value);
}

static bool has_more(const json_t *counts, const char *word)
{
    json_each(more, json_at(counts, "hasMore"))
        if (strcmp(json_string_value(more.value), word) == 0)
            return true;
    return false;
}

/* "0 active, 1 waiting, 2 paused" */
static void put_counts(struct session *session, const char *name, const json_t *counts, const char *const *words,
                       size_t word_count, const char *behind)
{
    struct pw_buffer line = { 0 };
    for (size_t i = 0; i < word_count; i++) {
        int64_t number = json_number(counts, words[i], 0);
        pw_buffer_put(&line, i > 0 ? ", " : "");
        screen_put(&session->screen, &line, number > 0 ? status_style(words[i]) : STYLE_PLAIN,
                   pool_format(&session->pool, "%s%s %s", number_show(&session->pool, number),
                               has_more(counts, words[i]) ? "+" : "", words[i]));
    }
    pw_buffer_put(&line, behind);
    put_line(session, name, text_string(&line));
    pw_buffer_clear(&line);
}

static void put_instances(struct session *session, const struct status *status)
{
    const char *workflow = session_option(session, OPTION_WORKFLOW);
    const char *behind = workflow != NULL ? pool_format(&session->pool, " (of %s)", workflow) : "";
    const json_t *counts = json_at(status->json, "instances");
    if (counts == NULL) {
        put_line(session, "instances",
                 pool_format(&session->pool, "cannot be counted: %s", safe(&session->pool, status->no_counts_why)));
        return;
    }
    put_counts(session, "instances", counts, statuses, OPEN_COUNT, behind);
    put_counts(session, "finished", counts, statuses + OPEN_COUNT, STATUS_COUNT - OPEN_COUNT, behind);
}

static void show(struct session *session, const struct status *status)
{
    static const char *const delivery_statuses[] = { "pending", "failed" };
    struct pool *pool = &session->pool;
    const json_t *json = status->json;
    int64_t due = json_number(json, "queue.due", 0);
    struct pw_buffer line = { 0 };
    pw_buffer_format(&line, "%s, pawl %s, ", safe(pool, session->settings.shown_url),
                     safe(pool, json_text(json, "server.version", "")));
    screen_put(&session->screen, &line, status->not_ready_why == NULL ? STYLE_GREEN : STYLE_RED,
               status->not_ready_why == NULL ? "ready" : "not ready");
    pw_buffer_format(&line, ", answers in %s", duration_show(pool, json_number(json, "server.roundTripMs", 0)));
    put_line(session, "server", text_string(&line));
    pw_buffer_clear(&line);
    if (status->not_ready_why != NULL)
        put_line(session, "", safe(pool, status->not_ready_why));
    if (status->no_metrics_why != NULL) {
        put_line(session, "figures", safe(pool, status->no_metrics_why));
        return;
    }
    put_line(session, "workflows", json_show(pool, json_at(json, "workflows")));
    if (!status->store_is_up) {
        put_line(session, "store", "the server answers, but its database does not");
        return;
    }
    put_instances(session, status);
    put_line(session, "due",
             due == 0 ? "nothing waits for a runner"
                      : pool_format(pool, "%lld, the oldest since %s", (long long)due,
                                    duration_show(pool, json_number(json, "queue.oldestDueMs", 0))));
    put_line(session, "runner", template_fill(pool, "holds {runner.inFlight:run}", json, 0));
    put_counts(session, "hooks", json_at(json, "hooks"), delivery_statuses, 2, "");
}

enum exit_code run_status(struct session *session)
{
    struct status status = { .json = pool_json(&session->pool, json_object()) };
    TRY(gather(session, &status));
    bool is_whole = status.not_ready_why == NULL && json_at(status.json, "instances") != NULL;
    if (session_is_json(session))
        session_put_json(session, status.json);
    else
        show(session, &status);
    TRY(session_print(session));
    session->problem.text[0] = '\0'; /* the output has it */
    return is_whole ? EXIT_DONE : EXIT_REFUSED;
}
