/* listing.c - see listing.h. */
#include "listing.h"

#include <string.h>

static const char *page_path(struct session *session, const struct listing_query *query)
{
    struct text path = { NULL, 0, 0 };
    if (query->parent != NULL)
        text_format(&path, "%s/children", reference_path(&session->pool, query->parent));
    else
        text_format(&path, "/workflows/%s/instances", path_segment(&session->pool, query->workflow));
    query_put(&path, "status", query->status);
    query_put(&path, "version", query->version);
    query_put_number(&path, "pageSize", query->limit);
    query_put(&path, "order", query->order);
    query_put(&path, "cursor", query->cursor);
    const char *copy = pool_string(&session->pool, text_string(&path));
    text_free(&path);
    return copy;
}

static enum exit_code fetch_page(struct session *session, const struct listing_query *query, json_t **out_page)
{
    struct answer answer;
    size_t index;
    json_t *instance;
    enum exit_code code = client_get(session, page_path(session, query), &answer);
    if (code != EXIT_DONE)
        return explain_workflow(session, code, query->workflow);
    json_array_foreach(json_at(answer.json, "instances"), index, instance)
        if (query->parent == NULL && json_is_object(instance) && /* a child says it itself */
            json_object_set_new(instance, "workflowName", json_string(query->workflow)) != 0)
            out_of_memory();
    *out_page = json_incref(answer.json);
    answer_free(&answer);
    return EXIT_DONE;
}

/* Puts the instance where it belongs by its time, and drops what is then too much. */
static bool insert(json_t *list, json_t *instance, bool oldest_first, size_t limit)
{
    int64_t created_ms = json_time_ms(instance, "createdAt");
    size_t place = 0;
    while (place < json_array_size(list)) {
        int64_t other_ms = json_time_ms(json_array_get(list, place), "createdAt");
        if (oldest_first ? created_ms < other_ms : created_ms > other_ms)
            break;
        place++;
    }
    if (place < limit && json_array_insert(list, place, instance) != 0)
        out_of_memory();
    bool is_dropped = place >= limit || json_array_size(list) > limit;
    if (json_array_size(list) > limit)
        (void)json_array_remove(list, limit);
    return is_dropped;
}

/* Goes on with the others where one may not be read; where none may, it ends as the last one did. */
static enum exit_code each_workflow(struct session *session, const struct listing_query *query,
                                    enum exit_code (*list)(struct session *session, const struct listing_query *query,
                                                           void *user),
                                    void *user, const char **out_left_out)
{
    const char **names, *left_out = NULL;
    size_t count, left_count = 0;
    enum exit_code code = workflow_names(session, &names, &count);
    for (size_t i = 0; code == EXIT_DONE && i < count; i++) {
        struct listing_query own = *query;
        own.workflow = names[i];
        code = list(session, &own, user);
        if (!workflow_is_withheld(session, code))
            continue;
        left_out =
            pool_format(&session->pool, "%s%s%s", left_count > 0 ? left_out : "", left_count > 0 ? ", " : "", names[i]);
        code = ++left_count < count ? EXIT_DONE : code;
    }
    if (code == EXIT_DONE)
        *out_left_out = left_out;
    return code;
}

void listing_tell_left_out(const struct session *session, const char *left_out)
{
    struct problem problem;
    if (left_out == NULL)
        return;
    (void)problem_set(&problem, EXIT_DONE, "FORBIDDEN", "left out, because the token may not read them: %s", left_out);
    problem_print(&problem, session_is_json(session));
}

struct merging {
    json_t *list;
    bool has_more;
};

static enum exit_code merge_page(struct session *session, const struct listing_query *query, void *user)
{
    struct merging *merging = user;
    size_t index;
    json_t *page = NULL, *instance;
    bool oldest_first = query->order != NULL && strcmp(query->order, "asc") == 0;
    enum exit_code code = fetch_page(session, query, &page);
    if (code != EXIT_DONE)
        return code;
    json_array_foreach(json_at(page, "instances"), index, instance)
        merging->has_more = insert(merging->list, instance, oldest_first, (size_t)query->limit) || merging->has_more;
    merging->has_more = merging->has_more || json_flag(page, "hasNextPage");
    json_decref(page);
    return EXIT_DONE;
}

enum exit_code listing_page(struct session *session, const struct listing_query *query, json_t **out_page,
                            const char **out_left_out)
{
    *out_left_out = NULL;
    if (query->workflow != NULL)
        return fetch_page(session, query, out_page);
    json_t *page = json_pack("{s:[]}", "instances");
    if (page == NULL)
        out_of_memory();
    struct merging merging = { .list = json_at(page, "instances") };
    enum exit_code code = each_workflow(session, query, merge_page, &merging, out_left_out);
    (void)json_object_set_new(page, "hasNextPage", json_boolean(merging.has_more));
    if (code == EXIT_DONE)
        *out_page = page;
    else
        json_decref(page);
    return code;
}

struct walking {
    listing_page_fn *take;
    void *user;
};

static enum exit_code walk(struct session *session, const struct listing_query *asked, void *user)
{
    const struct walking *walking = user;
    struct listing_query query = *asked;
    enum exit_code code = EXIT_DONE;
    bool has_more = true;
    struct pool cursors[2] = { { NULL }, { NULL } }; /* of the page before, and of this one */
    for (size_t i = 0; has_more && code == EXIT_DONE; i++) {
        json_t *page = NULL;
        code = fetch_page(session, &query, &page);
        if (code != EXIT_DONE)
            break;
        has_more = json_flag(page, "hasNextPage");
        pool_clear(&cursors[i % 2]);
        query.cursor = pool_string(&cursors[i % 2], json_text(page, "cursor", ""));
        code = walking->take(session, page, walking->user);
        json_decref(page);
    }
    pool_clear(&cursors[0]);
    pool_clear(&cursors[1]);
    return code;
}

enum exit_code listing_all(struct session *session, const struct listing_query *query, listing_page_fn *take,
                           void *user, const char **out_left_out)
{
    struct walking walking = { take, user };
    *out_left_out = NULL;
    return query->workflow != NULL ? walk(session, query, &walking)
                                   : each_workflow(session, query, walk, &walking, out_left_out);
}
