/* ops.h - what a unit of work can do.  Every change of state is a unit: a list of ops that is applied wholly or not at all.
 *
 * PW_OP_LIST names every op once.  Switches over op kinds have no `default`, so that the compiler names the places which a
 * new op has to visit.  An op's struct says what goes in and what comes out; outputs are valid when the unit was applied,
 * except those of a fence, which are also valid when the fence refuses.
 *
 * Everything that an op points at is borrowed until its unit is answered. */
#ifndef PW_CORE_OPS_H
#define PW_CORE_OPS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "core/effects.h"
#include "core/refusal.h"
#include "core/rows.h"
#include "core/shard.h"

/* X(KIND, member of struct pw_op, which is also its word in traces; how its rows are got)
 *   LOADS  the store loads the rows that pw_wants_<member>() names, by their keys or names, before any rule runs
 *   FINDS  the store finds the rows by a condition when it is the op's turn
 *   RUNS   it is the user's code, which runs in the transaction
 * pw_rule_<member>() decides it.  Both functions are declared from this list (rules.h). */
#define PW_OP_LIST(X)                                                                                                  \
    X(FENCE, fence, LOADS)             /* checks that the caller still holds the run */                                \
    X(CREATE, create, LOADS)           /* adds an instance and its task */                                             \
    X(RESTART, restart, LOADS)         /* begins a new run of an instance */                                           \
    X(STEP, step, LOADS)               /* inserts or updates a step row by (instance, run, seq) */                     \
    X(EVENT, event, LOADS)             /* adds an event to a run */                                                    \
    X(CONSUME, consume, LOADS)         /* marks an event as delivered */                                               \
    X(LOG, log, LOADS)                 /* adds a log line */                                                           \
    X(PARK, park, LOADS)               /* gives up the task: it is waiting, due, or paused */                          \
    X(HOLD, hold, LOADS)               /* gives the task to a runner: the eager claim */                               \
    X(CONTROL, control, LOADS)         /* pauses, resumes, interrupts or terminates a run, by its name */              \
    X(DEMAND, demand, LOADS)           /* raises what is demanded of a run */                                          \
    X(FINISH, finish, LOADS)           /* ends a run, and tells its parent, its children and its jobs */               \
    X(END, end, LOADS)                 /* terminates an instance by its name, if it is open */                         \
    X(CLAIM, claim, FINDS)             /* takes due tasks for a runner */                                              \
    X(RENEW, renew, LOADS)             /* renews leases */                                                             \
    X(REAP, reap, FINDS)               /* ends the leases of dead runners */                                           \
    X(SQL, sql, RUNS)                  /* runs the user's SQL */                                                       \
    X(MUTATE, mutate, RUNS)            /* calls the user's function inside the transaction */                          \
    X(HOOK_CLAIM, hook_claim, FINDS)   /* takes due deliveries, for one attempt each */                                \
    X(HOOK_SETTLE, hook_settle, LOADS) /* records how an attempt went */                                               \
    X(HOOK_RESEND, hook_resend, LOADS) /* makes a delivery due again, whatever its state */

enum pw_op_kind {
#define PW_OP_KIND(KIND, member, how) PW_OP_##KIND,
    PW_OP_LIST(PW_OP_KIND)
#undef PW_OP_KIND
};
#define PW_OP_ONE(KIND, member, how) +1
enum { PW_OP_KIND_COUNT = PW_OP_LIST(PW_OP_ONE) };
#undef PW_OP_ONE

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* The flags ask for checks beyond the fence itself. */
struct pw_op_fence {
    struct pw_fence at;
    bool unless_pause;      /* in: refuse with PAUSE_REQUESTED when a pause is requested */
    bool unless_new_events; /* in: refuse with NEW_EVENTS when event_seq is past event_seq_seen */
    int64_t event_seq_seen;
    int64_t lease_ms;     /* in: not 0: when the fence holds and the task is held, its lease lasts this long from now */
    bool pause_requested; /* out */
    enum pw_demand demand; /* out */
    int64_t event_seq;     /* out */
};

/* An existing id refuses the unit (INSTANCE_EXISTS), unless skip_existing leaves it alone. */
struct pw_op_create {
    struct pw_text workflow, id, params;
    struct pw_link link;
    struct pw_terms terms;
    bool skip_existing;
    int64_t hold_owner; /* not 0: this runner claims it at once, until now + hold_lease_ms */
    int64_t hold_lease_ms;
    bool created;          /* out */
    struct pw_fence fence; /* out, when created: run 1, epoch 0, or 1 when held */
    int64_t created_at_ms; /* out */
};

/* A runner that has kept a place for a run that becomes due.  The rule gives it the run if the workflow is among those that it
 * carries on; otherwise the run is due, and anybody may take it. */
struct pw_offer {
    int64_t owner, lease_ms; /* owner 0: nobody offers */
    const struct pw_text *workflows;
    size_t workflow_count; /* 0: of any workflow */
};

/* The event's number is the task's event_seq raised by one.  An id that the run has already refuses the unit (EVENT_EXISTS).
 * With unread_max, the unit is refused (TOO_MANY_EVENTS) if more events than that would be undelivered.  They are counted only
 * where event_seq allows for so many.
 *
 * An event may name the instance by workflow and id.  Then it goes to the run that the instance is in, and needs no fence.  It
 * is refused if there is no such instance (NO_INSTANCE), or if its run has ended (ENDED).  A run that waits for an event of this
 * type, and is held by nobody, becomes due now: WAKE, epoch raised; or whoever offers to takes it at once.
 *
 * An answer tells a run that a job or a child has ended.  FINISH carries it, since no run ends twice.  It refuses nothing and goes
 * to the run that the instance is in now (`run` is ignored).  If that run has ended, nothing happens.  A run that waits and is held
 * by nobody becomes due now, or is taken, as above.  A paused or held run only gets the event. */
struct pw_op_event {
    struct pw_text workflow, to; /* the instance; absent: it is given by its key */
    int64_t instance, run;       /* run: of one that is given by its key, and is no answer */
    struct pw_text id, type, payload;
    bool is_failure; /* see struct pw_event_row */
    bool is_answer;
    int64_t unread_max; /* 0: no limit */
    struct pw_offer offer;
    int64_t
        awaited_until_ms; /* the store's, of a named instance: until when a step waits for such an event; 0: none does */

    bool recorded;         /* out */
    bool woke, is_held;    /* out; held: by who offered */
    struct pw_fence told;  /* out, when recorded */
    int64_t seq;           /* out, when recorded */
    struct pw_task task;   /* out, when recorded: as it is now */
    struct pw_claim claim; /* out, when held; its texts are in the unit's arena */
};

/* Every unfinished ATTACHED child that this run of the parent made gets the demand, as by PW_OP_DEMAND.  Unless it is held by
 * a lease that has not expired, it becomes due now: active, RESUME, held by nobody, epoch raised.  Every unfinished JOB of the
 * run ends as by PW_OP_END.  Demand NONE concerns only the jobs. */
struct pw_reach {
    int64_t parent, run;
    enum pw_demand demand;
    int64_t reached; /* out: how many children and jobs */
};

/* Refuses with MOVED unless the instance is in run `run`.  The new run is run + 1; its task is active, due now, epoch 0 (1
 * when held).  Outcome and times of the old run become a row of their own (struct pw_earlier_run).  Finished steps of the old
 * run that were recorded before keep_before_seq are copied into the new one, except keep_except_seq and, if asked for, those
 * that were dropped (pw_step_is_dropped()).  If the old run had not ended, its jobs end, and TERMINATE is demanded of its attached
 * children.  Its parent is told nothing. */
struct pw_op_restart {
    int64_t instance, run;
    struct pw_reach reach; /* the core's */
    struct pw_terms terms; /* of the new run */
    int64_t hold_owner, hold_lease_ms;
    int64_t keep_before_seq; /* 0: keep none */
    int64_t keep_except_seq; /* 0: no exception */
    bool keep_except_dropped;
};

/* Raises the epoch.  With event_seq_seen >= 0 and the task's event_seq past it, due_at becomes now, because an event came
 * that the turn has not seen.  A requested pause takes effect: the status becomes PAUSED.  due_at_ms 0 keeps the task's due
 * time; PW_NOW is now.  A run that would wait for repair although something is demanded of it does not: it becomes active,
 * RESUME, due now. */
#define PW_NOW (-1)
struct pw_op_park {
    int64_t instance;
    enum pw_task_status status;
    enum pw_task_kind kind;
    int64_t due_at_ms;
    int64_t event_seq_seen;         /* -1: do not look */
    bool is_job;                    /* in, for hooks only: they are not told about jobs */
    bool if_requested;              /* pause only if a pause is still requested; otherwise active and due now */
    int64_t newest_ms;              /* the newest time that the turn has recorded: updated_at is not before it */
    int64_t due_at_ms_set;          /* out */
    enum pw_task_status status_set; /* out */
};

/* Raises the epoch, makes the task active and held, and clears the request for a pause.  A run that waited for repair is
 * resumed: RESUME. */
struct pw_op_hold {
    int64_t instance, owner, lease_ms;
    struct pw_claim claim; /* out; its texts are in the unit's arena */
};

/* Raises the demand to at least this, and clears the request for a pause.  Raises event_seq by one, so that a turn which has
 * not seen the demand does not park past it.  NONE only raises the number. */
struct pw_op_demand {
    int64_t instance;
    enum pw_demand demand;
};

/* Ends the run.  In the same unit its jobs end, its attached children get the demand that ended it, and its parent is told (R11).
 * Refused with DEMANDED if more is demanded of the run than its turn has seen: a demand that was recorded before the end wins. */
struct pw_op_finish {
    int64_t instance;
    bool is_job; /* in, for hooks and figures only: they are not told about jobs */
    enum pw_outcome outcome;
    struct pw_text output, error_name, error_message;
    int64_t newest_ms;          /* the newest time that was recorded: the run does not end before it */
    enum pw_demand demand_seen; /* what the turn has acted on */
    struct pw_reach reach;      /* parent 0: the run has made no jobs, and nothing is demanded of its children */
    struct pw_op_event *answer; /* to the parent; its id is made by the core.  NULL: nobody waits for the end */
};

/* What somebody asks of a run, by the name of its instance.  It needs no fence: it is decided where the task is locked.  Refused if
 * there is no such instance (NO_INSTANCE), or if its run has ended (ENDED).  Where the run is as it should be, nothing changes.
 *
 *   PAUSE      asks the holder to pause; a run that nobody holds is paused now, and keeps its due time
 *   RESUME     lets a paused run go on, or withdraws the request; refused (REPAIR) if the run waits for repair
 *   INTERRUPT  raises the demand, which lifts a pause, and ends the run's jobs; a run that nobody holds goes on at once
 *   ROLLBACK   the same with a higher demand
 *   TERMINATE  ends the run as FINISH does, whoever holds it
 *
 * A run that goes on is due now, or whoever offers to takes it.  INTERRUPT, ROLLBACK and TERMINATE are logged. */
struct pw_op_control {
    struct pw_text workflow, id;
    enum pawl_control what;
    struct pw_offer offer;
    struct pw_op_finish finish; /* in: TERMINATE's answer, should a parent wait; the rest is the core's */
    int64_t newest_step_ms;     /* the store's: when a step of the run was changed last; 0: it has none */
    struct pw_fence at;         /* out: the run that it found */
    bool is_done;               /* out: something has changed */
    bool is_asked;              /* out: its holder is to pause */
    bool is_held;               /* out: by who offered */
    struct pw_claim claim;      /* out, when held; its texts are in the unit's arena */
};

/* Ends a job: the outcome becomes TERMINATED and the task is deleted, whoever holds it.  Does nothing when there is no such
 * instance or when it has ended. */
struct pw_op_end {
    struct pw_text workflow, id;
    int64_t instance; /* out: its key; 0: nothing was done */
};

/* ---- History ----------------------------------------------------------------------------------------------------- */

struct pw_op_step {
    int64_t instance, run;
    bool is_new; /* insert; otherwise update everything but seq, name, kind, created_at */
    struct pw_step_row row;
};

struct pw_op_consume {
    int64_t instance, run, seq;
    struct pw_text step;
    int64_t delivered_at_ms;
};

struct pw_op_log {
    int64_t instance, run;
    struct pw_log_row row; /* its seq is handed out when it is recorded */
};

/* ---- Leases ------------------------------------------------------------------------------------------------------ */

/* Takes up to max tasks of the named workflows: wake, retry and resume before run, oldest due first.  A task whose lease has
 * expired counts as due since then, in the first group; if a pause was requested it becomes paused instead.  A claim raises the
 * epoch, makes the task active and sets started_at if it was not set. */
struct pw_op_claim {
    const struct pw_text *workflows;
    size_t workflow_count;
    struct pw_share share; /* a task with an expired lease has been due since the lease expired */
    size_t max;
    size_t
        leased_max; /* not 0: at most this many tasks of the one workflow named may be leased at once, by all runners */
    size_t bytes_max; /* not 0, and then without a share: it stops after the task with which params reach this size */
    int64_t owner, lease_ms;
    struct pw_claim *claims;   /* out, in the unit's arena */
    size_t claim_count, bytes; /* out; bytes: of params, with bytes_max */
    bool kept_out;             /* out, with leased_max: another process is claiming of the same workflow right now */
};

/* The owner number of a worker outside, which is no runner: below 0, and never reaped, because only its lease tells whether it
 * lives.  The number is drawn for each claim and is part of the job's token, so that nobody can guess it (service/jobs.h). */
static inline bool pw_owner_is_outside(int64_t owner)
{
    return owner < 0;
}

/* Renews the leases of tasks that are still held by this owner at that epoch.  A task that another transaction has locked may
 * be renewed later; nobody else can take it while it is locked. */
struct pw_lease {
    struct pw_fence fence;
    bool lost;             /* out */
    bool renewed;          /* out: it lasts as long as asked for.  Neither lost nor renewed: it may be renewed later */
    bool pause_requested;  /* out */
    enum pw_demand demand; /* out */
};
struct pw_op_renew {
    int64_t owner, lease_ms;
    struct pw_lease *leases;
    size_t count;
};

/* Ends every lease whose owner is known to be dead.  Does nothing where the store cannot tell. */
struct pw_op_reap {
    int64_t reaped; /* out */
};

/* ---- The user's code --------------------------------------------------------------------------------------------- */

struct pw_op_sql {
    struct pw_text sql, parameters; /* parameters: a JSON array, or absent; $1 is its first element */
};

struct pw_op_mutate {
    pawl_mutation_fn *mutate;
    const void *data;
    size_t size;
};

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

/* Takes up to max rows of the named hooks, longest due first.  A claim counts an attempt, raises the epoch, and reserves the
 * row until the lease ends.  A row whose lease ended with no attempt left fails for good instead, and no younger row is taken
 * before an older one because of it. */
struct pw_hook_wanted {
    struct pw_text hook;
    int64_t lease_ms; /* at least 1 */
};
struct pw_op_hook_claim {
    const struct pw_hook_wanted *wanted;
    size_t wanted_count;
    size_t max;
    struct pw_hook_row *rows; /* out, in the unit's arena */
    size_t row_count;         /* out */
};

struct pw_op_hook_settle {
    int64_t key, epoch;
    bool delivered;            /* the row is deleted; otherwise the next three hold */
    bool untried;              /* the attempt was not made and does not count */
    int64_t next_at_ms;        /* when the next attempt is due; 0: it failed for good */
    struct pw_text last_error; /* why */
    bool lost;                 /* out: somebody else has the row now, and it was left alone */
};

/* An attempt that is under way can settle nothing after this. */
struct pw_op_hook_resend {
    struct pw_text id;
    bool found; /* out */
};

/* ---- Units ------------------------------------------------------------------------------------------------------- */

struct pw_op {
    enum pw_op_kind kind;
    struct pw_op *next;
    union {
#define PW_OP_MEMBER(KIND, member, how) struct pw_op_##member member;
        PW_OP_LIST(PW_OP_MEMBER)
#undef PW_OP_MEMBER
    } as;
};

/* Ids that the engine makes, with the NUL. */
enum { PW_ID_SIZE = 27 };

/* Shared by the units of one turn: once one of them was not applied, no later one may be. */
struct pw_chain {
    atomic_int broken; /* a pawl_status; PAWL_OK: it is whole */
};

struct pw_unit {
    struct pw_arena arena; /* for the ops and for what the store hands out */
    struct pw_op *first, *last;
    struct pw_chain *chain; /* or NULL */
    uint64_t about;         /* the same for all units about one instance, different for most others; 0: about none */

    /* The answer: PAWL_OK, or why nothing of it was applied.  When the unit was refused, `refusal` says why, `status` is what
     * callers outside see, and the error has a text.  Otherwise the status is the store's trouble. */
    enum pw_refusal refusal;
    pawl_status status;
    struct pawl_error error;

    /* Out, when apply() as a whole failed: the store knows that nothing was committed. */
    bool undone;

    /* What hooks ask to be told, or NULL; and the id of the first delivery.  Later ones are numbered. */
    const struct pw_subscription *subscriptions;
    char delivery_id[PW_ID_SIZE];

    /* Out: what it did, in order, in its arena; and how many deliveries it recorded. */
    struct pw_effect *effects, *last_effect;
    size_t deliveries;

    /* Out: the monotonic time at which its transaction was begun, read before the store was asked.  A lease that it took or
     * renewed has lasted no longer than since then. */
    int64_t begun_ms;

    /* The committer's. */
    struct pw_unit *next;
    void (*done)(struct pw_unit *unit, void *user); /* or NULL; see commit.h */
    void *user;
    bool answered;
    size_t bytes; /* what it counts for in the queue */
};

void pw_unit_init(struct pw_unit *unit);
void pw_unit_clear(struct pw_unit *unit);
/* Appends a zeroed op, which has room for its own kind only.  NULL when memory is out. */
struct pw_op *pw_unit_add(struct pw_unit *unit, enum pw_op_kind kind);
/* Appends a copy of the op.  False when memory is out. */
bool pw_unit_copy(struct pw_unit *unit, const struct pw_op *wanted);
/* A store is about to try it, maybe not for the first time: it is not refused, and has no answer yet. */
void pw_unit_begin(struct pw_unit *unit);
/* The transaction has ended with this status.  When it was committed, a refused unit keeps its refusal. */
void pw_unit_answer(struct pw_unit *unit, pawl_status status);
/* Refuses the unit, with the refusal's own text.  Answers its status, so that a store can return it. */
pawl_status pw_unit_refuse(struct pw_unit *unit, enum pw_refusal refusal);
/* The same with a text that says more. */
PAWL_PRINTF(3, 4)
pawl_status pw_unit_refuse_saying(struct pw_unit *unit, enum pw_refusal refusal, const char *format, ...);
/* It has a SQL or a MUTATE. */
bool pw_unit_runs_users_code(const struct pw_unit *unit);
/* About how much memory it holds: its own, and the texts that it borrows. */
size_t pw_unit_bytes(const struct pw_unit *unit);
/* The unit is about the instance of this id, of whatever workflow: `about` is that of all units about the instance. */
void pw_unit_about(struct pw_unit *unit, struct pw_text id);

/* TOO_MANY_EVENTS, saying how many there are. */
pawl_status pw_unit_refuse_event(struct pw_unit *unit, const struct pw_op_event *op);

#endif
