/* store.h - the store contract: the table of functions that a database implements.  Rows, ops and units are in core/.
 *
 * A store keeps rows.  The core decides what becomes of a run (core.h).  A store loads the rows that a unit needs, finds rows by
 * conditions that an index serves, and writes what the core has changed.  It makes no ids except instance keys, and reads no
 * payload.
 *
 *  S1. A unit of work is applied wholly or not at all.
 *  S2. All units of one apply() share one transaction, but each stands alone: a refused unit changes nothing and does not
 *      affect the others.  They are applied in order, and each sees the ones before it.
 *  S3. If apply() returns PAWL_OK, every unit that says PAWL_OK is durable.  If it returns anything else, no unit is known to
 *      be durable.  It may be, because a failed commit can be ambiguous.  Later fences find out.
 *  S4. A fence (instance, run, epoch) holds while nobody else has moved the task.  Every op that moves a task raises its epoch by
 *      one.  A task that is gone, or that belongs to another run, fails the fence.  What a fence has found stays true until the
 *      transaction has ended: a store with several transactions at once locks the task's row.
 *  S5. The time of a transaction is read once, after its locks are taken, from the store's clock.  Searches may use an earlier
 *      time.  It is the time of everything for which the ops carry none.  Recorded times of a run never go back, whatever the
 *      clocks of the recording processes say: the task's updated_at is the newest time of its run, and an event, a change of the
 *      task and the end of the run are not before it.  No log line is older than the line before it.  Times that say when
 *      something is to happen (due_at, locked_until) follow the clock.  (The turn sets the times of steps, because it knows all
 *      steps of the run: history.h.)
 *  S6. Reads see every unit that was answered before the read began.
 *  S7. Concurrent transactions do not wait for each other in a circle.  Each first locks the tasks that its units name, in the
 *      order of their keys, then instances, in the order of theirs.  Searches of claims, reaps and hook claims skip rows that
 *      others have locked.  The database breaks a circle through other rows, such as the user's, and then the transaction is
 *      tried again.
 *
 * Rows that are read are allocated in the caller's arena. */
#ifndef PW_STORE_STORE_H
#define PW_STORE_STORE_H

#include "base/arena.h"
#include "core/ops.h"
#include "store/clock.h"
#include "store/read.h"

struct pw_store;

/* ---- The table ----------------------------------------------------------------------------------------------- */

struct pw_store_ops {
    const char *name;
    bool is_remote; /* the database is on a server: a read may wait as long as the server is silent */
    void (*close)(struct pw_store *store);

    /* Answers from memory, so it may be called anywhere.  A store that follows a database's clock asks the database
     * along with other statements. */
    int64_t (*now_ms)(struct pw_store *store);

    /* How many apply() calls at once are useful.  NULL, or 0: one. */
    size_t (*queues)(struct pw_store *store);

    /* Which queue a unit belongs to.  It is the same for all units about one instance, except units that only claim,
     * reap or renew.  NULL: `about` decides. */
    size_t (*queue_of)(struct pw_store *store, const struct pw_unit *unit);

    /* S1-S5.  As many threads as there are queues may call it at once.  The error is filled in if the whole
     * transaction fails. */
    pawl_status (*apply)(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);

    /* Answers every kind of read (read.h).  Any number of threads may call it at once. */
    pw_read_fn *read;
    /* The store answers PW_READ_RUN, which saves round trips.  False: it is never asked for. */
    bool reads_runs;

    /* Tells the store that the runner `owner` lives in this process, until it is withdrawn or the process ends.
     * Reaping needs it. */
    pawl_status (*announce)(struct pw_store *store, int64_t owner, struct pawl_error *error);
    void (*withdraw)(struct pw_store *store, int64_t owner);
    /* True if it is certain that nobody has taken this runner for dead since since_ms (monotonic), and that nobody
     * will in the next seconds.  The runner was announced here.  False if its heartbeats are late, or were late
     * since then, because others may have ended its leases.  A lease that is renewed after that counts again.  NULL:
     * a runner is never taken for dead while its process lives. */
    bool (*is_heard)(struct pw_store *store, int64_t owner, int64_t since_ms);
    /* Describes an announced runner to others, until it is withdrawn or dies.  Called again when the description
     * changes. */
    pawl_status (*describe)(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);

    /* Calls due(user), from a thread of the store, when another process may have made something due.  Works while a
     * runner is announced.  It is a hint, and not the only one.  due NULL: stops; no call is under way once this
     * returns.  NULL: the store cannot tell. */
    void (*listen)(struct pw_store *store, void (*due)(void *user), void *user);

    /* Checks that the store can be written: writes a row that nobody ever sees, in a transaction of its own.
     * PAWL_BUSY: somebody else is writing, so it was not tried.  NULL: it always can be written. */
    pawl_status (*probe)(struct pw_store *store, struct pawl_error *error);
};

struct pw_store {
    const struct pw_store_ops *ops;
};

/* The table, for calls that may wait for the database.  In builds with tests it asserts that the store is not barred
 * (base/bar.h).  now_ms, queues, queue_of and is_heard never wait, and are called without it. */
const struct pw_store_ops *pw_ops(const struct pw_store *store);

/* Receives reports on the progress of a migration.  tell NULL: nobody wants to know. */
struct pw_progress {
    void (*tell)(void *user, const char *text);
    void *user;
};
PAWL_PRINTF(2, 3) void pw_progress_tell(const struct pw_progress *progress, const char *format, ...);

/* Opens the one database that the URL names.  `clock` is used by stores that have no clock of their own. */
pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_store_open_telling(const char *url, struct pawl_clock clock, struct pw_progress progress,
                                  struct pw_store **out_store, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_sqlite_open(const char *url, struct pawl_clock clock, struct pw_progress progress,
                           struct pw_store **out_store, struct pawl_error *error) PAWL_MUST_CHECK;
/* Only if the library is built with PostgreSQL (PAWL_HAS_POSTGRES). */
pawl_status pw_postgres_open(const char *url, struct pawl_clock clock, struct pw_progress progress,
                             struct pw_store **out_store, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
