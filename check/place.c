/* place.c - see place.h. */
#include "place.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts addr2line with its output in the pipe.  Returns 0 if it cannot be started. */
static pid_t start_addr2line(const char *object, const char *offset, const int ends[2])
{
    char *const arguments[] = { "addr2line", "-e", (char *)object, (char *)offset, NULL };
    posix_spawn_file_actions_t actions;
    pid_t process = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return 0;
    bool ready = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
                 posix_spawn_file_actions_addclose(&actions, ends[0]) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0) == 0;
    if (!ready || posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ) != 0)
        process = 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    return process;
}

static bool ask_addr2line(const char *object, const char *offset, char *text, size_t size)
{
    int ends[2], status = 1;
    if (pipe(ends) != 0)
        return false;
    pid_t process = start_addr2line(object, offset, ends);
    (void)close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    bool got = process != 0 && output != NULL && fgets(text, (int)size, output) != NULL;
    if (output != NULL)
        (void)fclose(output);
    else
        (void)close(ends[0]);
    if (process != 0)
        (void)waitpid(process, &status, 0);
    return got && status == 0;
}

/* False for "??:0", and for "order.c:?", which an object without debug information gives. */
static bool has_line(const char *text)
{
    const char *colon = strrchr(text, ':');
    return text[0] != '?' && colon != NULL && colon[1] >= '1' && colon[1] <= '9';
}

bool place_tell(const char *object, uint64_t offset, char *text, size_t size)
{
    char hexadecimal[32];
    snprintf(hexadecimal, sizeof hexadecimal, "0x%llx", (unsigned long long)offset);
    if (!ask_addr2line(object, hexadecimal, text, size))
        return false;
    text[strcspn(text, "\n")] = '\0';
    char *behind = strstr(text, " (discriminator ");
    if (behind != NULL)
        *behind = '\0';
    return has_line(text);
}
