/* dev.c - see dev.h. */
#include "dev.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile.h"
#include "daemon.h"
#include "log.h"
#include "problem.h"
#include "signals.h"
#include "watch.h"

struct dev {
    const struct settings *settings;
    struct settings running;  /* the same, but with the compiled modules instead of the sources */
    struct pw_texts compiled; /* the newest modules that compiled; owns its texts */
    struct log log;
    int signal_fd, watch_fd;
    char folder[256];
    unsigned generation;
    pid_t child;       /* 0: no child runs */
    bool is_replacing; /* the child was told to stop and another one is to follow */
    bool is_stopping;  /* pawld was told to stop */
    unsigned children; /* started so far */
};

/* ---- Compiled modules -------------------------------------------------------------------------------------------- */

static void remove_modules(struct pw_texts *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        (void)unlink(modules->items[i]);
        free((char *)modules->items[i]);
    }
    modules->count = 0;
}

/* Each generation has its own file names, because the files of a running one are mapped and must not change. */
static char *module_name(const struct dev *dev, size_t position)
{
    char path[sizeof dev->folder + 64];
    (void)snprintf(path, sizeof path, "%s/%u-%zu.so", dev->folder, dev->generation, position);
    return strdup(path);
}

static pawl_status compile_all(struct dev *dev, struct pw_texts *out_modules, int *out_signal, struct pawl_error *error)
{
    const struct pw_texts *sources = &dev->settings->modules;
    pawl_status status = PAWL_OK;
    dev->generation++;
    for (size_t i = 0; i < sources->count && (status == PAWL_OK || status == PAWL_FAILED); i++) {
        char *path = module_name(dev, i);
        if (path == NULL)
            return problem(error, PAWL_NOMEM, "out of memory");
        out_modules->items[out_modules->count++] = path;
        pawl_status one = compile_module(sources->items[i], path, dev->signal_fd, out_signal, error);
        if (one == PAWL_FAILED)
            log_line(&dev->log, PAWL_LOG_ERROR, "%s", error->text);
        status = one != PAWL_OK ? one : status; /* go on, to show all errors at once */
    }
    return status;
}

/* ---- The child --------------------------------------------------------------------------------------------------- */

/* The child gets a process group of its own, so that a Ctrl-C reaches it once, through us.  It ends when this
 * process ends. */
static _Noreturn void become_daemon(struct dev *dev, pid_t parent)
{
    sigset_t children;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_BROKEN);
    (void)close(dev->signal_fd);
    (void)close(dev->watch_fd);
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)pthread_sigmask(SIG_UNBLOCK, &children, NULL);
    exit(daemon_run(&dev->running, signals_open(/* with_children= */ false)));
}

static void start_child(struct dev *dev)
{
    pid_t parent = getpid();
    remove_modules(&dev->running.modules);
    dev->running.modules = dev->compiled;
    dev->compiled.count = 0;
    dev->is_replacing = false;
    dev->children++;
    pid_t child = fork();
    if (child == 0)
        become_daemon(dev, parent);
    if (child < 0)
        log_line(&dev->log, PAWL_LOG_ERROR, "cannot start: %s; waiting for a change", strerror(errno));
    dev->child = child > 0 ? child : 0;
}

static void replace_child(struct dev *dev)
{
    if (dev->child == 0) {
        start_child(dev);
    } else if (!dev->is_replacing) {
        dev->is_replacing = true;
        (void)kill(dev->child, SIGTERM);
    }
}

/* ---- What happens ------------------------------------------------------------------------------------------------ */

/* Compiles all sources and, if they compile, replaces the child.  PAWL_INVALID: nothing can be compiled here.
 * *out_signal is a signal that interrupted it, before anything was changed, or 0. */
static pawl_status rebuild(struct dev *dev, int *out_signal, struct pawl_error *error)
{
    struct pw_texts modules = { .count = 0 };
    *out_signal = 0;
    pawl_status status = compile_all(dev, &modules, out_signal, error);
    if (status == PAWL_OK) {
        remove_modules(&dev->compiled);
        dev->compiled = modules;
        replace_child(dev);
        return PAWL_OK;
    }
    remove_modules(&modules);
    if (status == PAWL_FAILED)
        log_line(&dev->log, PAWL_LOG_INFO,
                 dev->child != 0 ? "the previous version keeps running; waiting for a change" : "waiting for a change");
    return status == PAWL_FAILED || status == PAWL_INTERRUPTED ? PAWL_OK : status;
}

static int exit_code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Handles the end of the child.  Returns true if this process ends as well, with *out_code. */
static bool on_ended(struct dev *dev, int status, bool was_first, int *out_code)
{
    dev->child = 0;
    *out_code = exit_code_of(status);
    if (dev->is_stopping)
        return true;
    if (dev->is_replacing) {
        start_child(dev);
        return false;
    }
    /* The first child could not start and has printed why: a port in use, or a store that cannot be opened. */
    if (was_first && (*out_code == EXIT_BROKEN || *out_code == EXIT_WRONG_USE))
        return true;
    if (WIFSIGNALED(status))
        log_line(&dev->log, PAWL_LOG_ERROR, "crashed: %s; waiting for a change", strsignal(WTERMSIG(status)));
    else
        log_line(&dev->log, PAWL_LOG_ERROR, "ended with %d; waiting for a change", *out_code);
    return false;
}

/* Returns true if this process ends, with *out_code. */
static bool on_signal(struct dev *dev, int number, int *out_code)
{
    int status;
    if (number == SIGCHLD) {
        bool was_first = dev->children == 1;
        return dev->child != 0 && waitpid(dev->child, &status, WNOHANG) == dev->child &&
               on_ended(dev, status, was_first, out_code);
    }
    dev->is_stopping = true;
    *out_code = EXIT_WELL;
    if (dev->child == 0)
        return true;
    /* A child that is being replaced was signalled already.  A second signal would stop it at once. */
    if (!dev->is_replacing)
        (void)kill(dev->child, number);
    dev->is_replacing = false;
    return false;
}

/* Compiles, then handles the signals that arrived meanwhile.  Returns true if this process ends, with *out_code. */
static bool renew(struct dev *dev, int *out_code)
{
    struct pawl_error error = { PAWL_OK, "" };
    int number;
    pawl_status status = rebuild(dev, &number, &error);
    if (status != PAWL_OK) {
        problem_print(status, &error);
        *out_code = EXIT_BROKEN;
        return true;
    }
    return (number != 0 && on_signal(dev, number, out_code)) || on_signal(dev, SIGCHLD, out_code);
}

static int watch_and_run(struct dev *dev)
{
    struct pollfd watched[] = { { dev->signal_fd, POLLIN, 0 }, { dev->watch_fd, POLLIN, 0 } };
    int code = EXIT_BROKEN, number;
    for (bool is_over = renew(dev, &code); !is_over;) {
        (void)poll(watched, 2, -1);
        while (!is_over && (number = signals_next(dev->signal_fd)) != 0)
            is_over = on_signal(dev, number, &code);
        if (!is_over && !dev->is_stopping && watch_changed(dev->watch_fd, &dev->settings->modules))
            is_over = renew(dev, &code);
    }
    return code;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

static bool make_folder(struct dev *dev)
{
    const char *temporary = getenv("TMPDIR");
    char path[sizeof dev->folder];
    int size =
        snprintf(path, sizeof path, "%s/pawld-XXXXXX", temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (size >= (int)sizeof path || mkdtemp(path) == NULL) {
        fprintf(stderr, "pawld: cannot make the folder %s: %s\n", path, strerror(errno));
        return false;
    }
    memcpy(dev->folder, path, sizeof path);
    return true;
}

static bool open_dev(struct dev *dev)
{
    const struct pw_texts *sources = &dev->settings->modules;
    for (size_t i = 0; i < sources->count; i++) {
        if (access(sources->items[i], R_OK) != 0) {
            fprintf(stderr, "pawld: %s: %s\n", sources->items[i], strerror(errno));
            return false;
        }
    }
    dev->signal_fd = signals_open(/* with_children= */ true);
    dev->watch_fd = watch_open(sources);
    if (dev->signal_fd < 0 || dev->watch_fd < 0) {
        fprintf(stderr, "pawld: cannot watch the files: %s\n", strerror(errno));
        return false;
    }
    return make_folder(dev);
}

static void close_dev(struct dev *dev)
{
    remove_modules(&dev->running.modules);
    remove_modules(&dev->compiled);
    if (dev->folder[0] != '\0')
        (void)rmdir(dev->folder);
    if (dev->signal_fd >= 0)
        (void)close(dev->signal_fd);
    if (dev->watch_fd >= 0)
        (void)close(dev->watch_fd);
}

int dev_run(const struct settings *settings)
{
    struct dev *dev = calloc(1, sizeof *dev);
    if (dev == NULL) {
        fprintf(stderr, "pawld: out of memory\n");
        return EXIT_BROKEN;
    }
    dev->settings = settings;
    dev->running = *settings;
    dev->running.modules.count = 0;
    dev->log = log_open(settings->log, settings->log_level);
    dev->signal_fd = dev->watch_fd = -1;
    int code = open_dev(dev) ? watch_and_run(dev) : EXIT_BROKEN;
    close_dev(dev);
    free(dev);
    return code;
}
