/* module_fault.c - a module to be loaded while memory runs out. */
#include "pawl/workflow.h"

static pawl_status loaded(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_return(run, out_result, "s", "loaded");
}

PAWL_MODULE({ .name = "loaded", .run = loaded }, { .name = "loaded-too", .run = loaded });
