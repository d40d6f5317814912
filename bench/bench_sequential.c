/* bench_sequential.c - steps per second under full load.  See sequential.h. */
#include "limit.h"
#include "sequential.h"

enum { ROUNDS = 5, RUNS = 4000 };
enum { LIMIT_STEPS = 100000, LIMIT_STEPS_A_TRANSACTION = 256 };

int main(void)
{
    double rates[ROUNDS], limits[ROUNDS], steps_a_commit = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct bench_place place;
        bench_place_make(&place);
        limits[round] = limit_rate(place.limit_path, LIMIT_STEPS, LIMIT_STEPS_A_TRANSACTION);
        rates[round] = sequential_rate(&place, RUNS, &steps_a_commit);
        bench_place_remove(&place);
    }
    struct bench_result result = { .name = "sequential", .kind = BENCH_RATE, .unit = "steps/s" };
    result.value = bench_percentile(rates, ROUNDS, 0.5);
    result.limit = bench_percentile(limits, ROUNDS, 0.5);
    bench_print(&result, "\"steps_a_commit\": %.1f", steps_a_commit);
    return 0;
}
