/* engine.h - the engine, and the turn API on which every language binding is built.
 *
 * A request becomes a row, a row becomes a turn, a turn becomes history.
 *
 * A *turn* carries one claimed run forward.  The author's code runs from the top.  At each durable call the binding
 * asks the engine (pawl_recall_...), which answers from history, or says "run the body now", or returns
 * PAWL_SUSPENDED.  The binding hands a body's outcome back with pawl_attempt_complete() or pawl_attempt_fail(),
 * which make it durable, and then asks again for the answer.  The turn ends with pawl_turn_suspend(),
 * pawl_turn_finish() or pawl_turn_fail().
 *
 * Promises:
 *  1. A step that is answered as done is durable, or becomes durable before the next body is handed out.
 *  2. PAWL_SUSPENDED means: unwind, then call pawl_turn_suspend().  It is sticky for the lane: every later call there
 *     returns it and does nothing.  The engine calls the turn function again when there is something to do.  That may be
 *     at once, in another thread, or years later in another process.
 *  3. After a lost lease, a terminate or a restart, the turn's calls return PAWL_SUSPENDED and nothing that it does is
 *     recorded.
 *  4. The callbacks of this header are called while no lock is held.  Any call may be made from them.
 *  5. Texts in answers are borrowed.  They are valid until the turn function returns.
 *
 * A *lane* is one strand of a turn: the main lane, and one for each parallel branch.  Calls on one lane come one
 * after the other.  Different lanes may be used by different threads at once. */
#ifndef PAWL_ENGINE_H
#define PAWL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_engine pawl_engine;
typedef struct pawl_turn pawl_turn;
typedef struct pawl_lane pawl_lane;
typedef struct pawl_attempt pawl_attempt;

/* ---- Opening ------------------------------------------------------------------------------------------------- */

/* Zero means the default, which stands first in each comment. */
struct pawl_limits {
    int64_t steps_max;         /* 1024 per run: steps with a body, and calls */
    int64_t payload_bytes_max; /* 1 MiB each: params, step results, event payloads, log data */
    int64_t unread_events_max; /* 10000 per run: events that no step has taken; further events are refused */
    int64_t waits_max;         /* 16384 per run: sleeps, waits for events, children and deferreds, and races */
};

/* Time and randomness, replaceable for tests.  The functions must be callable from any thread.
 *
 * Wall time is what is stored and shown: creation times, sleeps, retries, waits.  It may jump.  The monotonic clock
 * measures the timeouts of bodies and how long this process may rely on its leases.  It must never jump or go back,
 * and it must count the time during which the machine is suspended. */
struct pawl_clock {
    int64_t (*now_ms)(void *user); /* milliseconds since 1970, UTC */
    void *user;
    /* Milliseconds since an arbitrary moment.  NULL: now_ms if that is given, so that a simulated clock moves
     * everything; otherwise the system's CLOCK_BOOTTIME.  Give both functions to make only wall time jump. */
    int64_t (*monotonic_ms)(void *user);
};
struct pawl_random {
    void (*fill)(void *user, void *bytes, size_t size);
    void *user;
};

struct pawl_options {
    size_t struct_size;
    /* "sqlite:path" or "sqlite::memory:", with options after a '?':
     *   synchronous=full|normal   full (default) survives power loss; normal may lose the last commits at a power
     *                             loss, never at a crash of the program, and never leaves a damaged file
     *   busy_ms=n                 how long to wait for another process's transaction, 10000
     *   mode=0600|0660            the permissions of a new file and of those beside it, whatever the umask; 0600
     * "postgres://user@host/database", for runners on many machines (if the library was built with it): a libpq URI, with
     * libpq's options and these after a '?':
     *   pawl_schema=name          the schema that holds the tables; it is created if it is missing
     *   pawl_pool=n               connections for reading, 8
     *   pawl_lanes=n              transactions at once, each on a connection of its own, 2
     *   pawl_busy_ms=n            how long to wait for a lock, a lost connection or a restart of the server, 10000
     *   pawl_pooler=transaction   a pooler in between lends sessions for one transaction each
     * A store is one database: a list of URLs is PAWL_INVALID (docs/postgres.md says how to use more).
     * NULL is "sqlite:pawl.db".  Copied. */
    const char *store_url;
    struct pawl_limits limits;
    struct pawl_clock clock;   /* all NULL: the system's */
    struct pawl_random random; /* fill NULL: the system's */
    /* A budget for large and short-lived memory: the histories that runners load, and the requests and answers of
     * the HTTP handler and its server.  0: a quarter of the machine's memory, or of the process's cgroup limit. */
    int64_t memory_bytes_max;
    /* Called while pawl_open() migrates an older database, which may take a while.  Each text is an English
     * sentence, valid for the call.  It is called from the thread that calls pawl_open().  NULL: not called. */
    void (*migrating)(void *user, const char *text);
    void *migrating_user;
};
/* clang-format off */
#define PAWL_OPTIONS_INIT                                                                                              \
    { sizeof(struct pawl_options), NULL, { 0, 0, 0, 0 }, { NULL, NULL, NULL }, { NULL, NULL }, 0, NULL, NULL }
/* clang-format on */

/* Opens the store, creating or migrating it as needed.  options NULL means all defaults. */
PAWL_API pawl_status pawl_open(const struct pawl_options *options, pawl_engine **out_engine,
                               struct pawl_error *error) PAWL_MUST_CHECK;

/* A warning about the store for the operator, as an English sentence.  NULL: none.  Valid until the engine is
 * closed.  So far there is one: an earlier version spread a store over several databases, and this was one of them.
 * It works alone, with the instances that it holds. */
PAWL_API const char *pawl_store_warning(pawl_engine *engine);

/* Closes the engine.  Stops its runners and waits for their bodies under way.  It is better to close the runners
 * first, because afterwards they can only be closed.  NULL is fine. */
PAWL_API void pawl_close(pawl_engine *engine);

/* Registers close(user) to be called when the engine is closed, newest first.  For state that bindings keep per
 * engine. */
PAWL_API pawl_status pawl_at_close(pawl_engine *engine, void (*close)(void *user), void *user) PAWL_MUST_CHECK;
/* Like pawl_at_close(), unless this function is registered already.  Returns the user pointer registered with it, so
 * that a binding can find its state again.  NULL: out of memory. */
PAWL_API void *pawl_at_close_once(pawl_engine *engine, void (*close)(void *user), void *user) PAWL_MUST_CHECK;

/* The store's time.  Every stored time and every comparison uses it. */
PAWL_API int64_t pawl_now_ms(pawl_engine *engine);

/* Trace hook, used by tests (testing.h).  Costs one branch when no trace is attached. */
PAWL_API void pawl_note(pawl_engine *engine, const char *format, ...) PAWL_PRINTF(2, 3);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Counts memory against the engine's memory_bytes_max.  Allocates nothing.  *held is the caller's record of what it
 * holds, 0 at first.  After success it is `bytes`, which may be more or less than before.  Hold 0 at the end.
 *
 * Never waits.  False means that the budget does not allow it and nothing has changed.  Then free what you have,
 * hold 0, and tell your client to try again.  A request for less is always granted, and so is any request while
 * nobody else holds memory. */
PAWL_API bool pawl_memory_hold(pawl_engine *engine, int64_t *held, int64_t bytes) PAWL_MUST_CHECK;
/* Like pawl_memory_hold(), for memory that is needed in any case.  It is counted even past the budget. */
PAWL_API void pawl_memory_owe(pawl_engine *engine, int64_t *held, int64_t bytes);

/* ---- Statistics ------------------------------------------------------------------------------------------------- */

/* A histogram: counts[i] is the number of values up to limits[i] that no earlier class holds.  The last class holds
 * the rest. */
enum { PAWL_CLASSES_MAX = 16 };
struct pawl_distribution {
    size_t class_count;
    double limits[PAWL_CLASSES_MAX]; /* class_count - 1 of them */
    int64_t counts[PAWL_CLASSES_MAX];
    double sum;
};

/* What this engine has committed since it was opened. */
struct pawl_stats {
    size_t struct_size;
    int64_t runs_created; /* restarts are new runs */
    int64_t runs_complete, runs_errored, runs_terminated;
    int64_t steps_completed, steps_errored; /* errored: failed for good */
    int64_t attempts_failed;                /* failed and to be tried again */
    int64_t events_sent;
    int64_t leases_lost;
    int64_t commits, commits_failed;
    struct pawl_distribution run_seconds;  /* from the run's start to its end */
    struct pawl_distribution body_seconds; /* how long step bodies ran */
    struct pawl_distribution units;        /* units of work in one commit */
    struct pawl_distribution commit_seconds;
    pawl_status last_commit_failure; /* the status of the newest failed commit; PAWL_OK: none has failed */
    int64_t memory_bytes_max;        /* the budget */
    int64_t memory_bytes_held;       /* how much of it is held now */
    int64_t memory_refusals;         /* how often memory was refused */
};
PAWL_API void pawl_stats_read(pawl_engine *engine, struct pawl_stats *out_stats); /* set struct_size first */

/* What is in the store now.  Counting reads an index: milliseconds for a hundred thousand rows. */
struct pawl_backlog {
    size_t struct_size;
    int64_t active, waiting, paused; /* unfinished instances */
    int64_t due;                     /* of those, how many a runner could take now */
    int64_t oldest_due_at_ms;        /* 0: nothing is due */
    int64_t deliveries_pending;      /* of hooks */
    int64_t deliveries_failed;       /* for good */
};
PAWL_API pawl_status pawl_backlog_read(pawl_engine *engine, struct pawl_backlog *out_backlog,
                                       struct pawl_error *error) PAWL_MUST_CHECK; /* set struct_size first */

/* Checks whether the store can be written.  PAWL_OK if a commit succeeded within the last ten seconds and none has
 * failed since.  Otherwise this writes an invisible row, at most once a second, and waits for it; if that fails, the
 * error says why.  It returns PAWL_OK again as soon as writing works. */
PAWL_API pawl_status pawl_check_writable(pawl_engine *engine, struct pawl_error *error) PAWL_MUST_CHECK;

/* Checks whether a newer Pawl has migrated the database since it was opened.  Reads the store at most once a second.
 * PAWL_STORE_TOO_NEW: it has.  Then the engine's runners take no new runs, jobs are not claimed and hooks not
 * delivered, but everything under way is finished, and other calls go on.  Started runners check by themselves
 * (pawl_runner_stats). */
PAWL_API pawl_status pawl_check_schema(pawl_engine *engine, struct pawl_error *error) PAWL_MUST_CHECK;

/* True if the database is on a server.  Then a call that reads may wait as long as the server is silent, so a thread
 * that others wait for should leave such calls to another thread.  Answered from memory. */
PAWL_API bool pawl_store_is_remote(const pawl_engine *engine);

/* ---- Defining workflows -------------------------------------------------------------------------------------- */

enum pawl_backoff {
    PAWL_BACKOFF_DEFAULT, /* the workflow's, or exponential if it has none */
    PAWL_BACKOFF_CONSTANT,
    PAWL_BACKOFF_LINEAR,
    PAWL_BACKOFF_EXPONENTIAL
};

#define PAWL_RETRIES_UNLIMITED INT64_MAX

/* How a step is tried.  The delay before attempt n+1 is delay_ms times 1, n or 2^(n-1), but at most 365 days. */
struct pawl_policy {
    int64_t retries_max; /* attempts_max = retries_max + 1 */
    int64_t delay_ms;
    enum pawl_backoff backoff;
    int64_t timeout_ms;      /* per attempt */
    const char *description; /* for people; up to 1024 bytes; or NULL */
    const char *undoes;      /* the name of the step that this one undoes; NULL: none */
};
/* Sets 5 retries, a delay of 10 seconds, exponential backoff, and a timeout of 10 minutes. */
PAWL_API void pawl_policy_default(struct pawl_policy *out_policy);

/* What is wrong with a policy, as a static text.  NULL: nothing. */
PAWL_API const char *pawl_policy_wrong(const struct pawl_policy *policy);

/* Carries a turn forward and ends it, as described above.  Called from worker threads, or from a tick. */
typedef void pawl_turn_fn(pawl_turn *turn, void *user);

/* Runs a whole workflow to its end in the calling thread, for pawl_execute() (service.h).  The id is derived from
 * the caller's key.  The answer lives in the scope. */
struct pawl_instance;
struct pawl_scope;
typedef pawl_status pawl_inline_fn(pawl_engine *engine, struct pawl_scope *scope, const char *workflow, const char *id,
                                   const char *params_json, void *user, struct pawl_instance *out_instance,
                                   struct pawl_error *error);

struct pawl_definition {
    size_t struct_size;
    const char *name;        /* 1-64 of [a-zA-Z0-9_-], no leading - or _ */
    const char *description; /* or NULL */
    const char *const *tags; /* or NULL; tag_count of them */
    size_t tag_count;
    struct pawl_limits limits;      /* zero: the engine's */
    pawl_turn_fn *advance;          /* NULL: turns are taken with pawl_turn_poll(), see runner.h */
    void *user;                     /* borrowed until the engine is closed */
    const char *const *permissions; /* that a caller needs; passed to the authorize function; or NULL */
    size_t permission_count;
    pawl_inline_fn *run_inline; /* or NULL.  Makes the workflow inline, without instances: see pawl_execute() */
    /* The definition is a function that carries out jobs (pawl_recall_call).  Its name is 1-63 of [a-zA-Z0-9._-],
     * not starting with - or a dot, and the params of a run are a job. */
    bool is_function;
    /* The version of the workflow's code: 1-64 of [a-zA-Z0-9._-], or NULL.  Each run that begins here records it.  It is shown
     * with the run, and lists can filter by it (service.h).  The engine compares no versions.  Functions have none. */
    const char *version;
};

/* Registers a workflow or function.  Call it before the runner starts.  Everything but `user` is copied. */
PAWL_API pawl_status pawl_define(pawl_engine *engine, const struct pawl_definition *definition,
                                 struct pawl_error *error) PAWL_MUST_CHECK;
/* PAWL_INVALID once a runner has started.  The error says that `what` ("workflow \"order\"") must be registered
 * before.  For registries that bindings keep per engine. */
PAWL_API pawl_status pawl_require_unstarted(pawl_engine *engine, const char *what,
                                            struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- The turn ------------------------------------------------------------------------------------------------ */

/* The instance whose step created another one. */
struct pawl_parent {
    const char *workflow;
    const char *id;
    int64_t run_number;
    bool is_attached; /* it is terminated and interrupted together with its parent */
};

struct pawl_turn_info {
    const char *workflow;
    const char *instance_id;
    int64_t run_number;
    int64_t created_at_ms;   /* of the instance; the same at every replay */
    const char *params_json; /* NULL: none */
    size_t params_size;
    bool is_first;             /* no runner has claimed this run before */
    bool is_again;             /* the turn function is run again within the same turn, after a commit */
    struct pawl_parent parent; /* workflow NULL: no step created it */
};
PAWL_API void pawl_turn_describe(const pawl_turn *turn, struct pawl_turn_info *out_info);
PAWL_API pawl_engine *pawl_turn_engine(const pawl_turn *turn);
PAWL_API pawl_lane *pawl_turn_lane(pawl_turn *turn); /* the main lane */

enum pawl_answer_kind {
    PAWL_ANSWER_DONE,
    PAWL_ANSWER_FAILED, /* for good */
    PAWL_ANSWER_RUN     /* run the body, hand its outcome back, then ask again */
};

struct pawl_answer {
    enum pawl_answer_kind kind;
    const char *result_json; /* DONE: NULL is "no result" */
    size_t result_size;
    int64_t event_at_ms;    /* DONE of a wait for an event: when the event was sent */
    int64_t finished_at_ms; /* DONE and FAILED; together with `order` it tells which of two steps finished first */
    int64_t order;
    const char *error_name;    /* FAILED */
    const char *error_message; /* FAILED */
    pawl_attempt *attempt;     /* RUN */
    bool is_replay;            /* recorded in an earlier turn */
    bool is_new;               /* handed out for the first time */
};

/* Names are trimmed; they have 1-256 bytes of UTF-8.  Besides PAWL_OK and PAWL_SUSPENDED these calls return
 * PAWL_INVALID_STEP_NAME, PAWL_DUPLICATE_STEP_KEY, PAWL_STEP_TYPE_MISMATCH, PAWL_MAX_STEPS_EXCEEDED,
 * PAWL_MAX_WAITS_EXCEEDED, the range errors, and PAWL_NOMEM. */
PAWL_API pawl_status pawl_recall_step(pawl_lane *lane, const char *name, size_t name_size,
                                      const struct pawl_policy *policy, struct pawl_answer *out_answer) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_sleep(pawl_lane *lane, const char *name, size_t name_size, int64_t duration_ms,
                                       struct pawl_answer *out_answer) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_sleep_until(pawl_lane *lane, const char *name, size_t name_size, int64_t wake_at_ms,
                                             struct pawl_answer *out_answer) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_event(pawl_lane *lane, const char *name, size_t name_size, const char *type,
                                       int64_t timeout_ms, struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* ---- What others finish ---------------------------------------------------------------------------------------- */

/* A job for any worker of the function: a runner that has registered it, or an external worker (service.h).
 * Each attempt is a job of its own.  The timeout of an attempt counts from the moment when a worker first takes it. */
struct pawl_job_request {
    const char *function;
    const char *data_json; /* NULL: none */
    size_t data_size;
};
PAWL_API pawl_status pawl_recall_call(pawl_lane *lane, const char *name, size_t name_size,
                                      const struct pawl_job_request *call, const struct pawl_policy *policy,
                                      struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* Waits for the end of an instance that this one created, in this run or an earlier one.  DONE: with its output.
 * FAILED: with its error, or CHILD_TERMINATED if it was terminated. */
PAWL_API pawl_status pawl_recall_child(pawl_lane *lane, const char *name, size_t name_size, const char *workflow,
                                       const char *instance_id, struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* A deferred is completed once, by anybody who has its token, at any time from then on.  pawl_recall_token() gives
 * the token, whether or not the deferred is completed.  The text belongs to the turn.  timeout_ms 0: none. */
PAWL_API pawl_status pawl_recall_token(pawl_lane *lane, const char *name, size_t name_size,
                                       const char **out_token) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_deferred(pawl_lane *lane, const char *name, size_t name_size, int64_t timeout_ms,
                                          struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* ---- The lane --------------------------------------------------------------------------------------------------- */

/* True once a call on this lane has returned PAWL_SUSPENDED.  Then every later one does. */
PAWL_API bool pawl_lane_suspended(const pawl_lane *lane);

/* What a durable call that history cannot answer would return now: PAWL_OK, PAWL_SUSPENDED or PAWL_INTERRUPTED. */
PAWL_API pawl_status pawl_lane_check(pawl_lane *lane) PAWL_MUST_CHECK;

/* The text of the last error that a call on this lane returned.  Never NULL. */
PAWL_API const char *pawl_lane_error(const pawl_lane *lane);

/* ---- One attempt at a step's body ---------------------------------------------------------------------------- */

PAWL_API int64_t pawl_attempt_number(const pawl_attempt *attempt); /* from 1 */
/* When it times out, in wall time by the present clock.  If wall time jumps, so does this. */
PAWL_API int64_t pawl_attempt_deadline_ms(const pawl_attempt *attempt);
/* How long it has left before it times out, by the monotonic clock.  0: it has timed out, or is about to. */
PAWL_API int64_t pawl_attempt_remaining_ms(const pawl_attempt *attempt);
/* True once the outcome of the body can no longer count: timed out, lease lost, terminated, restarted, or the branch
 * lost a race. */
PAWL_API bool pawl_attempt_cancelled(const pawl_attempt *attempt);

enum pawl_mutation_when {
    PAWL_WITH_SUCCESS, /* in the transaction that records the step as completed, before its row is written */
    PAWL_WITH_FAILURE  /* in the transaction that records that the step failed for good */
};

/* Runs on the store's own connection (sqlite3 *, PGconn *) inside that transaction.  It must not begin or end a
 * transaction, or write Pawl's own tables.  If it does not return PAWL_OK, everything is undone:
 * PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION fails the step for good, anything else fails the attempt. */
typedef pawl_status pawl_mutation_fn(void *connection, const void *data, size_t size);

/* Registers SQL with parameters $1, $2 ... taken from a JSON array (NULL: none).  Everything is copied.  The
 * mutations of an attempt run in the order in which they were registered. */
PAWL_API pawl_status pawl_attempt_sql(pawl_attempt *attempt, enum pawl_mutation_when when, const char *sql,
                                      const char *parameters_json, size_t parameters_size) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_attempt_mutate(pawl_attempt *attempt, enum pawl_mutation_when when, pawl_mutation_fn *mutate,
                                         const void *data, size_t size) PAWL_MUST_CHECK;
/* Creates another instance, or sends an event to one, in the transaction that records the step as completed. */
PAWL_API pawl_status pawl_attempt_create(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                         const char *params_json, size_t params_size) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_attempt_send_event(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                             const char *type, const char *payload_json,
                                             size_t payload_size) PAWL_MUST_CHECK;

/* Like pawl_attempt_create(), but the new instance is a child, which this run may await.  An attached child is
 * terminated and interrupted together with its parent.  instance_id NULL: generated.  out_id (or NULL): the id; it
 * belongs to the turn. */
PAWL_API pawl_status pawl_attempt_create_child(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                               bool attached, const char *params_json, size_t params_size,
                                               const char **out_id) PAWL_MUST_CHECK;

/* Consumes the attempt and records nothing, as if its body had not run. */
PAWL_API void pawl_attempt_drop(pawl_attempt *attempt);

/* Both consume the attempt, whatever they return.  Everything is copied.  result_json NULL is "no result".  PAWL_OK:
 * accepted.  Anything else: the turn is over, or memory is out; return PAWL_SUSPENDED up. */
PAWL_API pawl_status pawl_attempt_complete(pawl_attempt *attempt, const char *result_json,
                                           size_t result_size) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_attempt_fail(pawl_attempt *attempt, const char *error_name, const char *error_message,
                                       bool may_retry) PAWL_MUST_CHECK;

/* ---- Logs ---------------------------------------------------------------------------------------------------- */

enum pawl_log_level { PAWL_LOG_DEBUG, PAWL_LOG_INFO, PAWL_LOG_WARN, PAWL_LOG_ERROR };

/* Adds a durable log line, written with the next step boundary.  attempt NULL: outside any step.  category NULL:
 * "workflow". */
PAWL_API pawl_status pawl_lane_log(pawl_lane *lane, pawl_attempt *attempt, enum pawl_log_level level,
                                   const char *category, const char *message, const char *data_json,
                                   size_t data_size) PAWL_MUST_CHECK;

/* ---- Parallel lanes ------------------------------------------------------------------------------------------ */

/* Carries one branch forward on its lane.  PAWL_SUSPENDED: the branch has not finished yet.  Anything else: it has. */
typedef pawl_status pawl_lane_fn(pawl_lane *lane, size_t position, void *user);

/* Calls `branch` for the positions 0 to count-1, on other worker threads as well if there are any.  Returns when all
 * these calls have returned.  At most `limit` (0: no limit) branches are begun and unfinished at a time; the others
 * are not called yet.  out_status[i] is what branch i returned, or PAWL_SUSPENDED if it was not called.
 *
 * The name is recorded with every step of the branches, as their place (struct pawl_step_place in service.h).  The
 * forks of a run should have different names, but nothing depends on it. */
PAWL_API pawl_status pawl_lane_all(pawl_lane *lane, const char *name, size_t name_size, size_t count, size_t limit,
                                   pawl_lane_fn *branch, void *user, pawl_status *out_status) PAWL_MUST_CHECK;

/* Like pawl_lane_all(), until one branch has finished with success or failure.  The winner is recorded under the
 * name, so that every replay takes the same branch and calls only that one.  The waits of the others are abandoned.
 * Their bodies under way see pawl_attempt_cancelled() and are waited for.  If they fail, they are abandoned. */
PAWL_API pawl_status pawl_lane_first(pawl_lane *lane, const char *name, size_t name_size, size_t count,
                                     pawl_lane_fn *branch, void *user, size_t *out_winner,
                                     pawl_status *out_status) PAWL_MUST_CHECK;

/* ---- Ending the turn: exactly one of these, as the last thing the turn function does -------------------------- */

PAWL_API void pawl_turn_suspend(pawl_turn *turn);
PAWL_API void pawl_turn_finish(pawl_turn *turn, const char *result_json, size_t result_size);
PAWL_API void pawl_turn_fail(pawl_turn *turn, const char *error_name, const char *error_message);
/* For a turn that carries out a job: another attempt would not help. */
PAWL_API void pawl_turn_fail_for_good(pawl_turn *turn, const char *error_name, const char *error_message);
/* A step failed for good, and somebody has to fix the cause.  The run is paused.  When it is resumed, its failed
 * steps are tried again. */
PAWL_API void pawl_turn_await_repair(pawl_turn *turn);

/* ---- Interruption --------------------------------------------------------------------------------------------- */

/* When a run is interrupted, every durable call that history cannot answer returns PAWL_INTERRUPTED, and so does a
 * call whose job has not been answered.  An answer that has arrived is still taken.
 *
 * This holds until the turn function calls pawl_turn_unwind().  From then on, in this pass, calls work again, so
 * that the code can undo what was done.  However the turn then ends, the instance is terminated, and keeps an error
 * name other than INTERRUPTED.  A run that failed may unwind as well.  If a race was replayed, pawl_turn_unwind()
 * suspends the main lane once.  The next pass also shows the branches that lost, up to where they were left, so that
 * their steps are undone with the rest.  A step that undoes another one says so in its policy, which tells a repair
 * that nothing is left to keep.
 *
 * An interruption wins over a result that comes after it.  Call pawl_lane_check() on the main lane before
 * pawl_turn_finish(), because there may be no further durable call to report the interruption. */
PAWL_API bool pawl_turn_interrupted(const pawl_turn *turn);
PAWL_API void pawl_turn_unwind(pawl_turn *turn);

#ifdef __cplusplus
}
#endif
#endif
