/* help.c - see help.h; and pawl help. */
#include "help.h"

#include <string.h>

#include "run.h"
#include "session.h"

#ifndef PAWL_CLI_VERSION
#error "the build says which version this is"
#endif

enum { SECTIONS_MAX = 8 };

/* The names on the path, joined by `gap`. */
static const char *path_name(struct pool *pool, const struct command *const *path, size_t depth, const char *gap)
{
    const char *name = path[0]->name;
    for (size_t i = 1; i < depth; i++)
        name = pool_format(pool, "%s%s%s", name, gap, path[i]->name);
    return name;
}

static const char *usage_of(struct pool *pool, const struct command *command, const char *name)
{
    const char *argument = command_argument(command);
    if (command->children != NULL)
        return pool_format(pool, "%s [options] COMMAND ...", name);
    for (const enum option_id *id = command->required; id != NULL && *id != OPTION_NONE; id++)
        name = pool_format(pool, "%s --%s %s", name, option_table[*id].name, option_table[*id].value);
    return pool_format(pool, "%s [options]%s%s", name, argument[0] != '\0' ? " " : "", argument);
}

static const char *description_of(struct pool *pool, const struct command *command)
{
    const char *argument = command_argument_help(command);
    if (command->description == NULL || argument == NULL)
        return argument != NULL ? argument : command->description;
    return pool_format(pool, "%s\n\n%s", command->description, argument);
}

/* The root's help lists the commands of all groups; a man page names the page of each child. */
static const struct pw_entry *children_of(struct pool *pool, const struct command *const *path, size_t depth,
                                          bool is_manual)
{
    enum { ENTRIES_MAX = 64 };
    struct pw_entry *entries = pool_take(pool, sizeof *entries * ENTRIES_MAX), *end = entries;
    const char *page = path_name(pool, path, depth, "-");
    for (const struct command *child = path[depth - 1]->children; child->name != NULL; child++) {
        bool is_deep = depth == 1 && !is_manual && child->children != NULL;
        if (child->is_hidden)
            continue;
        if (!is_deep)
            *end++ = (struct pw_entry){ child->name, is_manual ? pool_format(pool, "%s; see %s-%s(1)", child->summary,
                                                                             page, child->name)
                                                               : child->summary };
        for (const struct command *leaf = child->children; is_deep && leaf->name != NULL; leaf++)
            *end++ = (struct pw_entry){ pool_format(pool, "%s %s", child->name, leaf->name), leaf->summary };
    }
    return entries;
}

/* Names the pages above this one; those below are listed under COMMANDS. */
static const char *see_also(struct pool *pool, const struct command *const *path, size_t depth)
{
    const char *lines = "";
    for (size_t i = 1; i < depth; i++)
        lines = pool_format(pool, "%s.BR %s (1),\n", lines, path_name(pool, path, i, "-"));
    return pool_format(pool, "%sdocs/cli.md and docs/http.md of the source, and what\n.B pawld \\-\\-help\nprints\n",
                       lines);
}

/* The help of a command leaves out what the root's help has; a man page is complete. */
static struct pw_page page_of(struct pool *pool, const struct command *const *path, size_t depth, bool is_manual)
{
    const struct command *command = path[depth - 1];
    struct pw_section *sections = pool_take(pool, sizeof *sections * SECTIONS_MAX), *end = sections;
    const char **usage = pool_take(pool, sizeof *usage * 2), *name = path_name(pool, path, depth, " ");
    struct pw_section examples = { "examples", .examples = command->examples };
    bool is_root = depth == 1;
    usage[0] = usage_of(pool, command, name);
    if (command->children != NULL)
        *end++ = (struct pw_section){ "commands", .entries = children_of(pool, path, depth, is_manual) };
    *end++ = (struct pw_section){ "options", .options = options_of(pool, command->options, NULL) };
    if (!is_root && !is_manual)
        *end++ = examples; /* before the options of every command */
    if (!command->is_offline)
        *end++ = (struct pw_section){ "options of every command", .options = options_of(pool, global_options, NULL) };
    if (!command->is_offline || is_manual)
        *end++ = (struct pw_section){ "environment", .entries = variable_table };
    if (is_root)
        *end++ = (struct pw_section){ "configuration", .text = configuration_help };
    if (is_root || is_manual)
        *end++ = (struct pw_section){ "exit status", .entries = exit_codes_help };
    if (is_root || is_manual)
        *end++ = examples;
    return (struct pw_page){ .name = name,
                             .summary = command->summary,
                             .usage = usage,
                             .description = description_of(pool, command),
                             .sections = sections,
                             .section_count = (size_t)(end - sections),
                             .volume = 1,
                             .version = PAWL_CLI_VERSION,
                             .see_also = see_also(pool, path, depth) };
}

void help_print(const struct screen *screen, const struct command *const *path, size_t depth, struct pw_buffer *out)
{
    struct pool pool = { NULL };
    struct pw_page page = page_of(&pool, path, depth, false);
    pw_page_help(&page, screen->width, screen->has_colour, out);
    pool_clear(&pool);
}

void help_manual(const struct command *const *path, size_t depth, struct pw_buffer *out)
{
    struct pool pool = { NULL };
    struct pw_page page = page_of(&pool, path, depth, true);
    pw_page_manual(&page, out);
    pool_clear(&pool);
}

/* ---- pawl help --------------------------------------------------------------------------------------------------------- */

size_t help_find(const char *const *words, size_t count, const struct command **out_path)
{
    size_t depth = 1;
    out_path[0] = &root_command;
    for (size_t i = 0; i < count; i++) {
        const struct command *child = command_child(out_path[depth - 1], words[i]);
        if (child == NULL || depth == DEPTH_MAX)
            return 0;
        out_path[depth++] = child;
    }
    return depth;
}

enum exit_code run_help(struct session *session)
{
    const struct invocation *invocation = &session->invocation;
    const struct command *path[DEPTH_MAX];
    size_t depth = help_find(invocation->arguments, invocation->argument_count, path);
    if (depth == 0)
        return problem_use(&session->problem, "there is no such command (see pawl --help)");
    help_print(&session->screen, path, depth, &session->out);
    return session_print(session);
}
