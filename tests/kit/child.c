/* child.c - see child.h. */
#include "kit/child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

pid_t child_start(void (*become)(void *user), void *user)
{
    (void)fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        become(user);
        _exit(1);
    }
    assert_true(process > 0);
    return process;
}

static int end_of(pid_t *process, int status)
{
    *process = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int child_await(pid_t *process)
{
    int status = 0;
    assert_int_equal(waitpid(*process, &status, 0), *process);
    return end_of(process, status);
}

bool child_has_ended(pid_t *process, int *out_code)
{
    int status = 0;
    if (waitpid(*process, &status, WNOHANG) != *process)
        return false;
    *out_code = end_of(process, status);
    return true;
}

int child_kill(pid_t *process)
{
    if (*process <= 0)
        return 0;
    (void)kill(*process, SIGKILL);
    return child_await(process);
}

void child_become(const char *program, const char *const *arguments, int input, int output, int errors)
{
    const char *words[64] = { strrchr(program, '/') + 1 };
    for (size_t count = 1; *arguments != NULL && count < 63; count++)
        words[count] = *arguments++;
    if ((input >= 0 && dup2(input, STDIN_FILENO) < 0) || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(errors, STDERR_FILENO) < 0)
        _exit(98);
    (void)execv(program, (char *const *)words);
    _exit(99);
}

void child_read(int from, char *text, size_t room)
{
    size_t size = strlen(text);
    ssize_t got;
    while (from >= 0 && size < room - 1 && (got = read(from, text + size, room - 1 - size)) > 0) {
        size += (size_t)got;
        text[size] = '\0';
    }
}

int child_count(const char *text, const char *wanted)
{
    int times = 0;
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        times++;
    return times;
}

unsigned child_seed(void)
{
    const char *given = getenv("PAWL_TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("PAWL_TEST_SEED=%u\n", seed);
    return seed;
}

unsigned child_draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}
