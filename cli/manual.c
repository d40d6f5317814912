/* manual.c - pawl man: the man pages, from the table that the help is made of.
 *
 * Each command has a page: pawl(1), pawl-instances(1), pawl-instances-get(1).  Text is escaped for roff, so that nothing
 * of it is taken for a request. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "help.h"
#include "run.h"
#include "session.h"

#ifndef PAWL_CLI_VERSION
#error "the build says which version this is"
#endif

/* "pawl-instances-get" */
static const char *page_name(struct pool *pool, const struct command *const *path, size_t depth)
{
    const char *name = path[0]->name;
    for (size_t i = 1; i < depth; i++)
        name = pool_format(pool, "%s-%s", name, path[i]->name);
    return name;
}

/* A line of text: a backslash is written \e, a - is one that can be copied, and a . or ' at the start is no request. */
static void put_roff(struct text *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        text_put(out, "\\&");
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            text_put(out, "\\e");
        else if (*text == '-')
            text_put(out, "\\-");
        else
            text_put_size(out, text, 1);
        if (*text == '\n' && (text[1] == '.' || text[1] == '\''))
            text_put(out, "\\&");
    }
}

static void put_section(struct text *out, const char *name)
{
    text_format(out, ".SH %s\n", name);
}

static void put_entry(struct text *out, const char *name, const char *help)
{
    text_put(out, ".TP\n.B ");
    put_roff(out, name + strspn(name, " "));
    text_put(out, "\n");
    put_roff(out, help);
    text_put(out, "\n");
}

static void put_paragraphs(struct text *out, const char *text)
{
    struct pool pool = { NULL };
    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, "\n\n");
        text_put(out, ".PP\n");
        put_roff(out, pool_copy(&pool, text, end != NULL ? (size_t)(end - text) : strlen(text)));
        text_put(out, "\n");
        text = end != NULL ? end + 2 : NULL;
    }
    pool_clear(&pool);
}

static void put_options(struct text *out, const char *heading, const enum option_id *ids)
{
    struct pool pool = { NULL };
    if (ids == NULL || *ids == OPTION_NONE)
        return;
    put_section(out, heading);
    for (; *ids != OPTION_NONE; ids++)
        put_entry(out, help_option(&pool, *ids), option_table[*ids].help);
    pool_clear(&pool);
}

static void put_examples(struct text *out, const struct example *examples)
{
    if (examples == NULL)
        return;
    put_section(out, "EXAMPLES");
    for (; examples->line != NULL; examples++) {
        if (examples->meaning != NULL) {
            text_put(out, ".PP\n");
            put_roff(out, examples->meaning);
            text_put(out, ":\n");
        }
        text_put(out, ".PP\n.RS 4\n.nf\n");
        put_roff(out, examples->line);
        text_put(out, "\n.fi\n.RE\n");
    }
}

static void put_children(struct text *out, const struct command *const *path, size_t depth)
{
    struct pool pool = { NULL };
    const char *page = page_name(&pool, path, depth);
    put_section(out, "COMMANDS");
    for (const struct command *child = path[depth - 1]->children; child->name != NULL; child++)
        if (!child->is_hidden)
            put_entry(out, child->name, pool_format(&pool, "%s; see %s-%s(1)", child->summary, page, child->name));
    pool_clear(&pool);
}

/* The pages above it, or the root's where there is none; those below stand under COMMANDS. */
static void put_see_also(struct text *out, const struct command *const *path, size_t depth)
{
    struct pool pool = { NULL };
    put_section(out, "SEE ALSO");
    for (size_t i = 1; i < depth; i++)
        text_format(out, ".BR %s (1),\n", page_name(&pool, path, i));
    text_put(out, "docs/cli.md and docs/http.md of the source, and what\n.B pawld \\-\\-help\nprints\n");
    pool_clear(&pool);
}

static void put_page(struct text *out, const struct command *const *path, size_t depth)
{
    const struct command *command = path[depth - 1];
    struct pool pool = { NULL };
    const char *name = page_name(&pool, path, depth);
    text_format(out, ".TH %s 1 \"\" \"pawl %s\" \"Pawl\"\n", name, PAWL_CLI_VERSION);
    put_section(out, "NAME");
    put_roff(out, pool_format(&pool, "%s - %s", name, command->summary));
    text_put(out, "\n");
    put_section(out, "SYNOPSIS");
    text_put(out, ".B ");
    put_roff(out, help_usage(&pool, path, depth));
    text_put(out, "\n");
    if (command->description != NULL || command_argument_help(command) != NULL)
        put_section(out, "DESCRIPTION");
    put_paragraphs(out, command->description);
    put_paragraphs(out, command_argument_help(command));
    if (command->children != NULL)
        put_children(out, path, depth);
    put_options(out, "OPTIONS", command->options);
    if (!command->is_offline)
        put_options(out, "OPTIONS OF EVERY COMMAND", global_options);
    if (depth == 1) {
        put_section(out, "CONFIGURATION");
        put_paragraphs(out, configuration_help);
    }
    put_section(out, "ENVIRONMENT");
    for (const struct variable *variable = variable_table; variable->name != NULL; variable++)
        put_entry(out, variable->name, variable->help);
    put_section(out, "EXIT STATUS");
    for (const char *const *pair = exit_codes_help; *pair != NULL; pair += 2)
        put_entry(out, pair[0], pair[1]);
    put_examples(out, command->examples);
    put_see_also(out, path, depth);
    pool_clear(&pool);
}

/* ---- Files ------------------------------------------------------------------------------------------------------------- */

static enum exit_code write_page(struct session *session, const char *folder, const struct command *const *path,
                                 size_t depth)
{
    struct text page = { NULL, 0, 0 };
    const char *name = pool_format(&session->pool, "%s/%s.1", folder, page_name(&session->pool, path, depth));
    put_page(&page, path, depth);
    FILE *file = fopen(name, "we");
    bool is_written = file != NULL && fwrite(page.data, 1, page.size, file) == page.size;
    is_written = file != NULL && fclose(file) == 0 && is_written;
    text_free(&page);
    return is_written ? EXIT_DONE : problem_use(&session->problem, "%s cannot be written: %s", name, strerror(errno));
}

/* The command's, and those of all below it. */
static enum exit_code write_pages(struct session *session, const char *folder, const struct command **path,
                                  size_t depth)
{
    enum exit_code code = write_page(session, folder, path, depth);
    const struct command *child = path[depth - 1]->children;
    for (; code == EXIT_DONE && child != NULL && child->name != NULL; child++) {
        if (child->is_hidden)
            continue;
        path[depth] = child;
        code = write_pages(session, folder, path, depth + 1);
    }
    return code;
}

/* ---- A terminal -------------------------------------------------------------------------------------------------------- */

static bool is_on_path(const char *program)
{
    struct pool pool = { NULL };
    const char *path = getenv("PATH");
    bool is_found = false;
    while (path != NULL && *path != '\0' && !is_found) {
        size_t size = strcspn(path, ":");
        is_found = size > 0 && access(pool_format(&pool, "%.*s/%s", (int)size, path, program), X_OK) == 0;
        path += size + (path[size] == ':');
    }
    pool_clear(&pool);
    return is_found;
}

/* Where man can read a page from a pipe.  False: the page was not shown. */
static bool show_by_man(const struct text *page)
{
    FILE *pipe = is_on_path("man") ? popen("man -l -", "w") : NULL;
    if (pipe == NULL)
        return false;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a reader who has had enough of it is no error */
    (void)fwrite(page->data, 1, page->size, pipe);
    bool is_shown = pclose(pipe) == 0;
    (void)signal(SIGPIPE, before);
    return is_shown;
}

enum exit_code run_man(struct session *session)
{
    const struct invocation *invocation = &session->invocation;
    const struct command *path[DEPTH_MAX + 1];
    const char *folder = session_option(session, OPTION_DIRECTORY);
    size_t depth = help_find(invocation->arguments, invocation->argument_count, path);
    if (depth == 0)
        return problem_use(&session->problem, "there is no such command (see pawl --help)");
    if (folder != NULL) {
        (void)mkdir(folder, 0777);
        return write_pages(session, folder, path, depth);
    }
    put_page(&session->out, path, depth);
    if (session->screen.is_terminal) { /* nobody reads roff */
        bool is_shown = show_by_man(&session->out);
        text_reset(&session->out);
        if (!is_shown)
            help_print(&session->screen, path, depth, &session->out);
    }
    return session_print(session);
}
