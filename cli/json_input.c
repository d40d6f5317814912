/* json_input.c - see json_input.h. */
#include "json_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_output.h"
#include "json_syntax.h"
#include "text.h"

enum { INPUT_SIZE_MAX = 64 * 1024 * 1024, EXCERPT_SIZE = 60 };

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

static enum exit_code read_all(struct problem *problem, const char *who, const char *path, FILE *file, struct text *out)
{
    char bytes[8192];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        text_put_size(out, bytes, got);
        if (out->size > INPUT_SIZE_MAX)
            return problem_use(problem, "%s: %s is larger than 64 MiB", who, path);
    }
    if (ferror(file))
        return problem_use(problem, "%s: %s cannot be read: %s", who, path, strerror(errno));
    if (strlen(text_string(out)) != out->size)
        return problem_use(problem, "%s: %s has a NUL byte in it; it is not text", who, path);
    return EXIT_DONE;
}

enum exit_code file_read(struct pool *pool, struct problem *problem, const char *who, const char *path,
                         const char **out_text)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    struct text text = { NULL, 0, 0 };
    if (file == NULL)
        return problem_use(problem, "%s: %s cannot be read: %s", who, path, strerror(errno));
    enum exit_code code = read_all(problem, who, is_input ? "standard input" : path, file, &text);
    if (code == EXIT_DONE)
        *out_text = pool_copy(pool, text_string(&text), text.size);
    if (!is_input)
        (void)fclose(file);
    text_free(&text);
    return code;
}

/* ---- Mistakes -------------------------------------------------------------------------------------------------------- */

/* is_json: it is, and cannot be taken all the same. */
static enum exit_code show_mistake(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                   const struct json_mistake *mistake, bool is_json)
{
    size_t position = mistake->position, line = 1, start = 0;
    for (size_t i = 0; i < position; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    size_t column = text_width(pool_copy(pool, text + start, position - start)) + 1;
    size_t from = position - start > EXCERPT_SIZE ? position - EXCERPT_SIZE : start;
    while (from < position && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++; /* not in the middle of a character */
    size_t size = strcspn(text + from, "\n");
    const char *excerpt = pool_copy(pool, text + from, text_fit(pool_copy(pool, text + from, size), EXCERPT_SIZE * 2));
    size_t before = text_width(safe(pool, pool_copy(pool, text + from, position - from)));
    return problem_use(problem, "%s%s: line %zu, column %zu: %s\n  %s\n  %*s^", who, is_json ? "" : " is not JSON",
                       line, column, mistake->what, safe(pool, excerpt), (int)before, "");
}

/* The server keeps integers in 64 bits; told here, the place is one that the user knows. */
static bool fits_integers(const char *text, struct json_mistake *out_mistake)
{
    size_t size = strlen(text);
    for (size_t at = json_blanks(text, size), token; at < size;
         at += token + json_blanks(text + at + token, size - at - token)) {
        token = json_token_size(text + at, size - at);
        bool is_integer = strchr("-0123456789", text[at]) != NULL && strcspn(text + at, ".eE") >= token;
        errno = 0;
        if (is_integer)
            (void)strtoll(text + at, NULL, 10);
        if (is_integer && errno == ERANGE) {
            *out_mistake =
                (struct json_mistake){ at, "the server takes no integer of more than 64 bits; in \"\" it is a text" };
            return false;
        }
    }
    return true;
}

enum exit_code json_input_read(struct pool *pool, struct problem *problem, const char *who, const char *argument,
                               const char **out_text)
{
    const char *text = argument;
    enum exit_code code = EXIT_DONE;
    if (strcmp(argument, "-") == 0)
        code = file_read(pool, problem, who, "-", &text);
    else if (argument[0] == '@')
        code = file_read(pool, problem, who, argument + 1, &text);
    if (code != EXIT_DONE)
        return code;
    struct json_mistake mistake;
    if (!json_check(text, strlen(text), &mistake))
        return show_mistake(pool, problem, who, text, &mistake, false);
    if (!fits_integers(text, &mistake))
        return show_mistake(pool, problem, who, text, &mistake, true);
    *out_text = text;
    return EXIT_DONE;
}

enum exit_code json_input_quote(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                const char **out_text)
{
    json_t *value = json_string(text);
    if (value == NULL)
        return problem_use(problem, "%s is not UTF-8", who);
    *out_text = json_show(pool, value);
    json_decref(value);
    return EXIT_DONE;
}
