/* module_sweep_names.c - a module with a mistake: in a loop, a name has no index. */
#include <pawl/workflow.h>

static pawl_status polls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (int i = 0; i < 3; i++)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour")); /* the mistake */
    return PAWL_OK;
}

PAWL_MODULE({ .name = "polls", .run = polls });
