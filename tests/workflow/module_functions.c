/* A module with a workflow and the function that it calls. */
#include <pawl/workflow.h>

static pawl_status twice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(2 * pawl_value_int(input, NULL, 0)));
}

static pawl_status doubling(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_call(run, "double", "loaded.twice", NULL, params, out_result);
}

PAWL_MODULE({ .name = "doubling", .run = doubling });
PAWL_FUNCTIONS({ .name = "loaded.twice", .run = twice, .description = "Twice the number" });
