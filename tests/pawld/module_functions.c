/* module_functions.c - functions for workers, and a workflow that a worker does not want. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pawl_status twice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(2 * pawl_value_int(input, NULL, 0)));
}

static void note(const char *gate, const char *what)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s.log", gate);
    FILE *file = fopen(path, "ae");
    if (file == NULL)
        return;
    (void)fprintf(file, "%s\n", what);
    (void)fclose(file);
}

/* input: the gate's path, as in module_gates.c. */
static pawl_status stand(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    enum { LOOKS_MAX = 12000, LOOK_MS = 5 };
    const char *gate = pawl_value_string(input, NULL, "");
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    note(gate, "begun");
    for (int i = 0; i < LOOKS_MAX && access(gate, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    note(gate, "ended");
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status unwanted(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

PAWL_FUNCTIONS({ .name = "double", .run = twice }, { .name = "stand", .run = stand });
PAWL_MODULE({ .name = "unwanted", .run = unwanted });
