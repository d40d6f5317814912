/* manual.c - pawl man: each command has a page, pawl(1), pawl-instances(1), pawl-instances-get(1). */
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

/* ---- Files ------------------------------------------------------------------------------------------------------------- */

static enum exit_code write_page(struct session *session, const char *folder, const struct command *const *path,
                                 size_t depth)
{
    struct pw_buffer page = { 0 };
    const char *name = pool_format(&session->pool, "%s/%s", folder, path[0]->name);
    for (size_t i = 1; i < depth; i++)
        name = pool_format(&session->pool, "%s-%s", name, path[i]->name);
    name = pool_format(&session->pool, "%s.1", name);
    help_manual(path, depth, &page);
    FILE *file = fopen(name, "we");
    bool is_written = file != NULL && fwrite(text_string(&page), 1, page.size, file) == page.size;
    is_written = file != NULL && fclose(file) == 0 && is_written;
    pw_buffer_clear(&page);
    return is_written ? EXIT_DONE : problem_use(&session->problem, "%s cannot be written: %s", name, strerror(errno));
}

/* The pages of the command and of all commands below it. */
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

/* Pipes the page into man.  False: the page was not shown. */
static bool show_by_man(const struct pw_buffer *page)
{
    FILE *pipe = is_on_path("man") ? popen("man -l -", "w") : NULL;
    if (pipe == NULL)
        return false;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* quitting the pager early is no error */
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
    help_manual(path, depth, &session->out);
    if (session->screen.is_terminal) { /* nobody reads roff */
        bool is_shown = show_by_man(&session->out);
        pw_buffer_reset(&session->out);
        if (!is_shown)
            help_print(&session->screen, path, depth, &session->out);
    }
    return session_print(session);
}
