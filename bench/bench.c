/* bench.c - see bench.h. */
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP "warm-up"

enum { LOOK_PAUSE_US = 20, IDLE_PAUSE_US = 1000 };

void bench_check(pawl_status status, const struct pawl_error *error)
{
    if (status == PAWL_OK)
        return;
    fprintf(stderr, "bench: %s: %s\n", pawl_status_name(status),
            error != NULL ? error->text : pawl_status_text(status));
    exit(1);
}

void bench_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

double bench_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void bench_pause_us(long pause_us)
{
    struct timespec pause = { .tv_sec = pause_us / 1000000, .tv_nsec = pause_us % 1000000 * 1000 };
    (void)nanosleep(&pause, NULL);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_percentile(double *values, size_t count, double share)
{
    bench_require(count > 0, "nothing was measured");
    qsort(values, count, sizeof values[0], compare);
    return values[(size_t)(share * (double)(count - 1) + 0.5)];
}

/* ---- The place --------------------------------------------------------------------------------------------------- */

void bench_place_make(struct bench_place *place)
{
    const char *parent = getenv("TMPDIR");
    int size = snprintf(place->directory, sizeof place->directory, "%s/pawl-bench-XXXXXX",
                        parent != NULL && parent[0] != '\0' ? parent : ".");
    bench_require(size > 0 && (size_t)size < sizeof place->directory, "TMPDIR is too long");
    bench_require(mkdtemp(place->directory) != NULL, "cannot make a directory in $TMPDIR");
    snprintf(place->store_path, sizeof place->store_path, "%s/pawl.db", place->directory);
    snprintf(place->store_url, sizeof place->store_url, "sqlite:%s", place->store_path);
    snprintf(place->limit_path, sizeof place->limit_path, "%s/limit.db", place->directory);
}

void bench_place_remove(const struct bench_place *place)
{
    DIR *directory = opendir(place->directory);
    bench_require(directory != NULL, "the directory is gone");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        (void)unlinkat(dirfd(directory), entry->d_name, 0); /* fails for "." and ".." */
    closedir(directory);
    bench_require(rmdir(place->directory) == 0, "the directory is not empty");
}

/* ---- The host ---------------------------------------------------------------------------------------------------- */

static pawl_status end_at_once(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run, (void)params, (void)out_result;
    return PAWL_OK;
}

void bench_host_prepare(struct bench_host *host, const struct bench_place *place, const struct pawl_workflow *workflow,
                        const struct pawl_clock *clock)
{
    static const struct pawl_workflow warm_up = { .name = WARM_UP, .run = end_at_once };
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_error error;
    *host = (struct bench_host){ .workflow = workflow->name };
    options.store_url = place->store_url;
    if (clock != NULL)
        options.clock = *clock;
    /* Otherwise each short pause while polling would last 50 us longer than asked for. */
    (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    bench_check(pawl_open(&options, &host->engine, &error), &error);
    bench_check(pawl_register(host->engine, workflow, &error), &error);
    bench_check(pawl_register(host->engine, &warm_up, &error), &error);
    bench_check(pawl_runner_open(host->engine, NULL, &host->runner, &error), &error);
}

void bench_host_open(struct bench_host *host, const struct bench_place *place, const struct pawl_workflow *workflow)
{
    struct pawl_error error;
    bench_host_prepare(host, place, workflow, NULL);
    bench_check(pawl_runner_start(host->runner, &error), &error);
    host->started = true;
}

void bench_host_close(struct bench_host *host)
{
    pawl_runner_close(host->runner);
    pawl_close(host->engine);
}

pawl_status bench_no_op(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step, (void)input, (void)out_result;
    return PAWL_OK;
}

void bench_create(const struct bench_host *host, const char *id)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    options.id = id;
    bench_check(pawl_create(host->engine, scope, host->workflow, &options, &instance, &error), &error);
    pawl_scope_free(scope);
}

void bench_create_batch(const struct bench_host *host, int first, int count)
{
    char ids[BENCH_BATCH_MAX][16];
    struct pawl_batch_item items[BENCH_BATCH_MAX];
    struct pawl_instance *instances;
    size_t created;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    for (int i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "run-%d", first + i);
        items[i] = (struct pawl_batch_item){ .id = ids[i], .params_json = NULL };
    }
    bench_check(
        pawl_create_batch(host->engine, scope, host->workflow, items, (size_t)count, &instances, &created, &error),
        &error);
    bench_require(created == (size_t)count, "a run of that id exists");
    pawl_scope_free(scope);
}

static bool has_status(const struct bench_host *host, const char *id, enum pawl_instance_status wanted)
{
    struct pawl_instance instance;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    bench_check(pawl_get(host->engine, scope, host->workflow, id, &instance, &error), &error);
    if (instance.status == PAWL_ERRORED)
        fprintf(stderr, "bench: %s: %s\n", instance.error_name, instance.error_message);
    bench_require(instance.status <= PAWL_WAITING || instance.status == wanted, "a run ended otherwise than it should");
    bool has = instance.status == wanted;
    pawl_scope_free(scope);
    return has;
}

void bench_await(const struct bench_host *host, const char *id, enum pawl_instance_status wanted)
{
    while (!has_status(host, id, wanted))
        bench_pause_us(LOOK_PAUSE_US);
}

void bench_say_ready(sem_t *ready)
{
    bench_require(sem_post(ready) == 0, "the semaphore is full");
}

void bench_await_ready(sem_t *ready)
{
    while (sem_wait(ready) != 0) /* interrupted by a signal */
        continue;
}

void bench_await_end(const struct bench_host *host, const char *id, sem_t *ready)
{
    bench_await_ready(ready);
    bench_await(host, id, PAWL_COMPLETE);
}

static bool any_active(const struct bench_host *host)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    options.has_status = true;
    options.status = PAWL_ACTIVE;
    options.page_size = 1;
    bench_check(pawl_list(host->engine, scope, host->workflow, &options, &page, &error), &error);
    bool any = page.count > 0;
    pawl_scope_free(scope);
    return any;
}

void bench_await_idle(const struct bench_host *host)
{
    while (any_active(host))
        bench_pause_us(IDLE_PAUSE_US);
}

/* Makes one commit of more than the 4,000 pages at which the log is checkpointed and overwritten. */
void bench_warm_up(const struct bench_host *host)
{
    enum { RUNS = 20, PARAMS_BYTES = 1000000 };
    char ids[RUNS][16];
    struct pawl_batch_item items[RUNS];
    struct pawl_instance *instances;
    size_t created;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    char *params = malloc(PARAMS_BYTES + 1);
    bench_require(params != NULL, "out of memory");
    memset(params, ' ', PARAMS_BYTES);
    memcpy(params, "null", 4);
    params[PARAMS_BYTES] = '\0';
    for (int i = 0; i < RUNS; i++) {
        snprintf(ids[i], sizeof ids[i], "run-%d", i);
        items[i] = (struct pawl_batch_item){ .id = ids[i], .params_json = params };
    }
    bench_check(pawl_create_batch(host->engine, scope, WARM_UP, items, RUNS, &instances, &created, &error), &error);
    free(params);
    pawl_scope_free(scope);
    if (host->started)
        bench_await_idle(&(struct bench_host){ .engine = host->engine, .workflow = WARM_UP });
    else
        bench_check(pawl_runner_tick(host->runner, RUNS, 0, NULL, &error), &error);
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

void bench_print(const struct bench_result *result, const char *more, ...)
{
    double ratio = result->kind == BENCH_RATE ? result->value / result->limit : result->limit / result->value;
    va_list arguments;
    va_start(arguments, more);
    printf("{\"name\": \"%s\", \"store\": \"%s\", \"value\": %.1f, \"unit\": \"%s\", \"limit\": %.1f, "
           "\"ratio\": %.3f",
           result->name, result->store != NULL ? result->store : "sqlite", result->value, result->unit, result->limit,
           ratio);
    if (more[0] != '\0')
        printf(", ");
    vprintf(more, arguments);
    printf("}\n");
    fflush(stdout);
    va_end(arguments);
}
