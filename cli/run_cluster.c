/* run_cluster.c - pawl cluster: the runners of the store, or who owns the shards of a workflow. */
#include <string.h>

#include "reference.h"
#include "run.h"
#include "table.h"

/* ---- Runners --------------------------------------------------------------------------------------------------------- */

static struct cell show_works(const struct source *source)
{
    return json_flag(source->row, "sharing") ? (struct cell){ "when work is due", STYLE_GREEN }
                                             : (struct cell){ "when it is ticked", STYLE_DIM };
}

static struct cell show_shards(const struct source *source)
{
    const char *joined = "", *template = json_flag(source->row, "sharing") ? "{name} {shards}" : "{name}";
    json_each(workflow, json_at(source->row, "workflows"))
        joined = pool_format(source->pool, "%s%s%s", joined, workflow.index > 0 ? ", " : "",
                             template_fill(source->pool, template, workflow.value, 0));
    return (struct cell){ joined, STYLE_PLAIN };
}

static const struct column runner_columns[] = {
    { .heading = "RUNNER", .template = "{name}" },
    { .heading = "ID", .template = "{id}", .style = STYLE_DIM },
    { .heading = "WORKS", .show = show_works },
    { .heading = "STARTED", .template = "{startedAt:ago}", .is_right = true },
    { .heading = "SEEN", .template = "{seenAt:ago}", .is_right = true },
    { .heading = "WORKFLOWS AND SHARDS", .show = show_shards, .is_flexible = true },
    { .heading = NULL },
};

/* Runners that work without ticks come first; then by name. */
static bool comes_before(const json_t *left, const json_t *right)
{
    if (json_flag(left, "sharing") != json_flag(right, "sharing"))
        return json_flag(left, "sharing");
    return strcmp(json_text(left, "name", ""), json_text(right, "name", "")) < 0;
}

static void sort_runners(json_t *runners)
{
    for (size_t i = 1; i < json_array_size(runners); i++) {
        json_t *runner = json_incref(json_array_get(runners, i));
        size_t place = i;
        while (place > 0 && comes_before(runner, json_array_get(runners, place - 1)))
            place--;
        (void)json_array_remove(runners, i);
        (void)json_array_insert_new(runners, place, runner);
    }
}

/* ---- Shards ---------------------------------------------------------------------------------------------------------- */

/* "0-3, 7": the shards that the runner owns; id NULL: those that nobody owns. */
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

static const struct column owner_columns[] = {
    { .heading = "RUNNER", .template = "{name}", .otherwise = "nobody", .otherwise_style = STYLE_RED },
    { .heading = "ID", .template = "{id}", .style = STYLE_DIM },
    { .heading = "OWNS", .template = "{count}", .is_right = true },
    { .heading = "SHARDS", .template = "{ranges}", .is_flexible = true },
    { .heading = NULL },
};

/* runner NULL: the shards that nobody owns. */
static void add_owner(struct session *session, json_t *owners, const json_t *shards, const json_t *runner)
{
    size_t count;
    const char *name = json_text(runner, "name", NULL), *id = json_text(runner, "id", NULL);
    const char *ranges = show_ranges(session, shards, id, &count);
    if (count > 0)
        (void)json_array_append_new(owners, json_pack("{s:s*, s:s*, s:I, s:s}", "name", name, "id", id, "count",
                                                      (json_int_t)count, "ranges", ranges));
}

static void show_owners(struct session *session, const json_t *shards, const json_t *runners)
{
    json_t *owners = pool_json(&session->pool, json_array());
    json_each(runner, runners)
        add_owner(session, owners, shards, runner.value);
    add_owner(session, owners, shards, NULL);
    table_show(session, &session->out, owner_columns, owners);
}

static enum exit_code list_shards(struct session *session, const char *workflow, const json_t *runners)
{
    struct answer answer;
    const char *path = pool_format(&session->pool, "/workflows/%s/shards", path_segment(&session->pool, workflow));
    TRY(client_get(session, path, &answer));
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        show_owners(session, json_at(answer.json, "shards"), runners);
    return EXIT_DONE;
}

/* ---- All of it ------------------------------------------------------------------------------------------------------- */

enum exit_code run_cluster(struct session *session)
{
    struct answer answer;
    const char *workflow;
    TRY(workflow_meant(session, &workflow));
    TRY(client_get(session, "/cluster", &answer));
    json_t *runners = json_at(answer.json, "runners");
    if (session_is_ids(session)) {
        json_each(runner, runners)
            pw_buffer_format(&session->out, "%s\n", safe(&session->pool, json_text(runner.value, "id", "")));
    } else if (workflow != NULL) {
        TRY(list_shards(session, workflow, runners));
    } else if (session_is_json(session)) {
        session_put_answer(session, &answer);
    } else if (json_array_size(runners) == 0) {
        pw_buffer_put(&session->out, "no runner lives\n");
    } else {
        sort_runners(runners);
        table_show(session, &session->out, runner_columns, runners);
    }
    return session_print(session);
}
