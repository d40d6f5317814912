/* kit.h - for tests of pawld as a process: starts it in a folder of its own, reads what it prints, asks it over HTTP.
 *
 * Nothing sleeps to prove something: what is waited for is looked for until it is there, with a limit that only a
 * broken daemon reaches (running.h: PATIENCE_MS). */
#ifndef TESTS_PAWLD_KIT_H
#define TESTS_PAWLD_KIT_H

#include "kit/running.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#define PAWLD_PROGRAM PAWL_BINARY_DIR "/pawld/pawld"
#define GATES PAWLD_TEST_MODULE_DIR "/module_gates.so"
#define CALLS PAWLD_TEST_MODULE_DIR "/module_calls.so"
#define FUNCTIONS PAWLD_TEST_MODULE_DIR "/module_functions.so"
#define PROGRAMS PAWLD_TEST_MODULE_DIR "/module_programs.so"
#define STUCK PAWLD_TEST_MODULE_DIR "/module_stuck.so"
#define OLD PAWLD_TEST_MODULE_DIR "/module_old.so"

enum { PROCESSES_MAX = 4, OUTPUT_SIZE = 65536 };

struct pawld {
    pid_t process;            /* 0: it has ended */
    int standard, trouble;    /* its standard output and error, to read */
    char output[OUTPUT_SIZE]; /* what it printed so far */
    char errors[OUTPUT_SIZE];
    char base[256]; /* "http://127.0.0.1:40123/api" */
};

struct kit {
    char folder[256]; /* a test's own, and the working directory while it runs */
    char before[256];
    pawl_scope *scope;
    const char *origin; /* requests are those of a page of it; NULL: of a program */
    struct pawld *processes[PROCESSES_MAX];
    size_t count;
};

int kit_set_up(void **state);
int kit_tear_down(void **state); /* kills what still runs */
extern const struct test_setting kit_setting;

/* ---- Processes --------------------------------------------------------------------------------------------------- */

/* Starts pawld with these arguments, up to a NULL. */
struct pawld *pawld_start(struct kit *kit, const char *const *arguments);
#define PAWLD_START(kit, ...) pawld_start(kit, (const char *const[]){ __VA_ARGS__, NULL })

/* The same, in the folder's pawl.db unless a store is named, and at a free port; waits until it listens. */
struct pawld *pawld_serve(struct kit *kit, const char *const *arguments);
#define PAWLD_SERVE(kit, ...) pawld_serve(kit, (const char *const[]){ __VA_ARGS__, NULL })

/* Runs it to its end; its exit code is answered. */
int pawld_run(struct kit *kit, const char *const *arguments, struct pawld **out_pawld);
#define PAWLD_RUN(kit, out_pawld, ...) pawld_run(kit, (const char *const[]){ __VA_ARGS__, NULL }, out_pawld)

/* Until it has printed this on standard error; fails the test, with what it did print, when it does not. */
void pawld_await(struct pawld *pawld, const char *text);
/* Until it has printed this so many times. */
void pawld_await_times(struct pawld *pawld, const char *text, int times);
/* Until it listens: fills `base`, with the newest address. */
void pawld_await_base(struct pawld *pawld);
/* The exit code; 128 and the signal's number when it was killed. */
int pawld_await_end(struct pawld *pawld);
void pawld_kill(struct pawld *pawld, int number); /* and does not wait */

/* That it printed just one line, "pawld: ...", on standard error, with this in it. */
void assert_one_line(const struct pawld *pawld, const char *wanted);
/* Of the process that was started last and has ended: makes room for another. */
void pawld_forget(struct kit *kit);

/* Runs it with each of these, and it ends with 2 and one such line. */
struct pawld_misuse {
    const char *arguments[8], *wanted;
};
void assert_usage_errors(struct kit *kit, const struct pawld_misuse *cases, size_t count);

/* ---- HTTP -------------------------------------------------------------------------------------------------------- */

struct answer {
    long status; /* 0: nobody answered */
    const char *body;
    const pawl_value *value; /* of the body, when it is JSON */
    long retry_after_s;      /* 0: not said */
    const char *challenge;   /* WWW-Authenticate; "" when it is not there */
    const char *origin;      /* Access-Control-Allow-Origin; "" when it is not there */
};

/* url: "/workflows" below the process's base, or a whole one.  body, token: or NULL. */
struct answer ask(struct kit *kit, const struct pawld *pawld, const char *method, const char *url, const char *body,
                  const char *token);
/* Over a Unix socket. */
struct answer ask_unix(struct kit *kit, const char *path, const char *url);

void create(struct kit *kit, const struct pawld *pawld, const char *workflow, const char *id, const char *params);
/* Until /health/ready answers with this status; its body then has this text. */
void await_ready(struct kit *kit, const struct pawld *pawld, long status, const char *text);
/* Until the instance has the status. */
void await_status(struct kit *kit, const struct pawld *pawld, const char *workflow, const char *id, const char *status);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* A new token with these scopes, in <name>.token; the file "tokens" is for pawld. */
void make_token_file(const char *name, const char *scopes);
void write_file(const char *path, const char *text);
/* As an editor does: a new file, renamed over the old one. */
void replace_file(const char *path, const char *text);
/* How many lines of the file are this one; 0 when it is not there. */
int count_lines(const char *path, const char *line);
void await_lines(const char *path, const char *line, int count);

#endif
