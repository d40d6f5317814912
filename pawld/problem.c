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
            *at = ' '; /* quoted input may hold anything, and this is one line */
    return status;
}

void problem_print(pawl_status status, const struct pawl_error *error)
{
    struct pollfd ready = { STDERR_FILENO, POLLOUT, 0 };
    if (poll(&ready, 1, PRINT_MS_MAX) > 0) /* do not wait long for a reader */
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
