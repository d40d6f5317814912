/* wake.h - a run that waits for an event, and how soon it is acted upon. */
#ifndef BENCH_WAKE_H
#define BENCH_WAKE_H

#include "bench.h"

/* Says that it is ready when it is about to return. */
struct pawl_workflow wake_workflow(sem_t *ready);

/* From the call that sends the event. */
struct wake {
    double resumed_us;  /* until the run's code goes on behind its wait */
    double complete_us; /* until the run is seen to be complete */
};

/* Creates a run, lets it come to its wait, and sends the event. */
struct wake wake_once(const struct bench_host *host, int number, sem_t *ready);

#endif
