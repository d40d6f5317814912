/* bench_startup.c - the time from opening a store that does not exist until the first run has finished.  The limit
 * is the raw writer's: open, make the tables, one transaction. */
#include "bench.h"
#include "limit.h"

enum { ROUNDS = 25 };

static pawl_status one_step(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_do(run, "step", NULL, bench_no_op, params, NULL));
    bench_say_ready(pawl_run_user(run));
    return PAWL_OK;
}

static double start_ms(const struct bench_place *place)
{
    sem_t ready;
    struct pawl_workflow workflow = { .name = "startup", .run = one_step, .user = &ready };
    struct bench_host host;
    sem_init(&ready, 0, 0);
    double begun_us = bench_now_us();
    bench_host_open(&host, place, &workflow);
    bench_create(&host, "run");
    bench_await_end(&host, "run", &ready);
    double us = bench_now_us() - begun_us;
    bench_host_close(&host);
    return us / 1e3;
}

static double limit_ms(const struct bench_place *place)
{
    double begun_us = bench_now_us();
    struct limit *limit = limit_open(place->limit_path);
    limit_transaction(limit, 1);
    double us = bench_now_us() - begun_us;
    limit_close(limit);
    return us / 1e3;
}

int main(void)
{
    double starts_ms[ROUNDS], limits_ms[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct bench_place place;
        bench_place_make(&place);
        starts_ms[round] = start_ms(&place);
        limits_ms[round] = limit_ms(&place);
        bench_place_remove(&place);
    }
    struct bench_result result = { .name = "startup", .kind = BENCH_TIME, .unit = "ms" };
    result.value = bench_percentile(starts_ms, ROUNDS, 0.5);
    result.limit = bench_percentile(limits_ms, ROUNDS, 0.5);
    bench_print(&result, "\"max\": %.1f", bench_percentile(starts_ms, ROUNDS, 1.0));
    return 0;
}
