/* worker.c - "postgres_worker <store URL>": a process that runs the workflows of workflows.h until it is
 * killed, or asked to stop by SIGTERM, with leases of PAWL_TEST_LEASE_MS.  It ends with the process that started it.  One that cannot open the store tries
 * again, as a supervisor would; what was wrong is told on standard error. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "workflows.h"

enum { TRIES_MAX = 60, IN_FLIGHT = 48, WORKERS = 4 };

static pawl_status open_patiently(const char *url, pawl_engine **out_engine, struct pawl_error *error)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    const struct timespec second = { .tv_sec = 1 };
    pawl_status status = PAWL_STORE_UNAVAILABLE;
    options.store_url = url;
    for (int tries = 0; tries < TRIES_MAX && status != PAWL_OK; tries++) {
        if (tries > 0)
            (void)nanosleep(&second, NULL);
        status = pawl_open(&options, out_engine, error);
        if (status != PAWL_OK)
            fprintf(stderr, "worker: %s: %s\n", pawl_status_name(status), error->text);
    }
    return status;
}

static int run_until_asked(pawl_engine *engine, const sigset_t *asked, struct pawl_error *error)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pawl_runner *runner = NULL;
    int number;
    options.workers = WORKERS;
    options.in_flight_max = IN_FLIGHT;
    options.lease_ms = getenv("PAWL_TEST_LEASE_MS") != NULL ? strtoll(getenv("PAWL_TEST_LEASE_MS"), NULL, 10) : 0;
    pawl_status status = pawl_runner_open(engine, &options, &runner, error);
    if (status == PAWL_OK)
        status = pawl_runner_start(runner, error);
    if (status == PAWL_OK)
        (void)sigwait(asked, &number);
    else
        fprintf(stderr, "worker: %s: %s\n", pawl_status_name(status), error->text);
    pawl_runner_close(runner);
    return status == PAWL_OK ? 0 : 1;
}

int main(int count, char **arguments)
{
    struct pawl_error error = { .status = PAWL_OK };
    pawl_engine *engine = NULL;
    sigset_t asked;
    if (count != 2) {
        fprintf(stderr, "usage: postgres_worker <store URL>\n");
        return 2;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &asked, NULL);
    if (open_patiently(arguments[1], &engine, &error) != PAWL_OK)
        return 1;
    int code =
        pawl_register_module(engine, &pawl_module, &error) == PAWL_OK ? run_until_asked(engine, &asked, &error) : 1;
    pawl_close(engine);
    return code;
}
