/* json_input.c - see json_input.h. */
#include "json_input.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Where the text stops being JSON.  Jansson points behind the token that it did not expect, and names it; the user wants
 * to see its beginning. */
static size_t find_position(const char *text, const json_error_t *error)
{
    size_t size = strlen(text), position = error->position >= 0 ? (size_t)error->position : 0;
    const char *near = strstr(error->text, " near '");
    if (position > size)
        position = size;
    if (near == NULL)
        return position;
    size_t token_size = strlen(near + 7);
    token_size -= token_size > 0; /* the quote behind it */
    return token_size > 0 && token_size <= position ? position - token_size : position;
}

static const char *say_what(struct pool *pool, const char *text, size_t position, const json_error_t *error)
{
    const char *near = strstr(error->text, " near '");
    if (text[strspn(text, " \t\r\n")] == '\0')
        return "there is no JSON";
    if (text[position] == '\0')
        return "the text ends too early";
    if (strstr(error->text, "end of file expected") != NULL)
        return "there is more behind the value";
    return pool_copy(pool, error->text, near != NULL ? (size_t)(near - error->text) : strlen(error->text));
}

static enum exit_code show_mistake(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                   const json_error_t *error)
{
    size_t position = find_position(text, error), line = 1, start = 0;
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
    return problem_use(problem, "%s is not JSON: line %zu, column %zu: %s\n  %s\n  %*s^", who, line, column,
                       say_what(pool, text, position, error), safe(pool, excerpt), (int)before, "");
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
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (value == NULL)
        return show_mistake(pool, problem, who, text, &error);
    json_decref(value);
    *out_text = text;
    return EXIT_DONE;
}
