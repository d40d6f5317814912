/* process.h - another process with an engine of its own on the same store, and a runner. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <sys/types.h>

#include "bench.h"

struct bench_process {
    pid_t pid;
    int orders; /* the first byte starts its runner, the next ends it */
};

/* Must come before this process has threads.  The engine is open when this returns, and the runner not started. */
void bench_process_begin(struct bench_process *process, const struct bench_place *place,
                         const struct pawl_workflow *workflow);
void bench_process_start_runner(const struct bench_process *process);
/* After its runner was started. */
void bench_process_end(const struct bench_process *process);

/* A semaphore that counts across processes.  It stays until this one ends. */
sem_t *bench_shared_semaphore(void);

#endif
