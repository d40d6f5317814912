/* inside.h (internal to turn/) - the structs of a turn and its lanes, shared by the files of this folder.  turn.h
 * has the rules. */
#ifndef PW_TURN_INSIDE_H
#define PW_TURN_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "turn/turn.h"

/* What the branches of a fork share.  Lives in the pass's arena. */
struct pw_branching {
    struct pw_text name; /* the fork's name */
    bool is_kept;        /* the name was copied into the history's arena */
    enum pawl_fork_kind kind;
};

enum { PW_CODE_NOT_SEEN = -1 }; /* the watchdog has not looked since the code was entered */

/* One strand of the workflow function: the main lane, or a branch of a fork.  Pointers and flags are guarded by the
 * turn's lock. */
struct pawl_lane {
    pawl_turn *turn;
    pawl_lane *parent;              /* NULL: the main lane */
    struct pw_branching *branching; /* NULL: the main lane */
    /* The forks around its fork as JSON, see struct pw_step_place; absent until needed. */
    struct pw_text outer;
    int64_t calls;            /* steps reached so far in the present call */
    bool suspended;           /* sticky: every later durable call answers PAWL_SUSPENDED */
    bool waits_for_event;     /* it waits for an event, perhaps besides other things */
    int64_t events_seen;      /* waits_for_event: the newest event number that was known at its last look */
    uint64_t began;           /* the history's moment when its present call began */
    bool joined;              /* its fork has returned: the parent's code now runs after it */
    atomic_bool abandoned;    /* another branch won the race */
    struct pw_step *expected; /* the step recorded after the one reached last; most replays reach it next */
    int64_t after;            /* the newest unit that this lane depends on (T1) */
    int64_t commit_wanted;    /* suspended until this unit is answered; 0: not for a commit */
    int64_t wake_at_ms;       /* the earliest wake time of the waits reached here; INT64_MAX: none */
    enum pw_task_kind wake_kind;
    uint64_t place, place_first; /* its present place and its first one (lines.h) */
    size_t said;                 /* log lines written at this place in the present call */
    int64_t seq_met;             /* the highest number among the steps that were answered here */
    bool told_interruption;      /* a durable call answered PAWL_INTERRUPTED, here or in a branch that did not lose */
    size_t forks;                /* forks opened here in the present call */
    size_t fork, position;       /* the number of its fork in the parent, and its branch number there */
    char error[200];

    /* User code that runs on this lane, outside a body: see code.c. */
    bool in_code;
    int64_t code_since_ms;   /* by the engine's monotonic clock, or PW_CODE_NOT_SEEN */
    struct pw_step *reached; /* the last step reached, or NULL */
    pawl_lane *code_previous, *code_next;
    struct pw_blocked_call blocked; /* listed once the code is found to be late; the host clears it */
};

/* The phase of a turn.  Changed only with the lock held:
 *
 *   LOADING --> PASSING <--> WAITING --> CLOSING --> OVER
 *
 * A turn that must not run closes without a pass.  If the closing unit is refused, the turn is WAITING again.  When
 * the watchdog gives up a turn (T5), it moves it from PASSING to WAITING while the blocked pass is still running;
 * that pass then finds that its turn is not passing. */
enum pw_turn_phase {
    PW_TURN_LOADING, /* no pass has begun yet */
    PW_TURN_PASSING, /* the workflow function is running */
    PW_TURN_WAITING, /* between two passes, or about to close */
    PW_TURN_CLOSING, /* the closing unit is submitted (T4) */
    PW_TURN_OVER     /* the closing unit is applied: the task is parked or finished */
};

/* Why a turn should close although its run could go on.  A later value outweighs an earlier one. */
enum pw_turn_stop {
    PW_STOP_NOT,
    PW_STOP_BUDGET,  /* its budget is used up: no further body begins, and no pass that would need one */
    PW_STOP_GIVEN_UP /* the watchdog gave it up (T5): no further pass begins */
};

/* How the last pass ended. */
enum pw_turn_outcome { PW_OUTCOME_NONE, PW_OUTCOME_SUSPEND, PW_OUTCOME_FINISH, PW_OUTCOME_FAIL, PW_OUTCOME_REPAIR };

struct pw_log_line {
    struct pw_log_row row;
    uint64_t place; /* where workflow code wrote the line (lines.h); 0: it goes with the next unit, whatever that is */
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
    uint64_t about; /* the `about` of its units (core/ops.h) */
    /* By the monotonic clock (lease.h): when the newest unit that took or renewed the lease was begun, and up to
     * when the lease holds. */
    _Atomic int64_t leased_at_ms, leased_until_ms;
    struct pw_history *history; /* NULL until loaded */
    atomic_int references;      /* the runner's, and one for each unit that is out, each body and each thread inside */

    struct pw_chain chain;
    atomic_bool cancelled; /* nothing that it still does can be recorded */

    pthread_mutex_t lock;
    pthread_cond_t changed;     /* a unit was answered, or a branch came back */
    struct pw_arena arena;      /* lives as long as the turn: log lines, mutations */
    struct pw_arena pass_arena; /* cleared when a pass begins */
    struct pawl_lane main;
    struct pw_fork *races;  /* running races, newest first */
    int32_t open_forks;     /* forks that helpers know of */
    pawl_lane *in_code;     /* lanes whose user code is running */
    pawl_attempt *attempts; /* running bodies */

    enum pw_turn_phase phase;
    enum pw_turn_outcome outcome;
    struct pw_text result, error_name, error_message;
    bool for_good;         /* a job's failure that must not be retried */
    size_t bytes_replayed; /* size of the arena when the first body could begin; 0: none could yet */

    /* Requests.  They may be made in any phase; the next durable call or next() acts on them. */
    bool pause_wanted;
    enum pw_demand demand, demand_passed; /* what is demanded of the run: now, and when the pass began */
    enum pw_turn_stop stop;
    bool unwinding;       /* this pass undoes its steps: durable calls work again despite the demand */
    int64_t undoing_told; /* the unit that records the first compensation before it runs; 0: none */
    bool skipped_losers;  /* this pass called not all losers of a race, or not to their end */
    bool walks_losers;    /* replays call losers as well, so that what they completed can be undone */

    pawl_status trouble; /* memory ran out or a read failed: close, and be due again a little later */

    int64_t submitted, answered; /* the numbers of the newest unit submitted and the newest one answered */
    bool owes_ready;             /* pw_turn_next() answered WAIT: host->ready must follow */
    bool finished;               /* OVER: the run has ended */
    int64_t due_at_ms;           /* OVER, not finished: when the task is due again */
    struct pw_log_list logs;     /* log lines for the next unit */
    struct pw_log_list said;     /* log lines of workflow code, for the next step of their lane (lines.h) */
    struct pw_table spoken;      /* the number of lines written at each place in this turn */
    int64_t kept_seq;            /* steps up to this number were kept from an earlier run; set by a run's first turn */
    int64_t event_hint;          /* the newest event number heard of; the event may not have been read yet */
    int64_t fenced;              /* every demand up to this event number is known */
    int64_t gap;        /* some number above this one has no event, so it belongs to a demand; INT64_MAX: none */
    int32_t unsettled;  /* steps whose boundary the store may still refuse (T3) */
    int32_t rejections; /* steps whose boundary it refused, where that is not recorded yet */

    int64_t memory_held; /* bytes held of the engine's memory budget for the history */
    int64_t repeats;     /* calls that used a name again, in this pass */
    bool is_short;       /* the memory budget did not allow the load */
};

/* ---- All with the lock held, except pw_turn_lock() -------------------------------------------------------------- */

/* Between the two the store is barred (T6, base/bar.h).  Both check the turn (check.c). */
void pw_turn_lock(pawl_turn *turn);
void pw_turn_unlock(pawl_turn *turn);
/* Asserts the invariants of a turn, and those of its steps, which hold between two passes. */
void pw_turn_check(const pawl_turn *turn);
void pw_turn_check_steps(const pawl_turn *turn);

/* Closed, or its chain is broken: nothing more can be recorded. */
bool pw_turn_is_over(const pawl_turn *turn);
/* In a pass whose outcomes can be recorded. */
bool pw_turn_is_open(const pawl_turn *turn);
/* Nothing new may happen: it is over, given up, cancelled, or about to be paused. */
bool pw_turn_is_stopped(const pawl_turn *turn);
void pw_turn_note_demand(pawl_turn *turn, enum pw_demand demand);
/* The rows were read into a history that had everything up to `known`.  Only this turn consumes the run's events, so
 * a number above `known` without a row belongs to a demand. */
void pw_turn_note_gap(pawl_turn *turn, const struct pw_history *history, int64_t known, const struct pw_event_row *rows,
                      size_t count);
/* code.c: control passes to user code, and returns from it: at a durable call or, with `ended`, because the lane's
 * function returned.  Leaving code may drop the lock for a moment. */
void pw_lane_enter_code(pawl_lane *lane);
void pw_lane_leave_code(pawl_lane *lane, bool ended);
bool pw_lane_any_live_code(const pawl_turn *turn);
/* code.c: lists a call of user code as late, for pawl_list_blocked(). */
void pw_turn_list_late(pawl_turn *turn, struct pw_blocked_call *call, const struct pw_step *step, int64_t passed_ms,
                       bool in_body);
/* The watchdog takes the turn out of its pass (T5). */
void pw_turn_give_up(pawl_turn *turn);
/* Ends the lane's part in this pass: marks it suspended, and answers PAWL_SUSPENDED. */
pawl_status pw_lane_suspend(pawl_lane *lane);
void pw_lane_wait_until(pawl_lane *lane, int64_t at_ms, enum pw_task_kind kind);
bool pw_lane_is_abandoned(const pawl_lane *lane);
/* True if the lane is `outer`, or a branch somewhere below it. */
bool pw_lane_is_within(const pawl_lane *lane, const pawl_lane *outer);
/* Resets the lane for another call of its function: it waits for nothing yet. */
void pw_lane_begin(pawl_lane *lane);
void pw_lane_init(pawl_lane *lane, pawl_turn *turn, pawl_lane *parent);
pawl_status pw_lane_error(pawl_lane *lane, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);
/* PAWL_OK once the unit is answered.  PAWL_SUSPENDED if the lane should unwind instead of waiting.  Drops the lock
 * while it waits. */
pawl_status pw_lane_await(pawl_lane *lane, int64_t unit);
/* Breaks the chain: the turn records nothing more, because memory ran out or the store is in trouble.  Returns the
 * status. */
pawl_status pw_turn_break(pawl_turn *turn, pawl_status why);
pawl_status pw_turn_out_of_memory(pawl_turn *turn);
/* lanes.c: records the winners of races whose losers' bodies have not returned. */
pawl_status pw_lanes_record_winners(pawl_turn *turn) PAWL_MUST_CHECK;
/* recall.c: records the refused boundaries of steps that no durable call has reached since. */
pawl_status pw_recall_record_rejections(pawl_turn *turn) PAWL_MUST_CHECK;

#endif
