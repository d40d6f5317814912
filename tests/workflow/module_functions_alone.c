/* A module that has functions and no workflow: for a worker. */
#include <pawl/workflow.h>

static pawl_status thrice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(3 * pawl_value_int(input, NULL, 0)));
}

PAWL_FUNCTIONS({ .name = "loaded.thrice", .run = thrice });
