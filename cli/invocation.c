/* invocation.c - see invocation.h. */
#include "invocation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/suggest.h"
#include "common/text.h"
#include "moment.h"
#include "text.h"

bool invocation_has(const struct invocation *invocation, enum option_id id)
{
    return invocation->values[id] != NULL;
}

long invocation_number(const struct invocation *invocation, enum option_id id, long fallback)
{
    return invocation->values[id] != NULL ? strtol(invocation->values[id], NULL, 10) : fallback;
}

const char *invocation_name(struct pool *pool, const struct invocation *invocation)
{
    const char *name = root_command.name;
    for (size_t i = 1; i < invocation->depth; i++)
        name = pool_format(pool, "%s %s", name, invocation->path[i]->name);
    return name;
}

/* ---- Values ---------------------------------------------------------------------------------------------------------- */

bool is_name(const char *text)
{
    return pw_text_is_identifier(pw_text_of(text), PW_INSTANCE_ID_MAX, true);
}

bool is_workflow_name(const char *text)
{
    return pw_text_is_identifier(pw_text_of(text), PW_WORKFLOW_NAME_MAX, false);
}

enum exit_code option_check(struct problem *problem, enum option_id id, const char *who, const char *value)
{
    char text[PW_PROBLEM_SIZE];
    return pw_option_check(&option_table[id], who, value, text) ? EXIT_DONE : problem_use(problem, "%s", text);
}

/* ---- Options ----------------------------------------------------------------------------------------------------------- */

struct parser {
    struct pool *pool;
    struct problem *problem;
    struct invocation *invocation;
};

const struct pw_option *const *options_of(struct pool *pool, const enum option_id *first, const enum option_id *second)
{
    const enum option_id *lists[] = { first, second };
    const struct pw_option **options = pool_take(pool, sizeof *options * (OPTION_COUNT + 1)), **end = options;
    for (size_t i = 0; i < 2; i++)
        for (const enum option_id *id = lists[i]; id != NULL && *id != OPTION_NONE; id++)
            *end++ = &option_table[*id];
    return options;
}

/* True if the option exists, but belongs to a command below this one. */
static bool belongs_elsewhere(const struct command *command, const char *word)
{
    const char *name = word + strspn(word, "-");
    size_t size = strcspn(name, "=");
    for (size_t i = OPTION_NONE + 1; i < OPTION_COUNT && command->children != NULL; i++)
        if (strlen(option_table[i].name) == size && memcmp(option_table[i].name, name, size) == 0)
            return true;
    return false;
}

static enum exit_code keep_option(struct parser *parser, const struct pw_word *word)
{
    struct invocation *invocation = parser->invocation;
    enum option_id id = (enum option_id)(word->option - option_table);
    TRY(option_check(parser->problem, id, word->who, word->value));
    if (id == OPTION_HEADER) {
        if (invocation->header_count == HEADERS_MAX)
            return problem_use(parser->problem, "there are at most %d headers", HEADERS_MAX);
        invocation->headers[invocation->header_count++] = word->value;
    }
    invocation->values[id] = word->value;
    return EXIT_DONE;
}

/* ---- Commands and arguments ---------------------------------------------------------------------------------------------- */

static enum exit_code unknown_command(struct parser *parser, const char *word)
{
    const struct command *command = parser->invocation->command;
    const char *names[32], *who = invocation_name(parser->pool, parser->invocation);
    size_t count = 0;
    for (const struct command *child = command->children; child->name != NULL && count < 32; child++)
        if (!child->is_hidden)
            names[count++] = child->name;
    const char *nearest = pw_suggest(word, names, count);
    if (nearest != NULL)
        return problem_use(parser->problem, "there is no command \"%s %.60s\"; did you mean \"%s %s\"?", who, word, who,
                           nearest);
    /* "pawl list": the user may have left out a level. */
    for (const struct command *child = command->children; child->name != NULL; child++) {
        count = 0;
        for (const struct command *leaf = child->children; leaf != NULL && leaf->name != NULL && count < 32; leaf++)
            names[count++] = leaf->name;
        nearest = pw_suggest(word, names, count);
        if (nearest != NULL)
            return problem_use(parser->problem, "there is no command \"%s %.60s\"; did you mean \"%s %s %s\"?", who,
                               word, who, child->name, nearest);
    }
    return problem_use(parser->problem, "there is no command \"%s %.60s\" (see %s --help)", who, word, who);
}

static enum exit_code parse_word(struct parser *parser, const char *word)
{
    struct invocation *invocation = parser->invocation;
    if (invocation->command->children == NULL) {
        invocation->arguments[invocation->argument_count++] = word;
        return EXIT_DONE;
    }
    const struct command *child = command_child(invocation->command, word);
    if (child == NULL)
        return unknown_command(parser, word);
    invocation->command = child;
    invocation->path[invocation->depth++] = child;
    return EXIT_DONE;
}

static enum exit_code parse_words(struct parser *parser, int count, char **list)
{
    struct pw_words words = { .words = list, .count = count, .position = 1 };
    const struct invocation *invocation = parser->invocation;
    for (;;) {
        struct pw_word word;
        char text[PW_PROBLEM_SIZE];
        const char *who = invocation_name(parser->pool, invocation);
        enum pw_words_status status = pw_words_next(
            &words, options_of(parser->pool, invocation->command->options, global_options), who, &word, text);
        if (status == PW_WORDS_END)
            return EXIT_DONE;
        const char *last = list[words.position - 1];
        if (status == PW_WORDS_FOUND)
            TRY(word.option != NULL ? keep_option(parser, &word) : parse_word(parser, word.value));
        else if (word.option == NULL && belongs_elsewhere(invocation->command, last))
            return problem_use(parser->problem, "%.60s belongs behind the command (see %s --help)", last, who);
        else
            return problem_use(parser->problem, "%s", text);
    }
}

static enum exit_code check_arguments(struct parser *parser)
{
    const struct invocation *invocation = parser->invocation;
    const struct command *command = invocation->command;
    const char *who = invocation_name(parser->pool, invocation);
    size_t most = command_arguments_max(command);
    bool is_named = invocation_has(invocation, OPTION_ID) || invocation_has(invocation, OPTION_KEY);
    if (invocation->argument_count > most)
        return problem_use(parser->problem, "%s does not take \"%s\" (see %s --help)", who, invocation->arguments[most],
                           who);
    if (command->argument != ARGUMENT_NONE && !command->argument_is_optional && invocation->argument_count == 0 &&
        !is_named)
        return problem_use(parser->problem, "%s needs %s (see %s --help)", who, command_argument(command), who);
    for (const enum option_id *id = command->required; id != NULL && *id != OPTION_NONE; id++)
        if (!invocation_has(invocation, *id))
            return problem_use(parser->problem, "%s needs --%s %s (see %s --help)", who, option_table[*id].name,
                               option_table[*id].value, who);
    return EXIT_DONE;
}

static enum exit_code check_format(struct parser *parser)
{
    const struct invocation *invocation = parser->invocation;
    const char *format = invocation_has(invocation, OPTION_JSON) ? "json" : invocation->values[OPTION_OUTPUT];
    int wanted = format == NULL                ? FORMAT_TEXT
                 : strcmp(format, "json") == 0 ? FORMAT_JSON
                 : strcmp(format, "ids") == 0  ? FORMAT_IDS
                                               : FORMAT_TEXT;
    if ((invocation->command->formats & wanted) == 0)
        return problem_use(parser->problem, "%s does not print %s", invocation_name(parser->pool, invocation), format);
    return EXIT_DONE;
}

enum exit_code invocation_parse(struct pool *pool, struct problem *problem, int count, char **words,
                                struct invocation *out_invocation)
{
    struct parser parser = { pool, problem, out_invocation };
    *out_invocation = (struct invocation){ .command = &root_command, .path = { &root_command }, .depth = 1 };
    out_invocation->arguments = pool_take(pool, sizeof(char *) * ((size_t)count + 1));
    TRY(parse_words(&parser, count, words));
    if (invocation_has(out_invocation, OPTION_HELP) || invocation_has(out_invocation, OPTION_VERSION) ||
        out_invocation->command->children != NULL)
        return EXIT_DONE;
    TRY(check_arguments(&parser));
    return check_format(&parser);
}
