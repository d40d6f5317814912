/* run_control.c - commands that send the same change for many things, one after the other: pawl instances pause, resume,
 * restart, retry, interrupt, terminate and send-event, pawl hooks resend.
 *
 * A refusal does not stop the others; an unreachable server does.  On a terminal the progress is one line; elsewhere each
 * change that succeeded is a line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "verb.h"
#include "view.h"

struct bulk {
    struct session *session;
    const struct verb *verb;
    const char *body;
    const char *done; /* "restarted": printed for each item that has no word of its own, and in the closing line */
    bool is_dry, is_of_instances;
    size_t count; /* of all items */
    size_t done_count, refused_count;
    size_t idle_count;     /* of those done: how many needed no change */
    bool shows_progress;   /* on standard error */
    bool is_quiet;         /* no line for each item: the progress and the closing line are enough */
    enum exit_code output; /* EXIT_DONE until printing fails */
};

/* One of them. */
struct item {
    struct reference reference; /* without a workflow if it is a delivery, or was not found */
    const char *name;           /* "order/order-1" */
    bool is_idle;               /* it needed no change */
    const char *done;           /* "paused", in place of the bulk's "told to pause"; or NULL */
    const char *more;           /* appended: "; it is waiting"; or NULL */
    enum exit_code code;        /* if not EXIT_DONE, session->problem says why */
};

/* ---- One ------------------------------------------------------------------------------------------------------------- */

/* The phase of an instance that needs no change, read before the change is sent.  NULL: it needs one, or the phase is not
 * known, because the verb does not ask or the token may not read. */
static const char *phase_of_idle(struct session *session, const struct verb *verb, const char *path)
{
    struct answer answer;
    const char *phase = NULL;
    if (verb->is_idle == NULL || client_probe(session, path, &answer) != EXIT_DONE)
        return NULL;
    if (verb->is_idle(answer.json))
        phase = phase_of(json_at(answer.json, "details"));
    return phase;
}

static const char *show_phase(struct session *session, const char *phase)
{
    return pool_format(&session->pool, "; it is %s", safe(&session->pool, phase_show(phase)));
}

/* Notes the phase after the change.  If it cannot be read, "told to pause" has to do. */
static void note_reached(struct session *session, const struct verb *verb, const char *path, struct item *item)
{
    struct answer answer;
    if (client_probe(session, path, &answer) != EXIT_DONE)
        return;
    const char *phase = phase_of(json_at(answer.json, "details"));
    if (strcmp(phase, verb->reached) == 0)
        item->done = verb->reached;
    else
        item->more = show_phase(session, phase);
}

static enum exit_code apply(const struct bulk *bulk, struct item *item)
{
    struct session *session = bulk->session;
    const struct verb *verb = bulk->verb;
    struct answer answer;
    const char *target = bulk->is_of_instances ? reference_path(&session->pool, &item->reference)
                                               : path_segment(&session->pool, item->reference.id);
    const char *idle = phase_of_idle(session, verb, target);
    TRY(client_ask(session, "POST", verb_path(&session->pool, verb->path, target), bulk->body, &answer));
    const json_t *details = json_at(answer.json, "status"); /* the answer to an event has the instance's status */
    const char *phase = idle != NULL ? idle : json_is_object(details) ? phase_of(details) : NULL;
    item->is_idle = idle != NULL;
    if (phase != NULL && (idle == NULL || strcmp(phase, "paused") != 0))
        item->more = show_phase(session, phase);
    if (idle == NULL && verb->reached != NULL)
        note_reached(session, verb, target, item);
    return EXIT_DONE;
}

static void try(const struct bulk *bulk, struct item *item)
{
    item->code = bulk->is_of_instances ? reference_resolve(bulk->session, &item->reference) : EXIT_DONE;
    item->name =
        item->reference.workflow != NULL ? reference_name(&bulk->session->pool, &item->reference) : item->reference.id;
    if (item->code == EXIT_DONE && !bulk->is_dry)
        item->code = apply(bulk, item);
}

/* ---- What is said of it ---------------------------------------------------------------------------------------------- */

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

/* {"workflowName"?, "id", "ok", "changed"?, "error"?} */
static void put_json(struct session *session, const struct item *item)
{
    const struct problem *problem = &session->problem;
    json_t *error =
        item->code != EXIT_DONE ? json_pack("{s:s, s:s}", "code", problem->code, "message", problem->text) : NULL;
    session_put_line(
        session,
        pool_json(&session->pool, json_pack("{s:s*, s:s, s:b, s:o*, s:o*}", "workflowName", item->reference.workflow,
                                            "id", item->reference.id, "ok", item->code == EXIT_DONE, "changed",
                                            item->is_idle ? json_false() : NULL, "error", error)));
}

static void print_refusal(const struct bulk *bulk, const char *name)
{
    struct problem problem = bulk->session->problem;
    clear_progress(bulk);
    (void)problem_set(&problem, problem.exit_code, problem.code, "%s: %s", name, bulk->session->problem.text);
    problem_print(&problem, session_is_json(bulk->session));
}

static void put_line(const struct bulk *bulk, const struct item *item)
{
    struct pw_buffer *out = &bulk->session->out;
    const char *done = item->is_idle ? bulk->verb->idle : item->done != NULL ? item->done : bulk->done;
    if (session_is_ids(bulk->session))
        pw_buffer_format(out, "%s\n", item->name);
    else if (!bulk->is_quiet)
        pw_buffer_format(out, "%s %s%s\n", item->name, done, item->more != NULL ? item->more : "");
}

/* Counts and prints the outcome.  True: go on with the next item. */
static bool note(struct bulk *bulk, const struct item *item)
{
    struct session *session = bulk->session;
    bool is_done = item->code == EXIT_DONE;
    bulk->done_count += is_done;
    bulk->idle_count += is_done && item->is_idle;
    bulk->refused_count += !is_done;
    if (session_is_json(session))
        put_json(session, item);
    else if (is_done)
        put_line(bulk, item);
    else
        print_refusal(bulk, item->name);
    if (session->out.size > 0) {
        clear_progress(bulk);
        bulk->output = session_print(session);
        if (bulk->output != EXIT_DONE)
            return false;
    }
    show_progress(bulk);
    return is_done || item->code == EXIT_REFUSED;
}

static void put_closing_line(const struct bulk *bulk, struct pw_buffer *out)
{
    size_t tried = bulk->done_count + bulk->refused_count;
    pw_buffer_format(out, "%zu %s", bulk->done_count - bulk->idle_count, bulk->done);
    if (bulk->idle_count > 0)
        pw_buffer_format(out, ", nothing to do for %zu", bulk->idle_count);
    if (bulk->refused_count > 0)
        pw_buffer_format(out, ", %zu refused", bulk->refused_count);
    if (tried < bulk->count)
        pw_buffer_format(out, ", %zu not tried", bulk->count - tried);
    pw_buffer_put(out, "\n");
}

/* Prints the closing line.  Refusals have been printed already. */
static enum exit_code end(struct bulk *bulk)
{
    struct session *session = bulk->session;
    clear_progress(bulk);
    enum exit_code code = bulk->refused_count == 0 ? EXIT_DONE : session->problem.exit_code;
    if (bulk->output != EXIT_DONE)
        return bulk->output;
    session->problem.text[0] = '\0'; /* each was printed */
    if (bulk->count == 0 && session->screen.is_terminal && !session_is_json(session) && !session_is_ids(session))
        pw_buffer_put(&session->out, "nothing was named, so nothing was done\n");
    if (bulk->is_quiet) {
        put_closing_line(bulk, &session->out);
    } else if (bulk->count > 1 && bulk->refused_count > 0 && !session_is_json(session)) {
        struct pw_buffer line = { 0 };
        put_closing_line(bulk, &line);
        (void)fputs(text_string(&line), stderr);
        pw_buffer_clear(&line);
    }
    bulk->output = session_print(session);
    return bulk->output == EXIT_DONE ? code : bulk->output;
}

/* ---- All ------------------------------------------------------------------------------------------------------------- */

/* Deliveries, by their ids. */
static enum exit_code parse_deliveries(struct session *session, struct reference **out_references, size_t *out_count)
{
    struct words words;
    TRY(words_read(session, &words));
    struct reference *references = pool_take(&session->pool, sizeof *references * (words.count + 1));
    for (size_t i = 0; i < words.count; i++) {
        references[i] = (struct reference){ NULL, words.items[i] };
        if (strcmp(safe(&session->pool, words.items[i]), words.items[i]) != 0) {
            (void)problem_use(&session->problem, "\"%s\" is not a delivery's id", words.items[i]);
            return words_wrong(session, &words, i);
        }
    }
    *out_references = references;
    *out_count = words.count;
    return EXIT_DONE;
}

/* Makes the body, and the words for success. */
static enum exit_code prepare(struct bulk *bulk)
{
    struct session *session = bulk->session;
    const char *members = NULL;
    TRY(words_check(session));
    TRY(verb_compose(session, bulk->verb->fields, &members));
    bulk->body = pool_format(&session->pool, "{%s}", members);
    json_t *body = pool_json(&session->pool, json_read(bulk->body, strlen(bulk->body)));
    const char *done = template_fill(&session->pool, bulk->verb->done, body, session->screen.now_ms);
    bulk->done = pool_format(&session->pool, "%s%s", bulk->is_dry ? "would be " : "",
                             safe(&session->pool, done != NULL ? done : ""));
    return EXIT_DONE;
}

enum exit_code run_control(struct session *session)
{
    struct bulk bulk = { .session = session,
                         .verb = verb_of(session),
                         .is_dry = session_has(session, OPTION_DRY_RUN),
                         .is_of_instances = session->invocation.command->argument == ARGUMENT_INSTANCES };
    struct reference *references = NULL;
    TRY(prepare(&bulk));
    TRY(bulk.is_of_instances ? reference_parse_all(session, &references, &bulk.count)
                             : parse_deliveries(session, &references, &bulk.count));
    bulk.shows_progress = bulk.count > 1 && isatty(STDERR_FILENO) == 1;
    bulk.is_quiet = bulk.shows_progress && session->settings.format == FORMAT_IS_TEXT && session->screen.is_terminal &&
                    !bulk.is_dry; /* a dry run prints each */
    for (size_t i = 0; i < bulk.count; i++) {
        struct pool mark = pool_mark(&session->pool);
        struct item item = { .reference = references[i] };
        try(&bulk, &item);
        bool goes_on = note(&bulk, &item);
        pool_release(&session->pool, mark);
        if (!goes_on)
            break;
    }
    return end(&bulk);
}
