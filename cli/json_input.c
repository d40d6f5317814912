/* json_input.c - see json_input.h. */
#include "json_input.h"

#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/limits.h"
#include "json_output.h"
#include "text.h"

/* ENVELOPE_DEPTH: a batch is a list of objects that carry payloads. */
enum { INPUT_SIZE_MAX = 64 * 1024 * 1024, EXCERPT_SIZE = 60, ENVELOPE_DEPTH = 2 };

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

enum exit_code file_read(struct pool *pool, struct problem *problem, const char *who, const char *path,
                         const char **out_text)
{
    struct pw_buffer text = { 0 };
    char wrong[PW_PROBLEM_SIZE];
    bool is_read = pw_file_read(path, INPUT_SIZE_MAX, &text, wrong) == PW_FILE_READ;
    if (is_read)
        *out_text = pool_copy(pool, text_string(&text), text.size);
    pw_buffer_clear(&text);
    return is_read ? EXIT_DONE : problem_use(problem, "%s: %s", who, wrong);
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
        from++; /* do not start in the middle of a character */
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
    if (strcmp(argument, "-") == 0)
        TRY(file_read(pool, problem, who, "-", &text));
    else if (argument[0] == '@')
        TRY(file_read(pool, problem, who, argument + 1, &text));
    struct pw_json_flaw flaw;
    if (!pw_json_scan_to(pw_text_of(text), PW_JSON_DEPTH_MAX + ENVELOPE_DEPTH, &flaw))
        return show_flaw(pool, problem, who, text, &flaw);
    *out_text = text;
    return EXIT_DONE;
}

enum exit_code json_input_quote(struct pool *pool, struct problem *problem, const char *who, const char *text,
                                const char **out_text)
{
    json_t *value = pool_json(pool, json_string(text));
    if (value == NULL)
        return problem_use(problem, "%s is not UTF-8", who);
    *out_text = json_show(pool, value);
    return EXIT_DONE;
}
