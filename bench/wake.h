/* wake.h - a run that waits for an event, and how soon it reacts. */
#ifndef BENCH_WAKE_H
#define BENCH_WAKE_H

#include "bench.h"

/* Posts `ready` when it is about to return. */
struct pawl_workflow wake_workflow(sem_t *ready);

/* Times from the call that sends the event. */
struct wake {
    double resumed_us;  /* until the workflow continues after its wait */
    double complete_us; /* until the run is seen complete */
};

/* Creates a run, waits until it waits for the event, and sends the event. */
struct wake wake_once(const struct bench_host *host, int number, sem_t *ready);

#endif
