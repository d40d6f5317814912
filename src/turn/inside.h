/* inside.h (internal to turn/) - a turn and its lanes, as the files of this folder share them.  turn.h has the rules. */
#ifndef PW_TURN_INSIDE_H
#define PW_TURN_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "turn/turn.h"

/* What the branches of a fork have in common; in the pass's arena. */
struct pw_branching {
    struct pw_text name; /* of the fork */
    bool is_kept;        /* the name is in the history's arena */
    enum pawl_fork_kind kind;
};

enum { PW_CODE_NOT_SEEN = -1 }; /* the watchdog has not looked since the code was entered */

struct pawl_lane {
    pawl_turn *turn;
    pawl_lane *parent;              /* NULL: the main lane */
    struct pw_branching *branching; /* NULL: the main lane */
    struct pw_text outer;           /* see struct pw_step_place; absent until it is wanted */
    int64_t calls;                  /* steps that it has reached, one after the other, in the present call */
    bool suspended;                 /* sticky */
    bool waits_for_event;           /* among other things */
    int64_t events_seen;            /* of a wait for events: what was known here when it was looked at last */
    uint64_t began;                 /* the moment at which its present call did */
    bool joined;                    /* its fork has come back: what follows comes after it */
    atomic_bool abandoned;          /* another branch was first */
    struct pw_step *expected;       /* the step recorded after the one reached last: most replays go that way */
    int64_t after;                  /* the newest unit that what happens here depends on */
    int64_t commit_wanted;          /* suspended until this unit is answered; 0: not for that reason */
    int64_t wake_at_ms;             /* the earliest wait reached here; INT64_MAX: none */
    enum pw_task_kind wake_kind;
    uint64_t place, place_first; /* where it is, and where it began (lines.h) */
    size_t said;                 /* lines at this place, in the present call */
    int64_t seq_met;             /* the highest number of the steps that it has behind it */
    bool told_interruption;      /* a durable call said so, here or in a branch that did not lose */
    size_t forks;                /* opened here in this pass */
    size_t fork, position;       /* which of its parent's forks it comes from, and which branch of it it is */
    char error[200];

    /* Code of the author's that runs on it, outside a body: see code.c. */
    bool in_code;
    int64_t code_since_ms;   /* by the engine's monotonic clock, or PW_CODE_NOT_SEEN */
    struct pw_step *reached; /* the durable call before, or NULL */
    pawl_lane *code_previous, *code_next;
    struct pw_blocked_call blocked; /* listed once it was found to be late; the host's */
};

/* Where a turn is.  Who moves it on holds the lock:
 *
 *   LOADING --> PASSING <--> WAITING --> CLOSING --> OVER
 *
 * A turn that is not to be carried at all closes without a pass.  If the closing unit is refused, the turn waits again.  The
 * watchdog takes a turn out of the pass in which it is blocked (T5): what the pass still does finds that the turn is not passing. */
enum pw_turn_phase {
    PW_TURN_LOADING, /* no pass has begun */
    PW_TURN_PASSING, /* the workflow function is called */
    PW_TURN_WAITING, /* between two passes, or before it closes */
    PW_TURN_CLOSING, /* the closing unit is out (T4) */
    PW_TURN_OVER     /* the closing unit is applied: the task is parked or finished */
};

/* Why a turn is to close although its run could go on; a later one outweighs an earlier one. */
enum pw_turn_stop {
    PW_STOP_NOT,
    PW_STOP_BUDGET,  /* it has done enough: no other body is begun, and no pass that would want one */
    PW_STOP_GIVEN_UP /* by the watchdog (T5): no other pass is begun */
};

/* How the last pass ended. */
enum pw_turn_outcome { PW_OUTCOME_NONE, PW_OUTCOME_SUSPEND, PW_OUTCOME_FINISH, PW_OUTCOME_FAIL, PW_OUTCOME_REPAIR };

struct pw_log_line {
    struct pw_log_row row;
    uint64_t place; /* of a line that workflow code said; 0: it goes with the next unit, whatever that is */
    struct pw_log_line *next;
};
struct pw_log_list {
    struct pw_log_line *first, *last;
};

struct pawl_turn {
    pawl_engine *engine;
    const struct pw_definition *definition;
    const struct pw_turn_host *host;
    struct pw_hosted hosted;
    struct pw_claim claim;
    uint64_t about; /* of its units (core/ops.h) */
    /* By the monotonic clock, see lease.h: when the newest unit was begun that took or renewed the lease, and up to when the
     * lease is. */
    _Atomic int64_t leased_at_ms, leased_until_ms;
    struct pw_history *history; /* NULL until loaded */
    atomic_int references;      /* the runner's, and one for each thread inside */

    struct pw_chain chain;
    atomic_bool cancelled; /* nothing it does can count any more */

    pthread_mutex_t lock;
    pthread_cond_t changed;     /* a unit was answered, or a branch came back */
    struct pw_arena arena;      /* of the turn's life: logs, mutations */
    struct pw_arena pass_arena; /* cleared when a pass begins */
    struct pawl_lane main;
    struct pw_fork *races;  /* under way, the newest first */
    int32_t open_forks;     /* that helpers know of */
    pawl_lane *in_code;     /* those with code under way */
    pawl_attempt *attempts; /* bodies under way */

    enum pw_turn_phase phase;
    enum pw_turn_outcome outcome;
    struct pw_text result, error_name, error_message;
    bool for_good;         /* of a job's failure */
    size_t bytes_replayed; /* of the arena, when its first body could begin; 0: none could yet */

    /* Requests.  They are made in any phase, and next() acts on them. */
    bool pause_wanted;
    enum pw_demand demand, demand_passed; /* what is demanded of the run; the same when the pass began */
    enum pw_turn_stop stop;
    bool unwinding;       /* from here on, in this pass, calls work again */
    int64_t undoing_told; /* the unit that tells the store that it unwinds; 0: none */
    bool skipped_losers;  /* of a race that this pass replayed, or cut short */
    bool walks_losers;    /* from the next pass on, so that what they did can be undone */

    pawl_status trouble; /* memory ran out somewhere: close, and try again a little later */

    int64_t submitted, answered; /* numbers of units */
    bool owes_ready;             /* pw_turn_next() said WAIT: host->ready follows */
    bool finished;               /* OVER: the run has ended */
    int64_t due_at_ms;           /* OVER, not finished: when the task is due again */
    struct pw_log_list logs;     /* for the next unit */
    struct pw_log_list said;     /* by workflow code, for the next step of the lane (lines.h) */
    struct pw_table spoken;      /* places, with how many lines were said there in this turn */
    int64_t kept_seq;            /* of a first turn: up to this number steps are of an earlier run */
    int64_t event_hint;          /* the newest event of the run that anybody told of; it may not be known here yet */
    int64_t fenced;              /* what was demanded up to this number of an event is known */
    int64_t gap; /* past this one there is a number without an event, so something was demanded; INT64_MAX: none */
    int32_t unsettled;  /* steps of which the store may still refuse what they registered */
    int32_t rejections; /* steps of which it did, and that is not recorded yet */

    int64_t memory_held; /* of the engine's budget, for its history */
    int64_t repeats;     /* of calls, in this pass */
    bool is_short;       /* that budget kept it from being loaded */
};

/* ---- With the lock held, but for pw_turn_lock() ------------------------------------------------- */

/* The store is barred in between (T6, base/bar.h), and both check the turn (check.c). */
void pw_turn_lock(pawl_turn *turn);
void pw_turn_unlock(pawl_turn *turn);
/* Asserts what must be true of a turn, and of its steps between two passes. */
void pw_turn_check(const pawl_turn *turn);
void pw_turn_check_steps(const pawl_turn *turn);

/* It is closed, or its chain is broken: nothing more can be recorded. */
bool pw_turn_is_over(const pawl_turn *turn);
/* It is in a pass, whose outcomes can be recorded. */
bool pw_turn_is_open(const pawl_turn *turn);
/* Nothing new may happen in it: it is over, given up, cancelled, or about to be paused. */
bool pw_turn_is_stopped(const pawl_turn *turn);
void pw_turn_note_demand(pawl_turn *turn, enum pw_demand demand);
/* The rows were read into the history, in which everything up to `known` had been.  Nobody else takes this run's events: a
 * number past it that no row has is a demand's. */
void pw_turn_note_gap(pawl_turn *turn, const struct pw_history *history, int64_t known, const struct pw_event_row *rows,
                      size_t count);
/* code.c: control goes to the author's code, and comes back: at a durable call, or, with `ended`, because the lane's function
 * has returned.  Coming back may let go of the lock. */
void pw_lane_enter_code(pawl_lane *lane);
void pw_lane_leave_code(pawl_lane *lane, bool ended);
bool pw_lane_any_live_code(const pawl_turn *turn);
/* code.c: lists a call of the author's code as late, for whoever asks which threads are blocked. */
void pw_turn_list_late(pawl_turn *turn, struct pw_blocked_call *call, const struct pw_step *step, int64_t passed_ms,
                       bool in_body);
/* The watchdog takes the turn out of its pass (T5). */
void pw_turn_give_up(pawl_turn *turn);
/* Ends the lane's part in this pass. */
pawl_status pw_lane_suspend(pawl_lane *lane);
void pw_lane_wait_until(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind);
bool pw_lane_is_abandoned(const pawl_lane *lane);
/* Is it that lane, or one of the forks that it or they opened? */
bool pw_lane_is_within(const pawl_lane *lane, const pawl_lane *outer);
/* Begins a call on the lane: nothing is waited for yet. */
void pw_lane_begin(pawl_lane *lane);
void pw_lane_init(pawl_lane *lane, pawl_turn *turn, pawl_lane *parent);
pawl_status pw_lane_error(pawl_lane *lane, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);
/* PAWL_OK once the unit is answered; PAWL_SUSPENDED when the lane is to unwind instead.  Lets go of the lock. */
pawl_status pw_lane_await(pawl_lane *lane, int64_t unit);
/* Nothing of this turn is recorded any more: memory ran out, or the store is in trouble.  Answers the status. */
pawl_status pw_turn_break(pawl_turn *turn, pawl_status why);
pawl_status pw_turn_out_of_memory(pawl_turn *turn);
/* lanes.c: races that are decided while a loser's body is still awaited. */
pawl_status pw_lanes_record_winners(pawl_turn *turn) PAWL_MUST_CHECK;
/* recall.c: records what the store refused of steps that nobody has asked for since. */
pawl_status pw_recall_record_rejections(pawl_turn *turn) PAWL_MUST_CHECK;

#endif
