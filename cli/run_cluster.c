/* run_cluster.c - pawl cluster: the runners of the store, or who owns the shards of a workflow. */
#include <string.h>

#include "moment.h"
#include "reference.h"
#include "run.h"
#include "table.h"

/* ---- Runners --------------------------------------------------------------------------------------------------------- */

static const char *show_shards(struct session *session, const json_t *runner)
{
    const char *joined = "";
    size_t index;
    json_t *workflow;
    bool is_sharing = json_flag(runner, "sharing");
    json_array_foreach(json_at(runner, "workflows"), index, workflow) {
        joined = pool_format(&session->pool, "%s%s%s", joined, index > 0 ? ", " : "", json_text(workflow, "name", "?"));
        if (is_sharing)
            joined = pool_format(&session->pool, "%s %lld", joined, (long long)json_number(workflow, "shards", 0));
    }
    return joined;
}

/* Those that take work up without being ticked first, then by name. */
static bool comes_before(const json_t *left, const json_t *right)
{
    if (json_flag(left, "sharing") != json_flag(right, "sharing"))
        return json_flag(left, "sharing");
    return strcmp(json_text(left, "name", ""), json_text(right, "name", "")) < 0;
}

static json_t *sort_runners(const json_t *runners)
{
    json_t *sorted = json_array(), *runner;
    size_t index;
    if (sorted == NULL)
        out_of_memory();
    json_array_foreach(runners, index, runner) {
        size_t place = 0;
        while (place < json_array_size(sorted) && !comes_before(runner, json_array_get(sorted, place)))
            place++;
        if (json_array_insert(sorted, place, runner) != 0)
            out_of_memory();
    }
    return sorted;
}

static void show_runners(struct session *session, const json_t *runners)
{
    static const struct column columns[] = { { .heading = "RUNNER" },
                                             { .heading = "ID" },
                                             { .heading = "WORKS" },
                                             { .heading = "STARTED", .is_right = true },
                                             { .heading = "SEEN", .is_right = true },
                                             { .heading = "WORKFLOWS AND SHARDS", .is_flexible = true } };
    struct pool *pool = &session->pool;
    int64_t now_ms = session->screen.now_ms;
    struct table table;
    size_t index;
    json_t *runner;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    json_t *sorted = sort_runners(runners);
    json_array_foreach(sorted, index, runner) {
        bool is_sharing = json_flag(runner, "sharing");
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, json_text(runner, "name", ""));
        table_cell(&table, STYLE_DIM, json_text(runner, "id", ""));
        table_cell(&table, is_sharing ? STYLE_GREEN : STYLE_DIM, is_sharing ? "when work is due" : "when it is ticked");
        table_cell(&table, STYLE_PLAIN, moment_relative(pool, json_time_ms(runner, "startedAt"), now_ms));
        table_cell(&table, STYLE_PLAIN, moment_relative(pool, json_time_ms(runner, "seenAt"), now_ms));
        table_cell(&table, STYLE_PLAIN, show_shards(session, runner));
    }
    json_decref(sorted);
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

/* ---- Shards ---------------------------------------------------------------------------------------------------------- */

/* "0-3, 7": which shards the runner owns; id NULL: which nobody does. */
static const char *show_ranges(struct session *session, const json_t *shards, const char *id, size_t *out_count)
{
    const char *joined = "";
    size_t size = json_array_size(shards), count = 0;
    for (size_t i = 0; i < size;) {
        size_t from = i;
        for (; i < size; i++) {
            const char *owner = json_text(json_array_get(shards, i), "runnerId", NULL);
            if (id == NULL ? owner != NULL : owner == NULL || strcmp(owner, id) != 0)
                break;
        }
        if (i == from) {
            i++;
            continue;
        }
        const char *gap = count > 0 ? ", " : "";
        joined = i - from > 1 ? pool_format(&session->pool, "%s%s%zu-%zu", joined, gap, from, i - 1)
                              : pool_format(&session->pool, "%s%s%zu", joined, gap, from);
        count += i - from;
    }
    *out_count = count;
    return joined;
}

static void put_owner(struct session *session, struct table *table, const json_t *shards, const char *name,
                      const char *id)
{
    size_t count;
    const char *ranges = show_ranges(session, shards, id, &count);
    if (count == 0)
        return;
    table_row(table);
    table_cell(table, id != NULL ? STYLE_PLAIN : STYLE_RED, name);
    table_cell(table, STYLE_DIM, id != NULL ? id : "");
    table_cell(table, STYLE_PLAIN, pool_format(&session->pool, "%zu", count));
    table_cell(table, STYLE_PLAIN, ranges);
}

static void show_owners(struct session *session, const json_t *shards, const json_t *runners)
{
    static const struct column columns[] = { { .heading = "RUNNER" },
                                             { .heading = "ID" },
                                             { .heading = "OWNS", .is_right = true },
                                             { .heading = "SHARDS", .is_flexible = true } };
    struct table table;
    size_t index;
    json_t *runner;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(runners, index, runner)
        put_owner(session, &table, shards, json_text(runner, "name", ""), json_text(runner, "id", ""));
    put_owner(session, &table, shards, "nobody", NULL);
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

static enum exit_code list_shards(struct session *session, const char *workflow, const json_t *runners)
{
    struct answer answer;
    const char *path = pool_format(&session->pool, "/workflows/%s/shards", path_segment(&session->pool, workflow));
    enum exit_code code = explain_workflow(session, client_get(session, path, &answer), workflow);
    if (code != EXIT_DONE)
        return code;
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        show_owners(session, json_at(answer.json, "shards"), runners);
    answer_free(&answer);
    return EXIT_DONE;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------- */

enum exit_code run_cluster(struct session *session)
{
    struct answer answer;
    size_t index;
    json_t *runner;
    const char *workflow;
    enum exit_code code = workflow_meant(session, &workflow);
    if (code == EXIT_DONE)
        code = client_get(session, "/cluster", &answer);
    if (code != EXIT_DONE)
        return code;
    const json_t *runners = json_at(answer.json, "runners");
    if (session_is_ids(session))
        json_array_foreach(runners, index, runner)
            text_format(&session->out, "%s\n", safe(&session->pool, json_text(runner, "id", "")));
    else if (workflow != NULL)
        code = list_shards(session, workflow, runners);
    else if (session_is_json(session))
        session_put_answer(session, &answer);
    else if (json_array_size(runners) == 0)
        text_put(&session->out, "no runner lives\n");
    else
        show_runners(session, runners);
    answer_free(&answer);
    return code == EXIT_DONE ? session_print(session) : code;
}
