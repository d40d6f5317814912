/* sequential.c - see sequential.h. */
#include "sequential.h"

enum { RUNS_IN_FLIGHT = 256 };

static pawl_status last_no_op(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input, (void)out_result;
    bench_say_ready(pawl_step_user(step));
    return PAWL_OK;
}

static pawl_status ten_steps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const char *const names[SEQUENTIAL_STEPS_A_RUN - 1] = { "one", "two",   "three", "four", "five",
                                                                   "six", "seven", "eight", "nine" };
    (void)out_result;
    for (int i = 0; i < SEQUENTIAL_STEPS_A_RUN - 1; i++)
        PAWL_TRY(pawl_do(run, names[i], NULL, bench_no_op, params, NULL));
    return pawl_do(run, "ten", NULL, last_no_op, params, NULL);
}

struct pawl_workflow sequential_workflow(sem_t *ended)
{
    return (struct pawl_workflow){ .name = "sequential", .run = ten_steps, .user = ended };
}

/* Waits until runs may be created, and returns how many. */
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

double sequential_rate(const struct bench_place *place, int runs, double *out_steps_a_commit)
{
    sem_t ended; /* counts how many runs may be created */
    struct pawl_workflow workflow = sequential_workflow(&ended);
    struct pawl_runner_stats stats;
    struct bench_host host;
    sem_init(&ended, 0, RUNS_IN_FLIGHT);
    bench_host_open(&host, place, &workflow);
    bench_warm_up(&host);

    double begun_us = bench_now_us();
    for (int created = 0, count; created < runs; created += count) {
        count = room(&ended, least(BENCH_BATCH_MAX, runs - created));
        bench_create_batch(&host, created, count);
    }
    bench_await_idle(&host);
    double rate = (double)runs * SEQUENTIAL_STEPS_A_RUN * 1e6 / (bench_now_us() - begun_us);

    pawl_runner_stats_read(host.runner, &stats);
    bench_require(stats.steps == (int64_t)runs * SEQUENTIAL_STEPS_A_RUN,
                  "the steps that ran are not those that should have");
    *out_steps_a_commit = (double)stats.steps / (double)stats.commits;
    bench_host_close(&host);
    sem_destroy(&ended);
    return rate;
}
