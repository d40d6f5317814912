/* running.h - for tests that run for real: threads, wall time, other processes.  Nothing here sleeps to prove something:
 * bodies are met at gates, and a state is waited for with a limit that only a broken engine reaches. */
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

/* With the text of the error when it is not PAWL_OK. */
#define assert_ok(call, error)                                                                                         \
    do {                                                                                                               \
        pawl_status status_ = (call);                                                                                  \
        if (status_ != PAWL_OK)                                                                                        \
            fail_msg("%s: %s: %s", #call, pawl_status_name(status_), (error).text);                                    \
    } while (0)

int64_t monotonic_ms(void);
void rest_a_little(void); /* 1 ms, between two looks */

/* Is there a process of this number that has not ended?  One that has ended but was not waited for does not count. */
bool process_runs(pid_t pid);
void expect_gone(pid_t pid); /* waits for it, with patience */

/* ---- Gates: where the test meets a body -------------------------------------------------------------------------- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int entered; /* how many came to the gate */
    int inside;  /* how many stand at it now */
    bool open;
};

void gate_init(struct gate *gate);
void gate_clear(struct gate *gate);
/* For bodies: notes that one came, and waits until the gate is opened.  False: nobody opened it in time. */
bool gate_pass(struct gate *gate);
void gate_open(struct gate *gate);
/* Until so many came, ever.  Fails the test when they do not. */
void gate_await(struct gate *gate, int entered);
int gate_entered(struct gate *gate);

/* ---- An engine with the real clock --------------------------------------------------------------------------------- */

struct running {
    pawl_engine *engine;
    pawl_runner *runner, *other; /* NULL: none */
    pawl_scope *scope;
    struct pawl_error error;
    struct store_place place;
    char path[64];           /* name of the database; "" when it is in memory */
    _Atomic int64_t skew_ms; /* for tests that open it with a clock of their own */
};

/* A name for a database in the working folder, not used before; remove_database() takes all its files away.  Where
 * PAWL_TEST_STORE=postgres is asked for, all names stand for the program's one database, emptied for the newest; so it is
 * named before processes are forked that share it. */
void database_name(char *out_path, size_t size);
void remove_database(const char *path);
/* For SQL past the engine, see stores.h.  "": in memory. */
struct store_place database_place(const char *path);

/* in_file: a database of its own in the working folder.  *running must stay where it is. */
void running_open(struct running *running, bool in_file);
void running_open_path(struct running *running, const char *path);
/* The same with a monotonic clock that skew_ms moves; wall time is the system's. */
void running_open_moved(struct running *running, const char *path);
/* For engines that the test opens itself: a clock that shows START_MS and skew_ms, and stands still. */
#define START_MS INT64_C(1700000000000)
int64_t running_stopped_ms(void *running);
void running_advance_ms(struct running *running, int64_t ms);
void running_close(struct running *running); /* stops the runner, closes all, removes the database */

void running_register(struct running *running, const char *name, pawl_workflow_fn *run, void *user);
void running_start(struct running *running, const struct pawl_runner_options *options);
void running_stop(struct running *running); /* and closes the runner */
/* From its first looks on the started runner neither polls (its poll_ms must be long) nor looks for dead neighbours: what
 * it takes up afterwards, it was told of.  No clock is needed to know that it did not find it by looking. */
void runner_look_no_more(pawl_runner *runner);

void running_create(struct running *running, const char *workflow, const char *id);
void running_create_with(struct running *running, const char *workflow, const char *id, const char *params_json);
struct pawl_instance running_get(struct running *running, const char *workflow, const char *id);
struct pawl_history running_history(struct running *running, const char *workflow, const char *id, int64_t run_number);
const struct pawl_step_record *running_step(struct running *running, const char *workflow, const char *id,
                                            const char *step); /* NULL: none */
/* How many lines of the current run's log say that, for the first time. */
int running_lines(struct running *running, const char *workflow, const char *id, const char *words);
void running_send(struct running *running, const char *workflow, const char *id, const char *type,
                  const char *payload_json);

/* Waits until the instance has the status; fails the test when it does not come. */
struct pawl_instance running_await(struct running *running, const char *workflow, const char *id,
                                   enum pawl_instance_status status);
/* Until nothing of the workflow is unfinished; false when that does not come. */
bool running_await_all(struct running *running, const char *workflow);
size_t running_count(struct running *running, const char *workflow, enum pawl_instance_status status);

/* ---- What the process holds ------------------------------------------------------------------------------------------ */

int count_threads(void);
int count_descriptors(void);
/* Threads that were joined may be listed a moment longer. */
bool await_threads(int expected);

#endif
