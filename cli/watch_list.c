/* watch_list.c - see watch_list.h. */
#include "watch_list.h"

#include <stdio.h>
#include <string.h>

#include "list_table.h"
#include "moment.h"
#include "picture.h"
#include "view.h"

/* Whether it was told before as it is now; notes that it is told. */
static bool is_known(json_t *told, const json_t *instance, struct pool *pool)
{
    const char *key =
        pool_format(pool, "%s/%s", json_text(instance, "workflowName", ""), json_text(instance, "id", ""));
    const char *state =
        pool_format(pool, "%s %s", phase_of(json_at(instance, "details")), json_text(instance, "updatedAt", ""));
    if (strcmp(json_text(json_object_get(told, key), "", ""), state) == 0)
        return true;
    if (json_object_set_new(told, key, json_string(state)) != 0)
        out_of_memory();
    return false;
}

/* Only what has changed since the last look. */
static json_t *news_of(json_t *told, const json_t *instances)
{
    json_t *news = json_array(), *instance;
    struct pool pool = { NULL };
    size_t index;
    if (news == NULL)
        out_of_memory();
    json_array_foreach(instances, index, instance)
        if (!is_known(told, instance, &pool) && json_array_append(news, instance) != 0)
            out_of_memory();
    pool_clear(&pool);
    return news;
}

static void put_list(struct session *session, struct table *table, struct picture *picture, json_t *told,
                     const json_t *page)
{
    const json_t *instances = json_at(page, "instances");
    if (session->screen.is_terminal && !session_is_json(session)) {
        struct text drawing = { NULL, 0, 0 };
        table->hides_heading = false;
        list_table_add(session, table, instances);
        table_print(table, &session->screen, &drawing);
        if (json_array_size(instances) == 0)
            text_put(&drawing, "no instances\n");
        picture_clear(picture, &session->out);
        picture_draw(picture, &session->screen, &session->out, &drawing);
        text_free(&drawing);
        return;
    }
    json_t *news = news_of(told, instances), *instance;
    size_t index;
    if (!session_is_json(session))
        list_table_add(session, table, news);
    else
        json_array_foreach(news, index, instance) {
            json_write(&session->out, instance, 0);
            text_put(&session->out, "\n");
        }
    table_print(table, &session->screen, &session->out);
    json_decref(news);
}

enum exit_code watch_list(struct session *session, const struct listing_query *query, int64_t interval_ms)
{
    struct table table;
    struct picture picture = { 0 };
    json_t *told = json_object();
    struct pool kept = session->pool;
    bool was_reached = false, is_told = false;
    enum exit_code code = EXIT_DONE;
    session->pool = (struct pool){ NULL };
    list_table_init(&table);
    while (code == EXIT_DONE) {
        json_t *page = NULL;
        code = listing_page(session, query, &page);
        screen_refresh(&session->screen);
        if (code == EXIT_DONE) {
            put_list(session, &table, &picture, told, page);
            code = session_print(session);
            is_told = false;
            was_reached = true;
        } else if (was_reached && (code == EXIT_UNREACHABLE || session->problem.http_status >= 500)) {
            if (!is_told)
                (void)fprintf(stderr, "pawl: the connection was lost; trying again\n");
            picture.rows += session->screen.is_terminal && !is_told; /* where both are the same terminal */
            is_told = true;
            code = EXIT_DONE;
        }
        json_decref(page);
        pool_clear(&session->pool);
        if (code == EXIT_DONE)
            moment_rest_ms(interval_ms);
    }
    table_free(&table);
    json_decref(told);
    session->pool = kept;
    return code;
}
