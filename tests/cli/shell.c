/* shell.c - see shell.h. */
#define _GNU_SOURCE /* pipe2() */
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>

#include "kit/child.h"

static int set_up(void **state)
{
    int failed = kit_set_up(state);
    struct kit *kit = *state;
    static const char *const unset[] = { "PAWL_PROFILE", "PAWL_CONFIG",     "PAWL_TOKEN",    "PAWL_TOKEN_FILE",
                                         "PAWL_TIMEOUT", "XDG_CONFIG_HOME", "PAWL_WORKFLOW", "PAWL_TOKEN_COMMAND",
                                         "COLUMNS",      "PAWL_CA_FILE",    "PAWL_BASE_URL", "NO_COLOR",
                                         "PAWL_NOW",     "LINES",           "http_proxy" };
    for (size_t i = 0; i < LENGTH(unset); i++)
        failed |= unsetenv(unset[i]);
    failed |= setenv("HOME", kit->folder, 1) | setenv("TZ", "UTC", 1) | setenv("LC_ALL", "C.UTF-8", 1) |
              setenv("TERM", "xterm", 1);
    return failed;
}

const struct test_setting cli_setting = { .set_up = set_up, .tear_down = kit_tear_down };

void cli_use(const struct pawld *pawld)
{
    assert_int_equal(setenv("PAWL_BASE_URL", pawld->base, 1), 0);
}

struct pawld *cli_serve(struct kit *kit)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--allow-tick", CLI_MODULE);
    cli_use(pawld);
    return pawld;
}

/* ---- Starting ---------------------------------------------------------------------------------------------------------- */

struct ends {
    int ours, its;
};

static struct ends make_pipe(bool we_read)
{
    int both[2];
    assert_int_equal(pipe2(both, O_CLOEXEC), 0);
    return we_read ? (struct ends){ both[0], both[1] } : (struct ends){ both[1], both[0] };
}

static struct ends make_terminal(void)
{
    struct winsize size = { .ws_row = 40, .ws_col = 200 };
    struct ends ends;
    assert_int_equal(openpty(&ends.ours, &ends.its, NULL, NULL, &size), 0);
    assert_true(fcntl(ends.ours, F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends.its, F_SETFD, FD_CLOEXEC) == 0);
    return ends;
}

struct beginning {
    const char *const *words;
    int input, output, errors;
};

static void become_pawl(void *user)
{
    const struct beginning *beginning = user;
    child_become(PAWL_PROGRAM, beginning->words, beginning->input, beginning->output, beginning->errors);
}

struct outcome *cli_start(enum mode mode, const char *input, const char *const *words)
{
    struct outcome *outcome = calloc(1, sizeof *outcome);
    struct ends in = make_pipe(false), out = mode == IN_A_PIPE ? make_pipe(true) : make_terminal();
    struct ends errors = mode == IN_A_PIPE ? make_pipe(true) : (struct ends){ -1, out.its };
    if (input != NULL) /* while the pipe has a reader: the program may end without one look at it */
        assert_int_equal(write(in.ours, input, strlen(input)), strlen(input));
    assert_non_null(outcome);
    outcome->process = child_start(become_pawl, &(struct beginning){ words, in.its, out.its, errors.its });
    (void)close(in.its);
    (void)close(out.its);
    if (mode == IN_A_PIPE)
        (void)close(errors.its);
    outcome->standard = out.ours;
    outcome->trouble = errors.ours;
    assert_true(fcntl(out.ours, F_SETFL, O_NONBLOCK) == 0);
    assert_true(errors.ours < 0 || fcntl(errors.ours, F_SETFL, O_NONBLOCK) == 0);
    (void)close(in.ours);
    return outcome;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------------- */

static void read_all(struct outcome *outcome)
{
    child_read(outcome->standard, outcome->output, SHOWN_SIZE);
    child_read(outcome->trouble, outcome->errors, SHOWN_SIZE);
}

void cli_await_times(struct outcome *outcome, const char *text, int times)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        read_all(outcome);
        if (child_count(outcome->output, text) + child_count(outcome->errors, text) >= times)
            return;
    }
    fail_msg("\"%s\" did not come %d times in\n%s\n%s", text, times, outcome->output, outcome->errors);
}

void cli_await(struct outcome *outcome, const char *text)
{
    cli_await_times(outcome, text, 1);
}

void cli_end(struct outcome *outcome)
{
    int64_t until_ms = monotonic_ms() + 2 * PATIENCE_MS;
    while (!child_has_ended(&outcome->process, &outcome->code)) {
        read_all(outcome);
        if (monotonic_ms() > until_ms) {
            (void)kill(outcome->process, SIGKILL);
            fail_msg("it does not end:\n%s\n%s", outcome->output, outcome->errors);
        }
        rest_a_little();
    }
    read_all(outcome);
    (void)close(outcome->standard);
    if (outcome->trouble >= 0)
        (void)close(outcome->trouble);
}

void cli_stop(struct outcome *outcome, int number)
{
    assert_int_equal(kill(outcome->process, number), 0);
    cli_end(outcome);
}

struct outcome *cli_run(enum mode mode, const char *input, const char *const *words)
{
    struct outcome *outcome = cli_start(mode, input, words);
    cli_end(outcome);
    return outcome;
}

struct outcome *cli_shell(const char *line)
{
    struct outcome *outcome = calloc(1, sizeof *outcome);
    char command[4096];
    assert_non_null(outcome);
    (void)snprintf(command, sizeof command, "exec 2>shell.errors; PATH=%s/cli:$PATH; %s", PAWL_BINARY_DIR, line);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    (void)fread(outcome->output, 1, SHOWN_SIZE - 1, pipe);
    int status = pclose(pipe);
    outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    FILE *errors = fopen("shell.errors", "re");
    assert_non_null(errors);
    (void)fread(outcome->errors, 1, SHOWN_SIZE - 1, errors);
    (void)fclose(errors);
    return outcome;
}

static void expect_text(const char *what, const char *text, const char *wanted, const struct outcome *outcome)
{
    if (wanted == NULL)
        return;
    if (wanted[0] == '\0' ? text[0] != '\0' : strstr(text, wanted) == NULL)
        fail_msg("%s is not \"%s\"; exit code %d, output:\n%s\nerrors:\n%s", what, wanted, outcome->code,
                 outcome->output, outcome->errors);
}

void expect(struct outcome *outcome, int code, const char *in_output, const char *in_errors)
{
    if (outcome->code != code)
        fail_msg("exit code %d, not %d; output:\n%s\nerrors:\n%s", outcome->code, code, outcome->output,
                 outcome->errors);
    expect_text("the output", outcome->output, in_output, outcome);
    expect_text("what is on standard error", outcome->errors, in_errors, outcome);
    free(outcome);
}
