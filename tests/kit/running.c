/* running.c - see running.h. */
#include "running.h"

#include "runner/runner.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void rest_a_little(void)
{
    const struct timespec pause = { .tv_sec = 0, .tv_nsec = 1000000 };
    nanosleep(&pause, NULL);
}

bool process_runs(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    const char *state = strrchr(text, ')');
    return state != NULL && state[2] != 'Z' && state[2] != 'X';
}

void expect_gone(pid_t pid)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (process_runs(pid)) {
        if (monotonic_ms() > until_ms)
            fail_msg("process %d still runs", (int)pid);
        rest_a_little();
    }
}

/* ---- Gates --------------------------------------------------------------------------------------------------------- */

void gate_init(struct gate *gate)
{
    pthread_condattr_t attributes;
    *gate = (struct gate){ .entered = 0 };
    pthread_mutex_init(&gate->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void gate_clear(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

static struct timespec patience_ends(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_MS / 1000;
    return until;
}

bool gate_pass(struct gate *gate)
{
    const struct timespec until = patience_ends();
    int late = 0;
    pthread_mutex_lock(&gate->lock);
    gate->entered++;
    gate->inside++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open && late == 0)
        late = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
    gate->inside--;
    bool passed = gate->open;
    pthread_mutex_unlock(&gate->lock);
    return passed;
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gate_await(struct gate *gate, int entered)
{
    const struct timespec until = patience_ends();
    int late = 0;
    pthread_mutex_lock(&gate->lock);
    while (gate->entered < entered && late == 0)
        late = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
    int came = gate->entered;
    pthread_mutex_unlock(&gate->lock);
    if (came < entered)
        fail_msg("%d came to the gate, not %d", came, entered);
}

int gate_entered(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    int entered = gate->entered;
    pthread_mutex_unlock(&gate->lock);
    return entered;
}

/* ---- The engine ---------------------------------------------------------------------------------------------------- */

void remove_database(const char *path)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-runners" };
    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
}

struct store_place database_place(const char *path)
{
    static char named[64];
    static struct store_place shared;
    if (store_asked_for(STORE_IN_FILE) == STORE_IN_POSTGRES) {
        if (path[0] == '\0' || strcmp(path, named) != 0)
            store_place_make(&shared, STORE_IN_POSTGRES);
        snprintf(named, sizeof named, "%s", path);
        return shared;
    }
    struct store_place place = { .store = path[0] != '\0' ? STORE_IN_FILE : STORE_IN_MEMORY };
    snprintf(place.path, sizeof place.path, "%s", path);
    snprintf(place.url, sizeof place.url, "sqlite:%s", path[0] != '\0' ? path : ":memory:");
    return place;
}

void database_name(char *out_path, size_t size)
{
    static int count;
    snprintf(out_path, size, "running_%d_%d.db", (int)getpid(), ++count);
    (void)database_place(out_path);
}

static void open_with(struct running *running, const char *path, struct pawl_clock clock)
{
    struct store_place place = database_place(path);
    struct pawl_options options = PAWL_OPTIONS_INIT;
    memset(running, 0, sizeof *running);
    atomic_init(&running->skew_ms, 0);
    snprintf(running->path, sizeof running->path, "%s", path);
    options.store_url = place.url;
    options.clock = clock;
    assert_ok(pawl_open(&options, &running->engine, &running->error), running->error);
    running->scope = pawl_scope_new();
    assert_non_null(running->scope);
}

void running_open_path(struct running *running, const char *path)
{
    open_with(running, path, (struct pawl_clock){ .now_ms = NULL });
}

static int64_t moved_ms(void *user)
{
    return monotonic_ms() + atomic_load(&((struct running *)user)->skew_ms);
}

void running_open_moved(struct running *running, const char *path)
{
    open_with(running, path, (struct pawl_clock){ .monotonic_ms = moved_ms, .user = running });
}

int64_t running_stopped_ms(void *running)
{
    return START_MS + atomic_load(&((struct running *)running)->skew_ms);
}

void running_advance_ms(struct running *running, int64_t ms)
{
    atomic_fetch_add(&running->skew_ms, ms);
}

void running_open(struct running *running, bool in_file)
{
    char path[64] = "";
    if (in_file)
        database_name(path, sizeof path);
    running_open_path(running, path);
}

void running_close(struct running *running)
{
    pawl_runner_close(running->runner);
    pawl_close(running->engine);
    pawl_scope_free(running->scope);
    if (running->path[0] != '\0')
        remove_database(running->path);
}

void running_register(struct running *running, const char *name, pawl_workflow_fn *run, void *user)
{
    const struct pawl_workflow workflow = { .name = name, .run = run, .user = user };
    assert_ok(pawl_register(running->engine, &workflow, &running->error), running->error);
}

void running_start(struct running *running, const struct pawl_runner_options *options)
{
    assert_ok(pawl_runner_open(running->engine, options, &running->runner, &running->error), running->error);
    assert_ok(pawl_runner_start(running->runner, &running->error), running->error);
}

void running_stop(struct running *running)
{
    pawl_runner_close(running->runner);
    running->runner = NULL;
}

void runner_look_no_more(pawl_runner *runner)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    for (bool has_looked = false; !has_looked; rest_a_little()) {
        assert_true(monotonic_ms() < until_ms);
        pthread_mutex_lock(&runner->lock);
        has_looked = runner->poll_at_ms > monotonic_ms(); /* this is the last of its first looks */
        if (has_looked)
            runner->reap_at_ms = INT64_MAX;
        pthread_mutex_unlock(&runner->lock);
    }
}

void running_create(struct running *running, const char *workflow, const char *id)
{
    running_create_with(running, workflow, id, NULL);
}

void running_create_with(struct running *running, const char *workflow, const char *id, const char *params_json)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    options.params_json = params_json;
    assert_ok(pawl_create(running->engine, running->scope, workflow, &options, &instance, &running->error),
              running->error);
}

struct pawl_instance running_get(struct running *running, const char *workflow, const char *id)
{
    struct pawl_instance instance;
    assert_ok(pawl_get(running->engine, running->scope, workflow, id, &instance, &running->error), running->error);
    return instance;
}

struct pawl_history running_history(struct running *running, const char *workflow, const char *id, int64_t run_number)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    options.run_number = run_number;
    options.page_size = 100;
    options.include_logs = true;
    assert_ok(pawl_get_history(running->engine, running->scope, workflow, id, &options, &history, &running->error),
              running->error);
    return history;
}

const struct pawl_step_record *running_step(struct running *running, const char *workflow, const char *id,
                                            const char *step)
{
    struct pawl_history history = running_history(running, workflow, id, 0);
    for (size_t i = 0; i < history.step_count; i++) {
        if (strcmp(history.steps[i].name, step) == 0)
            return &history.steps[i];
    }
    return NULL;
}

int running_lines(struct running *running, const char *workflow, const char *id, const char *words)
{
    struct pawl_history history = running_history(running, workflow, id, 0);
    int count = 0;
    for (size_t i = 0; i < history.log_count; i++)
        count += !history.logs[i].is_replay && strstr(history.logs[i].message, words) != NULL;
    return count;
}

void running_send(struct running *running, const char *workflow, const char *id, const char *type,
                  const char *payload_json)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.payload_json = payload_json;
    assert_ok(pawl_send_event(running->engine, NULL, workflow, id, &options, NULL, &running->error), running->error);
}

struct pawl_instance running_await(struct running *running, const char *workflow, const char *id,
                                   enum pawl_instance_status status)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    struct pawl_instance instance = running_get(running, workflow, id);
    while (instance.status != status && monotonic_ms() < until_ms) {
        rest_a_little();
        instance = running_get(running, workflow, id);
    }
    if (instance.status != status)
        fail_msg("%s is %s (%s: %s), not %s", id, pawl_instance_status_name(instance.status),
                 instance.error_name != NULL ? instance.error_name : "no error",
                 instance.error_message != NULL ? instance.error_message : "", pawl_instance_status_name(status));
    return instance;
}

size_t running_count(struct running *running, const char *workflow, enum pawl_instance_status status)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page = { .cursor = NULL };
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new();
    options.has_status = true;
    options.status = status;
    options.page_size = 100;
    do {
        assert_ok(pawl_list(running->engine, scope, workflow, &options, &page, &running->error), running->error);
        count += page.count;
        options.cursor = page.cursor;
    } while (page.cursor != NULL);
    pawl_scope_free(scope);
    return count;
}

static bool any_of(struct running *running, const char *workflow, enum pawl_instance_status status)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    pawl_scope *scope = pawl_scope_new();
    options.has_status = true;
    options.status = status;
    options.page_size = 1;
    assert_ok(pawl_list(running->engine, scope, workflow, &options, &page, &running->error), running->error);
    bool any = page.count > 0;
    pawl_scope_free(scope);
    return any;
}

bool running_await_all(struct running *running, const char *workflow)
{
    int64_t until_ms = monotonic_ms() + 2 * PATIENCE_MS;
    for (;;) {
        /* A run can move from one of these statuses to the other between two looks, so two clean looks are needed. */
        bool any = any_of(running, workflow, PAWL_ACTIVE) || any_of(running, workflow, PAWL_WAITING) ||
                   any_of(running, workflow, PAWL_ACTIVE) || any_of(running, workflow, PAWL_WAITING);
        if (!any || monotonic_ms() > until_ms)
            return !any;
        rest_a_little();
    }
}

/* ---- What the process holds ---------------------------------------------------------------------------------------- */

static int count_entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

int count_threads(void)
{
    return count_entries("/proc/self/task");
}

int count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

bool await_threads(int expected)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (count_threads() != expected && monotonic_ms() < until_ms)
        rest_a_little();
    return count_threads() == expected;
}
