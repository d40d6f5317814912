/* module_sweep_good.c - a module in which pawl-check finds nothing. */
#include <pawl/workflow.h>

static pawl_status reserve(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:s}", "sku", pawl_value_string(params, "sku", "none"));
}

static pawl_status order(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *reservation;
    struct pawl_event approval;
    PAWL_TRY(pawl_do(run, "reserve", NULL, reserve, params, &reservation));
    pawl_status status = pawl_wait_for_event(run, "await approval", "approval", "1 hour", &approval);
    if (status == PAWL_WAIT_FOR_EVENT_TIMEOUT)
        return pawl_return(run, out_result, "{s:s}", "refused", "nobody answered");
    PAWL_TRY(status);
    return pawl_return(run, out_result, "{s:V, s:V}", "reservation", reservation, "approval", approval.payload);
}

static pawl_status nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_sleep(run, "nap", "1 day"));
    return pawl_return(run, out_result, "s", "rested");
}

PAWL_MODULE({ .name = "order", .run = order }, { .name = "nap", .run = nap });
