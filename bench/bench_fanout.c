/* bench_fanout.c - the cost of parallel steps: a run of 100 branches with a no-op step each, from the call that
 * creates it until it is seen complete.  The limit is one transaction of 100 steps. */
#include <stdio.h>

#include "bench.h"
#include "limit.h"

enum { RUNS = 150, BRANCHES = 100 };

static pawl_status branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    const char *name = pawl_run_format(run, "step %d", (int)pawl_value_int(input, NULL, 0));
    return pawl_do(run, name, NULL, bench_no_op, input, NULL);
}

static pawl_status fan_out(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[BRANCHES];
    (void)params, (void)out_result;
    for (int i = 0; i < BRANCHES; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        branches[i] = (struct pawl_branch){ .run = branch, .input = number };
    }
    PAWL_TRY(pawl_all(run, "fan", branches, BRANCHES, 0));
    bench_say_ready(pawl_run_user(run));
    return PAWL_OK;
}

int main(void)
{
    double runs_us[RUNS], limits_us[RUNS];
    sem_t ready;
    struct pawl_workflow workflow = { .name = "fanout", .run = fan_out, .user = &ready };
    struct pawl_runner_stats stats;
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
        double begun_us = bench_now_us();
        bench_create(&host, id);
        bench_await_end(&host, id, &ready);
        runs_us[i] = bench_now_us() - begun_us;

        begun_us = bench_now_us();
        limit_transaction(limit, BRANCHES);
        limits_us[i] = bench_now_us() - begun_us;
    }

    pawl_runner_stats_read(host.runner, &stats);
    limit_close(limit);
    bench_host_close(&host);
    bench_place_remove(&place);
    struct bench_result result = { .name = "fanout", .kind = BENCH_TIME, .unit = "us" };
    result.value = bench_percentile(runs_us, RUNS, 0.5);
    result.limit = bench_percentile(limits_us, RUNS, 0.5);
    bench_print(&result, "\"p99\": %.1f, \"commits_a_run\": %.1f", bench_percentile(runs_us, RUNS, 0.99),
                (double)stats.commits / RUNS);
    return 0;
}
