/* ops.h - what a unit of work can do.  Every change of state is a unit: a list of ops that is applied wholly or not
 * at all.
 *
 * PW_OP_LIST names every op once.  Switches over op kinds have no `default`, so the compiler names the places that a
 * new op has to visit.  An op's struct has inputs and outputs.  The outputs are valid if the unit was applied.
 * Those of a fence are also valid if one of its flags refuses.
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

/* Checks that the caller still holds the run.  The flags ask for further checks. */
struct pw_op_fence {
    struct pw_fence at;
    bool unless_pause;      /* in: refuse with PAUSE_REQUESTED if a pause is requested */
    bool unless_new_events; /* in: refuse with NEW_EVENTS if event_seq is past event_seq_seen */
    int64_t event_seq_seen;
    int64_t lease_ms;      /* in: not 0: if the fence holds and the task is held, renew its lease to this from now */
    bool pause_requested;  /* out */
    enum pw_demand demand; /* out */
    int64_t event_seq;     /* out */
};

/* Refused (INSTANCE_EXISTS) if the id exists, unless skip_existing asks to leave the instance alone. */
struct pw_op_create {
    struct pw_text workflow, id, params;
    struct pw_link link;
    struct pw_terms terms;
    bool skip_existing;
    int64_t hold_owner; /* not 0: this runner holds it from the start, until now + hold_lease_ms */
    int64_t hold_lease_ms;
    bool created;          /* out */
    struct pw_fence fence; /* out, if created: run 1, epoch 0, or 1 if held */
    int64_t created_at_ms; /* out */
};

/* A runner that has reserved a place for a run that becomes due.  The rule gives it the run if it serves the
 * workflow.  Otherwise the run is due, and any runner may take it. */
struct pw_offer {
    int64_t owner, lease_ms; /* owner 0: no offer */
    const struct pw_text *workflows;
    size_t workflow_count; /* 0: any workflow */
};

/* Adds an event to a run.  Its number is the task's event_seq plus one.  Refused (EVENT_EXISTS) if the run has an
 * event of this id.  Refused (TOO_MANY_EVENTS) if more than unread_max events would be undelivered; they are counted
 * only if event_seq is that large.
 *
 * An event may name the instance by workflow and id.  Then it goes to the instance's current run and needs no fence.
 * It is refused if there is no such instance (NO_INSTANCE), or if its run has ended (ENDED).  If a step of the run
 * waits for an event of this type and nobody holds the run, the run becomes due now (WAKE, epoch raised), or the
 * runner that offers takes it at once.
 *
 * An answer tells a run that a job or a child has ended.  FINISH carries it, and no run ends twice.  It is never
 * refused, and goes to the instance's current run (`run` is ignored).  If that run has ended, nothing happens.  A
 * run that waits and that nobody holds becomes due now, or is taken, as above.  A paused or held run only gets the
 * event. */
struct pw_op_event {
    struct pw_text workflow, to; /* the instance; absent: given by its key */
    int64_t instance, run;       /* run: only if given by key and not an answer */
    struct pw_text id, type, payload;
    bool is_failure; /* see struct pw_event_row */
    bool is_answer;
    int64_t unread_max; /* 0: no limit */
    struct pw_offer offer;
    /* Filled in by the store for a named instance: until when a step waits for such an event.  0: none does. */
    int64_t awaited_until_ms;

    bool recorded;         /* out */
    bool woke, is_held;    /* out; held: by the runner that offered */
    struct pw_fence told;  /* out, if recorded */
    int64_t seq;           /* out, if recorded */
    struct pw_task task;   /* out, if recorded: the task after the event */
    struct pw_claim claim; /* out, if held; its texts are in the unit's arena */
};

/* Reaches the family of a run.  Every unfinished ATTACHED child that this run created gets the demand, as by
 * PW_OP_DEMAND.  Unless a runner holds it under a valid lease, it becomes due now: active, RESUME, held by nobody,
 * epoch raised.  Every unfinished JOB of the run ends as by PW_OP_END.  Demand NONE concerns only the jobs. */
struct pw_reach {
    int64_t parent, run;
    enum pw_demand demand;
    int64_t reached; /* out: how many children and jobs */
};

/* Begins the next run.  Refused (MOVED) unless the instance is in run `run`.  The task of the new run is active, due
 * now, and has epoch 0 (1 if held).  Outcome and times of the old run become a row of their own (struct
 * pw_earlier_run).  Finished steps of the old run that were recorded before keep_before_seq are copied into the new
 * one, except keep_except_seq and, if asked for, those that were dropped (pw_step_is_dropped()).  If the old run had
 * not ended, its jobs end, and its attached children get the demand TERMINATE.  Its parent is told nothing. */
struct pw_op_restart {
    int64_t instance, run;
    struct pw_reach reach; /* filled in by the core */
    struct pw_terms terms; /* of the new run */
    int64_t hold_owner, hold_lease_ms;
    int64_t keep_before_seq; /* 0: keep none */
    int64_t keep_except_seq; /* 0: no exception */
    bool keep_except_dropped;
};

/* Gives the task up.  Raises the epoch.  If event_seq_seen >= 0 and the task's event_seq is past it, the task is due
 * now, because an event came that the turn has not seen.  A requested pause takes effect: the status becomes PAUSED.
 * due_at_ms 0 keeps the task's due time; PW_NOW is now.  A run that would wait for repair although something is
 * demanded of it becomes active, RESUME, due now instead. */
#define PW_NOW (-1)
struct pw_op_park {
    int64_t instance;
    enum pw_task_status status;
    enum pw_task_kind kind;
    int64_t due_at_ms;
    int64_t event_seq_seen;         /* -1: do not check */
    bool is_job;                    /* in: hooks are not told about jobs */
    bool if_requested;              /* pause only if a pause is still requested; otherwise active and due now */
    int64_t newest_ms;              /* the newest time that the turn has recorded; updated_at is not before it */
    int64_t due_at_ms_set;          /* out */
    enum pw_task_status status_set; /* out */
};

/* Gives the task to a runner.  Raises the epoch, makes the task active and held, and clears the request for a pause.
 * A run that waited for repair is resumed (RESUME). */
struct pw_op_hold {
    int64_t instance, owner, lease_ms;
    struct pw_claim claim; /* out; its texts are in the unit's arena */
};

/* Raises the demand to at least this, and clears the request for a pause.  Raises event_seq by one, so that a turn
 * that has not seen the demand cannot park past it.  NONE only raises the number. */
struct pw_op_demand {
    int64_t instance;
    enum pw_demand demand;
};

/* Ends the run.  In the same unit its jobs end, its attached children get the demand that ended it, and its parent
 * is told (R11).  Refused (DEMANDED) if more is demanded of the run than its turn has seen, so a demand that was
 * recorded before the end wins. */
struct pw_op_finish {
    int64_t instance;
    bool is_job; /* in: hooks and statistics are not told about jobs */
    enum pw_outcome outcome;
    struct pw_text output, error_name, error_message;
    int64_t newest_ms;          /* the newest recorded time; the run does not end before it */
    enum pw_demand demand_seen; /* the demand that the turn has acted on */
    struct pw_reach reach;      /* parent 0: the run has created no jobs, and nothing is demanded of its children */
    struct pw_op_event *answer; /* to the parent; the core makes its id.  NULL: nobody waits for the end */
};

/* Controls a run by the name of its instance.  It needs no fence, because it is decided while the task is locked.
 * Refused if there is no such instance (NO_INSTANCE), or if its run has ended (ENDED).  Does nothing if the run is
 * already as asked for.
 *
 *   PAUSE      asks the holder to pause; a run that nobody holds is paused now and keeps its due time
 *   RESUME     lets a paused run go on, or withdraws the request; refused (REPAIR) if the run waits for repair
 *   INTERRUPT  raises the demand, which lifts a pause, and ends the run's jobs; a run that nobody holds goes on at once
 *   ROLLBACK   the same with a higher demand
 *   TERMINATE  ends the run as FINISH does, whoever holds it
 *
 * A run that goes on is due now, or the runner that offers takes it.  INTERRUPT, ROLLBACK and TERMINATE are logged. */
struct pw_op_control {
    struct pw_text workflow, id;
    enum pawl_control what;
    struct pw_offer offer;
    struct pw_op_finish finish; /* in: the answer of a TERMINATE, if a parent waits; the core fills in the rest */
    int64_t newest_step_ms;     /* filled in by the store: when a step of the run last changed; 0: it has none */
    struct pw_fence at;         /* out: the run that was found */
    bool is_done;               /* out: something has changed */
    bool is_asked;              /* out: the holder was asked to pause */
    bool is_held;               /* out: by the runner that offered */
    struct pw_claim claim;      /* out, if held; its texts are in the unit's arena */
};

/* Ends a job: the outcome becomes TERMINATED and the task is deleted, whoever holds it.  Does nothing if there is no
 * such instance or it has ended. */
struct pw_op_end {
    struct pw_text workflow, id;
    int64_t instance; /* out: its key; 0: nothing was done */
};

/* ---- History ----------------------------------------------------------------------------------------------------- */

struct pw_op_step {
    int64_t instance, run;
    bool is_new; /* insert; otherwise update everything that may change (fields.h) */
    struct pw_step_row row;
};

struct pw_op_consume {
    int64_t instance, run, seq;
    struct pw_text step;
    int64_t delivered_at_ms;
};

struct pw_op_log {
    int64_t instance, run;
    struct pw_log_row row; /* its seq is assigned when it is recorded */
};

/* ---- Leases ------------------------------------------------------------------------------------------------------ */

/* Takes up to max due tasks of the named workflows.  WAKE, RETRY and RESUME come before RUN, longest due first.  A
 * task whose lease has expired belongs to the first group and counts as due since then.  If a pause was requested of
 * it, it becomes paused instead.  A claim raises the epoch, makes the task active, and sets started_at if it was not
 * set. */
struct pw_op_claim {
    const struct pw_text *workflows;
    size_t workflow_count;
    struct pw_share share; /* an expired lease counts as due since it expired */
    size_t max;
    /* Not 0: at most this many tasks of the one named workflow may be leased at once, by all runners. */
    size_t leased_max;
    /* Not 0, and then without a share: stops after the task whose params make the total reach this size. */
    size_t bytes_max;
    int64_t owner, lease_ms;
    struct pw_claim *claims;   /* out, in the unit's arena */
    size_t claim_count, bytes; /* out; bytes: total size of params, with bytes_max */
    bool kept_out;             /* out, with leased_max: another process is claiming from the same workflow right now */
};

/* The owner number of an external worker, which is no runner, is negative.  It is never reaped, because only its
 * lease shows whether the worker lives.  The number is drawn for each claim and is part of the job's token, so that
 * nobody can guess it (service/jobs.h). */
static inline bool pw_owner_is_outside(int64_t owner)
{
    return owner < 0;
}

/* Renews the leases of tasks that this owner still holds at that epoch.  If another transaction has locked a task,
 * its lease is renewed later; nobody else can take the task while it is locked. */
struct pw_lease {
    struct pw_fence fence;
    bool lost;             /* out */
    bool renewed;          /* out: lasts as long as asked for.  Neither lost nor renewed: it may be renewed later */
    bool pause_requested;  /* out */
    enum pw_demand demand; /* out */
};
struct pw_op_renew {
    int64_t owner, lease_ms;
    struct pw_lease *leases;
    size_t count;
};

/* Ends every lease whose owner is known to be dead.  Does nothing if the store cannot tell. */
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

/* Takes up to max due deliveries of the named hooks, longest due first.  A claim counts an attempt, raises the
 * epoch, and reserves the row until the lease ends.  A row whose lease ended with no attempt left fails for good
 * instead.  That must not let a younger row overtake an older one. */
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
    bool delivered;            /* the row is deleted; otherwise the next three members count */
    bool untried;              /* the attempt was not made and does not count */
    int64_t next_at_ms;        /* when the next attempt is due; 0: it failed for good */
    struct pw_text last_error; /* why it failed */
    bool lost;                 /* out: another attempt has the row now, so it was left alone */
};

/* Makes a delivery due again.  An attempt under way can settle nothing after this. */
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

/* The size of ids that the engine makes, with the NUL. */
enum { PW_ID_SIZE = 27 };

/* Shared by the units of one turn.  Once one of them was not applied, no later one is. */
struct pw_chain {
    atomic_int broken; /* a pawl_status; PAWL_OK: whole */
};

struct pw_unit {
    struct pw_arena arena; /* for the ops, and for what the store hands out */
    struct pw_op *first, *last;
    struct pw_chain *chain; /* or NULL */
    uint64_t about;         /* equal for all units about one instance, different for most others; 0: about none */

    /* The answer: PAWL_OK, or why nothing was applied.  If the unit was refused, `refusal` says why, `status` is
     * what outside callers see, and the error has a text.  Otherwise the status is trouble of the store. */
    enum pw_refusal refusal;
    pawl_status status;
    struct pawl_error error;

    /* Out, if apply() as a whole failed: the store knows that nothing was committed. */
    bool undone;

    /* What hooks subscribe to, or NULL; and the id of the first delivery.  The ids of later ones are numbered. */
    const struct pw_subscription *subscriptions;
    char delivery_id[PW_ID_SIZE];

    /* Out: the effects in order, in the unit's arena; and how many deliveries were recorded. */
    struct pw_effect *effects, *last_effect;
    size_t deliveries;

    /* Out: the monotonic time at which its transaction began, read before the store was asked.  A lease that it took
     * or renewed began no earlier than this. */
    int64_t begun_ms;

    /* Owned by the committer. */
    struct pw_unit *next;
    void (*done)(struct pw_unit *unit, void *user); /* or NULL; see commit.h */
    void *user;
    bool answered;
    size_t bytes; /* how much it counts in the queue */
};

void pw_unit_init(struct pw_unit *unit);
void pw_unit_clear(struct pw_unit *unit);
/* Appends a zeroed op, with room for its own kind only.  NULL when memory is out. */
struct pw_op *pw_unit_add(struct pw_unit *unit, enum pw_op_kind kind);
/* Appends a copy of the op.  False when memory is out. */
bool pw_unit_copy(struct pw_unit *unit, const struct pw_op *wanted);
/* Called before a store tries the unit, perhaps not for the first time.  Clears refusal, answer and effects. */
void pw_unit_begin(struct pw_unit *unit);
/* Called when the transaction has ended with this status.  If it was committed, a refused unit keeps its refusal. */
void pw_unit_answer(struct pw_unit *unit, pawl_status status);
/* Refuses the unit with the refusal's own text.  Returns its status, so that a store can return it. */
pawl_status pw_unit_refuse(struct pw_unit *unit, enum pw_refusal refusal);
/* Like pw_unit_refuse(), with a text that says more. */
PAWL_PRINTF(3, 4)
pawl_status pw_unit_refuse_saying(struct pw_unit *unit, enum pw_refusal refusal, const char *format, ...);
/* True if it has a SQL or a MUTATE. */
bool pw_unit_runs_users_code(const struct pw_unit *unit);
/* About how much memory it holds: its own, and the texts that it borrows. */
size_t pw_unit_bytes(const struct pw_unit *unit);
/* Sets `about` from the id of an instance, whatever its workflow, so that it is the same for all units about the
 * instance. */
void pw_unit_about(struct pw_unit *unit, struct pw_text id);

/* Refuses with TOO_MANY_EVENTS and says how many there are. */
pawl_status pw_unit_refuse_event(struct pw_unit *unit, const struct pw_op_event *op);

#endif
