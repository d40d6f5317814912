/* bench_postgres_sequential.c - steps per second of one engine on PostgreSQL, with fsync, under full load.  See
 * sequential.h.  The limit is a raw writer on 4 connections. */
#include "postgres.h"
#include "sequential.h"

enum { ROUNDS = 5, RUNS = 8000, LIMIT_CONNECTIONS = 4, LIMIT_STEPS_A_TRANSACTION = 256 };

#define SCHEMA "bench_sequential"
#define LIMIT_SECONDS 2.0

int main(void)
{
    double rates[ROUNDS], limits[ROUNDS], ratios[ROUNDS], steps_a_commit = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct bench_place place;
        limits[round] = limit_postgres_rate(LIMIT_CONNECTIONS, LIMIT_STEPS_A_TRANSACTION, LIMIT_SECONDS);
        bench_postgres_place_make(&place, SCHEMA);
        rates[round] = sequential_rate(&place, RUNS, &steps_a_commit);
        bench_postgres_place_remove(&place, SCHEMA);
        ratios[round] = rates[round] / limits[round];
    }
    struct bench_result result = { .name = "postgres_sequential", .store = "postgres", .kind = BENCH_RATE };
    result.unit = "steps/s";
    result.value = bench_percentile(rates, ROUNDS, 0.5);
    result.limit = bench_percentile(limits, ROUNDS, 0.5);
    bench_print(&result, "\"ratio_least\": %.3f, \"ratio_most\": %.3f, \"steps_a_commit\": %.1f",
                bench_percentile(ratios, ROUNDS, 0), bench_percentile(ratios, ROUNDS, 1), steps_a_commit);
    return 0;
}
