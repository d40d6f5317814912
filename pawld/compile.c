/* compile.c - see compile.h.  A module gets the pawl_* symbols from the pawld that loads it.  So it is not linked
 * with our libraries and needs only the headers.  These are in ../include beside pawld's own folder, both in a build
 * and when installed, or where pkg-config says. */
#include "compile.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problem.h"
#include "signals.h"

extern char **environ;

/* GRACE_MS is the time for a compiler to remove its half-written files. */
enum { WORDS_MAX = 128, PATH_SIZE = 4096, GRACE_MS = 300 };

struct command {
    pawl_scope *scope;
    char *words[WORDS_MAX + 1];
    size_t count;
};

static void add_word(struct command *command, const char *word, size_t size)
{
    const char *kept = pawl_scope_format(command->scope, "%.*s", (int)size, word);
    if (kept != NULL && command->count < WORDS_MAX)
        command->words[command->count++] = (char *)kept;
}

static void add(struct command *command, const char *word)
{
    add_word(command, word, strlen(word));
}

/* Words are separated by white space.  Quotes have no meaning, as in make. */
static void add_words(struct command *command, const char *text)
{
    static const char blanks[] = " \t\r\n";
    while (text != NULL && *(text += strspn(text, blanks)) != '\0') {
        size_t size = strcspn(text, blanks);
        add_word(command, text, size);
        text += size;
    }
}

/* Adds "-I" for the headers that came with this pawld.  Returns false if there are none beside it. */
static bool add_own_headers(struct command *command)
{
    char program[PATH_SIZE];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size <= 0)
        return false;
    program[size] = '\0';
    *strrchr(program, '/') = '\0';
    const char *folder = pawl_scope_format(command->scope, "%s/../include", program);
    const char *header = folder != NULL ? pawl_scope_format(command->scope, "%s/pawl/pawl.h", folder) : NULL;
    if (header == NULL || access(header, R_OK) != 0)
        return false;
    add(command, "-I");
    add(command, folder);
    return true;
}

static void add_installed_headers(struct command *command)
{
    char flags[PATH_SIZE] = "";
    FILE *output = popen("pkg-config --cflags pawl 2>/dev/null", "re");
    if (output == NULL)
        return;
    if (fgets(flags, sizeof flags, output) != NULL)
        add_words(command, flags);
    (void)pclose(output);
}

static void compose(struct command *command, const char *source, const char *output)
{
    const char *compiler = getenv("CC");
    add_words(command, compiler != NULL && compiler[0] != '\0' ? compiler : "cc");
    add(command, "-shared");
    add(command, "-fPIC");
    add(command, "-g");
    add(command, "-Werror=implicit-function-declaration"); /* finds misspelt functions before loading does */
    add_words(command, getenv("CFLAGS"));
    if (!add_own_headers(command))
        add_installed_headers(command);
    add(command, "-o");
    add(command, output);
    add(command, source);
    add_words(command, getenv("LDLIBS"));
}

/* ---- Running it -------------------------------------------------------------------------------------------------- */

/* The compiler starts with no signal blocked, and in a process group of its own: it ends together with its children,
 * and a Ctrl-C at the terminal reaches it only through pawld. */
static int start(const struct command *command, pid_t *out_process)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    int flaw = posix_spawnattr_init(&attributes);
    if (flaw != 0)
        return flaw;
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    flaw = posix_spawnp(out_process, command->words[0], NULL, &attributes, command->words, environ);
    (void)posix_spawnattr_destroy(&attributes);
    return flaw;
}

/* Does not reap the process, so that its id stays valid. */
static bool has_ended(pid_t process)
{
    siginfo_t came = { .si_pid = 0 };
    return waitid(P_PID, (id_t)process, &came, WEXITED | WNOHANG | WNOWAIT) != 0 || came.si_pid == process;
}

/* Waits until the process has ended, which SIGCHLD tells, or until another signal arrives.  Returns that signal, or
 * 0. */
static int await_end(pid_t process, int signal_fd, int timeout_ms)
{
    struct pollfd watched = { signal_fd, POLLIN, 0 };
    while (!has_ended(process)) {
        if (poll(&watched, 1, timeout_ms) == 0)
            return 0;
        int number = signals_next(signal_fd);
        if (number != 0 && number != SIGCHLD)
            return number;
    }
    return 0;
}

static int collect(pid_t process)
{
    int status = -1;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* A second signal cuts the grace period short. */
static void end(pid_t process, int signal_fd)
{
    (void)kill(-process, SIGTERM);
    (void)await_end(process, signal_fd, GRACE_MS);
    (void)kill(-process, SIGKILL);
    (void)collect(process);
}

static pawl_status run(const struct command *command, const char *source, int signal_fd, int *out_signal,
                       struct pawl_error *error)
{
    pid_t process;
    int flaw = start(command, &process);
    if (flaw != 0)
        return problem(error, PAWL_INVALID, "cannot run the compiler %.100s: %s; set $CC to another one",
                       command->words[0], strerror(flaw));
    int number = await_end(process, signal_fd, -1);
    if (number != 0) {
        end(process, signal_fd);
        *out_signal = number;
        return problem(error, PAWL_INTERRUPTED, "%s: the compiler was ended", signals_name(number));
    }
    int status = collect(process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return problem(error, PAWL_INVALID, "there is no compiler %.100s; set $CC to another one", command->words[0]);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? PAWL_OK
               : problem(error, PAWL_FAILED, "%.300s does not compile", source);
}

pawl_status compile_module(const char *source, const char *output, int signal_fd, int *out_signal,
                           struct pawl_error *error)
{
    struct command command = { .scope = pawl_scope_new() };
    if (command.scope == NULL)
        return problem(error, PAWL_NOMEM, "out of memory");
    compose(&command, source, output);
    pawl_status status = command.count > 0 && command.count < WORDS_MAX
                             ? run(&command, source, signal_fd, out_signal, error)
                             : problem(error, PAWL_INVALID, "the compiler's command has more than %d words", WORDS_MAX);
    pawl_scope_free(command.scope);
    return status;
}
