/* turn.h (internal) - carries one claimed run forward: load, recall, step boundary, suspend, finish.
 *
 * A turn calls the workflow function in *passes*.  Each pass calls it from the top.  When a step ends, its boundary
 * (one unit of work) is submitted at once, and the turn waits for the commit only before the next effect: another
 * body, or the end of the turn.  If the thread has other work then, the pass unwinds with PAWL_SUSPENDED, and a new
 * pass begins when the commit is answered.  Otherwise the thread waits.
 *
 *  T1. No body is handed out on a lane before every boundary that the lane depends on is durable.
 *  T2. All units of a turn carry its fence and its chain: once one of them is not applied, no later one is.
 *  T3. A step is *unsettled* while the store may still refuse its boundary (because of mutations, or because a
 *      timeout races an event).  Its outcome is answered only once it is durable.
 *  T4. A turn ends with one closing unit, which parks or finishes the task.  The store refuses it if a pause was
 *      requested, and the turn then closes as paused; or if more is demanded of the run than the turn knew, and
 *      another pass follows.
 *  T5. When an attempt outlives its timeout, or code between two durable calls runs for too long, the watchdog gives
 *      the turn up and closes it.  Everything that the blocked code still does is dropped.
 *  T6. `lock` guards the whole turn and its history.  It is never held during a call into user code, a wait, or a
 *      store call.  What a boundary needs from the store is read before, without the lock.
 *  T7. A durable call records a boundary only while fewer than PW_TURN_UNDURABLE_MAX boundaries of the turn are not
 *      durable.  It first waits, without the lock, for room in the committer's queue.  Whatever ends a body or a
 *      turn waits for neither.
 *  T8. A body begins only while the turn's lease is known to hold (lease.h). */
#ifndef PW_TURN_TURN_H
#define PW_TURN_TURN_H

#include "engine/engine.h"
#include "history/history.h"
#include "pawl/runner.h"

struct pw_fork;

/* The runner's own fields for a turn that it holds.  The turn does not use them. */
struct pw_hosted {
    pawl_turn *ready_next, *held_previous, *held_next;
    int64_t ready_since_ms;
    bool counted;   /* it is counted among the turns that no worker has begun */
    int32_t spares; /* workers started to replace the threads that this turn blocks */
    bool given_up;  /* the watchdog gave the turn up: `spares` counts every thread inside it */
};

/* The runner's own fields for a fork whose branches idle workers may carry.  The fork sets `fork` and `turn`. */
struct pw_help {
    struct pw_fork *fork;
    pawl_turn *turn;
    size_t helpers;   /* workers inside the fork */
    bool is_unwanted; /* the last helper found nothing to do */
    uint64_t stirs;   /* number of help_wanted() calls */
    int64_t wake_at_ms;
    struct pw_help *previous, *next;
};

/* The driver of turns, as a turn sees it: a runner. */
struct pw_turn_host {
    pawl_runner *runner;
    int64_t owner, lease_ms; /* the owner of the leases, and their length */

    /* Queries.  They may be called with the turn's lock held. */
    bool (*should_yield)(
        pawl_runner *runner); /* true if there is other work: a wait should then unwind instead of blocking */
    bool (*stopping)(pawl_runner *runner);
    bool (*take_step)(pawl_runner *runner); /* false: no further body may begin */
    /* True if nobody renews leases while a body runs: the lease must then cover the body's timeout. */
    bool (*must_cover)(pawl_runner *runner);

    /* Notifications.  They are called with no lock held. */
    void (*look_at)(pawl_runner *runner, int64_t at_ms); /* the watchdog should look at this time; monotonic */
    /* A late call has returned. */
    void (*call_returns)(pawl_runner *runner, pawl_turn *turn, struct pw_blocked_call *call);
    void (*fork_opens)(pawl_runner *runner, struct pw_help *help);
    void (*fork_closes)(pawl_runner *runner, struct pw_help *help); /* returns once all helpers have left */
    void (*help_wanted)(pawl_runner *runner, const pawl_turn *turn,
                        int64_t at_ms); /* a branch may be able to go on at at_ms; PW_NOW: now */
    /* The wait that pw_turn_next() asked for is over; called from any thread. */
    void (*ready)(pawl_runner *runner, pawl_turn *turn);
};

/* ---- Lifecycle, for runners ----------------------------------------------------------------------------------- */

/* Copies the claim's texts and borrows the host.  NULL when memory runs out. */
pawl_turn *pw_turn_new(pawl_engine *engine, const struct pw_definition *definition, const struct pw_claim *claim,
                       const struct pw_turn_host *host);
void pw_turn_ref(pawl_turn *turn);
void pw_turn_unref(pawl_turn *turn);

/* True if the run must be loaded before the next pass.  always_replay: load it anew before every pass. */
bool pw_turn_wants_load(const pawl_turn *turn, bool always_replay);
/* Reads the run from the store, or takes over `warm`, its history as the last turn left it (owned from now on).  If
 * the engine's memory budget does not allow the load, the answer is PAWL_NOMEM and the turn's result says is_short.
 * The turn then holds no memory, and the caller gives the run back, to be claimed again a little later. */
pawl_status pw_turn_load(pawl_turn *turn, struct pw_history *warm, struct pawl_error *error) PAWL_MUST_CHECK;

/* Runs one pass.  The caller must hold a reference.  False if the watchdog gave the turn up meanwhile (T5): the
 * watchdog's caller then retires it. */
bool pw_turn_pass(pawl_turn *turn);
/* The two halves of a pass, for turns that are driven by hand. */
void pw_turn_begin_pass(pawl_turn *turn);
bool pw_turn_end_pass(pawl_turn *turn);

enum pw_next {
    PW_NEXT_PASS, /* run a pass */
    PW_NEXT_WAIT, /* wait for host->ready, then ask again */
    PW_NEXT_END   /* closed or lost: the turn can record nothing more */
};
enum pw_next pw_turn_next(pawl_turn *turn);
/* Like pw_turn_next(), but waits in this thread: answers PASS or END. */
enum pw_next pw_turn_next_blocking(pawl_turn *turn);

/* What the watchdog did with a turn.  CLOSED: it gave the turn up, and host->ready follows once all its units are
 * answered.  OPEN: it gave the turn up, and the caller asks pw_turn_next() how it goes on. */
enum pw_given_up { PW_GIVEN_UP_NOT, PW_GIVEN_UP_CLOSED, PW_GIVEN_UP_OPEN };
/* What the watchdog found.  Times are monotonic. */
struct pw_watch {
    int32_t found;       /* calls of user code newly found to be late: each of them blocks a thread */
    int64_t deadline_ms; /* the earliest deadline of the bodies that are still in time; INT64_MAX: none */
    enum pw_given_up given_up;
};
/* The watchdog for bodies: fails every body that has outlived its timeout.  Once nothing else of the turn is
 * running, it gives the turn up and closes it. */
struct pw_watch pw_turn_watch_bodies(pawl_turn *turn, int64_t now_ms);
/* The watchdog for workflow code: lists and logs code that has run for at least ms_max between two durable calls.
 * Once nothing else of the turn is running, it gives the turn up. */
struct pw_watch pw_turn_watch_code(pawl_turn *turn, int64_t now_ms, int64_t ms_max);
/* True if a body has outlived its timeout. */
bool pw_turn_has_late_body(pawl_turn *turn);
/* Called by idle workers: carries branches of the fork until none can go on.  True if it carried any. */
bool pw_fork_help(struct pw_fork *fork);

/* A pause was requested.  If the request is withdrawn meanwhile, the closing unit finds out. */
void pw_turn_ask_to_pause(pawl_turn *turn);
/* Raises what is demanded of the run to at least `demand`. */
void pw_turn_demand(pawl_turn *turn, enum pw_demand demand);
/* An event with this number was sent to the run. */
void pw_turn_hear_of_event(pawl_turn *turn, int64_t seq);
/* The run is no longer this turn's: cancels what the turn still does. */
void pw_turn_revoke(pawl_turn *turn);
/* Gives back a lease that a lost turn may have left in place; the run is due again after delay_ms.  Also PAWL_OK if
 * the lease is gone. */
pawl_status pw_turn_release(pawl_engine *engine, const struct pw_fence *at, bool is_job,
                            int64_t delay_ms) PAWL_MUST_CHECK;

/* ---- What runners may know of a turn ----------------------------------------------------------------------------- */

struct pw_hosted *pw_turn_hosted(pawl_turn *turn);
const struct pw_claim *pw_turn_claim(const pawl_turn *turn);
const struct pw_definition *pw_turn_definition(const pawl_turn *turn);
/* The time up to which the lease is known to hold, and the note that a unit begun at begun_ms took or renewed it
 * (lease.h). */
int64_t pw_turn_leased_until(const pawl_turn *turn);
void pw_turn_note_lease(pawl_turn *turn, int64_t begun_ms, int64_t lease_ms);

/* How the turn ended.  Valid once pw_turn_next() has answered END, or the load has failed. */
struct pw_turn_result {
    bool is_closed;    /* false: the turn is lost, and its lease may still be in place */
    bool is_parked;    /* closed, and the run goes on later */
    int64_t due_at_ms; /* parked: when the task is due */
    bool is_taken;     /* lost: another owner has the run */
    bool is_short;     /* lost: the memory budget did not allow the load */
};
struct pw_turn_result pw_turn_result(const pawl_turn *turn);

/* Hands the history over for a cache: the caller owns it from now on.  NULL if the turn left none that a later turn
 * could use. */
struct pw_history *pw_turn_take_history(pawl_turn *turn, struct pw_fence *out_fence);

#endif
