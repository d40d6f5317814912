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
#include "store/read.h"

struct pw_store;

/* ---- The table ----------------------------------------------------------------------------------------------- */

struct pw_store_ops {
    const char *name;
    bool is_remote; /* the database is on a server: a read may wait for as long as the server is silent */
    void (*close)(struct pw_store *store);

    /* Answers from memory, so that it may be called anywhere: a store that follows a database's clock asks it along with
     * other things. */
    int64_t (*now_ms)(struct pw_store *store);

    /* How many apply() at once are worth while; NULL, or an answer of 0: one. */
    size_t (*queues)(struct pw_store *store);

    /* Which of the queues a unit belongs to: the same for all units about one instance, but those that only claim or renew.
     * NULL: its key decides. */
    size_t (*queue_of)(struct pw_store *store, const struct pw_unit *unit);

    /* S1-S5.  Called by as many threads at once as there are queues.  The error is filled when the whole fails. */
    pawl_status (*apply)(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);

    /* Answers every kind of read (read.h).  Any number of threads at once. */
    pw_read_fn *read;
    /* PW_READ_RUN is answered, in one look where several cost more.  False: it is never asked for. */
    bool reads_runs;

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

    /* Calls due(user), from a thread of the store's own, when another process may have made something due, while a
     * runner is announced.  A hint, and not the only one.  due NULL: no more, and none is under way once this returns.
     * NULL: the store cannot tell. */
    void (*listen)(struct pw_store *store, void (*due)(void *user), void *user);

    /* Shows that something can be written, by writing it: a row that nobody ever sees, in a transaction of its own.
     * PAWL_BUSY: somebody else is writing, so it was not tried.  NULL: it always can. */
    pawl_status (*probe)(struct pw_store *store, struct pawl_error *error);
};

struct pw_store {
    const struct pw_store_ops *ops;
};

/* The table, for a call that may wait for the database.  Asserts, in builds with tests, that the store is not barred
 * (base/bar.h).  Only now_ms, queues, queue_of and is_heard wait for nobody, and are called without it. */
const struct pw_store_ops *pw_ops(const struct pw_store *store);

/* Reports the progress of a migration.  tell is NULL if nobody wants to know. */
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
/* Only where the library is built with it (PAWL_HAS_POSTGRES). */
pawl_status pw_postgres_open(const char *url, struct pawl_clock clock, struct pw_progress progress,
                             struct pw_store **out_store, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
