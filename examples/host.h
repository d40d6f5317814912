/* host.h - the host's half of the examples: opens the engine, starts a runner, creates a run, waits for it and shows
 * what happened.
 *
 * Each function returns a status.  The error stays in host.error until host_close() prints it.  Starting an example
 * again with the same id continues or shows the same run.  Another id creates another run. */
#ifndef EXAMPLES_HOST_H
#define EXAMPLES_HOST_H

#include <pawl/pawl.h>
#include <stdio.h>
#include <time.h>

struct host {
    pawl_engine *engine;
    pawl_runner *runner;
    pawl_scope *scope; /* holds the results of service calls */
    struct pawl_error error;
};

static inline void host_pause_ms(long ms)
{
    struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&pause, NULL);
}

/* Opens the store, registers the workflows and starts a runner.  Runs that an earlier process left behind go on.
 * runner_options may be NULL for all defaults. */
static inline pawl_status host_open(struct host *host, const char *store_url, const struct pawl_module *module,
                                    const struct pawl_runner_options *runner_options)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    *host = (struct host){ .scope = pawl_scope_new() };
    options.store_url = store_url;
    if (host->scope == NULL) {
        host->error = (struct pawl_error){ PAWL_NOMEM, "out of memory" };
        return PAWL_NOMEM;
    }
    PAWL_TRY(pawl_open(&options, &host->engine, &host->error));
    PAWL_TRY(pawl_register_module(host->engine, module, &host->error));
    PAWL_TRY(pawl_runner_open(host->engine, runner_options, &host->runner, &host->error));
    return pawl_runner_start(host->runner, &host->error);
}

/* Creates the run, or finds the one with this id. */
static inline pawl_status host_create(struct host *host, const char *workflow, const char *id, const char *params_json)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    options.params_json = params_json;
    options.return_existing = true;
    return pawl_create(host->engine, host->scope, workflow, &options, &instance, &host->error);
}

/* The event id makes it safe to send the event again.  A finished run needs no event. */
static inline pawl_status host_send_event(struct host *host, const char *workflow, const char *id, const char *type,
                                          const char *event_id, const char *payload_json)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.event_id = event_id;
    options.payload_json = payload_json;
    pawl_status status = pawl_send_event(host->engine, host->scope, workflow, id, &options, NULL, &host->error);
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status;
}

static inline pawl_status host_wait(struct host *host, const char *workflow, const char *id)
{
    for (;;) {
        struct pawl_instance instance;
        pawl_scope *scope = pawl_scope_new(); /* one for each look, so that memory does not grow */
        pawl_status status = pawl_get(host->engine, scope, workflow, id, &instance, &host->error);
        pawl_scope_free(scope);
        if (status != PAWL_OK || instance.status >= PAWL_COMPLETE)
            return status;
        host_pause_ms(20);
    }
}

/* Prints the first 100 steps and the result. */
static inline pawl_status host_show(struct host *host, const char *workflow, const char *id)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    struct pawl_instance instance;
    options.page_size = 100;
    PAWL_TRY(pawl_get_history(host->engine, host->scope, workflow, id, &options, &history, &host->error));
    PAWL_TRY(pawl_get(host->engine, host->scope, workflow, id, &instance, &host->error));
    for (size_t i = 0; i < history.step_count; i++) {
        const struct pawl_step_record *step = &history.steps[i];
        const char *outcome = step->result_json != NULL ? step->result_json : "";
        if (step->error_name != NULL)
            outcome = pawl_scope_format(host->scope, "%s: %s", step->error_name, step->error_message);
        printf("  %-24s %-12s %-9s %s", step->name, pawl_step_kind_name(step->kind),
               pawl_step_status_name(step->status), outcome != NULL ? outcome : "");
        if (step->attempts > 1)
            printf("  (%lld attempts)", (long long)step->attempts);
        printf("\n");
    }
    printf("%s %s: %s", workflow, id, pawl_instance_status_name(instance.status));
    if (instance.output_json != NULL)
        printf(" %s", instance.output_json);
    if (instance.error_name != NULL)
        printf(" %s: %s", instance.error_name, instance.error_message);
    printf("\n");
    return PAWL_OK;
}

/* Stops and closes everything and prints the error.  Returns the program's exit code. */
static inline int host_close(struct host *host, pawl_status status)
{
    pawl_runner_close(host->runner);
    pawl_close(host->engine);
    pawl_scope_free(host->scope);
    if (status != PAWL_OK)
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), host->error.text);
    return status == PAWL_OK ? 0 : 1;
}

/* Everything that a simple example needs: creates the run, waits for it and shows it. */
static inline int host_run(const char *store_url, const struct pawl_module *module, const char *workflow,
                           const char *id, const char *params_json)
{
    struct host host;
    pawl_status status = host_open(&host, store_url, module, NULL);
    if (status == PAWL_OK)
        status = host_create(&host, workflow, id, params_json);
    if (status == PAWL_OK)
        status = host_wait(&host, workflow, id);
    if (status == PAWL_OK)
        status = host_show(&host, workflow, id);
    return host_close(&host, status);
}

#endif
