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

enum { CHOICES_MAX = 8 };

/* Splits "auto always never". */
static size_t split_choices(struct pool *pool, const char *text, const char **out_choices)
{
    size_t count = 0;
    while (*text != '\0' && count < CHOICES_MAX) {
        size_t size = strcspn(text, " ");
        out_choices[count++] = pool_copy(pool, text, size);
        text += size + (text[size] == ' ');
    }
    return count;
}

static enum exit_code check_choice(struct problem *problem, const struct option *option, const char *who,
                                   const char *value)
{
    struct pool pool = { NULL };
    const char *choices[CHOICES_MAX];
    size_t count = split_choices(&pool, option->choices, choices);
    enum exit_code code = EXIT_WRONG_USE;
    for (size_t i = 0; i < count && code != EXIT_DONE; i++)
        if (strcmp(choices[i], value) == 0)
            code = EXIT_DONE;
    const char *nearest = code == EXIT_DONE ? NULL : pw_suggest(value, choices, count);
    if (code != EXIT_DONE && nearest != NULL)
        (void)problem_use(problem, "%s is not \"%s\"; did you mean %s?", who, value, nearest);
    else if (code != EXIT_DONE)
        (void)problem_use(problem, "%s is one of: %s; not \"%s\"", who, option->choices, value);
    pool_clear(&pool);
    return code;
}

static enum exit_code check_number(struct problem *problem, const struct option *option, const char *who,
                                   const char *value)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || number < option->min || number > option->max)
        return problem_use(problem, "%s is a whole number from %ld to %ld, not \"%s\"", who, option->min, option->max,
                           value);
    return EXIT_DONE;
}

enum exit_code option_check(struct problem *problem, enum option_id id, const char *who, const char *value)
{
    const struct option *option = &option_table[id];
    int64_t ms;
    switch (option->kind) {
    case VALUE_NUMBER:
        return check_number(problem, option, who, value);
    case VALUE_CHOICE:
        return check_choice(problem, option, who, value);
    case VALUE_DURATION:
        if (duration_parse(value, &ms) && ms > 0)
            return EXIT_DONE;
        return problem_use(problem, "%s is a duration such as 500ms, 10s, 2min or 1h, not \"%s\"", who, value);
    case VALUE_WORKFLOW:
        if (is_workflow_name(value))
            return EXIT_DONE;
        return problem_use(problem, "%s: \"%s\" is not a workflow's name, which is 1 to 64 of a-z A-Z 0-9 _ -", who,
                           value);
    case VALUE_NAME:
        if (is_name(value))
            return EXIT_DONE;
        return problem_use(problem, "%s: \"%s\" is not 1 to 100 of a-z A-Z 0-9 _ -, not starting with -", who, value);
    case VALUE_TEXT:
    case VALUE_FILE:
    case VALUE_JSON:
        return value[0] != '\0' ? EXIT_DONE : problem_use(problem, "%s is empty", who);
    case VALUE_NONE:
        break;
    }
    return EXIT_DONE;
}

/* ---- Options --------------------------------------------------------------------------------------------------------- */

struct parser {
    struct pool *pool;
    struct problem *problem;
    struct invocation *invocation;
    int count, position;
    char **words;
};

/* name NULL: by letter. */
static enum option_id find_option(const struct command *command, const char *name, size_t size, char letter)
{
    const enum option_id *lists[] = { global_options, command->options };
    for (size_t i = 0; i < 2; i++) {
        for (const enum option_id *id = lists[i]; id != NULL && *id != OPTION_NONE; id++) {
            const struct option *option = &option_table[*id];
            if (name != NULL ? strlen(option->name) == size && memcmp(option->name, name, size) == 0
                             : option->letter == letter)
                return *id;
        }
    }
    return OPTION_NONE;
}

/* Which commands take it, when this one does not: a user who knows the option deserves more than a guess. */
static bool is_known_elsewhere(const char *name, size_t size)
{
    for (size_t i = OPTION_NONE + 1; i < OPTION_COUNT; i++)
        if (strlen(option_table[i].name) == size && memcmp(option_table[i].name, name, size) == 0)
            return true;
    return false;
}

static enum exit_code unknown_option(struct parser *parser, const char *word)
{
    const struct command *command = parser->invocation->command;
    const char *names[OPTION_COUNT], *name = word + strspn(word, "-"),
                                     *who = invocation_name(parser->pool, parser->invocation);
    size_t size = strcspn(name, "="), count = 0;
    const enum option_id *lists[] = { command->options, global_options };
    for (size_t i = 0; i < 2; i++)
        for (const enum option_id *id = lists[i]; id != NULL && *id != OPTION_NONE; id++)
            names[count++] = option_table[*id].name;
    if (is_known_elsewhere(name, size) && command->children != NULL)
        return problem_use(parser->problem, "--%.*s belongs behind the command (see %s --help)", (int)size, name, who);
    const char *nearest = pw_suggest(pool_copy(parser->pool, name, size), names, count);
    if (nearest != NULL)
        return problem_use(parser->problem, "%s has no option %.60s; did you mean --%s?", who, word, nearest);
    return problem_use(parser->problem, "%s has no option %.60s (see %s --help)", who, word, who);
}

static enum exit_code keep_value(struct parser *parser, enum option_id id, const char *who, const char *value)
{
    struct invocation *invocation = parser->invocation;
    enum exit_code code = option_check(parser->problem, id, who, value);
    if (code != EXIT_DONE)
        return code;
    if (id == OPTION_HEADER) {
        if (invocation->header_count == HEADERS_MAX)
            return problem_use(parser->problem, "there are at most %d headers", HEADERS_MAX);
        invocation->headers[invocation->header_count++] = value;
    }
    invocation->values[id] = value;
    return EXIT_DONE;
}

/* equals: where its value begins in the same word, or NULL. */
static enum exit_code take_option(struct parser *parser, enum option_id id, const char *who, const char *attached)
{
    const struct option *option = &option_table[id];
    if (option->kind == VALUE_NONE) {
        if (attached != NULL)
            return problem_use(parser->problem, "%s takes no value", who);
        parser->invocation->values[id] = "";
        return EXIT_DONE;
    }
    if (attached != NULL)
        return keep_value(parser, id, who, attached);
    if (parser->position + 1 >= parser->count)
        return problem_use(parser->problem, "%s needs a value: %s", who, option->value);
    return keep_value(parser, id, who, parser->words[++parser->position]);
}

static enum exit_code parse_long(struct parser *parser, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t size = equals != NULL ? (size_t)(equals - name) : strlen(name);
    enum option_id id = find_option(parser->invocation->command, name, size, '\0');
    if (id == OPTION_NONE)
        return unknown_option(parser, word);
    return take_option(parser, id, pool_format(parser->pool, "--%s", option_table[id].name),
                       equals != NULL ? equals + 1 : NULL);
}

/* "-o json", "-ojson", "-o=json", and flags together: "-la". */
static enum exit_code parse_letters(struct parser *parser, const char *word)
{
    for (const char *at = word + 1; *at != '\0'; at++) {
        enum option_id id = find_option(parser->invocation->command, NULL, 0, *at);
        if (id == OPTION_NONE)
            return unknown_option(parser, word);
        const char *who = pool_format(parser->pool, "-%c", *at);
        if (option_table[id].kind != VALUE_NONE)
            return take_option(parser, id, who, at[1] == '\0' ? NULL : at + 1 + (at[1] == '='));
        parser->invocation->values[id] = "";
    }
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
    /* "pawl list": the user may have left a level out. */
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

static enum exit_code parse_words(struct parser *parser)
{
    bool options_ended = false;
    enum exit_code code = EXIT_DONE;
    for (parser->position = 1; code == EXIT_DONE && parser->position < parser->count; parser->position++) {
        const char *word = parser->words[parser->position];
        if (!options_ended && strcmp(word, "--") == 0)
            options_ended = true;
        else if (!options_ended && text_starts(word, "--"))
            code = parse_long(parser, word);
        else if (!options_ended && word[0] == '-' && word[1] != '\0')
            code = parse_letters(parser, word);
        else
            code = parse_word(parser, word);
    }
    return code;
}

static bool takes_many(enum argument_kind kind)
{
    return kind == ARGUMENT_INSTANCES || kind == ARGUMENT_DELIVERIES || kind == ARGUMENT_FUNCTIONS ||
           kind == ARGUMENT_COMMAND;
}

static enum exit_code check_arguments(struct parser *parser)
{
    const struct invocation *invocation = parser->invocation;
    const struct command *command = invocation->command;
    const char *who = invocation_name(parser->pool, invocation);
    size_t most = command->argument == ARGUMENT_NONE ? 0 : takes_many(command->argument) ? (size_t)-1 : 1;
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
    struct parser parser = { pool, problem, out_invocation, count, 0, words };
    *out_invocation = (struct invocation){ .command = &root_command, .path = { &root_command }, .depth = 1 };
    out_invocation->arguments = pool_take(pool, sizeof(char *) * ((size_t)count + 1));
    enum exit_code code = parse_words(&parser);
    if (code != EXIT_DONE || invocation_has(out_invocation, OPTION_HELP) ||
        invocation_has(out_invocation, OPTION_VERSION) || out_invocation->command->children != NULL)
        return code;
    code = check_arguments(&parser);
    return code == EXIT_DONE ? check_format(&parser) : code;
}
