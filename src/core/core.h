/* core.h - the state machine of runs: what every op checks, what it changes, and why it is refused.
 *
 * Rules are pure.  Rows, an op and the time go in; changed rows, outputs and effects, or a refusal, come out.  A rule does no
 * I/O and reads no clock.  A store is mechanism around it: it loads and locks the rows that pw_core_want() asks for, calls
 * pw_core_apply() for each unit, writes every row that was changed, and commits.  What a rule needs beyond loaded rows it asks
 * of the store's frame (struct pw_frame).
 *
 * The states of a run, as its task row shows them (kinds of the task in small letters):
 *
 *      CREATE, RESTART (begins run + 1, from any state)
 *         |
 *         |  held at birth, when the local runner has room
 *         +-----------------------------------------.
 *         v                                         v
 *      DUE ------------- CLAIM, HOLD ------------> HELD -- FINISH --> ended: no task, the instance has an outcome
 *       ^  ^                                         |
 *       |  |                                         | PARK; or the lease expires (then CLAIM takes it over, or pauses it)
 *       |  '--- timer, event, answer, demand ---.    |
 *       |                                    WAITING-+   wake, retry
 *       '------ resume, demand ----------------.     |
 *                                           PAUSED --'   resume, repair
 *
 *      TERMINATE (a CONTROL) and END end a run from any of these states without asking its holder.  An event, an answer, RESUME
 *      or INTERRUPT takes a run from WAITING or PAUSED to HELD, if the local runner has offered to take it.
 *
 * Rules, cited as R1 to R11:
 *
 *  R1. An unfinished run has exactly one task.  A finished one has none.
 *  R2. Every change of hands (claim, hold, park, wake) raises the epoch by one.  A fence holds at one epoch of one run, so a
 *      holder that lost its task can write nothing.
 *  R3. A demand is only ever raised within a run.  It clears the request for a pause, and it counts as an event that the turn
 *      has not seen.  A restart begins without one.  The empty demand only raises the number of events.
 *  R4. Nobody parks past an event that it has not seen: such a task is due now.  A requested pause wins over that.
 *  R5. A task is held exactly when it has an owner.  Only an active task is held.
 *  R6. Only a paused task waits for repair.  A run of which something is demanded does not wait for it: it is due now.
 *  R7. Times of a run never go back, whatever the clock says.  Times that say when something is to happen (due_at,
 *      locked_until) are the clock's.
 *  R8. A refused unit leaves no trace.  What was found by a condition is decided again once it is locked.
 *  R9. What names an instance (an event, a control) needs no fence: it is decided where the task is locked.  An event wakes a
 *      run only if a step of it waits for such an event.  An answer to a parent refuses nothing, and wakes a run that waits and
 *      is held by nobody.
 * R10. Whatever begins, becomes due, is held, parked or ended, and whatever is recorded of a run, is an effect (effects.h).
 *      Hooks, watches, the local runner and figures learn it from there only.
 * R11. An end is complete.  FINISH tells the parent, ends the run's jobs and passes its demand on to attached children.  It is
 *      refused while more is demanded than the turn has seen.  A job that ends because its run does, or that its run gave up (END),
 *      tells nobody.  A restart ends an open run: it reaches the children, and tells no parent. */
#ifndef PW_CORE_CORE_H
#define PW_CORE_CORE_H

#include "base/rows.h"
#include "base/table.h"
#include "core/ops.h"

/* ---- Records: the rows of a batch, as they are by now ------------------------------------------------------------- */

/* One instance: its task, and as much of the instance row as somebody asked for. */
struct pw_core_run {
    int64_t key;
    uint64_t saved_in; /* the unit that keeps a copy to go back to; in each kind of record */

    /* What the store is to load. */
    bool wants_task;     /* the task, locked; the store waits for the lock */
    bool wants_lock;     /* the instance row, locked */
    bool wants_instance; /* is_known and what comes with it */
    bool wants_facts;    /* workflow, id, link, created_at */
    bool wants_params;
    bool is_told;   /* by an answer: if it has a task, that task must be locked */
    bool is_loaded; /* set by a store that loads runs one by one */

    /* The task. */
    bool has_task;   /* there is one, and it is locked or was made in this batch */
    bool is_seen;    /* there is one, but another transaction has it locked: it may only be looked at */
    bool is_stored;  /* the store has a task row */
    bool is_changed; /* the store's row differs from this one */
    int64_t run;     /* the task's */
    struct pw_task task;
    struct pw_task stored; /* the store's row, when is_stored */
    bool holder_lives;     /* the store knows that the holder lives, although the lease has ended by the clock */

    /* The instance. */
    bool is_known;        /* instance_run and workflow are loaded */
    int64_t instance_run; /* the instance's */
    struct pw_text workflow, id, params;
    const struct pw_arena *texts; /* where the three were loaded to; NULL: the batch's arena, or borrowed */
    bool has_params;              /* they are loaded, or were given */
    size_t params_bytes;          /* loaded only for claims with bytes_max; known of a run that the batch made */
    int64_t created_at_ms;
    struct pw_link link;                                        /* loaded for those that may be reached */
    enum { PW_CORE_SAME, PW_CORE_NEW, PW_CORE_CHANGED } change; /* NEW, CHANGED: the rest is to be written */
    /* Also loaded for those that begin again. */
    enum pw_outcome outcome;
    struct pw_text output, error_name, error_message;
    int64_t started_at_ms, completed_at_ms, updated_at_ms;
    struct pw_terms terms;
};

/* By instance, run and number.  The ops hold what is to be written. */
struct pw_core_step {
    int64_t place[3];
    uint64_t saved_in;
    bool exists; /* in the store */
    const struct pw_op_step *insert, *update;
};
struct pw_core_event {
    int64_t place[3];
    uint64_t saved_in;
    bool exists;
    const struct pw_op_event *insert;
    int64_t created_at_ms; /* of the insert */
    const struct pw_op_consume *consume;
};

/* An id that an event of the run has, or is about to have. */
struct pw_core_event_id {
    int64_t instance, run;
    struct pw_text id;
    uint64_t saved_in;
    bool is_loaded; /* set by a store that loads ids one by one */
    bool taken;
};

/* The last line of a run's log. */
struct pw_core_tail {
    int64_t place[2];
    uint64_t saved_in;
    int64_t seq, created_at_ms;
};

/* An instance by its name; key 0: there is none. */
struct pw_core_name {
    struct pw_text workflow, id;
    uint64_t saved_in;
    int64_t key;
    bool wants_task;         /* locked */
    bool is_found_otherwise; /* whoever loads the sends or the controls finds it */
};

/* A delivery to a hook.  One that is there waits for an attempt, is under way, or has failed for good; one that was delivered is
 * deleted.  Every change of hands raises its epoch, as with a task: an attempt, giving up, sending again. */
struct pw_core_delivery {
    int64_t key;
    uint64_t saved_in;
    bool is_loaded;    /* by pw_note_delivery() */
    bool exists;       /* there is one, and it is locked */
    bool has_instance; /* without one there is nothing to tell */
    bool is_changed;   /* the store's row differs from this one, or is to be deleted */
    struct pw_hook_row row;
};

/* Records of one kind, by key and in the order in which they were first asked for. */
struct pw_core_set {
    struct pw_table table;
    struct pw_rows list; /* pointers */
};

/* A run that is no longer the newest of its instance. */
struct pw_core_earlier {
    int64_t instance;
    struct pw_earlier_run row;
};
struct pw_core_log {
    const struct pw_op_log *op;
    int64_t seq, created_at_ms;
};
struct pw_core_hook {
    int64_t instance;
    struct pw_hook_row row; /* but for its key */
};

/* ---- The frame: what rules ask of the store ------------------------------------------------------------------------ */

struct pw_core;

/* Each answers PAWL_OK, or trouble that ends the transaction for all units. */
struct pw_frame {
    /* Writes everything that was decided so far.  Nothing of it can be undone in memory after that. */
    pawl_status (*write)(struct pw_core *core);
    /* How many undelivered events of the run the store has, counted up to max. */
    pawl_status (*count_unread)(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count);
    /* Until when a step of the run waits for an event of this type, by what is written; 0: none does. */
    pawl_status (*find_wait)(struct pw_core *core, const struct pw_core_run *run, struct pw_text type,
                             int64_t *out_until_ms);
    /* The lease at this fence is renewed until until_ms as soon as its row is not locked by others. */
    pawl_status (*owe)(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms);
    /* Find rows by a condition and let the core decide about each (below).  Everything that was decided before is written by
     * then. */
    pawl_status (*claim)(struct pw_core *core, struct pw_op_claim *op);
    pawl_status (*reap)(struct pw_core *core, struct pw_op_reap *op);
    pawl_status (*claim_hooks)(struct pw_core *core, struct pw_op_hook_claim *op);
    /* The user's code, inside the unit's savepoint.  Both may also refuse the unit. */
    pawl_status (*run_sql)(struct pw_core *core, struct pw_op_sql *op);
    pawl_status (*run_mutation)(struct pw_core *core, struct pw_op_mutate *op);
    /* A savepoint around a unit that runs the user's code: begins it, or ends it and keeps or undoes what came after it. */
    pawl_status (*begin_savepoint)(struct pw_core *core);
    pawl_status (*end_savepoint)(struct pw_core *core, bool keeps);
    /* Loads and locks the run's task and facts, with the params if nobody has claimed the run before, unless it is loaded
     * already.  NULL: whatever the store finds, or an answer is for, is loaded. */
    pawl_status (*load_claimable)(struct pw_core *core, struct pw_core_run *run, bool with_size);
};

/* ---- A batch ------------------------------------------------------------------------------------------------------- */

struct pw_core_saved; /* a copy to go back to */

struct pw_core {
    const struct pw_frame *frame;
    struct pawl_error *error; /* for trouble */
    int64_t now_ms;           /* the time of the transaction, read behind its locks */
    struct pw_arena arena;

    struct pw_core_set runs, steps, events, event_ids, tails, names, deliveries;
    struct pw_rows logs;    /* struct pw_core_log, not written yet */
    struct pw_rows hooks;   /* struct pw_core_hook, the same */
    struct pw_rows earlier; /* struct pw_core_earlier, the same */
    struct pw_rows kept;    /* struct pw_op_restart *: their steps are to be copied */
    struct pw_rows keys;    /* int64_t: for instances to come; filled by the store */
    size_t keys_used;

    /* What the store is to find, besides rows by their keys. */
    int64_t keys_wanted;
    struct pw_rows sends;    /* struct pw_op_event *, to instances that they name */
    struct pw_rows controls; /* struct pw_op_control * */
    struct pw_rows reaches;  /* const struct pw_reach * */
    struct pw_rows resends;  /* const struct pw_op_hook_resend *: deliveries by their ids */
    bool locks_by_name;

    int64_t leaseholder; /* a runner of which a lease was taken or renewed; 0: none */

    struct pw_unit *unit; /* the one that is being decided */
    bool has_acted;       /* it did something that no copy goes back from */
    uint64_t unit_number;
    struct pw_core_saved *saved;
    size_t logs_before, hooks_before, earlier_before, kept_before, keys_before;
};

void pw_core_init(struct pw_core *core, const struct pw_frame *frame, struct pawl_error *error);
void pw_core_clear(struct pw_core *core);

/* Notes which rows the op needs.  False when memory is out. */
bool pw_core_want(struct pw_core *core, struct pw_op *op);
/* The store has found the instance that a control names: notes whom it concerns besides.  False when memory is out. */
bool pw_core_want_family(struct pw_core *core, struct pw_op_control *op, const struct pw_core_run *run);
/* Does the control concern children or jobs of the run?  The least relation of those; 0: no. */
enum pw_relation pw_control_reaches(const struct pw_op_control *op);

/* Decides the ops of a unit in order.  A unit that is refused leaves no trace, and the answer is PAWL_OK: the refusal is in the
 * unit.  Anything else is trouble. */
pawl_status pw_core_apply(struct pw_core *core, struct pw_unit *unit) PAWL_MUST_CHECK;
/* Records as rows that are to be written.  Texts that an existing row has, and that never change, may be empty; and so may the
 * terms of a run that is not new. */
struct pw_instance pw_core_instance_row(const struct pw_core_run *run);
/* What never changes of a new step (ONCE in fields.h) is of the op that inserts it; the rest is what came last. */
struct pw_step_row pw_core_step_row(const struct pw_core *core, const struct pw_core_step *step);
struct pw_event_row pw_core_event_row(const struct pw_core *core, const struct pw_core_event *event);
struct pw_log_row pw_core_log_row(const struct pw_core_log *log);
/* The store has written every row that was changed.  False when memory is out. */
bool pw_core_note_written(struct pw_core *core);

/* The parts of pw_core_apply().  Deciding answers PAWL_OK; a refusal, which is in the unit; or trouble. */
void pw_core_begin_unit(struct pw_core *core, struct pw_unit *unit);
pawl_status pw_core_decide(struct pw_core *core, struct pw_op *op) PAWL_MUST_CHECK;
/* Records what hooks are to be told of the unit, whose ops are all decided. */
pawl_status pw_core_tell_hooks(struct pw_core *core) PAWL_MUST_CHECK;
/* Undoes what the unit changed in memory. */
void pw_core_undo_unit(struct pw_core *core);

/* Asserts everything that is true of a run's rows (R1, R5 to R7), in builds with assertions. */
void pw_core_check(const struct pw_core_run *run);

/* ---- Records --------------------------------------------------------------------------------------------------------- */

/* NULL when memory is out.  find answers NULL where there is none. */
struct pw_core_run *pw_want_run(struct pw_core *core, int64_t key);
struct pw_core_run *pw_find_run(struct pw_core *core, int64_t key);
/* NULL: the instance has no task. */
struct pw_core_run *pw_find_task(struct pw_core *core, int64_t instance);
struct pw_core_step *pw_want_step(struct pw_core *core, int64_t instance, int64_t run, int64_t seq);
struct pw_core_event *pw_want_event(struct pw_core *core, int64_t instance, int64_t run, int64_t seq);
struct pw_core_event_id *pw_want_event_id(struct pw_core *core, int64_t instance, int64_t run, struct pw_text id);
struct pw_core_tail *pw_want_tail(struct pw_core *core, int64_t instance, int64_t run);
struct pw_core_name *pw_want_name(struct pw_core *core, struct pw_text workflow, struct pw_text id);
struct pw_core_delivery *pw_want_delivery(struct pw_core *core, int64_t key);
/* The same for a row that the store has loaded and locked.  One that the batch has already may be newer, and stays. */
struct pw_core_delivery *pw_note_delivery(struct pw_core *core, const struct pw_hook_row *row);

/* Keeps a copy of a record before the unit changes it for the first time.  False when memory is out. */
bool pw_save(struct pw_core *core, void *record, size_t size, uint64_t *saved_in);
#define PW_SAVE(core, record) pw_save((core), (record), sizeof *(record), &(record)->saved_in)

/* The least relation that is reached: without a demand, only jobs. */
static inline enum pw_relation pw_least_reached(const struct pw_reach *op)
{
    return op->demand == PW_DEMAND_NONE ? PW_RELATION_JOB : PW_RELATION_ATTACHED;
}

/* The time of what is recorded now for a run that has a task (R7). */
static inline int64_t pw_run_time(const struct pw_core *core, const struct pw_core_run *run)
{
    return pw_not_before(core->now_ms, run->task.updated_at_ms);
}

/* The time that an op carries, or the transaction's. */
static inline int64_t pw_time_or_now(const struct pw_core *core, int64_t at_ms)
{
    return at_ms != 0 ? at_ms : core->now_ms;
}

/* Does this owner hold the task at this fence, as far as the batch can see? */
bool pw_core_is_held(const struct pw_core_run *run, struct pw_fence at, int64_t owner);

/* ---- What stores find, and the core takes --------------------------------------------------------------------------------- */

/* A row that a store has found for a claim: it is due since then, or its lease has ended then.  A task's key is its instance. */
struct pw_core_due {
    int64_t key, since_ms;
};
/* Those that are due longest come first. */
void pw_core_sort_dues(struct pw_rows *dues);

/* Gives tasks that were found (struct pw_core_due) to the owner of the claim, those that are due longest first, until `claims`
 * (struct pw_claim) has max rows or the claim's bytes are reached.  A task that is not claimable after all is passed over (R8),
 * and so is one that the share leaves out. */
pawl_status pw_core_claim(struct pw_core *core, struct pw_op_claim *op, struct pw_rows *dues, size_t max,
                          struct pw_rows *claims);
/* The lease has ended and a pause was requested: the run is paused. */
pawl_status pw_core_pause_expired(struct pw_core *core, struct pw_core_run *run);
/* The holder is dead: the lease ends now. */
pawl_status pw_core_reap(struct pw_core *core, struct pw_op_reap *op, struct pw_core_run *run);

/* Gives out deliveries that were found for a claim (struct pw_core_delivery *), those that are due longest first, up to the claim's
 * max.  One on the way that has no attempt left, or no instance, fails for good.  One that is not due after all is passed over
 * (R8). */
pawl_status pw_core_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op, struct pw_rows *found);

#endif
