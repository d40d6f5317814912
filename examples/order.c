/* order.c - the smallest real workflow: reserve, wait a while, wait for a human, charge.
 *
 * Run it:            ./order
 * The steps that are done stay done: stop it at any point, start it again, and it goes on. */
#include <pawl/pawl.h>
#include <stdio.h>
#include <unistd.h>

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
static int fail(const struct pawl_error *error)
{
    fprintf(stderr, "order: %s: %s\n", pawl_status_name(error->status), error->text);
    return 1;
}

int main(void)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_create_options create = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_send_event_options event = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pawl_instance instance;
    struct pawl_error error;
    pawl_engine *engine = NULL;
    pawl_runner *runner = NULL;
    pawl_scope *scope = pawl_scope_new();
    int exit_code = 1;

    options.store_url = "sqlite:order.db";
    create.id = "order-1";
    create.params_json = "{\"sku\": \"teapot\", \"quantity\": 2}";
    create.return_existing = true;
    event.type = "approval";
    event.payload_json = "{\"by\": \"Ada\"}";
    event.event_id = "approval-1";

    if (pawl_open(&options, &engine, &error) != PAWL_OK ||
        pawl_register_module(engine, &pawl_module, &error) != PAWL_OK ||
        pawl_runner_open(engine, NULL, &runner, &error) != PAWL_OK || pawl_runner_start(runner, &error) != PAWL_OK ||
        pawl_create(engine, scope, "order", &create, &instance, &error) != PAWL_OK) {
        exit_code = fail(&error);
        goto done;
    }
    if (instance.status != PAWL_COMPLETE && pawl_send_event(engine, scope, "order", "order-1", &event, NULL, &error) != PAWL_OK) {
        exit_code = fail(&error);
        goto done;
    }
    while (instance.status < PAWL_COMPLETE) {
        usleep(50000);
        if (pawl_get(engine, scope, "order", "order-1", &instance, &error) != PAWL_OK) {
            exit_code = fail(&error);
            goto done;
        }
    }
    printf("%s: %s\n", pawl_instance_status_name(instance.status), instance.output_json);
    exit_code = 0;
done:
    pawl_runner_close(runner);
    pawl_close(engine);
    pawl_scope_free(scope);
    return exit_code;
}
#endif
