/* bench_replay.c - does a long history make steps expensive?  A run of 1,000 steps with a sleep after each takes
 * 1,000 turns, each of which begins at the top.  Time is simulated, so that no sleep is waited for, and this thread
 * ticks the turns.  The value is the median of the last steps.  `growth` is its ratio to the early ones.  The limit
 * is one transaction. */
#include "bench.h"
#include "limit.h"

enum { STEPS = 1000, ROUNDS = 3, WINDOW = 20, EARLY = 10 };

static int64_t simulated_now(void *user)
{
    return *(int64_t *)user;
}

static pawl_status steps_and_sleeps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    for (int i = 0; i < STEPS; i++) {
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, bench_no_op, params, NULL));
        PAWL_TRY(pawl_sleep_ms(run, pawl_run_format(run, "sleep %d", i), 1));
    }
    return PAWL_OK;
}

/* Each turn does one step and goes to sleep. */
static void run_round(double turns_us[STEPS], double *limits_us)
{
    int64_t now_ms = INT64_C(1767225600000);
    struct pawl_clock clock = { .now_ms = simulated_now, .user = &now_ms };
    struct pawl_workflow workflow = { .name = "replay", .run = steps_and_sleeps };
    struct pawl_error error;
    struct bench_place place;
    struct bench_host host;
    bench_place_make(&place);
    bench_host_prepare(&host, &place, &workflow, &clock);
    bench_warm_up(&host);
    struct limit *limit = limit_open(place.limit_path);
    limit_warm_up(limit);
    bench_create(&host, "run");

    for (int i = 0; i < STEPS; i++) {
        int64_t turns;
        double begun_us = bench_now_us();
        bench_check(pawl_runner_tick(host.runner, 1, 0, &turns, &error), &error);
        turns_us[i] = bench_now_us() - begun_us;
        bench_require(turns == 1, "a turn was not due");
        now_ms++;

        begun_us = bench_now_us();
        limit_transaction(limit, 1);
        limits_us[i] = bench_now_us() - begun_us;
    }

    bench_check(pawl_runner_tick(host.runner, 1, 0, NULL, &error), &error);
    bench_await(&host, "run", PAWL_COMPLETE);
    limit_close(limit);
    bench_host_close(&host);
    bench_place_remove(&place);
}

/* The median over all rounds of the window that begins at this step. */
static double median_at(double turns_us[ROUNDS][STEPS], int first)
{
    double values[ROUNDS * WINDOW];
    size_t count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WINDOW; i++)
            values[count++] = turns_us[round][first + i];
    }
    return bench_percentile(values, count, 0.5);
}

int main(void)
{
    static double turns_us[ROUNDS][STEPS], limits_us[ROUNDS * STEPS];
    for (int round = 0; round < ROUNDS; round++)
        run_round(turns_us[round], limits_us + round * STEPS);
    double early_us = median_at(turns_us, EARLY - WINDOW / 2), late_us = median_at(turns_us, STEPS - WINDOW);
    struct bench_result result = { .name = "replay", .kind = BENCH_TIME, .unit = "us/step", .value = late_us };
    result.limit = bench_percentile(limits_us, (size_t)ROUNDS * STEPS, 0.5);
    bench_print(&result, "\"step_10\": %.1f, \"step_1000\": %.1f, \"growth\": %.2f", early_us, late_us,
                late_us / early_us);
    return 0;
}
