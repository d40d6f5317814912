/* bench_sequential.c - how many steps a second when there is always more to do: runs of 10 no-op steps, 256 of them in
 * flight.  When the last body of a run is run, a feeder creates the next, as many at once as have come together. */
#include "bench.h"
#include "limit.h"

enum { ROUNDS = 5, RUNS = 4000, RUNS_IN_FLIGHT = 256, STEPS_A_RUN = 10 };
enum { LIMIT_STEPS = 100000, LIMIT_STEPS_A_TRANSACTION = 256 };

static pawl_status last_no_op(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input, (void)out_result;
    bench_say_ready(pawl_step_user(step));
    return PAWL_OK;
}

static pawl_status ten_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const char *const names[STEPS_A_RUN - 1] = { "one", "two",   "three", "four", "five",
                                                        "six", "seven", "eight", "nine" };
    (void)out_result;
    for (int i = 0; i < STEPS_A_RUN - 1; i++)
        PAWL_TRY(pawl_do(run, names[i], NULL, bench_no_op, params, NULL));
    return pawl_do(run, "ten", NULL, last_no_op, params, NULL);
}

/* Waits until there is room, and says for how many. */
static int room(sem_t *ended, int max)
{
    int count = 0;
    while (count == 0)
        count = sem_wait(ended) == 0;
    while (count < max && sem_trywait(ended) == 0)
        count++;
    return count;
}

static int least(int one, int other)
{
    return one < other ? one : other;
}

static double run_round(double *out_steps_a_commit)
{
    sem_t ended; /* counts the runs that may be created */
    struct pawl_workflow workflow = { .name = "sequential", .run = ten_steps, .user = &ended };
    struct pawl_runner_stats stats;
    struct bench_place place;
    struct bench_host host;
    sem_init(&ended, 0, RUNS_IN_FLIGHT);
    bench_place_make(&place);
    bench_host_open(&host, &place, &workflow);
    bench_warm_up(&host);

    double begun_us = bench_now_us();
    for (int created = 0, count; created < RUNS; created += count) {
        count = room(&ended, least(BENCH_BATCH_MAX, RUNS - created));
        bench_create_batch(&host, created, count);
    }
    bench_await_idle(&host);
    double rate = (double)RUNS * STEPS_A_RUN * 1e6 / (bench_now_us() - begun_us);

    pawl_runner_stats_read(host.runner, &stats);
    bench_require(stats.steps == (int64_t)RUNS * STEPS_A_RUN, "the steps that ran are not those that should have");
    *out_steps_a_commit = (double)stats.steps / (double)stats.commits;
    bench_host_close(&host);
    bench_place_remove(&place);
    sem_destroy(&ended);
    return rate;
}

int main(void)
{
    double rates[ROUNDS], limits[ROUNDS], steps_a_commit = 0;
    struct bench_place place;
    bench_place_make(&place);
    for (int round = 0; round < ROUNDS; round++) {
        limits[round] = limit_rate(place.limit_path, LIMIT_STEPS, LIMIT_STEPS_A_TRANSACTION);
        rates[round] = run_round(&steps_a_commit);
    }
    bench_place_remove(&place);
    struct bench_result result = { .name = "sequential", .kind = BENCH_RATE, .unit = "steps/s" };
    result.value = bench_percentile(rates, ROUNDS, 0.5);
    result.limit = bench_percentile(limits, ROUNDS, 0.5);
    bench_print(&result, "\"steps_a_commit\": %.1f", steps_a_commit);
    return 0;
}
