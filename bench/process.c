/* process.c - see process.h. */
#include "process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Never returns. */
static void live(int orders, int ready, const struct bench_place *place, const struct pawl_workflow *workflow)
{
    struct bench_host host;
    struct pawl_error error;
    char byte = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* dies with the benchmark */
    bench_host_prepare(&host, place, workflow, NULL);
    bench_require(write(ready, &byte, 1) == 1, "nobody waits for this process");
    if (read(orders, &byte, 1) == 1) {
        bench_check(pawl_runner_start(host.runner, &error), &error);
        (void)!read(orders, &byte, 1);
    }
    bench_host_close(&host);
    _exit(0);
}

void bench_process_begin(struct bench_process *process, const struct bench_place *place,
                         const struct pawl_workflow *workflow)
{
    int orders[2], ready[2];
    char byte = 0;
    bench_require(pipe(orders) == 0 && pipe(ready) == 0, "cannot create a pipe");
    process->pid = fork();
    bench_require(process->pid >= 0, "cannot start a process");
    if (process->pid == 0) {
        (void)close(orders[1]);
        (void)close(ready[0]);
        live(orders[0], ready[1], place, workflow);
    }
    (void)close(orders[0]);
    (void)close(ready[1]);
    bench_require(read(ready[0], &byte, 1) == 1, "the other process failed");
    (void)close(ready[0]);
    process->orders = orders[1];
}

static void order(const struct bench_process *process)
{
    char byte = 0;
    bench_require(write(process->orders, &byte, 1) == 1, "the other process is gone");
}

void bench_process_start_runner(const struct bench_process *process)
{
    order(process);
}

void bench_process_end(const struct bench_process *process)
{
    int status = 0;
    order(process); /* closing is not enough, because later processes have inherited this end */
    (void)close(process->orders);
    bench_require(waitpid(process->pid, &status, 0) == process->pid && status == 0, "the other process failed");
}

sem_t *bench_shared_semaphore(void)
{
    sem_t *semaphore = mmap(NULL, sizeof *semaphore, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_require(semaphore != MAP_FAILED && sem_init(semaphore, 1, 0) == 0, "cannot create shared memory");
    return semaphore;
}
