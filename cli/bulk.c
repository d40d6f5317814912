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

static void put_json(struct session *session, json_t *json, enum exit_code code)
{
    const struct problem *problem = &session->problem;
    (void)json_object_set_new(json, "ok", json_boolean(code == EXIT_DONE));
    if (code != EXIT_DONE)
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

bool bulk_note(struct bulk *bulk, const char *name, const char *more, json_t *json, enum exit_code code)
{
    struct session *session = bulk->session;
    bulk->done_count += code == EXIT_DONE;
    bulk->refused_count += code != EXIT_DONE;
    if (session_is_json(session))
        put_json(session, json, code);
    else if (code == EXIT_DONE && session_is_ids(session))
        text_format(&session->out, "%s\n", name);
    else if (code == EXIT_DONE && !bulk->is_quiet)
        text_format(&session->out, "%s %s%s\n", name, bulk->done, more);
    json_decref(json);
    if (code != EXIT_DONE && !session_is_json(session))
        print_refusal(bulk, name);
    if (session->out.size > 0) {
        clear_progress(bulk);
        bulk->output = session_print(session);
        if (bulk->output != EXIT_DONE)
            return false;
    }
    show_progress(bulk);
    return code == EXIT_DONE || code == EXIT_REFUSED;
}

enum exit_code bulk_end(struct bulk *bulk)
{
    struct session *session = bulk->session;
    clear_progress(bulk);
    bool is_cut_off = bulk->done_count + bulk->refused_count < bulk->count;
    enum exit_code code = bulk->refused_count == 0 ? EXIT_DONE : session->problem.exit_code;
    if (bulk->output != EXIT_DONE)
        return bulk->output;
    session->problem.text[0] = '\0'; /* each was printed */
    if (bulk->count == 0 && session->screen.is_terminal && !session_is_json(session) && !session_is_ids(session))
        (void)fputs("nothing was named, so nothing was done\n", stdout);
    if (!bulk->is_quiet && (bulk->count <= 1 || bulk->refused_count == 0 || session_is_json(session)))
        return code;
    FILE *out = bulk->is_quiet ? stdout : stderr;
    (void)fprintf(out, "%zu %s", bulk->done_count, bulk->done);
    if (bulk->refused_count > 0)
        (void)fprintf(out, ", %zu refused", bulk->refused_count);
    if (is_cut_off)
        (void)fprintf(out, ", %zu not tried", bulk->count - bulk->done_count - bulk->refused_count);
    (void)fputs("\n", out);
    return code;
}
