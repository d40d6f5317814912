/* bench_parked.c - the cost of a sleeping run: creates 100,000 runs and carries them to their sleep.  The rate
 * counts runs that have reached it.  Memory is read at 10,000, 50,000 and 100,000 runs.  The size on disk is that of
 * the closed file. */
#include <malloc.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "limit.h"

enum { FEW = 10000, HALF = 50000, MANY = 100000, LIMIT_STEPS_A_TRANSACTION = 256, LIMIT_ROUNDS = 3 };

static pawl_status sleep_long(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params, (void)out_result;
    return pawl_sleep(run, "sleep", "30 days");
}

/* Returns how long the creating calls took, once all runs sleep. */
static double park_us(const struct bench_host *host, int from, int to)
{
    double begun_us = bench_now_us();
    for (int i = from; i < to; i += BENCH_BATCH_MAX)
        bench_create_batch(host, i, BENCH_BATCH_MAX);
    double us = bench_now_us() - begun_us;
    bench_await_idle(host);
    return us;
}

static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bench_require(file != NULL && fscanf(file, "%*s %ld", &pages) == 1, "/proc/self/statm cannot be read");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double limit_round(const struct bench_place *place)
{
    double rate = limit_rate(place->limit_path, MANY, LIMIT_STEPS_A_TRANSACTION);
    (void)malloc_trim(0); /* the engine must not reuse what the raw writer has freed */
    return rate;
}

int main(void)
{
    double limits[LIMIT_ROUNDS];
    struct pawl_workflow workflow = { .name = "parked", .run = sleep_long };
    struct bench_place place;
    struct bench_host host;
    struct stat about;
    bench_place_make(&place);
    limits[0] = limit_round(&place);

    bench_host_open(&host, &place, &workflow);
    double begun_us = bench_now_us();
    double calls_us = park_us(&host, 0, FEW);
    double few_bytes = resident_bytes();
    calls_us += park_us(&host, FEW, HALF);
    double half_bytes = resident_bytes();
    calls_us += park_us(&host, HALF, MANY);
    double us = bench_now_us() - begun_us;
    double many_bytes = resident_bytes();
    bench_host_close(&host);
    bench_require(stat(place.store_path, &about) == 0, "the store is gone");

    for (int round = 1; round < LIMIT_ROUNDS; round++)
        limits[round] = limit_round(&place);
    bench_place_remove(&place);
    struct bench_result result = { .name = "parked", .kind = BENCH_RATE, .unit = "runs/s" };
    result.value = MANY * 1e6 / us;
    result.limit = bench_percentile(limits, LIMIT_ROUNDS, 0.5);
    bench_print(&result,
                "\"created_a_second\": %.1f, \"resident_at_10000\": %.0f, \"resident_at_50000\": %.0f, "
                "\"resident_at_100000\": %.0f, \"disk_bytes_a_run\": %.1f",
                MANY * 1e6 / calls_us, few_bytes, half_bytes, many_bytes, (double)about.st_size / MANY);
    return 0;
}
