/* store.h - the store contract: the table of functions behind which a database stands.  Rows, ops and units are in core/.
 *
 * A store keeps rows.  What becomes of a run the core decides (core.h): a store loads the rows that a unit needs, finds rows by
 * conditions that an index serves, and writes what the core has changed.  It makes no ids but instance keys, and reads no
 * payload.
 *
 *  S1. A unit of work is applied wholly or not at all.
 *  S2. All units of one apply() share one transaction, and each stands on its own terms: one that is refused changes
 *      nothing and does not disturb its neighbours.  They are applied in order, each seeing the ones before.
 *  S3. When apply() returns PAWL_OK every unit that says PAWL_OK is durable.  When it returns anything else, no unit is
 *      known to be (it may be: a failure of the commit itself can be ambiguous), and fences find out.
 *  S4. A fence (instance, run, epoch) holds while nobody else moved the task.  Every op that moves a task raises its
 *      epoch by one; a task that is gone, or of another run, fails the fence.  What a fence has found stays so until
 *      the transaction has ended: where several are carried out at once, it locks its task's row.
 *  S5. The time of a transaction is read once, behind its locks, from the store's clock; what the store only looks for may
 *      go by an earlier one.  It is the time of all that ops do not carry.  What is recorded of a run
 *      never goes back, whatever the clocks of those who record it say: the task's updated_at is the newest time of its
 *      run, and an event, a change of the task and the end of the run are of that time at least; and no log line is
 *      older than the line before it.  Times that say when something is to happen (due_at, locked_until) are the
 *      clock's.  (A step's times are the turn's, which knows all steps of the run: history.h.)
 *  S6. Reads see every unit that was answered before the read began.
 *  S7. Transactions that are carried out at once do not wait for each other in a circle: each locks the tasks that its
 *      units name before anything else, in the order of their keys, then instances, in theirs; and what a claim, a reap
 *      or a hook claim looks for it takes past the rows that others have locked.  A circle through other rows, as the
 *      user's, is the database's to break; the transaction is then carried out again.
 *
 * Rows that are read are allocated in the caller's arena. */
#ifndef PW_STORE_STORE_H
#define PW_STORE_STORE_H

#include "base/arena.h"
#include "core/ops.h"
#include "store/clock.h"

struct pw_store;

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* A list ends with `max` rows, or by its payloads: behind the row with which they are more than bytes_max, but with two rows
 * at least (0: no such bound).  So whoever asks for one row more than a page has, and gives out as many as pw_page_count()
 * says, always gives one and knows whether there are more. */
typedef size_t pw_row_bytes_fn(const void *row); /* of payloads */
size_t pw_instance_bytes(const void *instance);
size_t pw_step_bytes(const void *step);
size_t pw_event_bytes(const void *event);
size_t pw_log_bytes(const void *log);

struct pw_instance_query {
    struct pw_text workflow;
    int64_t parent; /* not 0: the instances that its runs made, of whatever workflow and status, instead */
    bool has_status;
    enum pawl_instance_status status;
    bool oldest_first;
    int64_t after_key; /* rows past this one, in the order asked for; 0: from the start */
    size_t max, bytes_max;
};

/* Instances by their keys or, where keys is NULL, by their names. */
struct pw_instances_wanted {
    const int64_t *keys;
    const struct pw_text *workflows, *ids;
    size_t count;
};

struct pw_history_query {
    int64_t instance, run;
    bool newest_first;
    int64_t after_seq; /* 0: from the start */
    size_t max, bytes_max;
    bool has_level; /* logs only */
    enum pawl_log_level level;
    struct pw_text category; /* logs only; absent: all */
};

/* Oldest first. */
struct pw_hook_query {
    struct pw_text hook; /* absent: of all hooks */
    bool has_status;
    enum pawl_delivery_status status;
    int64_t after_key; /* rows past this one; 0: from the start */
    size_t max;
};

/* Of all workflows and all hooks. */
struct pw_task_counts {
    int64_t active, waiting, paused;
    int64_t due;              /* of those, what could be claimed now */
    int64_t oldest_due_at_ms; /* 0: nothing is due */
    int64_t hooks_pending, hooks_failed;
};

/* By enum pawl_instance_status. */
enum { PW_STATUS_COUNT = PAWL_ERRORED + 1 };
struct pw_status_counts {
    int64_t of[PW_STATUS_COUNT];
};

/* Which part of a store a database was; see read_part. */
struct pw_part {
    int64_t number; /* from 1 */
    int64_t count;  /* 0: it was never a part */
};

struct pw_run_rows {
    struct pw_text params;
    int64_t created_at_ms;
    struct pw_link link;
    struct pw_step_row *steps;
    size_t step_count;
    struct pw_event_row *events;
    size_t event_count;
};

/* ---- The table ----------------------------------------------------------------------------------------------- */

struct pw_store_ops {
    const char *name;
    bool is_remote; /* the database is on a server: a read may wait for as long as the server is silent */
    void (*close)(struct pw_store *store);

    /* Answers from memory, so that it may be called anywhere: a store that follows a database's clock asks it along with
     * other things. */
    int64_t (*now_ms)(struct pw_store *store);

    /* How many apply() at once are worth while; NULL, or an answer of 0: one. */
    size_t (*lanes)(struct pw_store *store);

    /* Which of the lanes a unit belongs to: the same for all units about one instance, but those that only claim or renew.
     * NULL: its key decides. */
    size_t (*lane_of)(struct pw_store *store, const struct pw_unit *unit);

    /* S1-S5.  Called by as many threads at once as there are lanes.  The error is filled when the whole fails. */
    pawl_status (*apply)(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);

    /* Any number of threads at once.  PAWL_INSTANCE_NOT_FOUND where there is no such row. */
    pawl_status (*read_instance)(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                 struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error);
    pawl_status (*read_instance_by_key)(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                        struct pw_instance *out_instance, struct pawl_error *error);
    /* Some at once: out_rows has as many as are wanted, in that order; the key of one that is not there is 0. */
    pawl_status (*read_instances)(struct pw_store *store, struct pw_arena *arena,
                                  const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                  struct pawl_error *error);
    /* As read_instance, and with it, of the same state, the newest of the run's steps that wait or, when none does or the
     * run has ended, the newest of all.  *out_has_step false: none yet. */
    pawl_status (*read_current)(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                bool *out_has_step, struct pawl_error *error);
    pawl_status (*list_instances)(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                                  struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error);
    pawl_status (*read_steps)(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                              struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
    pawl_status (*read_events)(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                               struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error);
    pawl_status (*read_logs)(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                             struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error);
    /* The run's event of this id, by the index that keeps ids apart. */
    pawl_status (*read_event)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                              struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                              struct pawl_error *error);
    /* Undelivered events past after_seq, in order. */
    pawl_status (*read_new_events)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                   int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                   struct pawl_error *error);
    /* The run's steps that wait, few as they are. */
    pawl_status (*read_waiting_steps)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
    /* What a run that is taken up again begins with, in one look where several cost more: the facts of its instance,
     * all of the run's steps and, when asked for, all events that are not delivered.  NULL: they are asked for one by one. */
    pawl_status (*read_run)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                            bool with_events, struct pw_run_rows *out_rows, struct pawl_error *error);
    /* When the next task of these workflows is due or its lease expires, past after_ms or PW_EVER; INT64_MAX: never.  With a
     * share: when the next one is the share's; NULL: all are.  What the share has by then may be told of once more, for
     * the end of its grace. */
    pawl_status (*next_due)(struct pw_store *store, const struct pw_text *workflows, size_t count,
                            const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                            struct pawl_error *error);
    pawl_status (*count_tasks)(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                               struct pawl_error *error);
    /* How many instances of these workflows have which status, as list_instances would give them out.  No status is counted
     * beyond max, at least 1, so that it costs no more where there are millions. */
    pawl_status (*count_statuses)(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                                  struct pw_status_counts *out_counts, struct pawl_error *error);

    pawl_status (*list_hooks)(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                              struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error);
    /* When the next row of these hooks is due or the lease of an attempt ends; INT64_MAX: never. */
    pawl_status (*next_hook)(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                             struct pawl_error *error);

    /* Tells the store, for the life of this process, that the runner `owner` lives here; reap needs it. */
    pawl_status (*announce)(struct pw_store *store, int64_t owner, struct pawl_error *error);
    void (*withdraw)(struct pw_store *store, int64_t owner);
    /* Is it certain that nobody has taken this runner, which was announced here, for dead since since_ms (monotonic), and that
     * nobody does so in the next seconds?  False when its heartbeats are late, or were late since then: others may have ended
     * its leases.  A lease that is renewed after that counts again.  NULL: a runner is never taken for dead while its process
     * lives. */
    bool (*is_heard)(struct pw_store *store, int64_t owner, int64_t since_ms);
    /* What others are to see of an announced runner, until it is withdrawn or dies; again when it has changed. */
    pawl_status (*describe)(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);
    /* Those that were described and live, in the order of their numbers. */
    pawl_status (*list_runners)(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                size_t *out_count, struct pawl_error *error);

    /* Calls due(user), from a thread of the store's own, when another process may have made something due, while a
     * runner is announced.  A hint, and not the only one.  due NULL: no more, and none is under way once this returns.
     * NULL: the store cannot tell. */
    void (*listen)(struct pw_store *store, void (*due)(void *user), void *user);

    /* Shows that something can be written, by writing it: a row that nobody ever sees, in a transaction of its own.
     * PAWL_BUSY: somebody else is writing, so it was not tried.  NULL: it always can. */
    pawl_status (*probe)(struct pw_store *store, struct pawl_error *error);

    /* Earlier versions could spread one store over several databases, and marked each.  Reads the mark.  NULL: there is none. */
    pawl_status (*read_part)(struct pw_store *store, struct pw_part *out_part, struct pawl_error *error);
};

struct pw_store {
    const struct pw_store_ops *ops;
};

/* The table, for a call that may wait for the database.  Asserts, in builds with tests, that the store is not barred
 * (base/bar.h).  Only now_ms, lanes, lane_of and is_heard wait for nobody, and are called without it. */
const struct pw_store_ops *pw_ops(const struct pw_store *store);

/* Opens the one database that the URL names.  `clock` is used by stores that have no clock of their own. */
pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_sqlite_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                           struct pawl_error *error) PAWL_MUST_CHECK;
/* Only where the library is built with it (PAWL_HAS_POSTGRES). */
pawl_status pw_postgres_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                             struct pawl_error *error) PAWL_MUST_CHECK;

#endif
