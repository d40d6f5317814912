/* process.c - see process.h.
 *
 * start() forks and execs the program with pipes for its standard streams.  attend() moves bytes until it ends.
 * end() kills the rest of its group and collects its status.  The danger is a program that outlives the host: arm()
 * makes the kernel kill it then. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pipe2, execvpe, close_range, F_SETSIG, TEMP_FAILURE_RETRY */
#endif
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

/* The pipes between the host and the program. */
enum {
    INPUT,
    OUTPUT,
    COMPLAINTS,
    REASON, /* carries the errno if exec fails */
    FUSE,   /* both ends stay in the host; see arm() */
    PIPES
};

enum {
    OUTPUT_FIRST = 4096,
    LOOK_MS_MIN = 1, /* how often to check whether it has ended, while its pipes are quiet */
    LOOK_MS_MAX = 20,
    EXIT_NOT_STARTED = 127
};

struct running {
    const struct pw_process *process;
    struct pw_process_outcome *outcome;
    pid_t pid;
    int pipes[PIPES][2]; /* the reading end and the writing end; -1: closed */
    size_t sent, room, complained;
    bool is_killed, is_gone, no_memory;
};

/* ---- Starting ------------------------------------------------------------------------------------------------------ */

static void close_end(int *end)
{
    if (*end >= 0)
        (void)close(*end);
    *end = -1;
}

static void close_pipes(int pipes[PIPES][2])
{
    for (int i = 0; i < PIPES; i++) {
        close_end(&pipes[i][0]);
        close_end(&pipes[i][1]);
    }
}

/* Moves the end above the standard descriptors, which the host may have closed and which the child replaces. */
static bool lift(int *end)
{
    if (*end > STDERR_FILENO)
        return true;
    int lifted = fcntl(*end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(*end);
    *end = lifted;
    return lifted >= 0;
}

static bool open_pipes(int pipes[PIPES][2])
{
    for (int i = 0; i < PIPES; i++)
        pipes[i][0] = pipes[i][1] = -1;
    for (int i = 0; i < PIPES; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0 || !lift(&pipes[i][0]) || !lift(&pipes[i][1]))
            return false;
    return true;
}

/* Makes the kernel kill the program's group when the host dies, however it dies.  When one end of a pipe is closed for
 * good, the kernel signals the owner of the other end.  Here the signal is SIGKILL, the owner is the program's group, and
 * the host alone holds both ends.  It never uses them, so the first end closes when the host does it, or when the host
 * ends.  The kernel remembers the group itself, not its number, so a later group with the same number is safe.
 * The child calls this, because it must be done before exec; the setting belongs to the pipe, not to the descriptor. */
static int arm(int fuse[2])
{
    for (int i = 0; i < 2; i++)
        if (fcntl(fuse[i], F_SETOWN, -getpid()) != 0 || fcntl(fuse[i], F_SETSIG, SIGKILL) != 0 ||
            fcntl(fuse[i], F_SETFL, O_ASYNC) != 0)
            return errno;
    return 0;
}

/* Runs in the child between fork and exec, so it only makes calls that are safe there. */
static void become(const struct pw_process *process, int pipes[PIPES][2], pid_t parent)
{
    struct sigaction as_usual = { .sa_handler = SIG_DFL };
    sigset_t none;
    (void)setpgid(0, 0);
    int reason = arm(pipes[FUSE]);
    /* If the host forks without exec, its children hold the fuse as well.  At least the program itself ends with the host. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the host died before the line above */
        _exit(EXIT_NOT_STARTED);
    (void)sigaction(SIGPIPE, &as_usual, NULL);
    (void)sigaction(SIGXFSZ, &as_usual, NULL);
    (void)sigemptyset(&none);
    if (reason == 0 && (dup2(pipes[INPUT][0], STDIN_FILENO) < 0 || dup2(pipes[OUTPUT][1], STDOUT_FILENO) < 0 ||
                        dup2(pipes[COMPLAINTS][1], STDERR_FILENO) < 0 ||
                        (process->directory != NULL && chdir(process->directory) != 0)))
        reason = errno;
    (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (reason == 0) {
        (void)execvpe(process->arguments[0], (char *const *)(uintptr_t)process->arguments,
                      (char *const *)(uintptr_t)process->environment);
        reason = errno;
    }
    ssize_t told = write(pipes[REASON][1], &reason, sizeof reason);
    (void)told;
    _exit(EXIT_NOT_STARTED);
}

/* Returns 0, or the errno why it could not be started. */
static int start(struct running *running)
{
    int(*pipes)[2] = running->pipes;
    sigset_t all, before;
    int reason = 0;
    if (!open_pipes(pipes))
        return errno;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* so that no handler of the host runs in the child */
    pid_t parent = getpid();
    running->pid = fork();
    if (running->pid == 0)
        become(running->process, pipes, parent);
    reason = running->pid < 0 ? errno : 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    close_end(&pipes[INPUT][0]);
    close_end(&pipes[OUTPUT][1]);
    close_end(&pipes[COMPLAINTS][1]);
    close_end(&pipes[REASON][1]);
    if (reason == 0) /* the pipe ends when exec has succeeded */
        (void)TEMP_FAILURE_RETRY(read(pipes[REASON][0], &reason, sizeof reason));
    if (reason != 0 && running->pid > 0)
        (void)TEMP_FAILURE_RETRY(waitpid(running->pid, NULL, 0));
    (void)fcntl(pipes[INPUT][1], F_SETFL, O_NONBLOCK);
    (void)fcntl(pipes[OUTPUT][0], F_SETFL, O_NONBLOCK);
    (void)fcntl(pipes[COMPLAINTS][0], F_SETFL, O_NONBLOCK);
    return reason;
}

/* ---- While it runs -------------------------------------------------------------------------------------------------- */

static void kill_group(struct running *running, enum pw_process_end why)
{
    if (running->is_killed)
        return;
    running->is_killed = true;
    running->outcome->end = why;
    (void)kill(-running->pid, SIGKILL);
}

/* How many bytes a read or write has moved.  0: none for now, or no more at all; then the end is closed. */
static size_t moved(int *end, ssize_t result)
{
    if (result > 0)
        return (size_t)result;
    if (result == 0 || errno != EAGAIN)
        close_end(end);
    return 0;
}

/* SIGPIPE is blocked in this thread while this runs. */
static void feed(struct running *running)
{
    struct pw_text input = running->process->input;
    int *end = &running->pipes[INPUT][1];
    size_t more = 1;
    while (*end >= 0 && running->sent < input.size && more > 0) {
        more = moved(end, TEMP_FAILURE_RETRY(write(*end, input.data + running->sent, input.size - running->sent)));
        running->sent += more;
    }
    if (running->sent == input.size)
        close_end(end);
}

static bool make_room(struct running *running)
{
    struct pw_process_outcome *outcome = running->outcome;
    if (outcome->output_size + 1 < running->room)
        return true;
    size_t room = running->room > 0 ? running->room * 2 : OUTPUT_FIRST;
    char *larger = realloc(outcome->output, room);
    if (larger == NULL) {
        running->no_memory = true;
        kill_group(running, PW_PROCESS_UNWANTED);
        return false;
    }
    outcome->output = larger;
    running->room = room;
    return true;
}

static void listen_to_output(struct running *running)
{
    struct pw_process_outcome *outcome = running->outcome;
    int *end = &running->pipes[OUTPUT][0];
    size_t more = 1;
    while (*end >= 0 && more > 0 && make_room(running)) {
        char *to = outcome->output + outcome->output_size;
        more = moved(end, TEMP_FAILURE_RETRY(read(*end, to, running->room - outcome->output_size - 1)));
        outcome->output_size += more;
        if (outcome->output_size > running->process->output_max) {
            kill_group(running, PW_PROCESS_OVERFLOWED);
            close_end(end);
        }
    }
}

/* Keeps only the last part. */
static void listen_to_complaints(struct running *running)
{
    char *text = running->outcome->complaints;
    char heard[512];
    int *end = &running->pipes[COMPLAINTS][0];
    size_t more = 1;
    while (*end >= 0 && more > 0) {
        more = moved(end, TEMP_FAILURE_RETRY(read(*end, heard, sizeof heard)));
        size_t kept = running->complained;
        if (kept + more > PW_COMPLAINTS_MAX)
            kept = PW_COMPLAINTS_MAX - more;
        memmove(text, text + running->complained - kept, kept);
        memcpy(text + kept, heard, more);
        running->complained = kept + more;
    }
}

/* A host that ignores SIGCHLD, or waits for all its children, may collect the program's status.  Then its process
 * number may belong to another process. */
static bool has_ended(struct running *running)
{
    siginfo_t info = { .si_pid = 0 };
    int result = waitid(P_PID, (id_t)running->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    running->is_gone = result != 0 && errno == ECHILD;
    return running->is_gone || info.si_pid != 0;
}

/* The loop ends when the program does, not when its pipes close, because processes that it started may keep them
 * open. */
static void attend(struct running *running)
{
    int look_ms = LOOK_MS_MIN;
    for (;;) {
        feed(running);
        listen_to_output(running);
        listen_to_complaints(running);
        if (has_ended(running))
            return;
        if (!running->process->is_wanted(running->process->user))
            kill_group(running, PW_PROCESS_UNWANTED);
        struct pollfd ends[] = { { .fd = running->pipes[INPUT][1], .events = POLLOUT },
                                 { .fd = running->pipes[OUTPUT][0], .events = POLLIN },
                                 { .fd = running->pipes[COMPLAINTS][0], .events = POLLIN } };
        if (poll(ends, 3, look_ms) == 0 && look_ms < LOOK_MS_MAX)
            look_ms *= 2;
        if (ends[1].revents != 0 || ends[2].revents != 0)
            look_ms = LOOK_MS_MIN; /* closing them is often the last thing that it does */
    }
}

/* ---- The end --------------------------------------------------------------------------------------------------------- */

static void end(struct running *running)
{
    struct pw_process_outcome *outcome = running->outcome;
    int status = 0;
    if (!running->is_gone)
        (void)kill(-running->pid, SIGKILL); /* kills what it left behind; the number is ours until waitpid() */
    close_end(&running->pipes[FUSE][0]);    /* kills the group even if the number is no longer ours */
    close_end(&running->pipes[FUSE][1]);
    bool is_known = !running->is_gone && TEMP_FAILURE_RETRY(waitpid(running->pid, &status, 0)) == running->pid;
    listen_to_output(running); /* what it wrote last */
    listen_to_complaints(running);
    if (running->is_killed)
        return;
    outcome->end = !is_known ? PW_PROCESS_UNKNOWN : WIFEXITED(status) ? PW_PROCESS_EXITED : PW_PROCESS_SIGNALLED;
    outcome->number = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

/* Makes the text valid UTF-8 and printable, because it may hold anything and may be cut anywhere. */
static void make_readable(char *text, size_t size)
{
    size_t begin = 0;
    while (begin < size && begin < 3 && ((unsigned char)text[begin] & 0xC0) == 0x80)
        begin++;
    memmove(text, text + begin, size - begin);
    size -= begin;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
        size--;
    text[size] = '\0';
    bool is_utf8 = pw_text_is_utf8((struct pw_text){ text, size });
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7F || (byte >= 0x80 && !is_utf8))
            text[i] = '?';
    }
}

/* Keeps SIGPIPE from the host, because the program may stop reading at any time. */
struct pipe_signal {
    sigset_t only, before;
    bool was_pending;
};

static void hold_pipe_signal(struct pipe_signal *held)
{
    sigset_t pending;
    (void)sigemptyset(&held->only);
    (void)sigaddset(&held->only, SIGPIPE);
    (void)sigpending(&pending);
    held->was_pending = sigismember(&pending, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &held->only, &held->before);
}

static void release_pipe_signal(const struct pipe_signal *held)
{
    const struct timespec now = { .tv_sec = 0 };
    if (!held->was_pending)
        (void)TEMP_FAILURE_RETRY(sigtimedwait(&held->only, NULL, &now));
    (void)pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

bool pw_process_run(const struct pw_process *process, struct pw_process_outcome *out_outcome)
{
    struct running running = { .process = process, .outcome = out_outcome };
    struct pipe_signal held;
    *out_outcome = (struct pw_process_outcome){ .end = PW_PROCESS_EXITED };
    int reason = start(&running);
    if (reason != 0) {
        close_pipes(running.pipes);
        out_outcome->end = PW_PROCESS_NOT_STARTED;
        out_outcome->number = reason;
        return reason != ENOMEM;
    }
    hold_pipe_signal(&held);
    attend(&running);
    end(&running);
    release_pipe_signal(&held);
    close_pipes(running.pipes);
    make_readable(out_outcome->complaints, running.complained);
    if (out_outcome->output != NULL)
        out_outcome->output[out_outcome->output_size] = '\0';
    if (running.no_memory)
        pw_process_outcome_clear(out_outcome);
    return !running.no_memory;
}

void pw_process_outcome_clear(struct pw_process_outcome *outcome)
{
    free(outcome->output);
    outcome->output = NULL;
    outcome->output_size = 0;
}
