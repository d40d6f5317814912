/* turn.h (internal) - one claimed run carried forward: load, recall, step boundary, suspend, finish.
 *
 * The workflow function is run in *passes*: once from the top, and again from the top after a wait for a commit, for
 * as long as the turn lasts.  What a step boundary changes is one unit of work, submitted the moment the step ends; the
 * turn waits for it only before the next effect.  While it waits its thread may carry another run (the pass is unwound
 * with PAWL_SUSPENDED, and begun again when the commit is answered), or wait itself when there is nothing else to do.
 *
 *  T1. No body is handed out on a lane before every boundary that lane depends on is durable.
 *  T2. All units of a turn carry its fence and its chain: once one was not applied, none after it is.
 *  T3. A step whose boundary the store may refuse (mutations, a timeout racing an event) is not told before it is
 *      durable ("unsettled").
 *  T4. The turn ends with one closing unit, which parks or finishes the task.  It is refused when a pause was asked for;
 *      the turn then closes as paused.
 *  T5. When an attempt outlives its timeout, or code between two durable calls runs for too long, the watchdog gives the turn
 *      up and closes it: everything that the blocked code still does is dropped.
 *  T6. `lock` guards all of the turn and its history; it is never held over a call into user code, a wait, or a call of the
 *      store.  What has to be read for a boundary is read before, with the lock let go of.
 *  T7. At most PW_TURN_UNDURABLE_MAX boundaries are not durable yet when a durable call records another; and the call waits,
 *      without the lock, until there is room in the committer's queue.  What ends a body or a turn waits for neither.
 *  T8. A body begins only while the turn's lease is known to hold (lease.h). */
#ifndef PW_TURN_TURN_H
#define PW_TURN_TURN_H

#include "engine/engine.h"
#include "history/history.h"
#include "pawl/runner.h"

struct pw_fork;

/* What a runner keeps of a turn that it holds.  The turn does not look at it. */
struct pw_hosted {
    pawl_turn *ready_next, *held_previous, *held_next;
    int64_t ready_since_ms;
    bool counted;   /* among those that no worker has begun */
    int32_t spares; /* workers that stand in for the threads that it blocks */
    bool given_up;  /* all threads inside are counted there */
};

/* What a runner keeps of a fork, whose branches its idle workers may carry.  The fork sets the first two. */
struct pw_help {
    struct pw_fork *fork;
    pawl_turn *turn;
    size_t helpers;   /* that are inside */
    bool is_unwanted; /* there was nothing to do for the last one */
    uint64_t stirs;   /* how often it was said that help may be wanted again */
    int64_t wake_at_ms;
    struct pw_help *previous, *next;
};

/* Who drives turns, as these see it. */
struct pw_turn_host {
    pawl_runner *runner;
    int64_t owner, lease_ms; /* whose leases they are, and how long */

    /* Questions, which may be asked with the turn's lock held. */
    bool (*should_yield)(
        pawl_runner *runner); /* is there other work, so that a wait should unwind instead of blocking? */
    bool (*stopping)(pawl_runner *runner);
    bool (*take_step)(pawl_runner *runner); /* false: no other body may begin */
    /* A body is about to begin, in whose time nobody renews the lease: it must cover the body's timeout. */
    bool (*must_cover)(pawl_runner *runner);

    /* News, with no lock held. */
    void (*look_at)(pawl_runner *runner, int64_t at_ms); /* the watchdog has something to look at then; monotonic */
    void (*call_returns)(pawl_runner *runner, pawl_turn *turn, struct pw_blocked_call *call); /* which was late */
    void (*fork_opens)(pawl_runner *runner, struct pw_help *help);
    void (*fork_closes)(pawl_runner *runner, struct pw_help *help); /* waits for helpers to leave */
    void (*help_wanted)(pawl_runner *runner, const pawl_turn *turn,
                        int64_t at_ms);                  /* a branch may go on; PW_NOW: now */
    void (*ready)(pawl_runner *runner, pawl_turn *turn); /* a wait of pw_turn_next() is over; from any thread */
};

/* ---- Lifecycle, for runners ----------------------------------------------------------------------------------- */

/* The claim's texts are copied, the host is borrowed.  NULL when memory is out. */
pawl_turn *pw_turn_new(pawl_engine *engine, const struct pw_definition *definition, const struct pw_claim *claim,
                       const struct pw_turn_host *host);
void pw_turn_ref(pawl_turn *turn);
void pw_turn_unref(pawl_turn *turn);

/* Is the run to be read before the next pass?  always_replay: anew, before each pass. */
bool pw_turn_wants_load(const pawl_turn *turn, bool always_replay);
/* Reads the run from the store, or takes `warm` (owned from now on), a history of the run as the last turn left it.  Where
 * the engine's budget of memory does not allow it, it says PAWL_NOMEM, and so does the turn's result (is_short): then the turn
 * holds nothing, and the run is to be given back and taken up again a little later. */
pawl_status pw_turn_load(pawl_turn *turn, struct pw_history *warm, struct pawl_error *error) PAWL_MUST_CHECK;

/* Runs the turn function once.  The caller must hold a reference.  False when the turn was given up meanwhile (T5): then
 * whoever the watchdog leaves it to retires it. */
bool pw_turn_pass(pawl_turn *turn);
/* The two halves of it, for turns that are driven by hand. */
void pw_turn_begin_pass(pawl_turn *turn);
bool pw_turn_end_pass(pawl_turn *turn);

enum pw_next {
    PW_NEXT_PASS, /* run a pass */
    PW_NEXT_WAIT, /* host->ready will be called; then ask again */
    PW_NEXT_END   /* over, or lost: it can record nothing any more */
};
enum pw_next pw_turn_next(pawl_turn *turn);
/* The same, waiting in this thread: PASS or END. */
enum pw_next pw_turn_next_blocking(pawl_turn *turn);

/* What the watchdog did with a turn.  OPEN: it is given up, and nothing of it is under way; pw_turn_next() tells how it goes on. */
enum pw_given_up { PW_GIVEN_UP_NOT, PW_GIVEN_UP_CLOSED, PW_GIVEN_UP_OPEN };
/* What the watchdog found.  Times are monotonic. */
struct pw_watch {
    int32_t found;       /* calls of the author's code that are late, and were not before: each blocks a thread */
    int64_t deadline_ms; /* of the body that is late next; INT64_MAX: none */
    enum pw_given_up given_up;
};
/* The watchdog: fails every body that has outlived its timeout.  Once nothing else of the turn is under way it gives the turn
 * up and closes it in their stead. */
struct pw_watch pw_turn_watch_bodies(pawl_turn *turn, int64_t now_ms);
/* The same for code that has run for at least ms_max between two durable calls: it is listed, and logged with the run. */
struct pw_watch pw_turn_watch_code(pawl_turn *turn, int64_t now_ms, int64_t ms_max);
/* Has a body outlived its timeout? */
bool pw_turn_has_late_body(pawl_turn *turn);
/* Carries branches forward until none can be just now.  For idle workers; true when there was one. */
bool pw_fork_help(struct pw_fork *fork);

/* A pause is asked for.  Should it be withdrawn meanwhile, the closing unit finds out. */
void pw_turn_ask_to_pause(pawl_turn *turn);
/* At least this is demanded of the run. */
void pw_turn_demand(pawl_turn *turn, enum pw_demand demand);
/* An event of that number was sent to the run. */
void pw_turn_hear_of_event(pawl_turn *turn, int64_t seq);
/* The fence is known to be gone. */
void pw_turn_revoke(pawl_turn *turn);
/* Gives a lease back that a lost turn may have left in place, due after delay_ms.  PAWL_OK, too, when it is gone. */
pawl_status pw_turn_release(pawl_engine *engine, const struct pw_fence *at, bool is_job,
                            int64_t delay_ms) PAWL_MUST_CHECK;

/* ---- What runners may know of a turn ----------------------------------------------------------------------------- */

struct pw_hosted *pw_turn_hosted(pawl_turn *turn);
const struct pw_claim *pw_turn_claim(const pawl_turn *turn);
const struct pw_definition *pw_turn_definition(const pawl_turn *turn);
/* Up to when its lease is known to hold; and that a unit which was begun at begun_ms has taken or renewed it (lease.h). */
int64_t pw_turn_leased_until(const pawl_turn *turn);
void pw_turn_note_lease(pawl_turn *turn, int64_t begun_ms, int64_t lease_ms);

/* How it ended, once pw_turn_next() has said END, or its run could not be loaded. */
struct pw_turn_result {
    bool is_closed;    /* otherwise it is lost, and its lease may still be there */
    bool is_parked;    /* closed: the run goes on */
    int64_t due_at_ms; /* parked: when */
    bool is_taken;     /* lost: somebody else has the run */
    bool is_short;     /* lost: there was no memory to load it */
};
struct pw_turn_result pw_turn_result(const pawl_turn *turn);

/* The history, for a cache: the caller's from now on.  NULL when the turn left none that can be used. */
struct pw_history *pw_turn_take_history(pawl_turn *turn, struct pw_fence *out_fence);

#endif
