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

static enum exit_code merge_pages(struct session *session, const struct listing_query *query, json_t *list,
                                  bool *out_has_more)
{
    const char **names;
    size_t count, index;
    bool oldest_first = query->order != NULL && strcmp(query->order, "asc") == 0;
    enum exit_code code = workflow_names(session, &names, &count);
    for (size_t i = 0; code == EXIT_DONE && i < count; i++) {
        struct listing_query own = *query;
        json_t *page = NULL, *instance;
        own.workflow = names[i];
        code = fetch_page(session, &own, &page);
        if (code != EXIT_DONE)
            break;
        json_array_foreach(json_at(page, "instances"), index, instance)
            *out_has_more = insert(list, instance, oldest_first, (size_t)query->limit) || *out_has_more;
        *out_has_more = *out_has_more || json_flag(page, "hasNextPage");
        json_decref(page);
    }
    return code;
}

enum exit_code listing_page(struct session *session, const struct listing_query *query, json_t **out_page)
{
    bool has_more = false;
    if (query->workflow != NULL)
        return fetch_page(session, query, out_page);
    json_t *page = json_pack("{s:[]}", "instances");
    if (page == NULL)
        out_of_memory();
    enum exit_code code = merge_pages(session, query, json_at(page, "instances"), &has_more);
    (void)json_object_set_new(page, "hasNextPage", json_boolean(has_more));
    if (code == EXIT_DONE)
        *out_page = page;
    else
        json_decref(page);
    return code;
}

static enum exit_code walk(struct session *session, struct listing_query query, listing_page_fn *take, void *user)
{
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
        code = take(session, page, user);
        json_decref(page);
    }
    pool_clear(&cursors[0]);
    pool_clear(&cursors[1]);
    return code;
}

enum exit_code listing_all(struct session *session, const struct listing_query *query, listing_page_fn *take,
                           void *user)
{
    const char **names = NULL;
    size_t count = 0;
    if (query->workflow != NULL)
        return walk(session, *query, take, user);
    enum exit_code code = workflow_names(session, &names, &count);
    for (size_t i = 0; code == EXIT_DONE && i < count; i++) {
        struct listing_query own = *query;
        own.workflow = names[i];
        code = walk(session, own, take, user);
    }
    return code;
}
