/* commit.h - group commit: many units of work, one transaction, one fsync.
 *
 * Units from all threads queue up.  One thread at a time, the leader, takes all that wait, applies them in one
 * transaction and answers them; while it does, the next batch forms.  Anybody can lead: a thread that waits for its own
 * unit leads when nobody else does, so a lone run pays no hand-over between threads and the engine needs no thread
 * of its own.  A runner lends one (pw_commit_serve) so that a unit never depends on a busy worker.
 *
 *  C1. Units are applied in the order in which they were submitted.
 *  C2. A unit of a broken chain is not applied; it is answered with what broke the chain.  A unit that is not applied
 *      breaks its chain, whatever the reason but two: a refusal that the turn can answer (PAWL_STOPPED, PAWL_BUSY,
 *      unique violation, failed mutation) leaves the chain whole.
 *  C3. When a transaction fails as a whole, passing trouble (a busy database) is tried again for a bounded time; then
 *      its units are applied one by one, so that one bad unit fails alone.
 *  C4. `done` is called once for each unit, in order, by the leader, with no lock held; it may submit, not wait. */
#ifndef PW_COMMIT_COMMIT_H
#define PW_COMMIT_COMMIT_H

#include "store/store.h"

struct pw_commit;

pawl_status pw_commit_new(struct pw_store *store, struct pw_commit **out_commit) PAWL_MUST_CHECK;
/* Answers what is still queued with PAWL_STOPPED.  NULL is fine. */
void pw_commit_free(struct pw_commit *commit);

/* Queues the unit.  It must live, with all it borrows, until it is answered: until `done` was called or a wait for it
 * returned. */
void pw_commit_submit(struct pw_commit *commit, struct pw_unit *unit);

/* Waits until the unit is answered, leading if nobody does.  Returns unit->status.  Not for units with `done`. */
pawl_status pw_commit_wait(struct pw_commit *commit, struct pw_unit *unit);

/* submit and wait. */
pawl_status pw_commit_run(struct pw_commit *commit, struct pw_unit *unit);

/* Leads until nothing is queued, unless another thread is leading. */
void pw_commit_flush(struct pw_commit *commit);

/* Says that the caller is about to be busy with something else: what is queued must not wait for it. */
void pw_commit_kick(struct pw_commit *commit);

/* A thread's main function: leads whenever units are kicked, or have waited for some 2 ms.  Returns after
 * pw_commit_dismiss(). */
void pw_commit_serve(struct pw_commit *commit);
void pw_commit_dismiss(struct pw_commit *commit);

void pw_commit_stats(struct pw_commit *commit, int64_t *out_commits, int64_t *out_units);

#endif
