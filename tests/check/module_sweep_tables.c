/* module_sweep_tables.c - a module whose step writes to a table of the user's own. */
#include <pawl/workflow.h>

static pawl_status pay(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_step_sql(step, "INSERT INTO paid VALUES ($1)", "[s]", "once");
}

static pawl_status pays(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "pay", NULL, pay, params, out_result);
}

PAWL_MODULE({ .name = "pays", .run = pays });
