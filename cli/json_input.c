/* json_input.c - see json_input.h. */
#include "json_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/limits.h"
#include "json_output.h"
#include "text.h"

/* A batch is a list of objects that carry payloads. */
enum { INPUT_SIZE_MAX = 64 * 1024 * 1024, EXCERPT_SIZE = 60, ENVELOPE_DEPTH = 2 };

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

static enum exit_code read_all(struct problem *problem, const char *who, const char *path, FILE *file,
                               struct pw_buffer *out)
{
    char bytes[8192];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        pw_buffer_add(out, bytes, got);
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
    struct pw_buffer text = { 0 };
    if (file == NULL)
        return problem_use(problem, "%s: %s cannot be read: %s", who, path, strerror(errno));
    enum exit_code code = read_all(problem, who, is_input ? "standard input" : path, file, &text);
    if (code == EXIT_DONE)
        *out_text = pool_copy(pool, text_string(&text), text.size);
    if (!is_input)
        (void)fclose(file);
    pw_buffer_clear(&text);
    return code;
}

/* ---- Mistakes -------------------------------------------------------------------------------------------------------- */

static enum exit_code show_flaw(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                const struct pw_json_flaw *flaw)
{
    size_t position = flaw->position, start = position;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    size_t column = text_width(pool_copy(pool, text + start, position - start)) + 1;
    size_t from = position - start > EXCERPT_SIZE ? position - EXCERPT_SIZE : start;
    while (from < position && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++; /* not in the middle of a character */
    size_t size = strcspn(text + from, "\n");
    const char *excerpt = pool_copy(pool, text + from, text_fit(pool_copy(pool, text + from, size), EXCERPT_SIZE * 2));
    size_t before = text_width(safe(pool, pool_copy(pool, text + from, position - from)));
    return problem_use(problem, "%s%s: line %zu, column %zu: %s\n  %s\n  %*s^", who,
                       flaw->is_limit ? "" : " is not JSON", flaw->line, column, flaw->what, safe(pool, excerpt),
                       (int)before, "");
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
    struct pw_json_flaw flaw;
    if (!pw_json_scan_to(pw_text_of(text), PW_JSON_DEPTH_MAX + ENVELOPE_DEPTH, &flaw))
        return show_flaw(pool, problem, who, text, &flaw);
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
