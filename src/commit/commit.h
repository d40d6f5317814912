/* commit.h - group commit: many units of work, one transaction, one fsync.
 *
 * Units from all threads queue up.  One thread at a time, the leader, takes all that wait, applies them in one
 * transaction and answers them; while it does, the next batch forms.  Anybody can lead: a thread that waits for its own
 * unit leads when nobody else does, so a lone run pays no hand-over between threads and the engine needs no thread
 * of its own.  While a runner is started there are serving threads (pw_commit_start), so that a unit never depends on a
 * busy worker.
 *
 * For a store that can carry out several transactions at once there are as many queues, each with a leader of its own.  Units
 * about one instance share a queue, so that whatever must follow one another does.
 *
 *  C1. Units of a queue are applied in the order in which they were submitted.
 *  C2. A unit of a broken chain is not applied; it is answered with what broke the chain.  A unit that is not applied
 *      breaks its chain, unless it was refused for a reason that the turn can answer (pw_refusal_keeps_chain()).
 *  C3. When a transaction fails as a whole, and the store knows that nothing of it was committed, its units are applied
 *      one by one, so that one bad unit fails alone.  When it may have been committed, all are refused: fences find out.
 *  C4. `done` is called once for each unit, in the queue's order, by its leader, with no lock held.  It may submit, but not
 *      wait, and it does not call the store (base/bar.h): the queue's other units wait for it.
 *  C5. What has to call the store after a `done` is a chore (pw_commit_later).  One of the serving threads runs chores.
 *      Without serving threads the leader runs them, once it is through with its callbacks.
 *  C6. A queue is bounded, in units and in bytes.  pw_commit_submit() never waits for room, so neither a callback nor
 *      the holder of a turn's lock can get stuck.  Callers ask for room, or wait for it, beforehand. */
#ifndef PW_COMMIT_COMMIT_H
#define PW_COMMIT_COMMIT_H

#include "store/store.h"

struct pw_commit;

/* Told of every transaction, by the leader, with no lock held, before its units are answered: those that say PAWL_OK are
 * durable.  Must be quick, and does not call the store. */
struct pw_commit_observer {
    void (*applied)(void *user, struct pw_unit **units, size_t count, pawl_status whole, int64_t took_us); /* or NULL */
    int64_t (*monotonic_ms)(void *user); /* what struct pw_unit's begun_ms is read from; NULL: it stays 0 */
    void *user;
};

pawl_status pw_commit_new(struct pw_store *store, struct pw_commit_observer observer,
                          struct pw_commit **out_commit) PAWL_MUST_CHECK;
/* Answers what is still queued with PAWL_STOPPED.  NULL is fine. */
void pw_commit_free(struct pw_commit *commit);

/* Queues a unit that has `done`.  It must live, with all it borrows, until `done` was called. */
void pw_commit_submit(struct pw_commit *commit, struct pw_unit *unit);

/* The same for a caller that goes on to other things.  The serving thread applies the unit at once.  Without one the caller
 * does, before this returns; if the caller is in a callback, the leader that called it does. */
void pw_commit_send(struct pw_commit *commit, struct pw_unit *unit);

/* Is there room in the unit's queue (C6)? */
bool pw_commit_has_room(struct pw_commit *commit, const struct pw_unit *unit);
/* The same for units about this (struct pw_unit). */
bool pw_commit_has_room_for(struct pw_commit *commit, uint64_t about);
/* Waits until there is, leading if nobody does.  Not in a callback, nor with a lock. */
void pw_commit_await_room(struct pw_commit *commit, uint64_t about);

/* Work that calls the store.  It lives in what it works on, so that leaving it cannot fail. */
struct pw_chore {
    void (*run)(void *user);
    void *user;
    struct pw_chore *next;
};
/* Runs it at once where the caller may call the store, otherwise soon (C5).  It may be gone when this returns. */
void pw_commit_later(struct pw_commit *commit, struct pw_chore *chore);
/* Runs one that waits, for tests that play the serving threads by hand.  False: none waits. */
bool pw_commit_do_chore(struct pw_commit *commit);

/* Queues a unit and waits until it is answered, leading if nobody does.  Returns unit->status. */
pawl_status pw_commit_run(struct pw_commit *commit, struct pw_unit *unit);

/* Leads one batch, and goes on while nobody else would.  False: nothing is queued that nobody leads. */
bool pw_commit_lead(struct pw_commit *commit);

/* Says that the caller is about to be busy with something else: what is queued must not wait for it. */
void pw_commit_kick(struct pw_commit *commit);

/* The serving threads: one for each queue, which leads whenever units are kicked or have waited for some 2 ms, and one for
 * chores.  pw_commit_start() returns false when the system refuses one of them; then none is left. */
size_t pw_commit_threads(const struct pw_commit *commit);
bool pw_commit_start(struct pw_commit *commit);
/* What is queued by now is still applied. */
void pw_commit_stop(struct pw_commit *commit);
/* The part of both that starts and joins no thread: whether units and chores are left to the serving threads.  For tests that
 * play these by hand. */
void pw_commit_set_served(struct pw_commit *commit, bool served);

#endif
