/* bench_wake.c - the time from sending an event to a waiting run until that run is seen complete.  The limit is one
 * transaction. */
#include "limit.h"
#include "wake.h"

enum { RUNS = 400 };

int main(void)
{
    double wakes_us[RUNS], limits_us[RUNS];
    sem_t ready;
    struct pawl_workflow workflow = wake_workflow(&ready);
    struct bench_place place;
    struct bench_host host;
    sem_init(&ready, 0, 0);
    bench_place_make(&place);
    bench_host_open(&host, &place, &workflow);
    bench_warm_up(&host);
    struct limit *limit = limit_open(place.limit_path);
    limit_warm_up(limit);

    for (int i = 0; i < RUNS; i++) {
        wakes_us[i] = wake_once(&host, i, &ready).complete_us;

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
