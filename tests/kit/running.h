/* running.h - for tests with real threads, wall time and other processes.  No test sleeps to prove something: it
 * meets step bodies at gates, and waits for a state with a limit that only a broken engine reaches. */
#ifndef TESTS_RUNNING_H
#define TESTS_RUNNING_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "pawl/pawl.h"
#include "test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RUNNING_SLOWLY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RUNNING_SLOWLY 1
#endif
#endif
#ifndef RUNNING_SLOWLY
#define RUNNING_SLOWLY 0
#endif

enum { PATIENCE_MS = 60000 };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Fails the test with the error's text if the status is not PAWL_OK. */
#define assert_ok(call, error)                                                                                         \
    do {                                                                                                               \
        pawl_status status_ = (call);                                                                                  \
        if (status_ != PAWL_OK)                                                                                        \
            fail_msg("%s: %s: %s", #call, pawl_status_name(status_), (error).text);                                    \
    } while (0)

int64_t monotonic_ms(void);
void rest_a_little(void); /* sleeps 1 ms between two looks */

/* True if this process exists and has not ended.  A process that has ended but was not waited for does not count. */
bool process_runs(pid_t pid);
void expect_gone(pid_t pid); /* waits for it, up to PATIENCE_MS */

/* ---- Gates: where the test meets a body -------------------------------------------------------------------------- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int entered; /* how many have reached the gate */
    int inside;  /* how many wait at it now */
    bool open;
};

void gate_init(struct gate *gate);
void gate_clear(struct gate *gate);
/* For bodies: counts itself and waits until the gate is opened.  Returns false if nobody opens it in time. */
bool gate_pass(struct gate *gate);
void gate_open(struct gate *gate);
/* Waits until that many have reached the gate since the beginning.  Fails the test if they do not. */
void gate_await(struct gate *gate, int entered);
int gate_entered(struct gate *gate);

/* ---- An engine with the real clock --------------------------------------------------------------------------------- */

struct running {
    pawl_engine *engine;
    pawl_runner *runner, *other; /* or NULL */
    pawl_scope *scope;
    struct pawl_error error;
    struct store_place place;
    char path[64];           /* the database's name; "" if it is in memory */
    _Atomic int64_t skew_ms; /* moves the clock of tests that open it with one of their own */
};

/* Makes an unused name for a database in the working folder. remove_database() removes all its files.  With
 * PAWL_TEST_STORE=postgres all names stand for the program's one database, which is emptied for the newest name.  So
 * name it before you fork processes that share it. */
void database_name(char *out_path, size_t size);
void remove_database(const char *path);
/* For SQL that bypasses the engine, see stores.h.  "" is in memory. */
struct store_place database_place(const char *path);

/* in_file: a new database in the working folder. *running must not move. */
void running_open(struct running *running, bool in_file);
void running_open_path(struct running *running, const char *path);
/* The same with a monotonic clock that skew_ms moves.  Wall time is the system's. */
void running_open_moved(struct running *running, const char *path);
/* For engines that the test opens itself: a clock that shows START_MS plus skew_ms and does not move by itself. */
#define START_MS INT64_C(1700000000000)
int64_t running_stopped_ms(void *running);
void running_advance_ms(struct running *running, int64_t ms);
void running_close(struct running *running); /* stops the runner, closes everything, removes the database */

void running_register(struct running *running, const char *name, pawl_workflow_fn *run, void *user);
void running_start(struct running *running, const struct pawl_runner_options *options);
void running_stop(struct running *running); /* stops and closes the runner */
/* After its first looks the started runner neither polls (its poll_ms must be long) nor reaps dead neighbours.  So
 * it can only take up later work because it was told of it. */
void runner_look_no_more(pawl_runner *runner);

void running_create(struct running *running, const char *workflow, const char *id);
void running_create_with(struct running *running, const char *workflow, const char *id, const char *params_json);
struct pawl_instance running_get(struct running *running, const char *workflow, const char *id);
struct pawl_history running_history(struct running *running, const char *workflow, const char *id, int64_t run_number);
const struct pawl_step_record *running_step(struct running *running, const char *workflow, const char *id,
                                            const char *step); /* NULL: none */
/* Counts the lines of the current run's log that contain the words and are not replays. */
int running_lines(struct running *running, const char *workflow, const char *id, const char *words);
void running_send(struct running *running, const char *workflow, const char *id, const char *type,
                  const char *payload_json);

/* Waits until the instance has the status.  Fails the test if it does not get it. */
struct pawl_instance running_await(struct running *running, const char *workflow, const char *id,
                                   enum pawl_instance_status status);
/* Waits until no instance of the workflow is unfinished.  Returns false if that takes too long. */
bool running_await_all(struct running *running, const char *workflow);
size_t running_count(struct running *running, const char *workflow, enum pawl_instance_status status);

/* ---- What the process holds ------------------------------------------------------------------------------------------ */

int count_threads(void);
int count_descriptors(void);
/* Waits for the count, because joined threads may be listed a moment longer. */
bool await_threads(int expected);

#endif
