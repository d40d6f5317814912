/* sweep_test.c - how to check that a workflow survives a crash at any moment: runs order.c once for every commit,
 * crashed just before and just after it.
 *
 * Run it:            ./sweep_test
 * Copy it:           include your workflow's file instead of order.c, and set its params and the events that it
 *                    waits for. */
#define PAWL_NO_MAIN
#include "order.c"

#include <pawl/testing.h>
#include <stdio.h>

int main(void)
{
    static const struct pawl_sweep_event approval = { "approval", "{\"by\": \"Ada\"}", "10 minutes" };
    struct pawl_sweep_options options = PAWL_SWEEP_OPTIONS_INIT;
    struct pawl_sweep_report report;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    options.module = &pawl_module;
    options.workflow = "order";
    options.params_json = "{\"sku\": \"teapot\", \"quantity\": 2}";
    options.events = &approval;
    options.event_count = 1;
    if (pawl_sweep(scope, &options, &report, &error) != PAWL_OK) {
        fprintf(stderr, "%s\n", error.text);
        pawl_scope_free(scope);
        return 2;
    }
    printf("%s", report.text);
    int exit_code = report.finding_count > 0;
    pawl_scope_free(scope);
    return exit_code;
}
