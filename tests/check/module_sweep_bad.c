/* module_sweep_bad.c - a module with a mistake: a step is named by something that is no part of history. */
#include <pawl/workflow.h>

static pawl_status nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

static pawl_status fickle(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static int calls;
    (void)out_result;
    PAWL_TRY(pawl_do(run, "reserve", NULL, nothing, params, NULL));
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "charge %d", calls++), NULL, nothing, params, NULL)); /* the mistake */
    return pawl_do(run, "ship", NULL, nothing, params, NULL);
}

static pawl_status steady(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    return pawl_do(run, "work", NULL, nothing, params, NULL);
}

PAWL_MODULE({ .name = "fickle", .run = fickle }, { .name = "steady", .run = steady });
