/* bench_wake.c - how soon an event is acted upon: from the call that sends it to a waiting run until that run is seen to
 * be complete.  The limit is one transaction. */
#include <stdio.h>

#include "bench.h"
#include "limit.h"

enum { RUNS = 400 };

static pawl_status wait(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_event event;
    (void)params, (void)out_result;
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", NULL, &event));
    bench_say_ready(pawl_run_user(run));
    return PAWL_OK;
}

static double wake_us(const struct bench_host *host, const char *id, sem_t *ready)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    options.type = "go";
    double begun_us = bench_now_us();
    bench_check(pawl_send_event(host->engine, scope, host->workflow, id, &options, NULL, &error), &error);
    bench_await_end(host, id, ready);
    double us = bench_now_us() - begun_us;
    pawl_scope_free(scope);
    return us;
}

int main(void)
{
    double wakes_us[RUNS], limits_us[RUNS];
    sem_t ready;
    struct pawl_workflow workflow = { .name = "wake", .run = wait, .user = &ready };
    struct bench_place place;
    struct bench_host host;
    sem_init(&ready, 0, 0);
    bench_place_make(&place);
    bench_host_open(&host, &place, &workflow);
    bench_warm_up(&host);
    struct limit *limit = limit_open(place.limit_path);
    limit_warm_up(limit);

    for (int i = 0; i < RUNS; i++) {
        char id[16];
        snprintf(id, sizeof id, "run-%d", i);
        bench_create(&host, id);
        bench_await(&host, id, PAWL_WAITING);
        wakes_us[i] = wake_us(&host, id, &ready);

        double begun_us = bench_now_us();
        limit_transaction(limit, 1);
        limits_us[i] = bench_now_us() - begun_us;
    }

    limit_close(limit);
    bench_host_close(&host);
    bench_place_remove(&place);
    struct bench_result result = { .name = "wake", .kind = BENCH_TIME, .unit = "us" };
    result.value = bench_percentile(wakes_us, RUNS, 0.5);
    result.limit = bench_percentile(limits_us, RUNS, 0.5);
    bench_print(&result, "\"p99\": %.1f, \"limit_p99\": %.1f", bench_percentile(wakes_us, RUNS, 0.99),
                bench_percentile(limits_us, RUNS, 0.99));
    return 0;
}
