/* module_functions.c - functions for workers, and a workflow that a worker does not want. */
#include <pawl/workflow.h>

#include "gate.h"

static pawl_status twice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(2 * pawl_value_int(input, NULL, 0)));
}

/* input: the gate's path, as in module_gates.c. */
static pawl_status stand(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *gate = pawl_value_string(input, NULL, "");
    gate_stand(gate);
    gate_note(gate, "ended");
    return pawl_result(step, out_result, "s", "passed");
}

static pawl_status unwanted(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

PAWL_FUNCTIONS({ .name = "double", .run = twice }, { .name = "stand", .run = stand });
PAWL_MODULE({ .name = "unwanted", .run = unwanted });
