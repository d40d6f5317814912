/* sequential.h - runs of 10 no-op steps, and how many steps a second an engine takes of them. */
#ifndef BENCH_SEQUENTIAL_H
#define BENCH_SEQUENTIAL_H

#include "bench.h"

enum { SEQUENTIAL_STEPS_A_RUN = 10 };

/* Its last body posts `ended`. */
struct pawl_workflow sequential_workflow(sem_t *ended);

/* With 256 runs in flight in an engine of its own.  When the last body of a run is run, a feeder creates the next, as many
 * at once as have come together. */
double sequential_rate(const struct bench_place *place, int runs, double *out_steps_a_commit);

#endif
