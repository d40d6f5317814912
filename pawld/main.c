/* main.c - pawld: runs the workflows of modules and serves them over HTTP. */
#include <fcntl.h>
#include <pawl/pawl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "daemon.h"
#include "dev.h"
#include "memory.h"
#include "problem.h"
#include "signals.h"
#include "tokens.h"

static pawl_status read_settings(struct settings *settings, int count, char **values, struct pawl_error *error)
{
    const struct pw_asked *asked = &settings->asked;
    pawl_status status = settings_read_flags(settings, count, values, error);
    if (status != PAWL_OK || asked->help || asked->version || asked->manual || asked->completion != NULL)
        return status;
    if (settings->config != NULL)
        status = config_read(settings, settings->config, error);
    return status == PAWL_OK ? settings_check(settings, error) : status;
}

/* Prints the answer on standard output and returns the exit code. */
static int tell(struct pw_buffer *answer)
{
    bool is_told = !answer->failed && (answer->size == 0 || fputs(answer->data, stdout) >= 0) && fflush(stdout) == 0;
    pw_buffer_clear(answer);
    return is_told ? EXIT_WELL : EXIT_BROKEN;
}

static int run(const struct settings *settings)
{
    struct pw_buffer answer = { 0 };
    if (pw_program_answer(&settings_program, &settings->asked, &answer))
        return tell(&answer);
    if (settings->migrate_only)
        return daemon_migrate(settings);
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* modules' output appears at once */
    (void)signal(SIGXFSZ, SIG_IGN);         /* a file at its size limit fails the write instead */
    if (settings->dev)
        return dev_run(settings);
    int signal_fd = signals_open(/* with_children= */ false);
    if (signal_fd < 0) {
        fprintf(stderr, "pawld: signals cannot be received\n");
        return EXIT_BROKEN;
    }
    return daemon_run(settings, signal_fd);
}

/* pawld may be started with standard descriptors closed.  Then the first file opened, perhaps the database, would
 * become standard error, and every printed line would go there. */
static void fill_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            (void)open("/dev/null", O_RDWR); /* takes the lowest free number, which is this one */
}

int main(int count, char **values)
{
    struct settings settings;
    struct pawl_error error = { PAWL_OK, "" };
    memory_begin();
    fill_standard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN); /* a write to a closed pipe fails instead */
    struct pw_buffer answer = { 0 };
    if (count > 1 && strcmp(values[1], "token") == 0)
        return tokens_command(count, values);
    if (pw_program_complete(&settings_program, count, values, &answer))
        return tell(&answer);
    if (!settings_init(&settings)) {
        problem_print(PAWL_NOMEM, &error);
        return EXIT_BROKEN;
    }
    pawl_status status = read_settings(&settings, count, values, &error);
    int exit_code = problem_exit_code(status);
    if (status == PAWL_OK)
        exit_code = run(&settings);
    else
        problem_print(status, &error);
    settings_free(&settings);
    return exit_code;
}
