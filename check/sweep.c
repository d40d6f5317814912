/* sweep.c - see sweep.h. */
#define _GNU_SOURCE
#include "sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

/* What the process that sweeps was at, in memory that it shares with the one that waits for it. */
struct stage {
    char where[256];
    char step[264];  /* whose body is run; "": none */
    bool is_reached; /* its end: it was not killed on the way, and did not leave by itself */
};

struct sweep {
    const struct arguments *arguments;
    const char *path, *workflow;
    struct stage *stage;
};

/* ---- In the process of its own ---------------------------------------------------------------------------------------- */

static pawl_status load(pawl_world *world, void *user, struct pawl_error *error)
{
    const struct sweep *sweep = user;
    return pawl_load_module(pawl_world_engine(world), sweep->path, error);
}

static void note_stage(void *user, const char *where, const char *step)
{
    const struct sweep *sweep = user;
    snprintf(sweep->stage->where, sizeof sweep->stage->where, "%s", where);
    snprintf(sweep->stage->step, sizeof sweep->stage->step, "%s", step != NULL ? step : "");
}

static void print_report(const struct arguments *arguments, const struct pawl_sweep_report *report)
{
    fputs(report->text, stdout);
    for (size_t i = 0; arguments->verbose && i < report->commit_count; i++)
        printf("  commit %zu: %s\n", i + 1, report->commits[i]);
}

static int sweep_here(struct sweep *sweep)
{
    const struct arguments *arguments = sweep->arguments;
    struct pawl_sweep_options options = PAWL_SWEEP_OPTIONS_INIT;
    struct pawl_sweep_report report = { .finding_count = 0 };
    struct pawl_error error = { PAWL_OK, "" };
    pawl_scope *scope = pawl_scope_new();
    options.workflow = sweep->workflow;
    options.params_json = arguments->params_json;
    options.events = arguments->events;
    options.event_count = arguments->event_count;
    options.setup = load;
    options.user = sweep;
    options.seed = arguments->seed;
    options.outcome_may_vary = arguments->outcome_may_vary;
    options.names_may_repeat = arguments->names_may_repeat;
    options.place = place_tell;
    options.tell = note_stage;
    pawl_status status = pawl_sweep(scope, &options, &report, &error);
    if (status == PAWL_OK)
        print_report(arguments, &report);
    else
        fprintf(stderr, "pawl-check: %s\n", error.text[0] != '\0' ? error.text : pawl_status_text(status));
    pawl_scope_free(scope);
    if (status != PAWL_OK)
        return EXIT_WRONG_USE;
    return report.finding_count > 0 ? EXIT_FOUND : EXIT_WELL;
}

/* ---- In the one that waits for it --------------------------------------------------------------------------------------- */

static int print_death(const struct sweep *sweep, int status)
{
    const struct stage *stage = sweep->stage;
    printf("%s: no end, its code ended the process: 1 finding\n  %s, ", sweep->workflow, stage->where);
    if (stage->step[0] != '\0')
        printf("in the body of step \"%s\": ", stage->step);
    else
        printf("in no step's body: ");
    if (WIFSIGNALED(status))
        printf("killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        printf("left with exit status %d\n", WEXITSTATUS(status));
    return EXIT_FOUND;
}

static int refuse(const char *what)
{
    fprintf(stderr, "pawl-check: %s: %s\n", what, strerror(errno));
    return EXIT_WRONG_USE;
}

static int wait_for(const struct sweep *sweep, pid_t process)
{
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR)
            return refuse("cannot wait for a process");
    }
    return WIFEXITED(status) && sweep->stage->is_reached ? WEXITSTATUS(status) : print_death(sweep, status);
}

int sweep_apart(const struct arguments *arguments, const char *path, const char *workflow)
{
    struct sweep sweep = { arguments, path, workflow, NULL };
    sweep.stage = mmap(NULL, sizeof *sweep.stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sweep.stage == MAP_FAILED)
        return refuse("cannot share memory with a process");
    (void)fflush(NULL); /* else both would write what is there */
    pid_t process = fork();
    if (process == 0) {
        int exit_code = sweep_here(&sweep);
        sweep.stage->is_reached = true;
        exit(exit_code);
    }
    int exit_code = process > 0 ? wait_for(&sweep, process) : refuse("cannot start a process");
    (void)munmap(sweep.stage, sizeof *sweep.stage);
    return exit_code;
}
