/* bench_single.c - the cost of a step when nothing else happens: one run of 10 no-op steps at a time, from the call
 * that creates it until it is seen complete, divided by its steps.  The limit is one transaction per step. */
#include <stdio.h>

#include "bench.h"
#include "limit.h"

enum { RUNS = 150, STEPS_A_RUN = 10 };

struct watch {
    sem_t ready;
    double at_us[STEPS_A_RUN]; /* when each body ran */
};

static pawl_status note_time(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct watch *watch = pawl_step_user(step);
    (void)out_result;
    watch->at_us[pawl_value_int(input, NULL, 0)] = bench_now_us();
    return PAWL_OK;
}

static pawl_status ten_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params, (void)out_result;
    for (int i = 0; i < STEPS_A_RUN; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, note_time, number, NULL));
    }
    bench_say_ready(&((struct watch *)pawl_run_user(run))->ready);
    return PAWL_OK;
}

int main(void)
{
    double whole_us[RUNS], between_us[RUNS], limits_us[RUNS];
    struct watch watch;
    struct pawl_workflow workflow = { .name = "single", .run = ten_steps, .user = &watch };
    struct bench_place place;
    struct bench_host host;
    sem_init(&watch.ready, 0, 0);
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
        bench_await_end(&host, id, &watch.ready);
        whole_us[i] = (bench_now_us() - begun_us) / STEPS_A_RUN;
        between_us[i] = (watch.at_us[STEPS_A_RUN - 1] - watch.at_us[0]) / (STEPS_A_RUN - 1);

        begun_us = bench_now_us();
        for (int step = 0; step < STEPS_A_RUN; step++)
            limit_transaction(limit, 1);
        limits_us[i] = (bench_now_us() - begun_us) / STEPS_A_RUN;
    }

    limit_close(limit);
    bench_host_close(&host);
    bench_place_remove(&place);
    struct bench_result result = { .name = "single", .kind = BENCH_TIME, .unit = "us/step" };
    result.value = bench_percentile(whole_us, RUNS, 0.5);
    result.limit = bench_percentile(limits_us, RUNS, 0.5);
    bench_print(&result, "\"between_steps\": %.1f, \"p99\": %.1f", bench_percentile(between_us, RUNS, 0.5),
                bench_percentile(whole_us, RUNS, 0.99));
    return 0;
}
