/* wake.c - see wake.h. */
#include "wake.h"

#include <stdio.h>

static pawl_status wait(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event event;
    (void)params, (void)out_result;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, &event));
    bench_say_ready(pawl_run_user(run));
    return PAWL_OK;
}

struct pawl_workflow wake_workflow(sem_t *ready)
{
    return (struct pawl_workflow){ .name = "wake", .run = wait, .user = ready };
}

struct wake wake_once(const struct bench_host *host, int number, sem_t *ready)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pawl_error error;
    char id[16];
    pawl_scope *scope = pawl_scope_new();
    snprintf(id, sizeof id, "run-%d", number);
    options.type = "go";
    bench_create(host, id);
    bench_await(host, id, PAWL_WAITING);

    double begun_us = bench_now_us();
    bench_check(pawl_send_event(host->engine, scope, host->workflow, id, &options, NULL, &error), &error);
    bench_await_ready(ready);
    struct wake wake = { .resumed_us = bench_now_us() - begun_us };
    bench_await(host, id, PAWL_COMPLETE);
    wake.complete_us = bench_now_us() - begun_us;
    pawl_scope_free(scope);
    return wake;
}
