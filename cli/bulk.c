/* bulk.c - see bulk.h. */
#include "bulk.h"

#include <stdio.h>
#include <unistd.h>

void bulk_begin(struct bulk *bulk, struct session *session, const char *done, size_t count)
{
    bool is_text = session->settings.format == FORMAT_IS_TEXT;
    *bulk = (struct bulk){ .session = session, .done = done, .count = count };
    bulk->shows_progress = count > 1 && isatty(STDERR_FILENO) == 1;
    bulk->is_quiet = bulk->shows_progress && is_text && session->screen.is_terminal;
}

static void clear_progress(const struct bulk *bulk)
{
    if (bulk->shows_progress)
        (void)fputs("\r\033[K", stderr);
}

static void show_progress(const struct bulk *bulk)
{
    if (!bulk->shows_progress)
        return;
    (void)fprintf(stderr, "\r\033[K%zu of %zu %s", bulk->done_count, bulk->count, bulk->done);
    if (bulk->refused_count > 0)
        (void)fprintf(stderr, ", %zu refused", bulk->refused_count);
    (void)fflush(stderr);
}

static void put_json(struct session *session, const struct bulk_item *item)
{
    const struct problem *problem = &session->problem;
    json_t *json = item->json;
    (void)json_object_set_new(json, "ok", json_boolean(item->code == EXIT_DONE));
    if (item->code == EXIT_DONE && item->idle != NULL)
        (void)json_object_set_new(json, "changed", json_false());
    if (item->code != EXIT_DONE)
        (void)json_object_set_new(json, "error",
                                  json_pack("{s:s, s:s}", "code", problem->code, "message", problem->text));
    json_write(&session->out, json, 0);
    text_put(&session->out, "\n");
}

static void print_refusal(const struct bulk *bulk, const char *name)
{
    struct problem problem = bulk->session->problem;
    clear_progress(bulk);
    (void)problem_set(&problem, problem.exit_code, problem.code, "%s: %s", name, bulk->session->problem.text);
    problem_print(&problem, session_is_json(bulk->session));
}

static void put_line(const struct bulk *bulk, const struct bulk_item *item)
{
    struct session *session = bulk->session;
    const char *done = item->done != NULL ? item->done : bulk->done;
    if (session_is_ids(session))
        text_format(&session->out, "%s\n", item->name);
    else if (!bulk->is_quiet)
        text_format(&session->out, "%s %s%s\n", item->name, item->idle != NULL ? item->idle : done,
                    item->more != NULL ? item->more : "");
}

bool bulk_note(struct bulk *bulk, const struct bulk_item *item)
{
    struct session *session = bulk->session;
    bool is_done = item->code == EXIT_DONE;
    bulk->done_count += is_done;
    bulk->idle_count += is_done && item->idle != NULL;
    bulk->refused_count += !is_done;
    if (session_is_json(session))
        put_json(session, item);
    else if (is_done)
        put_line(bulk, item);
    else
        print_refusal(bulk, item->name);
    json_decref(item->json);
    if (session->out.size > 0) {
        clear_progress(bulk);
        bulk->output = session_print(session);
        if (bulk->output != EXIT_DONE)
            return false;
    }
    show_progress(bulk);
    return is_done || item->code == EXIT_REFUSED;
}

static void put_closing_line(const struct bulk *bulk, struct text *out)
{
    size_t tried = bulk->done_count + bulk->refused_count;
    text_format(out, "%zu %s", bulk->done_count - bulk->idle_count, bulk->done);
    if (bulk->idle_count > 0)
        text_format(out, ", nothing to do for %zu", bulk->idle_count);
    if (bulk->refused_count > 0)
        text_format(out, ", %zu refused", bulk->refused_count);
    if (tried < bulk->count)
        text_format(out, ", %zu not tried", bulk->count - tried);
    text_put(out, "\n");
}

enum exit_code bulk_end(struct bulk *bulk)
{
    struct session *session = bulk->session;
    clear_progress(bulk);
    enum exit_code code = bulk->refused_count == 0 ? EXIT_DONE : session->problem.exit_code;
    if (bulk->output != EXIT_DONE)
        return bulk->output;
    session->problem.text[0] = '\0'; /* each was printed */
    if (bulk->count == 0 && session->screen.is_terminal && !session_is_json(session) && !session_is_ids(session))
        text_put(&session->out, "nothing was named, so nothing was done\n");
    if (bulk->is_quiet) {
        put_closing_line(bulk, &session->out);
    } else if (bulk->count > 1 && bulk->refused_count > 0 && !session_is_json(session)) {
        struct text line = { NULL, 0, 0 };
        put_closing_line(bulk, &line);
        (void)fputs(text_string(&line), stderr);
        text_free(&line);
    }
    bulk->output = session_print(session);
    return bulk->output == EXIT_DONE ? code : bulk->output;
}
