/* apart.c - see apart.h.  The caller sleeps until SIGCHLD tells of the child's end, or until the last report is too
 * old. */
#define _GNU_SOURCE
#include "apart.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/thread.h"

struct apart_stage {
    char where[256], step[264];  /* the caller reads these only once the process is dead */
    _Atomic int64_t heard_at_ms; /* monotonic */
    bool is_reached;             /* the function returned */
    int code;
    pid_t process; /* the id of the real process */
    _Atomic bool came_back;
};

/* ---- In the process of its own ---------------------------------------------------------------------------------------- */

void apart_note(struct apart_stage *stage, const char *where, const char *step)
{
    if (getpid() != stage->process) { /* else each fork would double the processes */
        atomic_store(&stage->came_back, true);
        _exit(1);
    }
    snprintf(stage->where, sizeof stage->where, "%s", where);
    snprintf(stage->step, sizeof stage->step, "%s", step);
    atomic_store(&stage->heard_at_ms, pw_monotonic_ms());
}

/* In bytes; 0 if unknown. */
static rlim_t read_address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Limits the address space to half of the machine's memory, because a loop that does not end may also allocate.  A
 * sanitizer has already reserved more than that; then there is no limit. */
static void bound_memory(void)
{
    struct rlimit limit;
    rlim_t bound = (rlim_t)sysconf(_SC_PHYS_PAGES) / 2 * (rlim_t)sysconf(_SC_PAGESIZE), used = read_address_space();
    if (used == 0 || used >= bound || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur <= bound)
        return;
    limit.rlim_cur = bound;
    (void)setrlimit(RLIMIT_AS, &limit);
}

static _Noreturn void run_here(apart_fn *function, void *user, struct apart_stage *stage, pid_t parent,
                               const sigset_t *mask)
{
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1); /* the caller is gone */
    bound_memory();
    stage->process = getpid();
    stage->code = function(stage, user);
    stage->is_reached = true;
    exit(stage->code); /* the result is recorded, so exit handlers cannot change it */
}

/* ---- In the one that waits for it --------------------------------------------------------------------------------------- */

/* Waits until a child ends or stops, or until the given time. */
static void sleep_until(int64_t until_ms)
{
    sigset_t of_children;
    int64_t left_ms = until_ms - pw_monotonic_ms();
    struct timespec left = { (time_t)(left_ms / 1000), (long)(left_ms % 1000) * 1000000 };
    (void)sigemptyset(&of_children);
    (void)sigaddset(&of_children, SIGCHLD);
    if (left_ms > 0)
        (void)sigtimedwait(&of_children, NULL, &left);
}

static bool wait_for(pid_t process, const struct apart_stage *stage, int64_t silence_max_ms, int *status,
                     bool *is_silent)
{
    pid_t ended;
    *is_silent = false;
    while ((ended = waitpid(process, status, *is_silent ? 0 : WNOHANG)) != process) {
        if (ended < 0 && errno != EINTR)
            return false;
        int64_t until_ms = atomic_load(&stage->heard_at_ms) + silence_max_ms;
        if (pw_monotonic_ms() >= until_ms) {
            *is_silent = true;
            (void)kill(process, SIGKILL);
        } else {
            sleep_until(until_ms);
        }
    }
    return true;
}

static void tell_end(const struct apart_stage *stage, int status, bool is_silent, struct apart_outcome *outcome)
{
    outcome->came_back = atomic_load(&stage->came_back);
    snprintf(outcome->where, sizeof outcome->where, "%s", stage->where);
    snprintf(outcome->step, sizeof outcome->step, "%s", stage->step);
    if (stage->is_reached) {
        outcome->end = APART_RETURNED;
        outcome->code = stage->code;
    } else if (is_silent) {
        outcome->end = APART_SILENT;
        outcome->code = SIGKILL;
    } else {
        outcome->end = WIFSIGNALED(status) ? APART_KILLED : APART_LEFT;
        outcome->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
}

bool apart_run(apart_fn *function, void *user, int64_t silence_max_ms, struct apart_outcome *out_outcome)
{
    sigset_t of_children, before;
    int status = 0;
    bool is_silent = false, is_done = false;
    pid_t parent = getpid();
    struct apart_stage *stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stage == MAP_FAILED)
        return false;
    atomic_store(&stage->heard_at_ms, pw_monotonic_ms());
    (void)sigemptyset(&of_children);
    (void)sigaddset(&of_children, SIGCHLD);
    (void)signal(SIGCHLD, SIG_DFL);                      /* if it is ignored, children cannot be waited for */
    (void)sigprocmask(SIG_BLOCK, &of_children, &before); /* sigtimedwait() takes it */
    (void)fflush(NULL);                                  /* else both processes would write what is buffered */
    pid_t process = fork();
    if (process == 0)
        run_here(function, user, stage, parent, &before);
    if (process > 0)
        is_done = wait_for(process, stage, silence_max_ms, &status, &is_silent);
    int why = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (is_done)
        tell_end(stage, status, is_silent, out_outcome);
    (void)munmap(stage, sizeof *stage);
    errno = why;
    return is_done;
}
