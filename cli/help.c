/* help.c - see help.h; and pawl help. */
#include "help.h"

#include <string.h>

#include "run.h"
#include "session.h"

enum { WIDTH = 88, NAME_WIDTH = 26, INDENT = 2 };

static const char *path_name(struct pool *pool, const struct command *const *path, size_t depth)
{
    const char *name = path[0]->name;
    for (size_t i = 1; i < depth; i++)
        name = pool_format(pool, "%s %s", name, path[i]->name);
    return name;
}

const char *help_usage(struct pool *pool, const struct command *const *path, size_t depth)
{
    const struct command *command = path[depth - 1];
    const char *name = path_name(pool, path, depth), *argument = command_argument(command);
    if (command->children != NULL)
        return pool_format(pool, "%s [options] COMMAND ...", name);
    for (const enum option_id *id = command->required; id != NULL && *id != OPTION_NONE; id++)
        name = pool_format(pool, "%s --%s %s", name, option_table[*id].name, option_table[*id].value);
    return pool_format(pool, "%s [options]%s%s", name, argument[0] != '\0' ? " " : "", argument);
}

const char *help_option(struct pool *pool, enum option_id id)
{
    const struct option *option = &option_table[id];
    const char *value = option->value != NULL ? pool_format(pool, " %s", option->value) : "";
    if (option->letter != '\0')
        return pool_format(pool, "-%c, --%s%s", option->letter, option->name, value);
    return pool_format(pool, "    --%s%s", option->name, value);
}

/* ---- Layout ---------------------------------------------------------------------------------------------------------- */

static size_t width_of(const struct screen *screen)
{
    return screen->width > 0 && screen->width < WIDTH ? screen->width : WIDTH;
}

/* Words from the column `at` on, with every further line beginning at `indent`. */
static void put_wrapped(const struct screen *screen, struct text *out, const char *text, size_t indent, size_t at)
{
    size_t width = width_of(screen), used = at;
    bool is_first = true;
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (!is_first && used + 1 + size > width) {
            text_put(out, "\n");
            text_repeat(out, " ", indent);
            used = indent;
            is_first = true;
        }
        text_put(out, is_first ? "" : " ");
        text_put_size(out, text, size);
        used += size + !is_first;
        is_first = false;
        text += size + (text[size] == ' ');
    }
    text_put(out, "\n");
}

static void put_paragraphs(const struct screen *screen, struct text *out, const char *text)
{
    struct pool pool = { NULL };
    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t size = end != NULL ? (size_t)(end - text) : strlen(text);
        text_put(out, "\n");
        put_wrapped(screen, out, pool_copy(&pool, text, size), 0, 0);
        text = end != NULL ? end + 2 : NULL;
    }
    pool_clear(&pool);
}

static void put_heading(const struct screen *screen, struct text *out, const char *heading)
{
    text_put(out, "\n");
    screen_put(screen, out, STYLE_BOLD, heading);
    text_put(out, "\n");
}

static void put_entry(const struct screen *screen, struct text *out, const char *name, const char *help)
{
    text_repeat(out, " ", INDENT);
    text_put(out, name);
    size_t used = INDENT + strlen(name), column = INDENT + NAME_WIDTH;
    if (used + 2 > column) {
        text_put(out, "\n");
        used = 0;
    }
    text_repeat(out, " ", column - used);
    put_wrapped(screen, out, help, column, column);
}

/* ---- Parts ----------------------------------------------------------------------------------------------------------- */

static void put_options(const struct screen *screen, struct text *out, const char *heading, const enum option_id *ids)
{
    struct pool pool = { NULL };
    if (ids == NULL || *ids == OPTION_NONE)
        return;
    put_heading(screen, out, heading);
    for (; *ids != OPTION_NONE; ids++)
        put_entry(screen, out, help_option(&pool, *ids), option_table[*ids].help);
    pool_clear(&pool);
}

static void put_children(const struct screen *screen, struct text *out, const struct command *command, bool is_deep)
{
    struct pool pool = { NULL };
    put_heading(screen, out, "commands");
    for (const struct command *child = command->children; child->name != NULL; child++) {
        if (child->is_hidden)
            continue;
        if (child->children == NULL || !is_deep) {
            put_entry(screen, out, child->name, child->summary);
            continue;
        }
        for (const struct command *leaf = child->children; leaf->name != NULL; leaf++)
            put_entry(screen, out, pool_format(&pool, "%s %s", child->name, leaf->name), leaf->summary);
    }
    pool_clear(&pool);
}

static void put_variables(const struct screen *screen, struct text *out)
{
    put_heading(screen, out, "environment");
    for (const struct variable *variable = variable_table; variable->name != NULL; variable++)
        put_entry(screen, out, variable->name, variable->help);
}

static void put_examples(const struct screen *screen, struct text *out, const struct example *examples)
{
    if (examples == NULL)
        return;
    put_heading(screen, out, "examples");
    for (; examples->line != NULL; examples++) {
        text_format(out, "  %s\n", examples->line);
        if (examples->meaning != NULL) {
            text_repeat(out, " ", 2 * INDENT + 2);
            screen_put(screen, out, STYLE_DIM, examples->meaning);
            text_put(out, "\n");
        }
    }
}

void help_print(const struct screen *screen, const struct command *const *path, size_t depth, struct text *out)
{
    const struct command *command = path[depth - 1];
    struct pool pool = { NULL };
    const char *name = path_name(&pool, path, depth);
    screen_put(screen, out, STYLE_BOLD, name);
    text_put(out, ": ");
    put_wrapped(screen, out, command->summary, 0, strlen(name) + 2);
    text_format(out, "\nusage: %s\n", help_usage(&pool, path, depth));
    put_paragraphs(screen, out, command->description);
    put_paragraphs(screen, out, command_argument_help(command));
    if (command->children != NULL)
        put_children(screen, out, command, depth == 1);
    put_options(screen, out, "options", command->options);
    if (depth > 1)
        put_examples(screen, out, command->examples); /* before what all commands share */
    if (!command->is_offline) {
        put_options(screen, out, "options of every command", global_options);
        put_variables(screen, out);
    }
    if (depth == 1) {
        put_heading(screen, out, "configuration");
        put_wrapped(screen, out, configuration_help, 0, 0);
        put_heading(screen, out, "exit status");
        for (const char *const *pair = exit_codes_help; *pair != NULL; pair += 2)
            put_entry(screen, out, pair[0], pair[1]);
    }
    if (depth == 1)
        put_examples(screen, out, command->examples);
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
