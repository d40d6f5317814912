/* run_runs.c - pawl instances runs. */
#include "listing.h"
#include "moment.h"
#include "run.h"
#include "table.h"
#include "view.h"
#include "waiting.h"

enum { LIMIT = 25, LIMIT_ALL = 100 };

static const char *page_path(struct session *session, const struct reference *reference, const char *cursor)
{
    struct text path = { NULL, 0, 0 };
    int64_t limit = session_has(session, OPTION_ALL) ? LIMIT_ALL : LIMIT;
    text_format(&path, "%s/runs", reference_path(&session->pool, reference));
    query_put_number(&path, "pageSize", invocation_number(&session->invocation, OPTION_LIMIT, limit));
    query_put(&path, "order", session_option(session, OPTION_ORDER));
    query_put(&path, "cursor", cursor);
    const char *copy = pool_string(&session->pool, text_string(&path));
    text_free(&path);
    return copy;
}

/* Adds the runs of the pages that follow, with --all, to the first one. */
static enum exit_code fetch_runs(struct session *session, const struct reference *reference, struct answer *out_answer)
{
    enum exit_code code =
        client_get(session, page_path(session, reference, session_option(session, OPTION_CURSOR)), out_answer);
    if (code != EXIT_DONE)
        return explain_workflow(session, code, reference->workflow);
    while (session_has(session, OPTION_ALL) && json_flag(out_answer->json, "hasNextPage")) {
        struct answer next;
        const char *cursor = pool_string(&session->pool, json_text(out_answer->json, "cursor", ""));
        code = client_get(session, page_path(session, reference, cursor), &next);
        if (code != EXIT_DONE) {
            answer_free(out_answer);
            return code;
        }
        if (json_array_extend(json_at(out_answer->json, "runs"), json_at(next.json, "runs")) != 0 ||
            json_object_set(out_answer->json, "hasNextPage", json_at(next.json, "hasNextPage")) != 0)
            out_of_memory();
        (void)json_object_del(out_answer->json, "cursor");
        if (json_at(next.json, "cursor") != NULL &&
            json_object_set(out_answer->json, "cursor", json_at(next.json, "cursor")) != 0)
            out_of_memory();
        answer_free(&next);
    }
    return EXIT_DONE;
}

static const char *took(struct session *session, const json_t *run)
{
    int64_t started_ms = json_time_ms(run, "startedAt"), ended_ms = json_time_ms(run, "completedAt");
    return started_ms != 0 && ended_ms != 0 ? duration_show(&session->pool, ended_ms - started_ms) : "";
}

static const char *when(struct session *session, const json_t *run, const char *name)
{
    int64_t at_ms = json_time_ms(run, name);
    return at_ms != 0 ? moment_show(&session->pool, at_ms, session->screen.now_ms) : "";
}

static void put_runs(struct session *session, const json_t *runs)
{
    static const struct column columns[] = {
        { .heading = "RUN", .is_right = true },
        { .heading = "STATUS" },
        { .heading = "STARTED" },
        { .heading = "FINISHED" },
        { .heading = "TOOK", .is_right = true },
        { .heading = "RESULT", .is_flexible = true },
    };
    struct table table;
    size_t index;
    json_t *run;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(runs, index, run) {
        const json_t *details = json_at(run, "details"), *output = json_at(details, "output");
        const char *phase = phase_of(details), *error = error_show(&session->pool, details, "error");
        table_row(&table);
        table_cell(&table, STYLE_PLAIN,
                   pool_format(&session->pool, "%lld", (long long)json_number(run, "runNumber", 0)));
        table_cell(&table, status_style(phase), phase_show(phase));
        table_cell(&table, STYLE_PLAIN, when(session, run, "startedAt"));
        table_cell(&table, STYLE_PLAIN, when(session, run, "completedAt"));
        table_cell(&table, STYLE_PLAIN, took(session, run));
        if (error[0] != '\0')
            table_cell(&table, STYLE_RED, error);
        else
            table_cell(&table, STYLE_PLAIN, json_show(&session->pool, output));
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

enum exit_code run_instances_runs(struct session *session)
{
    struct reference reference;
    struct answer answer;
    enum exit_code code = reference_find(session, &reference);
    if (code == EXIT_DONE)
        code = fetch_runs(session, &reference, &answer);
    if (code != EXIT_DONE)
        return code;
    if (session_is_json(session)) {
        session_put_json(session, answer.json);
    } else {
        put_runs(session, json_at(answer.json, "runs"));
        if (json_flag(answer.json, "hasNextPage") && session->screen.is_terminal)
            screen_note(&session->screen, &session->out, "there are more; --all shows them");
    }
    answer_free(&answer);
    return session_print(session);
}
