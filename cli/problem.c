/* problem.c - see problem.h. */
#include "problem.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/json_writer.h"
#include "text.h"

enum exit_code problem_set(struct problem *problem, enum exit_code exit_code, const char *code, const char *format, ...)
{
    va_list arguments;
    char text[sizeof problem->text]; /* the arguments may be the text that is replaced */
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_mend(text);
    problem->exit_code = exit_code;
    problem->http_status = 0;
    (void)snprintf(problem->code, sizeof problem->code, "%s", code);
    (void)snprintf(problem->text, sizeof problem->text, "%s", text);
    return exit_code;
}

/* A text may have lines of its own: an excerpt with a mark below it.  Each of them is made safe. */
static void print_text(const struct problem *problem)
{
    struct pw_buffer out = { 0 };
    struct pool pool = { NULL };
    pw_buffer_put(&out, "pawl: ");
    for (const char *line = problem->text, *end; *line != '\0'; line = end) {
        end = line;
        while (*end != '\0' && *end != '\n')
            end++;
        text_put_safe(&out, pool_copy(&pool, line, (size_t)(end - line)));
        pw_buffer_put(&out, "\n");
        end += *end == '\n';
    }
    (void)fputs(text_string(&out), stderr);
    pw_buffer_clear(&out);
    pool_clear(&pool);
}

void problem_print(const struct problem *problem, bool as_json)
{
    if (!as_json) {
        print_text(problem);
        return;
    }
    struct pw_buffer line = { 0 };
    pw_json_open(&line, NULL, '{');
    pw_json_string(&line, "code", problem->code);
    pw_json_string(&line, "message", problem->text);
    pw_json_integer(&line, "exitCode", problem->exit_code);
    pw_json_close(&line, '}');
    (void)fprintf(stderr, "%s\n", text_string(&line));
    pw_buffer_clear(&line);
}
