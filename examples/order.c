/* order.c - the smallest real workflow: reserve, wait a while, wait for a person, charge.
 *
 *     ./order            runs order-1 in order.db; a second start shows the same, finished run
 *     ./order order-2    runs another one
 *
 * Completed steps stay completed: kill it at any point, start it again, and it goes on. */
#include <pawl/pawl.h>

static pawl_status reserve_stock(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:s, s:I}", "sku", pawl_value_string(params, "sku", "unknown"), "quantity",
                       (long long)pawl_value_int(params, "quantity", 1));
}

static pawl_status charge(pawl_step *step, const pawl_value *reservation, pawl_value **out_result)
{
    if (pawl_value_int(reservation, "quantity", 0) <= 0)
        return pawl_fail_for_good(step, "NothingToCharge", "the reservation is empty");
    return pawl_result(step, out_result, "{s:s, s:V}", "receipt", "r-1", "for", reservation);
}

static const struct pawl_step_options charge_options = { .retries = 3, .delay = "5 seconds", .timeout = "30 seconds" };

static pawl_status order(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *reservation, *receipt;
    struct pawl_event approval;

    PAWL_TRY(pawl_do(run, "reserve stock", NULL, reserve_stock, params, &reservation));
    PAWL_TRY(pawl_sleep(run, "cool down", "1 second"));
    PAWL_TRY(pawl_wait_for_event(run, "await approval", "approval", "24 hours", &approval));
    PAWL_TRY(pawl_do(run, "charge", &charge_options, charge, reservation, &receipt));
    return pawl_return(run, out_result, "{s:V, s:V}", "receipt", receipt, "approval", approval.payload);
}

PAWL_MODULE({ .name = "order", .run = order, .description = "Reserve, wait for approval, charge" });

#ifndef PAWL_NO_MAIN
#include "host.h"

int main(int argc, char **argv)
{
    const char *id = argc > 1 ? argv[1] : "order-1";
    struct host host;

    pawl_status status = host_open(&host, "sqlite:order.db", &pawl_module, NULL);
    if (status == PAWL_OK)
        status = host_create(&host, "order", id, "{\"sku\": \"teapot\", \"quantity\": 2}");
    /* The event is sent before the workflow waits for it, and is kept until then. */
    if (status == PAWL_OK)
        status = host_send_event(&host, "order", id, "approval", "approval-1", "{\"by\": \"Ada\"}");
    if (status == PAWL_OK)
        status = host_wait(&host, "order", id);
    if (status == PAWL_OK)
        status = host_show(&host, "order", id);
    return host_close(&host, status);
}
#endif
