/* run_hooks.c - pawl hooks list, pawl hooks resend. */
#include <string.h>

#include "bulk.h"
#include "moment.h"
#include "reference.h"
#include "run.h"
#include "table.h"

enum { LIMIT = 25, LIMIT_ALL = 100 };

static const char *page_path(struct session *session, const char *cursor, int64_t limit)
{
    struct text path = { NULL, 0, 0 };
    text_put(&path, "/hooks/deliveries");
    query_put(&path, "status", session_option(session, OPTION_DELIVERY_STATUS));
    query_put(&path, "hook", session_option(session, OPTION_HOOK));
    query_put_number(&path, "pageSize", limit);
    query_put(&path, "cursor", cursor);
    const char *copy = pool_string(&session->pool, text_string(&path));
    text_free(&path);
    return copy;
}

/* One page, or all of them as one. */
static enum exit_code fetch(struct session *session, json_t **out_page)
{
    bool is_all = session_has(session, OPTION_ALL), has_more = true;
    int64_t limit = invocation_number(&session->invocation, OPTION_LIMIT, is_all ? LIMIT_ALL : LIMIT);
    const char *cursor = session_option(session, OPTION_CURSOR);
    json_t *whole = NULL;
    while (has_more) {
        struct answer answer;
        enum exit_code code = client_get(session, page_path(session, cursor, limit), &answer);
        if (code != EXIT_DONE) {
            json_decref(whole);
            return code;
        }
        has_more = is_all && json_flag(answer.json, "hasNextPage");
        cursor = pool_string(&session->pool, json_text(answer.json, "cursor", ""));
        json_t *earlier = whole;
        whole = json_incref(answer.json);
        if (earlier != NULL) { /* the last page's members, with the rows of all */
            json_t *rows = json_at(earlier, "deliveries"), *more = json_at(whole, "deliveries");
            if (json_is_array(rows) && json_is_array(more) &&
                (json_array_extend(rows, more) != 0 || json_object_set(whole, "deliveries", rows) != 0))
                out_of_memory();
            json_decref(earlier);
        }
        answer_free(&answer);
    }
    *out_page = whole;
    return EXIT_DONE;
}

static void show(struct session *session, const json_t *deliveries)
{
    static const struct column columns[] = { { .heading = "DELIVERY" },
                                             { .heading = "HOOK" },
                                             { .heading = "EVENT" },
                                             { .heading = "INSTANCE" },
                                             { .heading = "STATUS" },
                                             { .heading = "TRIES", .is_right = true },
                                             { .heading = "CREATED", .is_right = true },
                                             { .heading = "LAST ERROR", .is_flexible = true } };
    struct pool *pool = &session->pool;
    struct table table;
    size_t index;
    json_t *delivery;
    table_init(&table, columns, sizeof columns / sizeof columns[0]);
    json_array_foreach(deliveries, index, delivery) {
        const char *status = json_text(delivery, "status", "");
        table_row(&table);
        table_cell(&table, STYLE_PLAIN, json_text(delivery, "id", ""));
        table_cell(&table, STYLE_PLAIN, json_text(delivery, "hook", ""));
        table_cell(&table, STYLE_PLAIN, json_text(delivery, "event", ""));
        table_cell(
            &table, STYLE_PLAIN,
            pool_format(pool, "%s/%s", json_text(delivery, "workflowName", ""), json_text(delivery, "instanceId", "")));
        table_cell(&table, status_style(status), status);
        table_cell(&table, STYLE_DIM,
                   pool_format(pool, "%lld/%lld", (long long)json_number(delivery, "attempts", 0),
                               (long long)json_number(delivery, "maxAttempts", 0)));
        table_cell(&table, STYLE_PLAIN,
                   moment_relative(pool, json_time_ms(delivery, "createdAt"), session->screen.now_ms));
        table_cell(&table, STYLE_RED, json_text(delivery, "lastError", ""));
    }
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

enum exit_code run_hooks_list(struct session *session)
{
    json_t *page = NULL, *delivery;
    size_t index;
    enum exit_code code = fetch(session, &page);
    if (code != EXIT_DONE)
        return code;
    const json_t *deliveries = json_at(page, "deliveries");
    if (session_is_json(session))
        session_put_json(session, page);
    else if (session_is_ids(session))
        json_array_foreach(deliveries, index, delivery)
            text_format(&session->out, "%s\n", safe(&session->pool, json_text(delivery, "id", "")));
    else if (json_array_size(deliveries) == 0 && session->screen.is_terminal)
        text_put(&session->out, "nothing waits to be told, and nothing has failed\n");
    else
        show(session, deliveries);
    if (!session_is_json(session) && !session_is_ids(session) && json_flag(page, "hasNextPage") &&
        session->screen.is_terminal)
        screen_note(&session->screen, &session->out, "there are more; --all shows them");
    json_decref(page);
    return session_print(session);
}

static enum exit_code resend(struct session *session, const char *id)
{
    struct answer answer;
    const char *path = pool_format(&session->pool, "/hooks/deliveries/%s/resend", path_segment(&session->pool, id));
    enum exit_code code = client_ask(session, "POST", path, NULL, &answer);
    if (code == EXIT_DONE)
        answer_free(&answer);
    return code;
}

enum exit_code run_hooks_resend(struct session *session)
{
    struct words words;
    struct bulk bulk;
    enum exit_code code = words_read(session, &words);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < words.count; i++) {
        if (strcmp(safe(&session->pool, words.items[i]), words.items[i]) != 0) {
            (void)problem_use(&session->problem, "\"%s\" is not a delivery's id", words.items[i]);
            return words_wrong(session, &words, i);
        }
    }
    bulk_begin(&bulk, session, "due again", words.count);
    for (size_t i = 0; i < words.count; i++) {
        json_t *json = json_pack("{s:s}", "id", words.items[i]);
        if (json == NULL)
            out_of_memory();
        struct bulk_item item = { .name = words.items[i], .json = json, .code = resend(session, words.items[i]) };
        if (!bulk_note(&bulk, &item))
            break;
    }
    return bulk_end(&bulk);
}
