/* run_list.c - pawl workflows list, pawl instances list, pawl instances children. */
#include <string.h>

#include "listing.h"
#include "moment.h"
#include "run.h"
#include "table.h"
#include "view.h"
#include "waiting.h"
#include "list_table.h"

enum { LIMIT = 25, LIMIT_ALL = 100 };

/* ---- Workflows ------------------------------------------------------------------------------------------------------- */

static const char *join_tags(struct pool *pool, const json_t *tags)
{
    const char *joined = "";
    size_t index;
    json_t *tag;
    json_array_foreach(tags, index, tag)
        joined = pool_format(pool, "%s%s%s", joined, index > 0 ? ", " : "", json_string_value(tag));
    return joined;
}

static void put_workflows(struct session *session, const json_t *list)
{
    static const struct column columns[] = { { .heading = "WORKFLOW" },
                                             { .heading = "TAGS" },
                                             { .heading = "DESCRIPTION", .is_flexible = true } };
    struct table table;
    size_t index;
    json_t *workflow;
    table_init(&table, columns, 3);
    json_array_foreach(list, index, workflow) {
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, json_text(workflow, "name", ""));
        table_cell(&table, STYLE_DIM, join_tags(&session->pool, json_at(workflow, "tags")));
        table_cell(&table, STYLE_PLAIN, json_text(workflow, "description", ""));
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

enum exit_code run_workflows_list(struct session *session)
{
    struct answer answer;
    size_t index;
    json_t *workflow;
    enum exit_code code = client_get(session, "/workflows", &answer);
    if (code != EXIT_DONE)
        return code;
    const json_t *list = json_at(answer.json, "workflows");
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else if (session_is_ids(session))
        json_array_foreach(list, index, workflow)
            text_format(&session->out, "%s\n", safe(&session->pool, json_text(workflow, "name", "")));
    else if (json_array_size(list) == 0 && session->screen.is_terminal)
        text_put(&session->out, "no workflows; pawld serves those of the modules that it is given\n");
    else
        put_workflows(session, list);
    answer_free(&answer);
    return session_print(session);
}

/* ---- Instances ------------------------------------------------------------------------------------------------------- */

struct all_pages {
    struct table table; /* begun with the first page */
    int64_t count;
};

static void put_ids(struct session *session, const json_t *instances)
{
    size_t index;
    json_t *instance;
    json_array_foreach(instances, index, instance)
        text_format(&session->out, "%s/%s\n", json_text(instance, "workflowName", ""),
                    safe(&session->pool, json_text(instance, "id", "")));
}

/* Of a list that is written item by item, because it may be long. */
static void put_items(struct session *session, const json_t *instances, int64_t *count)
{
    size_t index;
    json_t *instance;
    json_array_foreach(instances, index, instance) {
        text_put(&session->out, (*count)++ > 0 ? ",\n" : "\n");
        json_write(&session->out, instance, 0);
    }
}

static enum exit_code take_page(struct session *session, const json_t *page, void *user)
{
    struct all_pages *all = user;
    const json_t *instances = json_at(page, "instances");
    if (session_is_json(session)) {
        put_items(session, instances, &all->count);
    } else if (session_is_ids(session)) {
        put_ids(session, instances);
    } else {
        if (all->table.columns == NULL)
            list_table_init(&all->table, instances);
        list_table_add(session, &all->table, instances);
        table_print(&all->table, &session->screen, &session->out);
        all->count += (int64_t)json_array_size(instances);
    }
    return session_print(session);
}

static void put_nothing(struct session *session, const struct listing_query *query)
{
    if (session->screen.is_terminal && query->parent != NULL)
        text_format(&session->out, "%s has no children\n", reference_name(&session->pool, query->parent));
    else if (session->screen.is_terminal)
        text_format(&session->out, "no instances%s%s%s%s%s%s\n", query->workflow != NULL ? " of " : "",
                    query->workflow != NULL ? query->workflow : "", query->status != NULL ? " that are " : "",
                    query->status != NULL ? query->status : "", query->version != NULL ? " begun by version " : "",
                    query->version != NULL ? query->version : "");
}

static enum exit_code list_all(struct session *session, const struct listing_query *query)
{
    struct all_pages all = { .count = 0 };
    if (session_is_json(session))
        text_put(&session->out, "{\"instances\":[");
    const char *left_out;
    enum exit_code code = listing_all(session, query, take_page, &all, &left_out);
    if (session_is_json(session) && code == EXIT_DONE)
        text_put(&session->out, "],\"hasNextPage\":false}\n");
    else if (code == EXIT_DONE && all.count == 0)
        put_nothing(session, query);
    table_free(&all.table);
    if (code == EXIT_DONE)
        code = session_print(session);
    listing_tell_left_out(session, left_out);
    return code;
}

static enum exit_code list_page(struct session *session, const struct listing_query *query)
{
    json_t *page = NULL;
    const char *left_out;
    enum exit_code code = listing_page(session, query, &page, &left_out);
    if (code != EXIT_DONE)
        return code;
    const json_t *instances = json_at(page, "instances");
    if (session_is_json(session)) {
        session_put_json(session, page);
    } else if (session_is_ids(session)) {
        put_ids(session, instances);
    } else if (json_array_size(instances) == 0) {
        put_nothing(session, query);
    } else {
        struct table table;
        list_table_init(&table, instances);
        list_table_add(session, &table, instances);
        table_print(&table, &session->screen, &session->out);
        table_free(&table);
        if (json_flag(page, "hasNextPage") && session->screen.is_terminal)
            screen_note(&session->screen, &session->out, "there are more; --all shows them");
    }
    json_decref(page);
    code = session_print(session);
    listing_tell_left_out(session, left_out);
    return code;
}

static struct listing_query read_query(const struct session *session)
{
    bool is_all = session_has(session, OPTION_ALL);
    return (struct listing_query){
        .status = session_option(session, OPTION_STATUS),
        .version = session_option(session, OPTION_WORKFLOW_VERSION),
        .order = session_option(session, OPTION_ORDER),
        .cursor = session_option(session, OPTION_CURSOR),
        .limit = invocation_number(&session->invocation, OPTION_LIMIT, is_all ? LIMIT_ALL : LIMIT),
    };
}

static enum exit_code list(struct session *session, const struct listing_query *query)
{
    return session_has(session, OPTION_ALL) ? list_all(session, query) : list_page(session, query);
}

enum exit_code run_instances_list(struct session *session)
{
    struct listing_query query = read_query(session);
    enum exit_code code = workflow_meant(session, &query.workflow);
    if (code != EXIT_DONE)
        return code;
    if (query.cursor != NULL && query.workflow == NULL)
        return problem_use(&session->problem, "a cursor is of one workflow's list; --workflow says of which");
    return list(session, &query);
}

enum exit_code run_instances_children(struct session *session)
{
    struct listing_query query = read_query(session);
    struct reference parent;
    enum exit_code code = reference_find(session, &parent);
    if (code != EXIT_DONE)
        return code;
    query.workflow = parent.workflow;
    query.parent = &parent;
    return list(session, &query);
}
