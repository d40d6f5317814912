/* engine.h - the engine, and the language-neutral turn on which every authoring API is built.
 *
 * A request becomes a row, a row becomes a turn, a turn becomes history.
 *
 * A *turn* is one claimed run carried forward.  The author's code is run from the top; at each durable call the binding
 * asks the engine (pawl_recall_...), which answers from history, or says "run the body now", or says PAWL_SUSPENDED.
 * A body's outcome is handed back with pawl_attempt_complete() or pawl_attempt_fail(), which make it durable; asking
 * again then gives the answer.  The turn ends with pawl_turn_suspend(), pawl_turn_finish() or pawl_turn_fail().
 *
 * Promises:
 *  1. A step that is answered as done was durable first, or becomes durable before the next body is handed out.
 *  2. PAWL_SUSPENDED means: unwind, then call pawl_turn_suspend().  It is sticky for the lane: every later call there
 *     says the same and does nothing.  The engine calls the turn function again when there is something to do, which
 *     may be at once, in another thread or, years later, in another process.
 *  3. After a lost lease, a terminate or a restart, the turn's calls say PAWL_SUSPENDED and nothing it does is recorded.
 *  4. No callback is called while a lock is held; any call may be made from any callback.
 *  5. Texts in answers are borrowed, valid until the turn function returns.
 *
 * A *lane* is one strand of a turn: the main one, and one for each parallel branch.  Calls on one lane follow one
 * another; different lanes may be used by different threads at once. */
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

/* Zero means the default, given behind each. */
struct pawl_limits {
    int64_t steps_max;         /* 1024 a run: steps with a body, and calls */
    int64_t payload_bytes_max; /* 1 MiB: params, step result, event payload, log data */
    int64_t unread_events_max; /* 10000 a run: events that no step has taken; then more are refused */
    int64_t waits_max;         /* 16384 a run: sleeps, waits for events, children and deferreds, and races */
};

/* Time and chance, replaceable for tests.  Functions must be callable from any thread.
 *
 * Wall time is what is stored and shown: creation times, sleeps, retries, waits.  It may jump.  The monotonic clock counts the
 * timeouts of bodies and how long this process may rely on its leases.  It must never jump or go back, and it must count the
 * time during which the machine is suspended. */
struct pawl_clock {
    int64_t (*now_ms)(void *user); /* milliseconds since 1970, UTC */
    void *user;
    /* Milliseconds since any moment.  NULL: the system's CLOCK_BOOTTIME; but where now_ms is given, now_ms is used for both, so
     * that a simulated clock moves everything.  Give both functions to jump wall time alone. */
    int64_t (*monotonic_ms)(void *user);
};
struct pawl_random {
    void (*fill)(void *user, void *bytes, size_t size);
    void *user;
};

struct pawl_options {
    size_t struct_size;
    /* "sqlite:path", "sqlite::memory:", with options behind a '?':
     *   synchronous=full|normal   full (default) survives power loss; normal may lose the last commits at a power
     *                             loss, never at a crash of the program, and never leaves a damaged file
     *   busy_ms=n                 how long to wait for another process's transaction, 10000
     *   mode=0600|0660            who may read and write a new file and those beside it, whatever the umask; 0600
     * "postgres://user@host/database", for runners on many machines (where the library was built with it): a URI as libpq
     * takes it, with its options and ours behind a '?':
     *   pawl_schema=name          the tables are in this schema, which is made when it is not there
     *   pawl_pool=n               connections for reading, 8
     *   pawl_lanes=n              transactions at once, each on a connection of its own, 2
     *   pawl_busy_ms=n            how long a lock, a lost connection or a restart is waited out, 10000
     *   pawl_pooler=transaction   there is a pooler in between that lends sessions for a transaction
     * A store is one database: a list of URLs is PAWL_INVALID (docs/postgres.md says how to use more).
     * NULL is "sqlite:pawl.db".  Copied. */
    const char *store_url;
    struct pawl_limits limits;
    struct pawl_clock clock;   /* all NULL: the system's */
    struct pawl_random random; /* fill NULL: the system's */
    /* For all that is large and comes and goes: histories that runners load, and what the HTTP handler and its server
     * receive and answer.  0: a quarter of the machine's memory, or of the limit of the process's control group. */
    int64_t memory_bytes_max;
    /* Told what pawl_open() does to a database with an older schema, which may take a while: English sentences, each valid for
     * the call.  From the thread that opens it.  NULL: nobody is. */
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

/* What the operator should know about the store, as an English sentence.  NULL: nothing.  Valid until the engine is closed.
 * So far there is one such fact: an earlier version made one store of several databases, and this was one of them.  It
 * works alone, with the instances that it holds. */
PAWL_API const char *pawl_store_warning(pawl_engine *engine);

/* Stops the engine's runners, too, and waits for their bodies under way; closing them first is the better order, and
 * after this they can only be closed.  NULL is fine. */
PAWL_API void pawl_close(pawl_engine *engine);

/* Calls close(user) when the engine is closed, the newest first.  For what bindings keep beside an engine. */
PAWL_API pawl_status pawl_at_close(pawl_engine *engine, void (*close)(void *user), void *user) PAWL_MUST_CHECK;
/* The same, unless this function is registered already.  Returns the user pointer that is registered with it, so a binding finds
 * again what it keeps beside an engine.  NULL: memory is out. */
PAWL_API void *pawl_at_close_once(pawl_engine *engine, void (*close)(void *user), void *user) PAWL_MUST_CHECK;

/* The store's time, which is what every stored time and every comparison uses. */
PAWL_API int64_t pawl_now_ms(pawl_engine *engine);

/* Trace hook, used by tests (testing.h).  Costs one branch when no trace is attached. */
PAWL_API void pawl_note(pawl_engine *engine, const char *format, ...) PAWL_PRINTF(2, 3);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Counts memory against the engine's memory_bytes_max; allocates nothing.  *held is the caller's record of what it holds: 0
 * at first.  From now on it holds `bytes`, more or less than before; hold 0 in the end.
 *
 * Nobody waits: false means that the budget does not allow it, and nothing has changed.  Then free what you have, hold 0,
 * and tell your client to try again.  Whoever is alone is granted everything, and less is always granted. */
PAWL_API bool pawl_memory_hold(pawl_engine *engine, int64_t *held, int64_t bytes) PAWL_MUST_CHECK;
/* The same for memory that is taken in any case.  It is counted, also past the budget. */
PAWL_API void pawl_memory_owe(pawl_engine *engine, int64_t *held, int64_t bytes);

/* ---- Figures --------------------------------------------------------------------------------------------------- */

/* How many fell into each class: counts[i] those of at most limits[i], the last one the rest; and their sum. */
enum { PAWL_CLASSES_MAX = 16 };
struct pawl_distribution {
    size_t class_count;
    double limits[PAWL_CLASSES_MAX]; /* class_count - 1 of them */
    int64_t counts[PAWL_CLASSES_MAX];
    double sum;
};

/* Since this engine was opened, of what this engine committed. */
struct pawl_stats {
    size_t struct_size;
    int64_t runs_created; /* restarts are new runs */
    int64_t runs_complete, runs_errored, runs_terminated;
    int64_t steps_completed, steps_errored; /* for good */
    int64_t attempts_failed;                /* and tried again */
    int64_t events_sent;
    int64_t leases_lost;
    int64_t commits, commits_failed;
    struct pawl_distribution run_seconds;  /* from the run's start to its end */
    struct pawl_distribution body_seconds; /* of step bodies */
    struct pawl_distribution units;        /* in one commit */
    struct pawl_distribution commit_seconds;
    pawl_status last_commit_failure; /* why the newest commit that failed did; PAWL_OK: none did */
    int64_t memory_bytes_max;        /* the budget */
    int64_t memory_bytes_held;       /* of it, now */
    int64_t memory_refusals;         /* how often it was refused */
};
PAWL_API void pawl_stats_read(pawl_engine *engine, struct pawl_stats *out_stats); /* set struct_size first */

/* What is in the store now.  Counts run over an index: milliseconds for a hundred thousand. */
struct pawl_backlog {
    size_t struct_size;
    int64_t active, waiting, paused; /* unfinished instances */
    int64_t due;                     /* of those, what a runner could take now */
    int64_t oldest_due_at_ms;        /* 0: nothing is due */
    int64_t deliveries_pending;      /* of hooks */
    int64_t deliveries_failed;       /* for good */
};
PAWL_API pawl_status pawl_backlog_read(pawl_engine *engine, struct pawl_backlog *out_backlog,
                                       struct pawl_error *error) PAWL_MUST_CHECK; /* set struct_size first */

/* Can the store be written?  PAWL_OK: a commit wrote something within the last ten seconds, and none has failed since.  If
 * that is not so, this writes a row that nobody sees, at most once a second, and waits for it.  Otherwise the error says why not.
 * It becomes PAWL_OK again by itself. */
PAWL_API pawl_status pawl_check_writable(pawl_engine *engine, struct pawl_error *error) PAWL_MUST_CHECK;

/* Has a newer Pawl migrated the database since it was opened?  Looks at most once a second, and then reads the store.  If so,
 * PAWL_STORE_TOO_NEW: the engine's runners take no new runs, jobs are not claimed and hooks not delivered, but all that is under
 * way is finished, and other calls go on.  Started runners look by themselves (pawl_runner_stats). */
PAWL_API pawl_status pawl_check_schema(pawl_engine *engine, struct pawl_error *error) PAWL_MUST_CHECK;

/* Is the store on a server, or a part of it?  Then a call that reads may wait for as long as that server is silent, so a
 * thread that others wait for should leave such calls to another thread.  Answered from memory. */
PAWL_API bool pawl_store_is_remote(const pawl_engine *engine);

/* ---- Defining workflows -------------------------------------------------------------------------------------- */

enum pawl_backoff {
    PAWL_BACKOFF_DEFAULT, /* the workflow's; exponential where there is none */
    PAWL_BACKOFF_CONSTANT,
    PAWL_BACKOFF_LINEAR,
    PAWL_BACKOFF_EXPONENTIAL
};

#define PAWL_RETRIES_UNLIMITED INT64_MAX

/* How a step is tried.  The delay before attempt n+1 is delay_ms times 1, n or 2^(n-1), never above 365 days. */
struct pawl_policy {
    int64_t retries_max; /* attempts_max = retries_max + 1 */
    int64_t delay_ms;
    enum pawl_backoff backoff;
    int64_t timeout_ms;      /* per attempt */
    const char *description; /* of the step, for people; up to 1024 bytes; or NULL */
    const char *undoes;      /* the name of the step that this one undoes; NULL: it undoes none */
};
/* 5 retries, 10 seconds, exponential, 10 minutes. */
PAWL_API void pawl_policy_default(struct pawl_policy *out_policy);

/* What is wrong with a policy, as a static text; NULL when it is fine. */
PAWL_API const char *pawl_policy_wrong(const struct pawl_policy *policy);

/* Carries a turn forward and ends it; see above.  Called from worker threads or from tick. */
typedef void pawl_turn_fn(pawl_turn *turn, void *user);

/* Carries a whole run out in the thread of its caller, to its end, for pawl_execute() (service.h).  The id follows from the
 * caller's key; the answer is the scope's. */
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
    const char *const *permissions; /* that a caller needs, as the authorization sees them; or NULL */
    size_t permission_count;
    pawl_inline_fn *run_inline; /* or NULL.  Of an inline workflow, which has no instances: see pawl_execute() */
    /* Carries out jobs instead (pawl_recall_call): the name is the function's, 1-63 of [a-zA-Z0-9._-], not starting with - or
     * a dot, and the params of a run are a job. */
    bool is_function;
    /* The version of the workflow's code: 1-64 of [a-zA-Z0-9._-], or NULL.  Each run that begins here records it.  It is shown
     * with the run, and lists can filter by it (service.h).  The engine compares no versions.  Functions have none. */
    const char *version;
};

/* Everything but `user` is copied.  Must come before the runner starts. */
PAWL_API pawl_status pawl_define(pawl_engine *engine, const struct pawl_definition *definition,
                                 struct pawl_error *error) PAWL_MUST_CHECK;
/* PAWL_INVALID once a runner has started, saying that what is named ("workflow \"order\"") must be registered before.  For
 * what bindings keep beside an engine. */
PAWL_API pawl_status pawl_require_unstarted(pawl_engine *engine, const char *what,
                                            struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- The turn ------------------------------------------------------------------------------------------------ */

/* Who made an instance, from a step. */
struct pawl_parent {
    const char *workflow;
    const char *id;
    int64_t run_number;
    bool is_attached; /* it is terminated and interrupted with its parent */
};

struct pawl_turn_info {
    const char *workflow;
    const char *instance_id;
    int64_t run_number;
    int64_t created_at_ms;   /* of the instance; the same at every replay */
    const char *params_json; /* NULL: none */
    size_t params_size;
    bool is_first;             /* no earlier turn of this run got anywhere */
    bool is_again;             /* the turn function ran before in this same turn, and is run again after a commit */
    struct pawl_parent parent; /* workflow NULL: nobody made it from a step */
};
PAWL_API void pawl_turn_describe(const pawl_turn *turn, struct pawl_turn_info *out_info);
PAWL_API pawl_engine *pawl_turn_engine(const pawl_turn *turn);
PAWL_API pawl_lane *pawl_turn_lane(pawl_turn *turn); /* the main lane */

enum pawl_answer_kind {
    PAWL_ANSWER_DONE,
    PAWL_ANSWER_FAILED, /* for good */
    PAWL_ANSWER_RUN     /* run the body, hand its outcome back, ask again */
};

struct pawl_answer {
    enum pawl_answer_kind kind;
    const char *result_json; /* DONE: NULL is "no result" */
    size_t result_size;
    int64_t event_at_ms;    /* DONE of a wait: when the event was sent */
    int64_t finished_at_ms; /* DONE and FAILED; with `order` it says which of two steps finished first */
    int64_t order;
    const char *error_name;    /* FAILED */
    const char *error_message; /* FAILED */
    pawl_attempt *attempt;     /* RUN */
    bool is_replay;            /* answered from an earlier turn */
    bool is_new;               /* this answer is handed out for the first time */
};

/* Names are trimmed; 1-256 bytes of UTF-8.  Besides PAWL_OK and PAWL_SUSPENDED these say PAWL_INVALID_STEP_NAME,
 * PAWL_DUPLICATE_STEP_KEY, PAWL_STEP_TYPE_MISMATCH, PAWL_MAX_STEPS_EXCEEDED, PAWL_MAX_WAITS_EXCEEDED, the range errors,
 * and PAWL_NOMEM. */
PAWL_API pawl_status pawl_recall_step(pawl_lane *lane, const char *name, size_t name_size,
                                      const struct pawl_policy *policy, struct pawl_answer *out_answer) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_sleep(pawl_lane *lane, const char *name, size_t name_size, int64_t duration_ms,
                                       struct pawl_answer *out_answer) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_sleep_until(pawl_lane *lane, const char *name, size_t name_size, int64_t wake_at_ms,
                                             struct pawl_answer *out_answer) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_event(pawl_lane *lane, const char *name, size_t name_size, const char *type,
                                       int64_t timeout_ms, struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* ---- What others finish ---------------------------------------------------------------------------------------- */

/* A job for whoever carries out the function: a runner that has it registered, or a worker outside (service.h).  Each
 * attempt is a job of its own; its timeout counts from the moment when somebody first took it. */
struct pawl_job_request {
    const char *function;
    const char *data_json; /* NULL: none */
    size_t data_size;
};
PAWL_API pawl_status pawl_recall_call(pawl_lane *lane, const char *name, size_t name_size,
                                      const struct pawl_job_request *call, const struct pawl_policy *policy,
                                      struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* The end of an instance that this one made, in this run or an earlier one: DONE with its output, or FAILED as it did
 * (CHILD_TERMINATED where it was terminated). */
PAWL_API pawl_status pawl_recall_child(pawl_lane *lane, const char *name, size_t name_size, const char *workflow,
                                       const char *instance_id, struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* A deferred: finished by whoever has its token, once, at any time from then on.  pawl_recall_token() gives the token,
 * whatever became of the deferred; the text is the turn's.  timeout_ms 0: none. */
PAWL_API pawl_status pawl_recall_token(pawl_lane *lane, const char *name, size_t name_size,
                                       const char **out_token) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_recall_deferred(pawl_lane *lane, const char *name, size_t name_size, int64_t timeout_ms,
                                          struct pawl_answer *out_answer) PAWL_MUST_CHECK;

/* ---- The lane --------------------------------------------------------------------------------------------------- */

/* Has a call on this lane said PAWL_SUSPENDED?  Then every later one does. */
PAWL_API bool pawl_lane_suspended(const pawl_lane *lane);

/* What a durable call that needs more than history would say now: PAWL_OK, PAWL_SUSPENDED or PAWL_INTERRUPTED. */
PAWL_API pawl_status pawl_lane_check(pawl_lane *lane) PAWL_MUST_CHECK;

/* The text behind the last error that a call on this lane returned.  Never NULL. */
PAWL_API const char *pawl_lane_error(const pawl_lane *lane);

/* ---- One attempt at a step's body ---------------------------------------------------------------------------- */

PAWL_API int64_t pawl_attempt_number(const pawl_attempt *attempt); /* from 1 */
/* When it times out, in wall time as the clock stands now; when that jumps, so does this. */
PAWL_API int64_t pawl_attempt_deadline_ms(const pawl_attempt *attempt);
/* How long it still has before it times out, by the monotonic clock; 0: it has timed out, or is about to. */
PAWL_API int64_t pawl_attempt_remaining_ms(const pawl_attempt *attempt);
/* True once what the body does can no longer count: timed out, lost lease, terminated, restarted, branch lost. */
PAWL_API bool pawl_attempt_cancelled(const pawl_attempt *attempt);

enum pawl_mutation_when {
    PAWL_WITH_SUCCESS, /* in the transaction that records the step as completed, before its row */
    PAWL_WITH_FAILURE  /* in the transaction that records that the step failed for good */
};

/* Runs on the store's own connection (sqlite3 *, PGconn *) inside that transaction.  It must not begin or end one, and
 * may not touch Pawl's own tables.  Non-PAWL_OK undoes the whole: PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION fails the step
 * for good, anything else fails the attempt. */
typedef pawl_status pawl_mutation_fn(void *connection, const void *data, size_t size);

/* SQL with parameters $1, $2 ... taken from a JSON array (NULL: none).  All is copied.
 * The attempt's mutations run in the order in which they were registered. */
PAWL_API pawl_status pawl_attempt_sql(pawl_attempt *attempt, enum pawl_mutation_when when, const char *sql,
                                      const char *parameters_json, size_t parameters_size) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_attempt_mutate(pawl_attempt *attempt, enum pawl_mutation_when when, pawl_mutation_fn *mutate,
                                         const void *data, size_t size) PAWL_MUST_CHECK;
/* Another instance created, or an event sent to one, in the transaction that records the step as completed. */
PAWL_API pawl_status pawl_attempt_create(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                         const char *params_json, size_t params_size) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_attempt_send_event(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                             const char *type, const char *payload_json,
                                             size_t payload_size) PAWL_MUST_CHECK;

/* The same with a child: it knows this run as its parent, which may await it.  An attached one is terminated or interrupted
 * with its parent.  instance_id NULL: one is made.  out_id (or NULL): the id; the turn's. */
PAWL_API pawl_status pawl_attempt_create_child(pawl_attempt *attempt, const char *workflow, const char *instance_id,
                                               bool attached, const char *params_json, size_t params_size,
                                               const char **out_id) PAWL_MUST_CHECK;

/* Consumes the attempt and records nothing: as if its body had not run. */
PAWL_API void pawl_attempt_drop(pawl_attempt *attempt);

/* Both consume the attempt, whatever they answer; all is copied.  result_json NULL is "no result".
 * PAWL_OK: taken.  Anything else: the turn is over, or memory is; say PAWL_SUSPENDED up. */
PAWL_API pawl_status pawl_attempt_complete(pawl_attempt *attempt, const char *result_json,
                                           size_t result_size) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_attempt_fail(pawl_attempt *attempt, const char *error_name, const char *error_message,
                                       bool may_retry) PAWL_MUST_CHECK;

/* ---- Logs ---------------------------------------------------------------------------------------------------- */

enum pawl_log_level { PAWL_LOG_DEBUG, PAWL_LOG_INFO, PAWL_LOG_WARN, PAWL_LOG_ERROR };

/* A durable line, flushed with the next step boundary.  attempt NULL: outside any step.  category NULL: "workflow". */
PAWL_API pawl_status pawl_lane_log(pawl_lane *lane, pawl_attempt *attempt, enum pawl_log_level level,
                                   const char *category, const char *message, const char *data_json,
                                   size_t data_size) PAWL_MUST_CHECK;

/* ---- Parallel lanes ------------------------------------------------------------------------------------------ */

/* Carries one branch forward on its lane.  PAWL_SUSPENDED: not finished yet.  Anything else: finished. */
typedef pawl_status pawl_lane_fn(pawl_lane *lane, size_t position, void *user);

/* The name is recorded with every step of the branches, as their place (struct pawl_step_place in service.h).  Forks of a run
 * should have different names; nothing depends on it.
 * Calls `branch` for the positions 0 to count-1, on other worker threads too where there are any, and comes back when
 * all calls have.  At most limit (0: no limit) branches are begun and unfinished; those beyond are not called.
 * out_status[i] is what the branch answered, PAWL_SUSPENDED when it was not called. */
PAWL_API pawl_status pawl_lane_all(pawl_lane *lane, const char *name, size_t name_size, size_t count, size_t limit,
                                   pawl_lane_fn *branch, void *user, pawl_status *out_status) PAWL_MUST_CHECK;

/* The same, until one branch has finished, success or failure: the first.  It is recorded under the name, so every
 * replay takes the same one and calls only that.  The waits of the others are abandoned; bodies under way see
 * pawl_attempt_cancelled() and are waited for, and if they fail they are abandoned, too. */
PAWL_API pawl_status pawl_lane_first(pawl_lane *lane, const char *name, size_t name_size, size_t count,
                                     pawl_lane_fn *branch, void *user, size_t *out_winner,
                                     pawl_status *out_status) PAWL_MUST_CHECK;

/* ---- Ending the turn: exactly one of these, as the last thing the turn function does -------------------------- */

PAWL_API void pawl_turn_suspend(pawl_turn *turn);
PAWL_API void pawl_turn_finish(pawl_turn *turn, const char *result_json, size_t result_size);
PAWL_API void pawl_turn_fail(pawl_turn *turn, const char *error_name, const char *error_message);
/* Of a job: trying again would not help. */
PAWL_API void pawl_turn_fail_for_good(pawl_turn *turn, const char *error_name, const char *error_message);
/* A step failed for good, and somebody shall mend what is wrong: the run is paused, and when it is resumed its failed steps
 * are tried again. */
PAWL_API void pawl_turn_await_repair(pawl_turn *turn);

/* ---- Interruption --------------------------------------------------------------------------------------------- */

/* When a run is interrupted, every durable call that would need more than history says PAWL_INTERRUPTED, and so does one whose
 * job is out.  An answer that has come is still taken.  That holds until the turn function calls pawl_turn_unwind(): from there
 * on, in this pass, calls work again, to undo what was done.  However the turn then ends, the instance is terminated; an error
 * name other than INTERRUPTED is kept with it.  A run that failed may unwind as well.  An interruption wins over a result that comes
 * after it: call pawl_lane_check() on the main lane before pawl_turn_finish(), because no durable call may be left to tell of it.  Where a race was replayed pawl_turn_unwind() suspends the main lane once: the next pass shows the branches that lost, as
 * well, up to where they were left, so that what they did is undone with the rest.  A step that undoes another
 * one says so in its policy: that is how a repair knows that there is nothing left to keep. */
PAWL_API bool pawl_turn_interrupted(const pawl_turn *turn);
PAWL_API void pawl_turn_unwind(pawl_turn *turn);

#ifdef __cplusplus
}
#endif
#endif
