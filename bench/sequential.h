/* sequential.h - runs of 10 no-op steps, and how many of these steps an engine does per second. */
#ifndef BENCH_SEQUENTIAL_H
#define BENCH_SEQUENTIAL_H

#include "bench.h"

enum { SEQUENTIAL_STEPS_A_RUN = 10 };

/* The last body of each run posts `ended`. */
struct pawl_workflow sequential_workflow(sem_t *ended);

/* Returns steps per second of an engine with 256 runs in flight.  When a run executes its last body, the next one is
 * created, in batches of as many as are possible at that moment. */
double sequential_rate(const struct bench_place *place, int runs, double *out_steps_a_commit);

#endif
