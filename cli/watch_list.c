/* watch_list.c - see watch_list.h. */
#include "watch_list.h"

#include <string.h>

#include "moment.h"
#include "view.h"

/* True if the instance was printed before in this state; else notes the state. */
static bool is_known(json_t *told, const json_t *instance, struct pool *pool)
{
    const char *key =
        pool_format(pool, "%s/%s", json_text(instance, "workflowName", ""), json_text(instance, "id", ""));
    const char *state =
        pool_format(pool, "%s %s", phase_of(json_at(instance, "details")), json_text(instance, "updatedAt", ""));
    if (json_is(json_object_get(told, key), "", state))
        return true;
    (void)json_object_set_new(told, key, json_string(state));
    return false;
}

/* The instances that have changed since the last round. */
static const json_t *news_of(struct session *session, json_t *told, const json_t *instances)
{
    json_t *news = pool_json(&session->pool, json_array());
    json_each(instance, instances)
        if (!is_known(told, instance.value, &session->pool))
            (void)json_array_append(news, instance.value);
    return news;
}

/* The first instances, as many as fit below the heading, and how many more there are. */
static void draw_list(struct session *session, struct table *table, struct pw_buffer *drawing, const json_t *page)
{
    const json_t *instances = json_at(page, "instances");
    size_t count = json_array_size(instances), room = terminal_rows() - 1;
    bool has_more = json_flag(page, "hasNextPage");
    size_t shown = count + 1 + has_more <= room ? count : room > 3 ? room - 2 : 1;
    json_t *first = pool_json(&session->pool, json_array());
    for (size_t i = 0; i < shown && i < count; i++)
        (void)json_array_append(first, json_array_get(instances, i));
    table_add(table, session, first);
    table_print(table, &session->screen, drawing);
    if (count == 0)
        pw_buffer_put(drawing, "no instances\n");
    else if (shown < count)
        screen_note(&session->screen, drawing,
                    pool_format(&session->pool, "%zu more%s", count - shown,
                                has_more ? ", and further pages (pawl instances list --all)" : ""));
    else if (has_more)
        screen_note(&session->screen, drawing, "there are more (--limit, pawl instances list --all)");
}

struct watching {
    struct session *session;
    struct table table; /* initialised with the first page */
    json_t *told;       /* not on a terminal: the state that was printed of each */
    bool is_drawn;
};

static void put_list(struct watching *watching, const json_t *page)
{
    struct session *session = watching->session;
    struct table *table = &watching->table;
    if (table->column_count == 0)
        table_init(table, verb_of(session)->columns, json_at(page, "instances"));
    if (watching->is_drawn) {
        struct pw_buffer drawing = { 0 };
        table->hides_heading = false;
        draw_list(session, table, &drawing, page);
        picture_clear(session);
        picture_draw(session, &drawing);
        pw_buffer_clear(&drawing);
        return;
    }
    const json_t *news = news_of(session, watching->told, json_at(page, "instances"));
    if (!session_is_json(session))
        table_add(table, session, news);
    else
        json_each(instance, news)
            session_put_line(session, instance.value);
    table_print(table, &session->screen, &session->out);
}

static enum exit_code look(struct watching *watching, const struct listing *listing, bool *was_reached)
{
    struct session *session = watching->session;
    json_t *page = NULL;
    const char *left_out;
    enum exit_code code = listing_page(session, listing, &page, &left_out);
    screen_refresh(&session->screen);
    if (code == EXIT_DONE) {
        if (!*was_reached)
            listing_tell_left_out(session, left_out);
        put_list(watching, page);
        code = session_print(session);
        *was_reached = true;
    } else if (*was_reached && (code == EXIT_UNREACHABLE || session->problem.http_status >= 500)) {
        client_tell(session, "the connection was lost");
        code = EXIT_DONE;
    }
    return code;
}

enum exit_code watch_list(struct session *session, const struct listing *listing, int64_t interval_ms)
{
    struct watching watching = { .session = session, .told = json_object() };
    bool was_reached = false;
    enum exit_code code = EXIT_DONE;
    watching.is_drawn = session->screen.is_terminal && !session_is_json(session);
    session->client.patient_until_ms = INT64_MAX;
    while (code == EXIT_DONE) {
        struct pool mark = pool_mark(&session->pool);
        code = look(&watching, listing, &was_reached);
        pool_release(&session->pool, mark);
        if (code == EXIT_DONE)
            moment_rest_ms(interval_ms);
    }
    table_free(&watching.table);
    json_decref(watching.told);
    return code;
}
