/* sweep.c - see sweep.h. */
#define _GNU_SOURCE
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"
#include "clock.h"
#include "memory.h"
#include "place.h"

struct sweep {
    const struct arguments *arguments;
    const char *path, *workflow;
    struct apart_stage *stage;
    struct memory *memory; /* the module's variables as they were just after loading */
};

/* ---- In the process of its own ---------------------------------------------------------------------------------------- */

static pawl_status show_clock(pawl_world *world, struct pawl_error *error)
{
    pawl_status status = pawl_at_close(pawl_world_engine(world), clock_leave, world);
    if (status == PAWL_OK)
        clock_follow(world);
    else
        snprintf(error->text, sizeof error->text, "%s", pawl_status_text(status));
    return status;
}

static pawl_status make_ready(pawl_world *world, void *user, struct pawl_error *error)
{
    const struct sweep *sweep = user;
    const struct arguments *arguments = sweep->arguments;
    pawl_status status = arguments->real_clock ? PAWL_OK : show_clock(world, error);
    for (size_t i = 0; status == PAWL_OK && i < arguments->sql.count; i++)
        status = pawl_world_sql(world, arguments->sql.items[i], error);
    return status == PAWL_OK ? pawl_load_module(pawl_world_engine(world), sweep->path, error) : status;
}

static void note_stage(void *user, const char *where, const char *step)
{
    const struct sweep *sweep = user;
    apart_note(sweep->stage, where, step != NULL ? step : "");
}

static void forget(void *user)
{
    const struct sweep *sweep = user;
    memory_put_back(sweep->memory);
}

/* Step bodies may close or redirect standard output and error, so copies are kept at high numbers, away from those
 * that bodies use. */
enum { COPIES_FROM = 200 };

struct streams {
    int output, errors;
};

static struct streams keep_streams(void)
{
    return (struct streams){ fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, COPIES_FROM),
                             fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, COPIES_FROM) };
}

static void put_streams_back(struct streams kept)
{
    (void)fflush(NULL); /* flushes what the module has written to where it was meant */
    if (kept.output >= 0)
        (void)dup2(kept.output, STDOUT_FILENO);
    if (kept.errors >= 0)
        (void)dup2(kept.errors, STDERR_FILENO);
    clearerr(stdout);
}

bool report_is_written(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "pawl-check: the report could not be written: %s\n", strerror(errno));
    return false;
}

static void print_report(const struct arguments *arguments, const struct pawl_sweep_report *report)
{
    fputs(report->text, stdout);
    for (size_t i = 0; arguments->verbose && i < report->commit_count; i++)
        printf("  commit %zu: %s\n", i + 1, report->commits[i]);
}

static int sweep_loaded(struct sweep *sweep)
{
    const struct arguments *arguments = sweep->arguments;
    struct pawl_sweep_options options = PAWL_SWEEP_OPTIONS_INIT;
    struct pawl_sweep_report report = { .finding_count = 0 };
    struct pawl_error error = { PAWL_OK, "" };
    pawl_scope *scope = pawl_scope_new();
    options.workflow = sweep->workflow;
    options.params_json = arguments->params_json;
    options.events = arguments->events;
    options.event_count = arguments->event_texts.count;
    options.setup = make_ready;
    options.user = sweep;
    options.seed = (uint64_t)arguments->seed;
    options.outcome_may_vary = arguments->outcome_may_vary;
    options.names_may_repeat = arguments->names_may_repeat;
    options.place = place_tell;
    options.tell = note_stage;
    options.crashed = forget;
    struct streams kept = keep_streams();
    pawl_status status = pawl_sweep(scope, &options, &report, &error);
    put_streams_back(kept);
    if (status == PAWL_OK)
        print_report(arguments, &report);
    else
        fprintf(stderr, "pawl-check: %s\n", error.text[0] != '\0' ? error.text : pawl_status_text(status));
    pawl_scope_free(scope);
    if (status != PAWL_OK || !report_is_written())
        return EXIT_WRONG_USE;
    return report.finding_count > 0 ? EXIT_FOUND : EXIT_WELL;
}

static int sweep_here(struct apart_stage *stage, void *user)
{
    struct sweep *sweep = user;
    sweep->stage = stage;
    sweep->memory = memory_keep(sweep->path);
    if (sweep->memory == NULL) {
        fprintf(stderr, "pawl-check: there is no memory to keep the module's variables in\n");
        return EXIT_WRONG_USE;
    }
    int exit_code = sweep_loaded(sweep);
    memory_free(sweep->memory);
    return exit_code;
}

/* ---- In the one that waits for it --------------------------------------------------------------------------------------- */

static void print_end(FILE *to, const struct arguments *arguments, const struct apart_outcome *outcome)
{
    if (outcome->end == APART_SILENT)
        fprintf(to, "no new step for %s (--timeout), so it was killed\n", arguments->timeout);
    else if (outcome->end == APART_KILLED)
        fprintf(to, "killed by signal %d (%s)\n", outcome->code, strsignal(outcome->code));
    else
        fprintf(to, "left with exit status %d\n", outcome->code);
}

static int print_no_end(const struct sweep *sweep, const struct apart_outcome *outcome)
{
    const char *why = outcome->end == APART_SILENT ? "did not come back" : "ended the process";
    printf("%s: no end, its code %s: 1 finding\n  %s, ", sweep->workflow, why, outcome->where);
    if (outcome->step[0] != '\0')
        printf("in the body of step \"%s\": ", outcome->step);
    else
        printf("in no step's body: ");
    print_end(stdout, sweep->arguments, outcome);
    return EXIT_FOUND;
}

static int refuse_no_process(void)
{
    fprintf(stderr, "pawl-check: cannot start a process: %s\n", strerror(errno));
    return EXIT_WRONG_USE;
}

int sweep_apart(const struct arguments *arguments, const char *path, const char *workflow)
{
    struct sweep sweep = { arguments, path, workflow, NULL, NULL };
    struct apart_outcome outcome;
    if (!apart_run(sweep_here, &sweep, arguments->timeout_ms, &outcome))
        return refuse_no_process();
    int exit_code = outcome.end == APART_RETURNED ? outcome.code : print_no_end(&sweep, &outcome);
    if (!outcome.came_back)
        return exit_code;
    printf("%s: a process that its code forked came back from there: 1 finding\n  it has to end with exec or _exit()\n",
           workflow);
    return exit_code == EXIT_WELL ? EXIT_FOUND : exit_code;
}

/* ---- Loading, to see ------------------------------------------------------------------------------------------------------ */

enum { LOADING_MS_MAX = 60000 }; /* at least this long, because constructors report nothing */

/* If loading fails, the caller's own loading reports the reason. */
static int load_here(struct apart_stage *stage, void *user)
{
    const struct sweep *sweep = user;
    pawl_world *world = NULL;
    (void)stage;
    pawl_status status = pawl_world_open(NULL, &world, NULL);
    if (status == PAWL_OK)
        status = pawl_load_module(pawl_world_engine(world), sweep->path, NULL);
    pawl_world_close(world);
    return status == PAWL_OK ? EXIT_WELL : EXIT_WRONG_USE;
}

int sweep_try_to_load(const struct arguments *arguments, const char *path)
{
    struct sweep sweep = { .path = path };
    struct apart_outcome outcome;
    int64_t silence_max_ms = arguments->timeout_ms > LOADING_MS_MAX ? arguments->timeout_ms : LOADING_MS_MAX;
    if (!apart_run(load_here, &sweep, silence_max_ms, &outcome))
        return refuse_no_process();
    if (outcome.end == APART_RETURNED)
        return EXIT_WELL;
    fprintf(stderr, "pawl-check: %s cannot be loaded, its constructors ", path);
    if (outcome.end == APART_SILENT) {
        fprintf(stderr, "do not come back\n");
    } else {
        fprintf(stderr, "end the process: ");
        print_end(stderr, arguments, &outcome);
    }
    return EXIT_WRONG_USE;
}
