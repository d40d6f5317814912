/* problem.h - what went wrong, in one line that also says what would be right, and the exit code that follows from it. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include <stdbool.h>

/* Scripts rely on these numbers. */
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
    long http_status; /* 0: there was no answer */
    char code[64];    /* for programs: "INSTANCE_TERMINAL", "UNREACHABLE" */
    char text[4096];
};

/* Sets the problem, and returns the exit code. */
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
