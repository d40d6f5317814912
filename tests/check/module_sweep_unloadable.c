/* module_sweep_unloadable.c - a module that kills whoever loads it. */
#include <pawl/workflow.h>
#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
    abort();
}

static pawl_status rests(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    (void)params;
    (void)out_result;
    return PAWL_OK;
}

PAWL_MODULE({ .name = "rests", .run = rests });
