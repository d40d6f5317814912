/* core.h - the state machine of runs: what every op checks, what it changes, and why it is refused.
 *
 * Rules are pure.  Rows, an op and the time go in.  Changed rows, outputs and effects come out, or a refusal.  A rule does no
 * I/O and reads no clock.  A store is the mechanism around it: it loads and locks the rows that pw_core_want() asks for, calls
 * pw_core_apply() for each unit, writes every changed row, and commits.  If a rule needs more than the loaded rows, it asks the
 * store's frame (struct pw_frame).
 *
 * How to read this folder: ops.h lists what a unit can do; wants.c says which rows each op needs; rules_*.c has one rule per
 * op; apply.c runs the rules of a unit and undoes them if it is refused; records.c keeps the rows; written.c turns them into
 * rows to write; effects.c tells the outside world what happened.
 *
 * The states of a run, as its task row shows them (kinds of the task in small letters):
 *
 *      CREATE, RESTART (begins run + 1, from any state)
 *         |
 *         |  held from the start, if the local runner has room
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
 *  R1. An unfinished run has exactly one task.  A finished run has none.
 *  R2. Every change of hands (claim, hold, park, wake) raises the epoch by one.  A fence holds at one epoch of one run, so a
 *      holder that lost its task can write nothing.
 *  R3. Within a run, a demand is only ever raised.  It clears the request for a pause, and it counts as an event that the turn
 *      has not seen.  A restart begins without a demand.  The empty demand only raises the number of events.
 *  R4. A task with an event that its turn has not seen is not parked for later: it is due now.  A requested pause wins over
 *      that.
 *  R5. A task is held exactly when it has an owner.  Only an active task is held.
 *  R6. Only a paused task waits for repair.  If something is demanded of the run, it does not wait for repair: it is due now.
 *  R7. Times of a run never go back, whatever the clock says.  Times that say when something is to happen (due_at,
 *      locked_until) follow the clock.
 *  R8. A refused unit leaves no trace.  A row that was found by a condition is checked again once it is locked.
 *  R9. An op that names an instance (an event, a control) needs no fence: it is decided while the task is locked.  An event
 *      wakes a run only if one of its steps waits for such an event.  An answer to a parent is never refused.  It wakes a run
 *      that waits and that nobody holds.
 * R10. Everything that begins, becomes due, is held, parked or ended, and everything that is recorded of a run, is an effect
 *      (effects.h).  Hooks, watches, the local runner and statistics learn of it only from there.
 * R11. An end is complete.  FINISH tells the parent, ends the run's jobs and passes its demand on to attached children.  It is
 *      refused while more is demanded than the turn has seen.  A job that ends because its run ends, or because its run gave
 *      it up (END), tells nobody.  A restart ends an open run: it reaches the children, and tells no parent. */
#ifndef PW_CORE_CORE_H
#define PW_CORE_CORE_H

#include "base/rows.h"
#include "base/table.h"
#include "core/ops.h"

/* ---- Records: the rows of a batch, as the units so far have left them ---------------------------------------------- */

/* One instance: its task, and as much of the instance row as an op asked for. */
struct pw_core_run {
    int64_t key;
    uint64_t saved_in; /* the unit that saved a copy for undoing; every kind of record has this */

    /* What the store has to load. */
    bool wants_task;     /* the task, locked; the store waits for the lock */
    bool wants_lock;     /* the instance row, locked */
    bool wants_instance; /* is_known and the members after it */
    bool wants_facts;    /* workflow, id, link, created_at */
    bool wants_params;
    bool is_told;   /* an answer goes to it: if it has a task, that task must be locked */
    bool is_loaded; /* set by a store that loads runs one by one */

    /* The task. */
    bool has_task;   /* there is one, and this transaction has locked or created it */
    bool is_seen;    /* there is one, but another transaction has locked it: read only */
    bool is_stored;  /* the store has a task row */
    bool is_changed; /* the store's row differs from this one */
    int64_t run;     /* the task's */
    struct pw_task task;
    struct pw_task stored; /* the store's row, if is_stored */
    bool holder_lives;     /* the store knows that the holder lives, although its lease has expired */

    /* The instance. */
    bool is_known;        /* instance_run and workflow are loaded */
    int64_t instance_run; /* the instance's current run */
    struct pw_text workflow, id, params;
    const struct pw_arena *texts; /* the arena that holds the three; NULL: the batch's arena, or borrowed */
    bool has_params;              /* they are loaded, or an op gave them */
    size_t params_bytes;          /* loaded only for claims with bytes_max; known for a run that the batch created */
    int64_t created_at_ms;
    struct pw_link link;                                        /* loaded for runs that a reach may concern */
    enum { PW_CORE_SAME, PW_CORE_NEW, PW_CORE_CHANGED } change; /* NEW, CHANGED: the instance row has to be written */
    /* The rest is also loaded for runs that a restart replaces. */
    enum pw_outcome outcome;
    struct pw_text output, error_name, error_message;
    int64_t started_at_ms, completed_at_ms, updated_at_ms;
    struct pw_terms terms;
};

/* A step or an event, by instance, run and number.  The ops hold what has to be written. */
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

/* An event id, which an event of the run has or is about to get. */
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

/* An instance by its name.  key 0: there is none. */
struct pw_core_name {
    struct pw_text workflow, id;
    uint64_t saved_in;
    int64_t key;
    bool wants_task;         /* locked */
    bool is_found_otherwise; /* the statement that loads sends or controls finds it */
};

/* A delivery to a hook.  It waits for an attempt, is under way, or has failed for good.  A successful delivery is
 * deleted.  As with a task, every change of hands raises its epoch: an attempt, giving up, sending again. */
struct pw_core_delivery {
    int64_t key;
    uint64_t saved_in;
    bool is_loaded;    /* by pw_note_delivery() */
    bool exists;       /* there is one, and it is locked */
    bool has_instance; /* false: the instance is gone, and there is nothing to tell */
    bool is_changed;   /* the store's row has to be updated or deleted */
    struct pw_hook_row row;
};

/* Records of one kind, by key, and in the order in which they were first asked for. */
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
    struct pw_hook_row row; /* without its key */
};

/* ---- The frame: what rules ask the store to do --------------------------------------------------------------------- */

struct pw_core;

/* Each function returns PAWL_OK, or trouble that ends the transaction for all units. */
struct pw_frame {
    /* Writes everything that was decided so far.  After that, memory alone cannot undo it. */
    pawl_status (*write)(struct pw_core *core);
    /* Counts the run's undelivered events in the store, up to max. */
    pawl_status (*count_unread)(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count);
    /* Until when a step of the run waits for an event of this type, according to the written rows.  0: none waits. */
    pawl_status (*find_wait)(struct pw_core *core, const struct pw_core_run *run, struct pw_text type,
                             int64_t *out_until_ms);
    /* Makes the store renew the lease at this fence to until_ms as soon as no other transaction locks its row. */
    pawl_status (*owe)(struct pw_core *core, const struct pw_fence *at, int64_t owner, int64_t until_ms);
    /* Find rows by a condition and let the core decide about each (see below).  Everything decided before is written
     * by then. */
    pawl_status (*claim)(struct pw_core *core, struct pw_op_claim *op);
    pawl_status (*reap)(struct pw_core *core, struct pw_op_reap *op);
    pawl_status (*claim_hooks)(struct pw_core *core, struct pw_op_hook_claim *op);
    /* Run the user's code inside the unit's savepoint.  Both may also refuse the unit. */
    pawl_status (*run_sql)(struct pw_core *core, struct pw_op_sql *op);
    pawl_status (*run_mutation)(struct pw_core *core, struct pw_op_mutate *op);
    /* A savepoint around a unit that runs the user's code.  Ending it keeps or undoes what came after its beginning. */
    pawl_status (*begin_savepoint)(struct pw_core *core);
    pawl_status (*end_savepoint)(struct pw_core *core, bool keeps);
    /* Loads and locks the run's task and facts unless they are loaded, and the params if nobody has claimed the run
     * before.  NULL: the store's finds already load all that, and so does the look for the target of an answer. */
    pawl_status (*load_claimable)(struct pw_core *core, struct pw_core_run *run, bool with_size);
};

/* ---- A batch ------------------------------------------------------------------------------------------------------- */

struct pw_core_saved; /* a copy to go back to */

struct pw_core {
    const struct pw_frame *frame;
    struct pawl_error *error; /* for trouble */
    int64_t now_ms;           /* the time of the transaction, read after its locks were taken */
    struct pw_arena arena;

    struct pw_core_set runs, steps, events, event_ids, tails, names, deliveries;
    struct pw_rows logs;    /* struct pw_core_log, not written yet */
    struct pw_rows hooks;   /* struct pw_core_hook, not written yet */
    struct pw_rows earlier; /* struct pw_core_earlier, not written yet */
    struct pw_rows kept;    /* struct pw_op_restart *: steps to copy into the new run */
    struct pw_rows keys;    /* int64_t: keys for new instances; filled in by the store */
    size_t keys_used;

    /* What the store has to find, besides rows by their keys. */
    int64_t keys_wanted;
    struct pw_rows sends;    /* struct pw_op_event *: events that name their instance */
    struct pw_rows controls; /* struct pw_op_control * */
    struct pw_rows reaches;  /* const struct pw_reach * */
    struct pw_rows resends;  /* const struct pw_op_hook_resend *: deliveries by their ids */
    bool locks_by_name;

    int64_t leaseholder; /* a runner whose lease was taken or renewed; 0: none */

    struct pw_unit *unit; /* the unit that is being decided */
    bool has_acted;       /* it did something that the saved copies cannot undo */
    uint64_t unit_number;
    struct pw_core_saved *saved;
    size_t logs_before, hooks_before, earlier_before, kept_before, keys_before;
};

void pw_core_init(struct pw_core *core, const struct pw_frame *frame, struct pawl_error *error);
void pw_core_clear(struct pw_core *core);

/* Notes which rows the op needs.  False when memory is out. */
bool pw_core_want(struct pw_core *core, struct pw_op *op);
/* Called when the store has found the instance that a control names.  Notes which relatives it also concerns.  False
 * when memory is out. */
bool pw_core_want_family(struct pw_core *core, struct pw_op_control *op, const struct pw_core_run *run);
/* The least relation that the control reaches: the run's jobs, or attached children as well.  0: none. */
enum pw_relation pw_control_reaches(const struct pw_op_control *op);

/* Decides the ops of a unit in order.  A refused unit leaves no trace and still returns PAWL_OK; the refusal is in
 * the unit.  Anything else is trouble. */
pawl_status pw_core_apply(struct pw_core *core, struct pw_unit *unit) PAWL_MUST_CHECK;
/* Make rows to write from records.  In a row that exists, texts that never change may be empty, and so may the terms
 * of a run that is not new. */
struct pw_instance pw_core_instance_row(const struct pw_core_run *run);
/* In a new step, the members that never change (ONCE in fields.h) come from the op that inserts it.  The others come
 * from the last op. */
struct pw_step_row pw_core_step_row(const struct pw_core *core, const struct pw_core_step *step);
struct pw_event_row pw_core_event_row(const struct pw_core *core, const struct pw_core_event *event);
struct pw_log_row pw_core_log_row(const struct pw_core_log *log);
/* Notes that the store has written every changed row.  False when memory is out. */
bool pw_core_note_written(struct pw_core *core);

/* The parts of pw_core_apply().  Deciding returns PAWL_OK, the status of a refusal, which is in the unit, or
 * trouble. */
void pw_core_begin_unit(struct pw_core *core, struct pw_unit *unit);
pawl_status pw_core_decide(struct pw_core *core, struct pw_op *op) PAWL_MUST_CHECK;
/* Records the deliveries to hooks that the unit causes.  All its ops are decided by then. */
pawl_status pw_core_tell_hooks(struct pw_core *core) PAWL_MUST_CHECK;
/* Undoes what the unit changed in memory. */
void pw_core_undo_unit(struct pw_core *core);

/* Asserts the invariants of a run's rows (R1, R5 to R7), in builds with assertions. */
void pw_core_check(const struct pw_core_run *run);

/* ---- Records --------------------------------------------------------------------------------------------------------- */

/* want creates the record if need be; NULL when memory is out.  find returns NULL if there is none. */
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
/* The same for a row that the store has loaded and locked.  If the batch has the record already, it stays, because
 * it may be newer. */
struct pw_core_delivery *pw_note_delivery(struct pw_core *core, const struct pw_hook_row *row);

/* Saves a copy of a record before the unit changes it for the first time.  False when memory is out. */
bool pw_save(struct pw_core *core, void *record, size_t size, uint64_t *saved_in);
#define PW_SAVE(core, record) pw_save((core), (record), sizeof *(record), &(record)->saved_in)

/* The least relation that is reached.  Without a demand, only jobs. */
static inline enum pw_relation pw_least_reached(const struct pw_reach *op)
{
    return op->demand == PW_DEMAND_NONE ? PW_RELATION_JOB : PW_RELATION_ATTACHED;
}

/* The time of a record that is made now, for a run that has a task (R7). */
static inline int64_t pw_run_time(const struct pw_core *core, const struct pw_core_run *run)
{
    return pw_not_before(core->now_ms, run->task.updated_at_ms);
}

/* The time that an op carries, or else the transaction's. */
static inline int64_t pw_time_or_now(const struct pw_core *core, int64_t at_ms)
{
    return at_ms != 0 ? at_ms : core->now_ms;
}

/* True if this owner holds the task at this fence, as far as the batch can see. */
bool pw_core_is_held(const struct pw_core_run *run, struct pw_fence at, int64_t owner);

/* ---- What stores find, and the core decides ------------------------------------------------------------------------------- */

/* A row that a store has found for a claim.  since_ms is when it became due, or when its lease ended.  A task's key
 * is its instance. */
struct pw_core_due {
    int64_t key, since_ms;
};
/* Sorts them, longest due first. */
void pw_core_sort_dues(struct pw_rows *dues);

/* Gives the found tasks (struct pw_core_due) to the owner of the claim, longest due first, until `claims` (struct
 * pw_claim) has max rows or the claim's bytes are reached.  Skips tasks that are not claimable after all (R8), and
 * those that the share leaves out. */
pawl_status pw_core_claim(struct pw_core *core, struct pw_op_claim *op, struct pw_rows *dues, size_t max,
                          struct pw_rows *claims);
/* Pauses a run whose lease has ended after a pause was requested. */
pawl_status pw_core_pause_expired(struct pw_core *core, struct pw_core_run *run);
/* Ends the lease of a dead holder now. */
pawl_status pw_core_reap(struct pw_core *core, struct pw_op_reap *op, struct pw_core_run *run);

/* Gives out the deliveries that were found for a claim (struct pw_core_delivery *), longest due first, up to the
 * claim's max.  A due delivery with no attempt left, or without an instance, fails for good.  Skips deliveries that
 * are not due after all (R8). */
pawl_status pw_core_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op, struct pw_rows *found);

#endif
