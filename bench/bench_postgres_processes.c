/* bench_postgres_processes.c - do runners in several processes slow each other down?  Carries due runs to their end
 * with one process and with four.  The limit is the rate of one. */
#include "postgres.h"
#include "process.h"
#include "sequential.h"

enum { ROUNDS = 3, RUNS = 20000, PROCESSES = 4 };

#define SCHEMA "bench_processes"

static void create_runs(const struct bench_place *place, const struct pawl_workflow *workflow)
{
    struct bench_host host;
    bench_host_prepare(&host, place, workflow, NULL);
    for (int i = 0; i < RUNS; i += BENCH_BATCH_MAX)
        bench_create_batch(&host, i, BENCH_BATCH_MAX);
    bench_host_close(&host);
}

static void await_runs(sem_t *ended, int runs)
{
    for (int i = 0; i < runs; i++)
        bench_await_ready(ended);
}

/* Returns steps per second, measured without the first and the last tenth of the runs.  At the beginning connections
 * are being opened, and at the end some processes have nothing left to do, so there is no contention.  The last body
 * of each run posts `ended`; at the end it is checked that all runs are complete. */
static double rate(int count, sem_t *ended)
{
    struct pawl_workflow workflow = sequential_workflow(ended);
    struct bench_process processes[PROCESSES];
    struct bench_place place;
    struct bench_host host;
    bench_postgres_place_make(&place, SCHEMA);
    create_runs(&place, &workflow);
    for (int i = 0; i < count; i++)
        bench_process_begin(&processes[i], &place, &workflow);
    bench_host_prepare(&host, &place, &workflow, NULL);

    for (int i = 0; i < count; i++)
        bench_process_start_runner(&processes[i]);
    await_runs(ended, RUNS / 10);
    double begun_us = bench_now_us();
    await_runs(ended, RUNS / 10 * 8);
    double us = bench_now_us() - begun_us;
    await_runs(ended, RUNS / 10);
    bench_await_idle(&host);

    bench_host_close(&host);
    for (int i = 0; i < count; i++)
        bench_process_end(&processes[i]);
    bench_postgres_place_remove(&place, SCHEMA);
    return (double)RUNS / 10 * 8 * SEQUENTIAL_STEPS_A_RUN * 1e6 / us;
}

int main(void)
{
    double alone[ROUNDS], together[ROUNDS], ratios[ROUNDS];
    sem_t *ended = bench_shared_semaphore();
    for (int round = 0; round < ROUNDS; round++) {
        alone[round] = rate(1, ended);
        together[round] = rate(PROCESSES, ended);
        ratios[round] = together[round] / alone[round];
    }
    struct bench_result result = { .name = "postgres_processes", .store = "postgres", .kind = BENCH_RATE };
    result.unit = "steps/s";
    result.value = bench_percentile(together, ROUNDS, 0.5);
    result.limit = bench_percentile(alone, ROUNDS, 0.5);
    bench_print(&result, "\"ratio_least\": %.3f, \"ratio_most\": %.3f", bench_percentile(ratios, ROUNDS, 0),
                bench_percentile(ratios, ROUNDS, 1));
    return 0;
}
