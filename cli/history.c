/* history.c - see history.h. */
#include "history.h"

#include <string.h>

#include "moment.h"

enum { KIND_COUNT = 3, PAGE_SIZE = 100 };

static const char *const kinds[KIND_COUNT] = { "steps", "events", "logs" };

/* Which kinds have more pages, and from which cursor. */
struct walk {
    const char *cursors[KIND_COUNT];
    bool is_open[KIND_COUNT];
};

struct history_query history_query_read(const struct session *session)
{
    return (struct history_query){
        .run = invocation_number(&session->invocation, OPTION_RUN, 0),
        .order = session_option(session, OPTION_ORDER),
        .log_level = session_option(session, OPTION_LOG_LEVEL),
        .log_category = session_option(session, OPTION_LOG_CATEGORY),
        .no_replay = session_has(session, OPTION_NO_REPLAY),
    };
}

static const char *page_path(struct session *session, const struct reference *reference,
                             const struct history_query *query, const struct walk *walk)
{
    struct pw_buffer path = { 0 };
    pw_buffer_format(&path, "%s/history", reference_path(&session->pool, reference));
    query_put_number(&path, "pageSize", query->limit > 0 ? query->limit : PAGE_SIZE);
    if (query->run > 0)
        query_put_number(&path, "runNumber", query->run);
    query_put(&path, "order", query->order);
    if (query->with_logs) {
        query_put(&path, "includeLogs", "true");
        query_put(&path, "logLevel", query->log_level);
        query_put(&path, "logCategory", query->log_category);
    }
    query_put(&path, "stepsCursor", walk->cursors[0]);
    query_put(&path, "eventsCursor", walk->cursors[1]);
    query_put(&path, "logsCursor", walk->cursors[2]);
    return text_keep(&session->pool, &path);
}

/* Removes the log lines that a replay wrote again. */
static void drop_replays(json_t *page)
{
    json_t *logs = json_at(page, "logs");
    for (size_t i = json_array_size(logs); i > 0; i--)
        if (json_flag(json_array_get(logs, i - 1), "isReplay"))
            (void)json_array_remove(logs, i - 1);
}

/* Adds the rows of a page.  A kind that has no next page is closed: later pages repeat its last rows, which are skipped. */
static bool add_page(struct session *session, json_t *whole, const json_t *page, struct walk *walk)
{
    char name[32];
    bool has_more = false;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        json_t *rows = json_at(page, kinds[i]);
        if (!walk->is_open[i] || !json_is_array(rows))
            continue;
        (void)json_array_extend(json_at(whole, kinds[i]), rows);
        (void)snprintf(name, sizeof name, "%sHasNextPage", kinds[i]);
        walk->is_open[i] = json_flag(page, name);
        (void)json_object_set_new(whole, name, json_boolean(walk->is_open[i]));
        (void)snprintf(name, sizeof name, "%sCursor", kinds[i]);
        if (walk->is_open[i])
            walk->cursors[i] = pool_string(&session->pool, json_text(page, name, ""));
        has_more = has_more || walk->is_open[i];
    }
    return has_more;
}

enum exit_code history_fetch(struct session *session, const struct reference *reference,
                             const struct history_query *query, json_t **out_history)
{
    struct walk walk = { .is_open = { true, true, query->with_logs } };
    struct history_query asked = *query;
    json_t *whole = pool_json(&session->pool, json_pack("{s:i, s:[], s:[]}", "runNumber", 0, kinds[0], kinds[1]));
    if (query->with_logs)
        (void)json_object_set_new(whole, kinds[2], json_array());
    bool has_more = true;
    while (has_more) {
        struct answer answer;
        TRY(client_get(session, page_path(session, reference, &asked, &walk), &answer));
        /* Later pages ask for this run, so that a restart in between cannot mix two runs. */
        asked.run = json_number(answer.json, "runNumber", asked.run);
        (void)json_object_set_new(whole, "runNumber", json_integer(asked.run));
        if (query->no_replay)
            drop_replays(answer.json);
        has_more = add_page(session, whole, answer.json, &walk) && query->limit == 0;
    }
    *out_history = whole;
    return EXIT_DONE;
}

void log_print(struct session *session, struct pw_buffer *out, const json_t *log)
{
    struct pool *pool = &session->pool;
    const struct screen *screen = &session->screen;
    const char *level = json_text(log, "level", "?"), *step = json_text(log, "stepKey", NULL);
    const json_t *data = json_at(log, "data");
    int64_t attempt = json_number(log, "attempt", 0);
    screen_put(screen, out, STYLE_DIM, moment_show_exact(pool, json_time_ms(log, "createdAt"), screen->now_ms));
    pw_buffer_put(out, "  ");
    screen_put(screen, out, level_style(level), pool_format(pool, "%-5s", safe(pool, level)));
    pw_buffer_format(out, "  %-8s  ", safe(pool, json_text(log, "category", "")));
    text_put_safe(out, json_text(log, "message", ""));
    if (data != NULL && !json_is_null(data)) {
        pw_buffer_put(out, " ");
        text_put_safe(out, json_show(pool, data));
    }
    if (step != NULL)
        screen_put(screen, out, STYLE_DIM,
                   attempt > 1 ? pool_format(pool, "  [%s, attempt %lld]", safe(pool, step), (long long)attempt)
                               : pool_format(pool, "  [%s]", safe(pool, step)));
    if (json_flag(log, "isReplay"))
        screen_put(screen, out, STYLE_DIM, "  (replay)");
    pw_buffer_put(out, "\n");
}
