/* commit.h - group commit: many units of work, one transaction, one fsync.
 *
 * Threads queue units.  One thread at a time, the leader, takes all units that wait, applies them in one transaction
 * and answers each.  The next batch forms meanwhile.  Any thread can lead: a thread that waits for its own unit
 * leads if no other thread does.  So a lone run needs no hand-over between threads, and the engine needs no thread
 * of its own.  While a runner is started there are serving threads (pw_commit_start()), so that no unit waits for a
 * busy worker.
 *
 * A store that can run several transactions at once gets as many queues, each with its own leader.  Units about one
 * instance share a queue, so that they are applied in order.
 *
 *  C1. The units of a queue are applied in the order in which they were submitted.
 *  C2. A unit of a broken chain is not applied.  It is answered with what broke the chain.  A unit that is not
 *      applied breaks its chain, unless it was refused for a reason that the turn can answer
 *      (pw_refusal_keeps_chain()).
 *  C3. If a transaction fails as a whole, and the store knows that nothing of it was committed, its units are
 *      applied one by one, so that one bad unit fails alone.  If it may have been committed, all units are refused,
 *      and fences find out later.
 *  C4. `done` is called once for each unit, in the queue's order, by the leader, with no lock held.  It may submit
 *      units.  It must not wait or call the store (base/bar.h), because the other units of the queue wait for it.
 *  C5. A store call that must follow a `done` is a chore (pw_commit_later()).  A serving thread runs chores.
 *      Without serving threads the leader runs them after its callbacks.
 *  C6. A queue is bounded, in units and in bytes.  pw_commit_submit() never waits for room, so that neither a
 *      callback nor the holder of a turn's lock can get stuck.  Callers check for room, or wait for it, before they
 *      submit. */
#ifndef PW_COMMIT_COMMIT_H
#define PW_COMMIT_COMMIT_H

#include "store/store.h"

struct pw_commit;

/* Notified of every transaction, by the leader, with no lock held, before its units are answered.  Units with
 * PAWL_OK are durable.  Must be quick, and must not call the store. */
struct pw_commit_observer {
    void (*applied)(void *user, struct pw_unit **units, size_t count, pawl_status whole, int64_t took_us); /* or NULL */
    int64_t (*monotonic_ms)(void *user); /* the clock for begun_ms of struct pw_unit; NULL: begun_ms stays 0 */
    void *user;
};

pawl_status pw_commit_new(struct pw_store *store, struct pw_commit_observer observer,
                          struct pw_commit **out_commit) PAWL_MUST_CHECK;
/* Answers units that are still queued with PAWL_STOPPED.  NULL is allowed. */
void pw_commit_free(struct pw_commit *commit);

/* Queues a unit with a `done`.  The unit, and everything that it borrows, must live until `done` was called. */
void pw_commit_submit(struct pw_commit *commit, struct pw_unit *unit);

/* Like pw_commit_submit(), for a caller that does not wait.  The serving thread applies the unit at once.  Without
 * one, the caller applies it before this returns; or, if the caller is in a callback, the leader that called it. */
void pw_commit_send(struct pw_commit *commit, struct pw_unit *unit);

/* True if there is room in the unit's queue (C6). */
bool pw_commit_has_room(struct pw_commit *commit, const struct pw_unit *unit);
/* The same for a unit with this `about`. */
bool pw_commit_has_room_for(struct pw_commit *commit, uint64_t about);
/* Waits until there is room, and leads if nobody does.  Not allowed in a callback or with a lock held. */
void pw_commit_await_room(struct pw_commit *commit, uint64_t about);

/* Work that calls the store.  It is a member of the object that it works on, so that adding it cannot fail. */
struct pw_chore {
    void (*run)(void *user);
    void *user;
    struct pw_chore *next;
};
/* Runs the chore at once if the caller may call the store, and soon otherwise (C5).  The chore may be freed when
 * this returns. */
void pw_commit_later(struct pw_commit *commit, struct pw_chore *chore);
/* Runs one waiting chore, for tests that play the serving threads.  False: none waits. */
bool pw_commit_do_chore(struct pw_commit *commit);

/* Queues a unit and waits until it is answered.  Leads if nobody does.  Returns unit->status. */
pawl_status pw_commit_run(struct pw_commit *commit, struct pw_unit *unit);

/* Leads one batch of each queue, and more while nobody else would lead.  False: there was nothing to lead. */
bool pw_commit_lead(struct pw_commit *commit);

/* The caller is about to be busy with something else: the serving threads lead what is queued. */
void pw_commit_kick(struct pw_commit *commit);

/* The serving threads.  One for each queue, which leads when it is kicked or when a unit has waited for about 2 ms,
 * and one for chores.  pw_commit_start() returns false if the system refuses one of them; then none is left. */
size_t pw_commit_threads(const struct pw_commit *commit);
bool pw_commit_start(struct pw_commit *commit);
/* Units that are queued by now are still applied. */
void pw_commit_stop(struct pw_commit *commit);
/* The part of both that starts and joins no thread: sets whether units and chores are left to the serving threads.
 * For tests that play these. */
void pw_commit_set_served(struct pw_commit *commit, bool served);

#endif
