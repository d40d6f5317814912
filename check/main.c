/* main.c - pawl-check: crash sweeps of the workflows in a module.  Exits with 0 if all is well, with 1 if something
 * was found, and with 2 for wrong use or a report that could not be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "sweep.h"

/* ---- Sweeping --------------------------------------------------------------------------------------------------------------- */

/* Larger exit codes are worse. */
static int worse(int left, int right)
{
    return left > right ? left : right;
}

/* Inline workflows have no instances, so nothing of them outlives a crash. */
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

/* The world keeps the module loaded, so that it stays at the same address in every case. */
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

/* A path without a slash would make the loader search the system's libraries. */
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
    struct arguments arguments = { .path = NULL };
    struct pw_buffer answer = { 0 };
    char wrong[PW_PROBLEM_SIZE];
    int exit_code = EXIT_WELL;
    bool is_answered = pw_program_complete(&arguments_program, count, values, &answer);
    if (!is_answered && !arguments_parse(&arguments, count, values, wrong)) {
        fprintf(stderr, "pawl-check: %s\n", wrong);
        exit_code = EXIT_WRONG_USE;
    } else if (is_answered || pw_program_answer(&arguments_program, &arguments.asked, &answer)) {
        fputs(answer.data != NULL ? answer.data : "", stdout);
        exit_code = answer.failed ? EXIT_WRONG_USE : EXIT_WELL;
    } else {
        exit_code = check_module(&arguments);
    }
    pw_buffer_clear(&answer);
    arguments_free(&arguments);
    return report_is_written() ? exit_code : EXIT_WRONG_USE;
}
