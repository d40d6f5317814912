/* process.h - another process with its own engine and runner on the same store. */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <sys/types.h>

#include "bench.h"

struct bench_process {
    pid_t pid;
    int orders; /* the first byte starts its runner, the second ends it */
};

/* Call it before this process has threads.  When it returns, the engine is open and the runner is not started. */
void bench_process_begin(struct bench_process *process, const struct bench_place *place,
                         const struct pawl_workflow *workflow);
void bench_process_start_runner(const struct bench_process *process);
/* Call it after starting the runner. */
void bench_process_end(const struct bench_process *process);

/* A semaphore shared with processes that are forked later.  It lives until this process ends. */
sem_t *bench_shared_semaphore(void);

#endif
