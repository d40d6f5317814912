/* tokens.c - see tokens.h. */
#include "tokens.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
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
    pawl_status status = file_read(settings->scope, settings->tokens_file, &text, error);
    for (size_t number = 1; status == PAWL_OK && *text != '\0'; number++) {
        size_t size = strcspn(text, "\n");
        const char *line = pawl_scope_format(settings->scope, "%.*s", (int)size, text);
        status = line != NULL ? add_line(tokens, line, settings->tokens_file, number, error) : PAWL_NOMEM;
        text += size + (text[size] == '\n');
    }
    return status;
}

static pawl_status add_lines(const struct settings *settings, pawl_tokens *tokens, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < pawl_value_size(settings->tokens, NULL); i++) {
        const char *line = pawl_value_string(pawl_value_item(settings->tokens, i), NULL, "");
        status = add_line(tokens, line, "tokens", i + 1, error);
    }
    return status;
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

enum { PERMISSIONS_SIZE = PAWL_TOKEN_LINE_SIZE };

struct new_token {
    const char *name, *scopes;
    char permissions[PERMISSIONS_SIZE]; /* joined by commas; "" for none */
    bool help;
};

/* Where the value of the flag goes.  A permission's is `out_permission`, as there may be several. */
static const char **place_of(struct new_token *new_token, const char *flag, size_t size, const char **out_permission)
{
    const struct {
        const char *flag;
        const char **place;
    } places[] = { { "--name", &new_token->name },
                   { "--scope", &new_token->scopes },
                   { "--permission", out_permission } };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strlen(places[i].flag) == size && memcmp(places[i].flag, flag, size) == 0)
            return places[i].place;
    }
    return NULL;
}

static pawl_status add_permission(struct new_token *new_token, const char *permission, struct pawl_error *error)
{
    size_t used = strlen(new_token->permissions), size = strlen(permission);
    if (size == 0 || used + size + 2 > sizeof new_token->permissions)
        return problem(error, PAWL_INVALID, "--permission is a name; all together are not that long");
    (void)snprintf(new_token->permissions + used, sizeof new_token->permissions - used, "%s%s", used > 0 ? "," : "",
                   permission);
    return PAWL_OK;
}

static pawl_status parse_new(int count, char **values, struct new_token *out_new, struct pawl_error *error)
{
    static const char usage[] = "pawld token new --scope read,create [--name NAME] [--permission P]";
    if (count > 2 && (strcmp(values[2], "--help") == 0 || strcmp(values[2], "-h") == 0)) {
        out_new->help = true;
        return PAWL_OK;
    }
    if (count < 3 || strcmp(values[2], "new") != 0)
        return problem(error, PAWL_INVALID, "tokens are made with: %s", usage);
    for (int i = 3; i < count; i++) {
        const char *equals = strchr(values[i], '=');
        size_t size = equals != NULL ? (size_t)(equals - values[i]) : strlen(values[i]);
        const char *permission = NULL, **place = place_of(out_new, values[i], size, &permission);
        if (place == NULL)
            return problem(error, PAWL_INVALID, "what is \"%.60s\"? The use is: %s", values[i], usage);
        if (equals == NULL && i + 1 >= count)
            return problem(error, PAWL_INVALID, "%.60s needs a value", values[i]);
        *place = equals != NULL ? equals + 1 : values[++i];
        pawl_status status = permission != NULL ? add_permission(out_new, permission, error) : PAWL_OK;
        if (status != PAWL_OK)
            return status;
    }
    if (out_new->scopes == NULL)
        return problem(error, PAWL_INVALID,
                       "what may it do? --scope is read, create, manage, event, tick, work, or some of them");
    return PAWL_OK;
}

int tokens_command(int count, char **values)
{
    struct new_token wanted = { .name = "token" };
    struct pawl_error error = { PAWL_OK, "" };
    char token[PAWL_TOKEN_SIZE], line[PAWL_TOKEN_LINE_SIZE];
    pawl_status status = parse_new(count, values, &wanted, &error);
    if (status == PAWL_OK && wanted.help) {
        arguments_print_help();
        return EXIT_WELL;
    }
    if (status == PAWL_OK)
        status = pawl_token_make(wanted.name, wanted.scopes, wanted.permissions[0] != '\0' ? wanted.permissions : NULL,
                                 token, line, &error);
    if (status != PAWL_OK) {
        problem_print(status, &error);
        return status == PAWL_INVALID ? EXIT_WRONG_USE : EXIT_BROKEN;
    }
    /* The line first: where it cannot be kept, the token would be of no use. */
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
