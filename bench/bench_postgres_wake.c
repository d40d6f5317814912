/* bench_postgres_wake.c - how soon an event wakes a run in another process.  This process sends the event, the other
 * one has the runner, and both share only PostgreSQL.  The run is awake when its workflow continues after the wait.
 * Beside it stands the time until its end is seen here, one commit and one read later.  The limit is one small
 * durable transaction of a raw writer. */
#include "postgres.h"
#include "process.h"
#include "wake.h"

enum { RUNS = 400, WARM_UP_RUNS = 20 };

#define SCHEMA "bench_wake"

int main(void)
{
    double complete_us[RUNS], resumed_us[RUNS], limits_us[RUNS];
    sem_t *ready = bench_shared_semaphore();
    struct pawl_workflow workflow = wake_workflow(ready);
    struct bench_place place;
    struct bench_process process;
    struct bench_host host;
    bench_postgres_place_make(&place, SCHEMA);
    bench_process_begin(&process, &place, &workflow);
    bench_process_start_runner(&process);
    bench_host_prepare(&host, &place, &workflow, NULL); /* its runner is not started */
    struct limit_postgres *limit = limit_postgres_open();

    for (int i = -WARM_UP_RUNS; i < RUNS; i++) {
        struct wake wake = wake_once(&host, WARM_UP_RUNS + i, ready);
        double begun_us = bench_now_us();
        limit_postgres_transaction(limit, 1);
        if (i < 0)
            continue;
        complete_us[i] = wake.complete_us;
        resumed_us[i] = wake.resumed_us;
        limits_us[i] = bench_now_us() - begun_us;
    }

    limit_postgres_close(limit);
    bench_host_close(&host);
    bench_process_end(&process);
    bench_postgres_place_remove(&place, SCHEMA);
    struct bench_result result = { .name = "postgres_wake", .store = "postgres", .kind = BENCH_TIME, .unit = "us" };
    result.value = bench_percentile(resumed_us, RUNS, 0.5);
    result.limit = bench_percentile(limits_us, RUNS, 0.5);
    double complete = bench_percentile(complete_us, RUNS, 0.5);
    bench_print(&result,
                "\"transactions\": %.2f, \"complete\": %.1f, \"complete_transactions\": %.2f, \"p99\": %.1f, "
                "\"limit_p99\": %.1f",
                result.value / result.limit, complete, complete / result.limit,
                bench_percentile(resumed_us, RUNS, 0.99), bench_percentile(limits_us, RUNS, 0.99));
    return 0;
}
