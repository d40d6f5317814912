/* module_sweep_inline.c - a module with an inline workflow among others. */
#include <pawl/workflow.h>

static pawl_status nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

static pawl_status lives(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "live", NULL, nothing, params, out_result);
}

PAWL_MODULE({ .name = "after", .run = lives }, { .name = "between", .run = lives, .mode = PAWL_MODE_INLINE },
            { .name = "then", .run = lives });
