/* shell.h - runs pawl as a user does: in a pipe, or on a pseudo-terminal of 40 rows and 200 columns.
 *
 * It finds the server by PAWL_BASE_URL; its home is the test's folder; the time zone is UTC. */
#ifndef TESTS_CLI_SHELL_H
#define TESTS_CLI_SHELL_H

#include "../pawld/kit.h"

#define PAWL_PROGRAM PAWL_BINARY_DIR "/cli/pawl"
#define CLI_MODULE PAWLD_TEST_MODULE_DIR "/module_cli.so"

enum mode { IN_A_PIPE, ON_A_TERMINAL };

enum { SHOWN_SIZE = 8 << 20 }; /* a picture that is drawn again and again is long */

struct outcome {
    pid_t process; /* 0: it has ended */
    int standard, trouble;
    int code;                /* once it has ended; 128 and the signal's number when it was killed */
    char output[SHOWN_SIZE]; /* so far; on a terminal what it wrote to standard error, too */
    char errors[SHOWN_SIZE];
};

/* A kit whose pawl talks to this server: cli_use() once it is there. */
extern const struct test_setting cli_setting;
void cli_use(const struct pawld *pawld);
/* A pawld with the module of these tests, used. */
struct pawld *cli_serve(struct kit *kit);

/* Runs it to its end.  input: for its standard input, or NULL.  The outcome is the caller's, to free(). */
struct outcome *cli_run(enum mode mode, const char *input, const char *const *words);
#define CLI(mode, ...) cli_run(mode, NULL, (const char *const[]){ __VA_ARGS__, NULL })
#define CLI_INPUT(mode, input, ...) cli_run(mode, input, (const char *const[]){ __VA_ARGS__, NULL })
/* Begins it; cli_await() and cli_end() go on with it. */
struct outcome *cli_start(enum mode mode, const char *input, const char *const *words);
#define CLI_START(mode, ...) cli_start(mode, NULL, (const char *const[]){ __VA_ARGS__, NULL })
void cli_await(struct outcome *outcome, const char *text); /* in what it has printed, so often */
void cli_await_times(struct outcome *outcome, const char *text, int times);
void cli_end(struct outcome *outcome);              /* waits for its end */
void cli_stop(struct outcome *outcome, int number); /* by a signal, and waits */

/* Runs a line in a shell, with pawl on its path. */
struct outcome *cli_shell(const char *line);

/* In a pipe: the code, and what is in its output and errors; NULL: do not look, "": nothing.  Frees the outcome. */
void expect(struct outcome *outcome, int code, const char *in_output, const char *in_errors);

#endif
