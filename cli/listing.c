/* listing.c - see listing.h. */
#include "listing.h"

#include <string.h>

enum { LIMIT = 25, LIMIT_ALL = 100 };

struct listing listing_read(const struct session *session)
{
    bool is_all = session_has(session, OPTION_ALL);
    return (struct listing){
        .verb = verb_of(session),
        .order = session_option(session, OPTION_ORDER),
        .cursor = session_option(session, OPTION_CURSOR),
        .limit = command_takes(session->invocation.command, OPTION_LIMIT)
                     ? invocation_number(&session->invocation, OPTION_LIMIT, is_all ? LIMIT_ALL : LIMIT)
                     : 0,
    };
}

static enum exit_code fetch_page(struct session *session, const struct listing *listing, json_t **out_page)
{
    struct pw_buffer path = { 0 };
    struct answer answer;
    const char *target = listing->is_by_workflow ? path_segment(&session->pool, listing->workflow) : listing->target;
    pw_buffer_put(&path, verb_path(&session->pool, listing->verb->path, target));
    verb_put_query(session, &path, listing->verb->fields);
    if (listing->limit > 0)
        query_put_number(&path, "pageSize", listing->limit);
    query_put(&path, "order", listing->order);
    query_put(&path, "cursor", listing->cursor);
    TRY(client_get(session, text_keep(&session->pool, &path), &answer));
    json_each(row, json_at(answer.json, listing->verb->rows))
        if (listing->is_by_workflow)
            (void)json_object_set_new(row.value, "workflowName", json_string(listing->workflow));
    *out_page = answer.json;
    return EXIT_DONE;
}

/* Inserts the instance by its time, and drops the last one if there are more than `limit`.  True: one was dropped. */
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
    if (place < limit)
        (void)json_array_insert(list, place, instance);
    bool is_dropped = place >= limit || json_array_size(list) > limit;
    if (json_array_size(list) > limit)
        (void)json_array_remove(list, limit);
    return is_dropped;
}

/* Walks the pages of one workflow, or of a list that has no workflow: all pages, or only the first. */
static enum exit_code walk(struct session *session, struct listing listing, bool is_all, listing_page_fn *take,
                           void *user)
{
    struct pw_buffer cursor = { 0 };
    bool has_more = true;
    enum exit_code code = EXIT_DONE;
    while (code == EXIT_DONE && has_more) {
        struct pool mark = pool_mark(&session->pool);
        json_t *page = NULL;
        code = fetch_page(session, &listing, &page);
        if (code == EXIT_DONE)
            code = take(session, page, user);
        has_more = is_all && json_flag(page, "hasNextPage");
        pw_buffer_reset(&cursor);
        pw_buffer_put(&cursor, json_text(page, "cursor", ""));
        listing.cursor = text_string(&cursor);
        pool_release(&session->pool, mark); /* a list may be long */
    }
    pw_buffer_clear(&cursor);
    return code;
}

/* Skips workflows that may not be read.  If none may, it fails as the last one did. */
static enum exit_code walk_workflows(struct session *session, const struct listing *listing, bool is_all,
                                     listing_page_fn *take, void *user, const char **out_left_out)
{
    const char **names, *left_out = NULL;
    size_t count, left_count = 0;
    enum exit_code code = workflow_names(session, &names, &count);
    for (size_t i = 0; code == EXIT_DONE && i < count; i++) {
        struct listing own = *listing;
        own.workflow = names[i];
        code = walk(session, own, is_all, take, user);
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

static bool is_of_all_workflows(const struct listing *listing)
{
    return listing->is_by_workflow && listing->workflow == NULL;
}

struct merging {
    const struct listing *listing;
    json_t *list;
    bool has_more;
};

static enum exit_code merge_page(struct session *session, const json_t *page, void *user)
{
    struct merging *merging = user;
    const char *order = merging->listing->order;
    bool oldest_first = order != NULL && strcmp(order, "asc") == 0;
    (void)session;
    json_each(instance, json_at(page, "instances"))
        merging->has_more =
            insert(merging->list, instance.value, oldest_first, (size_t)merging->listing->limit) || merging->has_more;
    merging->has_more = merging->has_more || json_flag(page, "hasNextPage");
    return EXIT_DONE;
}

enum exit_code listing_page(struct session *session, const struct listing *listing, json_t **out_page,
                            const char **out_left_out)
{
    *out_left_out = NULL;
    if (!is_of_all_workflows(listing))
        return fetch_page(session, listing, out_page);
    json_t *page = pool_json(&session->pool, json_pack("{s:[]}", "instances"));
    struct merging merging = { listing, json_at(page, "instances"), false };
    TRY(walk_workflows(session, listing, false, merge_page, &merging, out_left_out));
    (void)json_object_set_new(page, "hasNextPage", json_boolean(merging.has_more));
    *out_page = page;
    return EXIT_DONE;
}

enum exit_code listing_all(struct session *session, const struct listing *listing, listing_page_fn *take, void *user,
                           const char **out_left_out)
{
    *out_left_out = NULL;
    return is_of_all_workflows(listing) ? walk_workflows(session, listing, true, take, user, out_left_out)
                                        : walk(session, *listing, true, take, user);
}

void listing_tell_left_out(const struct session *session, const char *left_out)
{
    struct problem problem;
    if (left_out == NULL)
        return;
    (void)problem_set(&problem, EXIT_DONE, "FORBIDDEN", "left out, because the token may not read them: %s", left_out);
    problem_print(&problem, session_is_json(session));
}
