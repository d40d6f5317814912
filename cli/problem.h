/* problem.h - one line that says what is wrong and what would be right, and how the program ends because of it. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include <stdbool.h>

/* What scripts can rely on. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,     /* the server said no */
    EXIT_WRONG_USE = 2,   /* nothing was asked of the server */
    EXIT_UNREACHABLE = 3, /* no answer, or none that could be understood */
    EXIT_RUN_FAILED = 4,  /* result: the run errored or was terminated */
    EXIT_NOT_FINISHED = 5 /* result: not yet, or not in the time that was given */
};

struct problem {
    enum exit_code exit_code;
    long http_status; /* 0: it did not come so far */
    char code[64];    /* for programs: "INSTANCE_TERMINAL", "UNREACHABLE" */
    char text[4096];
};

/* Writes the text, on one line, and answers the exit code. */
enum exit_code problem_set(struct problem *problem, enum exit_code exit_code, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define problem_use(problem, ...) problem_set(problem, EXIT_WRONG_USE, "WRONG_USE", __VA_ARGS__)

/* Ends the function with the exit code of a call that did not succeed. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        enum exit_code try_code = (call);                                                                              \
        if (try_code != EXIT_DONE)                                                                                     \
            return try_code;                                                                                           \
    } while (false)

/* "pawl: text" on standard error; as_json: {"code", "message", "exitCode"}. */
void problem_print(const struct problem *problem, bool as_json);

#endif
