/* main.c - pawl-check: crash sweeps of the workflows in a module.  Exits 0 when all are well, 1 when something was found,
 * 2 when it was asked for something that makes no sense, or could not say what came of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "sweep.h"

static const char help[] =
    "pawl-check - run the workflows of a module once for every commit, crashed just before and just after it\n"
    "\n"
    "usage: pawl-check MODULE.so [options]\n"
    "\n"
    "  --workflow NAME        only this one; else all of the module, one after the other\n"
    "  --params JSON | @FILE  what it is created with\n"
    "  --event TYPE[=JSON][@OFFSET]\n"
    "                         send it an event, so long after its creation (\"@1 hour\"; without: at once);\n"
    "                         may be given more than once, in the order of time\n"
    "  --sql STATEMENT        done first in each world, which begins empty: the tables that steps write to;\n"
    "                         may be given more than once\n"
    "  --seed N               another run of chance\n"
    "  --timeout DURATION     code from which no new step or case is heard for so long is killed (\"60 s\"); this time is\n"
    "                         real: give more where a single body takes longer\n"
    "  --any-outcome          results differ from run to run by nature: do not compare them\n"
    "  --same-names           a name twice in one pass is meant as the same step: do not tell of it\n"
    "  --real-clock           time() and the like answer with the machine's time, not with the simulated one\n"
    "  -v, --verbose          name every commit\n"
    "  -h, --help             this text\n"
    "\n"
    "Time is simulated, for time(), gettimeofday() and clock_gettime(CLOCK_REALTIME), too: a wait for an event that\n"
    "never comes ends by its timeout at once.  Found is: another result after a crash, other steps, a completed step\n"
    "that runs again, a run that does not end, a function that, run again, does not make the same durable calls, one\n"
    "that calls the same name twice in one pass, and an end with an error that only the code can cause, such as\n"
    "INVALID_DURATION.  After each crash the module's static variables are as they were when it was loaded.  Each\n"
    "workflow is played in a process of its own: where a body crashes for good, or does not come back, that is told,\n"
    "and the next one follows.\n"
    "Exit status: 0 well, 1 found something, 2 wrong use, nothing to check, or a report that could not be written.\n"
    "\n"
    "examples:\n"
    "  cc -shared -fPIC -g $(pkg-config --cflags pawl) -o order.so order.c && pawl-check ./order.so\n"
    "  pawl-check ./order.so --workflow order --params '{\"sku\": \"teapot\"}' --event 'approval={\"by\": \"Ada\"}@1 hour'\n";

/* ---- Sweeping --------------------------------------------------------------------------------------------------------------- */

/* The worse one. */
static int worse(int left, int right)
{
    return left > right ? left : right;
}

/* An inline workflow has no instances, and nothing of it outlives a crash. */
static pawl_status sweep_each(const struct arguments *arguments, const char *path, pawl_world *world, int *exit_code,
                              struct pawl_error *error)
{
    const struct pawl_workflow_info *workflows;
    size_t count = 0, swept = 0;
    pawl_status status = pawl_list_workflows(pawl_world_engine(world), pawl_world_scope(world), &workflows, &count);
    for (size_t i = 0; status == PAWL_OK && *exit_code != EXIT_WRONG_USE && i < count; i++) {
        if (workflows[i].is_inline) {
            printf("%s: inline, so there is nothing to crash: left out\n", workflows[i].name);
            continue;
        }
        *exit_code = worse(*exit_code, sweep_apart(arguments, path, workflows[i].name));
        swept++;
    }
    if (status != PAWL_OK || swept > 0)
        return status;
    snprintf(error->text, sizeof error->text, "nothing to check: %.400s has no workflow%s", path,
             count > 0 ? " that is not inline" : "");
    return PAWL_INVALID;
}

/* The world keeps the module loaded, so that it is the same one, at the same place, in every case. */
static pawl_status sweep_all(const struct arguments *arguments, const char *path, pawl_world *world, int *exit_code,
                             struct pawl_error *error)
{
    pawl_status status = pawl_load_module(pawl_world_engine(world), path, error);
    if (status != PAWL_OK)
        return status;
    if (arguments->workflow == NULL)
        return sweep_each(arguments, path, world, exit_code, error);
    *exit_code = sweep_apart(arguments, path, arguments->workflow);
    return PAWL_OK;
}

/* Without a slash in it the loader would look for the module among the system's libraries. */
static const char *path_of(const char *given, char *buffer, size_t size)
{
    if (strchr(given, '/') != NULL)
        return given;
    snprintf(buffer, size, "./%s", given);
    return buffer;
}

static int check_module(const struct arguments *arguments)
{
    char buffer[4096];
    struct pawl_error error = { PAWL_OK, "" };
    pawl_world *world = NULL;
    const char *path = path_of(arguments->path, buffer, sizeof buffer);
    int exit_code = sweep_try_to_load(arguments, path);
    if (exit_code != EXIT_WELL)
        return exit_code;
    pawl_status status = pawl_world_open(NULL, &world, &error);
    if (status == PAWL_OK)
        status = sweep_all(arguments, path, world, &exit_code, &error);
    if (status != PAWL_OK) {
        fprintf(stderr, "pawl-check: %s\n", error.text[0] != '\0' ? error.text : pawl_status_text(status));
        exit_code = EXIT_WRONG_USE;
    }
    pawl_world_close(world);
    return exit_code;
}

int main(int count, char **values)
{
    struct arguments arguments;
    char wrong[512];
    int exit_code = EXIT_WELL;
    if (!arguments_parse(&arguments, count, values, wrong, sizeof wrong)) {
        fprintf(stderr, "pawl-check: %s\n", wrong);
        exit_code = EXIT_WRONG_USE;
    } else if (arguments.help) {
        fputs(help, stdout);
    } else {
        exit_code = check_module(&arguments);
    }
    arguments_free(&arguments);
    return report_is_written() ? exit_code : EXIT_WRONG_USE;
}
