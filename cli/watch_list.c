/* watch_list.c - see watch_list.h. */
#include "watch_list.h"

#include <string.h>

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
    (void)json_object_set_new(told, key, json_string(state));
    return false;
}

/* Only what has changed since the last look. */
static json_t *news_of(json_t *told, const json_t *instances)
{
    json_t *news = json_array(), *instance;
    struct pool pool = { NULL };
    size_t index;
    json_array_foreach(instances, index, instance)
        if (!is_known(told, instance, &pool))
            (void)json_array_append(news, instance);
    pool_clear(&pool);
    return news;
}

/* The first ones that there is room for, below the heading and above the cursor, and how many more there are. */
static void draw_list(struct session *session, struct table *table, struct pw_buffer *drawing, const json_t *page)
{
    const json_t *instances = json_at(page, "instances");
    size_t count = json_array_size(instances), room = terminal_rows() - 1;
    bool has_more = json_flag(page, "hasNextPage");
    size_t shown = count + 1 + has_more <= room ? count : room > 3 ? room - 2 : 1;
    json_t *first = json_array();
    for (size_t i = 0; i < shown && i < count; i++)
        (void)json_array_append(first, json_array_get(instances, i));
    table_add(table, session, first);
    table_print(table, &session->screen, drawing);
    json_decref(first);
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
    struct table table; /* begun with the first look */
    struct picture picture;
    json_t *told; /* elsewhere than on a terminal: what was told of each */
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
        picture_clear(&watching->picture, &session->out);
        picture_draw(&watching->picture, &session->screen, &session->out, &drawing);
        pw_buffer_clear(&drawing);
        return;
    }
    json_t *news = news_of(watching->told, json_at(page, "instances")), *instance;
    size_t index;
    if (!session_is_json(session))
        table_add(table, session, news);
    else
        json_array_foreach(news, index, instance) {
            json_write(&session->out, instance, 0);
            pw_buffer_put(&session->out, "\n");
        }
    table_print(table, &session->screen, &session->out);
    json_decref(news);
}

/* What is said on standard error stays above the picture. */
static void make_room(void *user)
{
    struct watching *watching = user;
    if (!watching->is_drawn)
        return;
    picture_clear(&watching->picture, &watching->session->out);
    (void)session_print(watching->session);
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
    json_decref(page);
    return code;
}

enum exit_code watch_list(struct session *session, const struct listing *listing, int64_t interval_ms)
{
    struct watching watching = { .session = session, .told = json_object() };
    struct pool kept = session->pool;
    bool was_reached = false;
    enum exit_code code = EXIT_DONE;
    watching.is_drawn = session->screen.is_terminal && !session_is_json(session);
    session->client.trouble = make_room;
    session->client.trouble_user = &watching;
    session->client.patient_until_ms = INT64_MAX;
    session->pool = (struct pool){ NULL };
    while (code == EXIT_DONE) {
        code = look(&watching, listing, &was_reached);
        pool_clear(&session->pool);
        if (code == EXIT_DONE)
            moment_rest_ms(interval_ms);
    }
    session->client.trouble = NULL;
    table_free(&watching.table);
    json_decref(watching.told);
    session->pool = kept;
    return code;
}
