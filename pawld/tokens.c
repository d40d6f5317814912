/* tokens.c - see tokens.h. */
#include "tokens.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "problem.h"

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

static pawl_status add_line(pawl_tokens *tokens, const char *line, const char *where, size_t number,
                            struct pawl_error *error)
{
    struct pawl_error why = { PAWL_OK, "" };
    pawl_status status = pawl_tokens_add(tokens, line, &why);
    return status == PAWL_OK ? PAWL_OK : problem(error, status, "%.200s, line %zu: %.250s", where, number, why.text);
}

static pawl_status add_file(const struct settings *settings, pawl_tokens *tokens, struct pawl_error *error)
{
    const char *text;
    PAWL_TRY(file_read(settings->scope, settings->tokens_file, &text, error));
    for (size_t number = 1; *text != '\0'; number++) {
        size_t size = strcspn(text, "\n");
        const char *line = pawl_scope_format(settings->scope, "%.*s", (int)size, text);
        PAWL_TRY(line != NULL ? add_line(tokens, line, settings->tokens_file, number, error) : PAWL_NOMEM);
        text += size + (text[size] == '\n');
    }
    return PAWL_OK;
}

static pawl_status add_lines(const struct settings *settings, pawl_tokens *tokens, struct pawl_error *error)
{
    for (size_t i = 0; i < pawl_value_size(settings->tokens, NULL); i++) {
        const char *line = pawl_value_string(pawl_value_item(settings->tokens, i), NULL, "");
        PAWL_TRY(add_line(tokens, line, "tokens", i + 1, error));
    }
    return PAWL_OK;
}

pawl_status tokens_load(const struct settings *settings, pawl_tokens **out_tokens, struct pawl_error *error)
{
    if (settings->tokens_file == NULL && settings->tokens == NULL) {
        *out_tokens = NULL;
        return PAWL_OK;
    }
    pawl_tokens *tokens = pawl_tokens_new();
    if (tokens == NULL)
        return problem(error, PAWL_NOMEM, "out of memory");
    pawl_status status = settings->tokens_file != NULL ? add_file(settings, tokens, error) : PAWL_OK;
    if (status == PAWL_OK)
        status = add_lines(settings, tokens, error);
    if (status == PAWL_OK && pawl_tokens_count(tokens) == 0)
        status = problem(error, PAWL_INVALID, "there is no token in %.300s; `pawld token new` makes one",
                         settings->tokens_file != NULL ? settings->tokens_file : "\"tokens\"");
    if (status != PAWL_OK) {
        pawl_tokens_free(tokens);
        return status;
    }
    pawl_tokens_limit(tokens, settings->rate_limit);
    *out_tokens = tokens;
    return PAWL_OK;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

struct new_token {
    const char *name, *scopes;
    struct pw_texts permissions;
};

#define AT(field) .offset = offsetof(struct new_token, field)
static const struct pw_option scope_option = { "scope",   0, PW_OPTION_TEXT, "SCOPES", .help = "what it may do",
                                               AT(scopes) };
static const struct pw_option name_option = { "name", 0, PW_OPTION_TEXT, "NAME", .help = "the token's name", AT(name) };
static const struct pw_option permission_option = {
    "permission", 0, PW_OPTION_TEXTS, "P", .help = "a permission that it has", .max = PW_TEXTS_MAX, AT(permissions)
};
#undef AT

static pawl_status parse_new(int count, char **values, struct new_token *out_new, struct pawl_error *error)
{
    static const struct pw_option *const options[] = { &scope_option, &name_option, &permission_option, NULL };
    struct pw_words words = { .words = values, .count = count, .position = 3 };
    for (;;) {
        struct pw_word word;
        char wrong[PW_PROBLEM_SIZE];
        enum pw_words_status found = pw_words_next(&words, options, "pawld token new", &word, wrong);
        if (found == PW_WORDS_END)
            break;
        if (found == PW_WORDS_FOUND && word.option == NULL)
            return problem(error, PAWL_INVALID, "unknown argument \"%.60s\" (see pawld --help)", word.value);
        if (found == PW_WORDS_WRONG || !pw_option_set(word.option, out_new, word.who, word.value, wrong))
            return problem(error, PAWL_INVALID, "%s", wrong);
    }
    if (out_new->scopes == NULL)
        return problem(error, PAWL_INVALID,
                       "--scope is missing: give one or more of read, create, manage, event, tick, work");
    return PAWL_OK;
}

/* Joins the texts by commas.  Returns NULL if there are none, or without memory, which the buffer tells. */
static const char *join(const struct pw_texts *texts, struct pw_buffer *out)
{
    for (size_t i = 0; i < texts->count; i++)
        pw_buffer_format(out, "%s%s", i > 0 ? "," : "", texts->items[i]);
    return out->data;
}

int tokens_command(int count, char **values)
{
    struct new_token wanted = { .name = "token" };
    struct pw_buffer permissions = { 0 }, help = { 0 };
    struct pawl_error error = { PAWL_OK, "" };
    char token[PAWL_TOKEN_SIZE], line[PAWL_TOKEN_LINE_SIZE];
    bool is_help = count > 2 && (strcmp(values[2], "--help") == 0 || strcmp(values[2], "-h") == 0);
    if (is_help && pw_program_answer(&settings_program, &(struct pw_asked){ .help = true }, &help)) {
        bool is_told = !help.failed && fputs(help.data, stdout) >= 0;
        pw_buffer_clear(&help);
        return is_told ? EXIT_WELL : EXIT_BROKEN;
    }
    pawl_status status = count > 2 && strcmp(values[2], "new") == 0
                             ? parse_new(count, values, &wanted, &error)
                             : problem(&error, PAWL_INVALID,
                                       "tokens are made with: pawld token new --scope read,create "
                                       "[--name NAME] [--permission P]");
    if (status == PAWL_OK)
        status =
            pawl_token_make(wanted.name, wanted.scopes, join(&wanted.permissions, &permissions), token, line, &error);
    bool failed = permissions.failed;
    pw_buffer_clear(&permissions);
    if (status != PAWL_OK || failed) {
        problem_print(failed ? PAWL_NOMEM : status, &error);
        return status == PAWL_INVALID ? EXIT_WRONG_USE : EXIT_BROKEN;
    }
    /* The line comes first, because the token is of no use if the line is lost. */
    if (printf("%s\n", line) < 0 || fflush(stdout) != 0) {
        fprintf(stderr, "pawld: the line to keep could not be written\n");
        return EXIT_BROKEN;
    }
    fprintf(stderr,
            "The token, which is not shown again:\n    %s\n"
            "%s holds its hash: keep it in the file that pawld --tokens names.\n",
            token, isatty(STDOUT_FILENO) == 1 ? "The line above" : "The line on standard output");
    return EXIT_WELL;
}
