/* problem.c - see problem.h. */
#include "problem.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PRINT_MS_MAX = 1000 };

pawl_status problem(struct pawl_error *error, pawl_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    pawl_text_mend(error->text);
    for (char *at = error->text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            *at = ' '; /* what it repeats may be anything, and this is one line */
    return status;
}

void problem_print(pawl_status status, const struct pawl_error *error)
{
    struct pollfd ready = { STDERR_FILENO, POLLOUT, 0 };
    if (poll(&ready, 1, PRINT_MS_MAX) > 0) /* if nobody reads it, nobody waits for that */
        fprintf(stderr, "pawld: %s\n", error->text[0] != '\0' ? error->text : pawl_status_text(status));
}

int problem_exit_code(pawl_status status)
{
    switch (status) {
    case PAWL_INVALID:
    case PAWL_INVALID_JSON:
    case PAWL_INVALID_FUNCTION_NAME:
    case PAWL_PAYLOAD_TOO_LARGE:
        return EXIT_WRONG_USE;
    default:
        return status == PAWL_OK ? EXIT_WELL : EXIT_BROKEN;
    }
}

/* ---- Words that are nearly right --------------------------------------------------------------------------------- */

enum { WORD_SIZE_MAX = 32 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* How many letters must be put in, taken out or changed. */
static size_t distance(const char *left, const char *right)
{
    size_t row[WORD_SIZE_MAX + 1], right_size = strlen(right);
    for (size_t j = 0; j <= right_size; j++)
        row[j] = j;
    for (size_t i = 0; left[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < right_size; j++) {
            size_t above = row[j + 1];
            row[j + 1] = least(row[j] + 1, above + 1, diagonal + (left[i] != right[j]));
            diagonal = above;
        }
    }
    return row[right_size];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 1; /* "wrkrs" means workers; "x" means nothing */
    if (strlen(word) > WORD_SIZE_MAX)
        return NULL;
    for (; *candidates != NULL; candidates++) {
        size_t apart = strlen(*candidates) <= WORD_SIZE_MAX ? distance(word, *candidates) : WORD_SIZE_MAX;
        if (apart <= best && apart < strlen(*candidates)) {
            best = apart - (apart > 0);
            nearest = *candidates;
        }
    }
    return nearest;
}
