/* module_sweep_dies.c - a module whose code kills the process that it runs in: in a body, outside of one, and now and then; or who can
 * hear of it. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pawl_status nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

static pawl_status die(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    abort();
}

static pawl_status leave(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    exit(0);
}

static pawl_status die_the_sixth_time(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    char calls[8] = ""; /* counted where a simulated crash takes nothing from */
    const char *before = getenv("PAWL_TEST_CALLS");
    snprintf(calls, sizeof calls, "%sx", before != NULL ? before : "");
    setenv("PAWL_TEST_CALLS", calls, 1);
    return strlen(calls) < 6 ? nothing(step, input, out_result) : die(step, input, out_result);
}

static pawl_status hush(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)close(STDOUT_FILENO);
    (void)close(STDERR_FILENO);
    return nothing(step, input, out_result);
}

static pawl_status fork_and_return(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    pid_t process = fork();
    if (process > 0)
        (void)waitpid(process, NULL, 0);
    return nothing(step, input, out_result); /* the mistake: both do */
}

static pawl_status dies(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, NULL));
    return pawl_do(run, "die", NULL, die, params, out_result);
}

static pawl_status dies_late(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "die", NULL, die_the_sixth_time, params, out_result);
}

static pawl_status dies_outside(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, out_result));
    abort();
}

static pawl_status forks(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "fork", NULL, fork_and_return, params, out_result);
}

static pawl_status hushes(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "hush", NULL, hush, params, out_result);
}

static pawl_status leaves(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "leave", NULL, leave, params, out_result);
}

static pawl_status lives(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "live", NULL, nothing, params, out_result);
}

PAWL_MODULE({ .name = "dies", .run = dies }, { .name = "dies-late", .run = dies_late },
            { .name = "dies-outside", .run = dies_outside }, { .name = "forks", .run = forks },
            { .name = "hushes", .run = hushes }, { .name = "leaves", .run = leaves },
            { .name = "lives", .run = lives });
