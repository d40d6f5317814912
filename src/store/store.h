/* store.h - the store contract: rows, units of work, and the table of functions behind which a database stands.
 *
 * A store keeps rows and decides nothing.  It makes no ids but instance keys and the numbers of events and logs, reads
 * no payload, and knows no rule about workflows; its only judgement is whether a unit's checks hold.
 *
 *  S1. A unit of work is applied wholly or not at all.
 *  S2. All units of one apply() share one transaction, and each stands on its own terms: one that is refused changes
 *      nothing and does not disturb its neighbours.  They are applied in order, each seeing the ones before.
 *  S3. When apply() returns PAWL_OK every unit that says PAWL_OK is durable.  When it returns anything else, no unit is
 *      known to be (it may be: a failure of the commit itself can be ambiguous), and fences find out.
 *  S4. A fence (instance, run, epoch) holds while nobody else moved the task.  Every op that moves a task raises its
 *      epoch by one; a task that is gone, or of another run, fails the fence.  What a fence has found stays so until
 *      the transaction has ended: where several are carried out at once, it locks its task's row.
 *  S5. Times that ops do not carry are the `now_ms` that apply() is handed, read once for the whole transaction.
 *  S6. Reads see every unit that was answered before the read began.
 *  S7. Transactions that are carried out at once do not wait for each other in a circle: each locks the tasks that its
 *      units name before anything else, in the order of their keys, then instances, in theirs; and what a claim, a reap
 *      or a hook claim looks for it takes past the rows that others have locked.  A circle through other rows, as the
 *      user's, is the database's to break; the transaction is then carried out again.
 *
 * The task row is the live state of an unfinished run (status, lease, when due); a finished run has none, and its
 * instance row carries the outcome.  So parking and waking touch only small rows, and paused and finished runs are in
 * no due index.
 *
 * Everything an op points at is borrowed until its unit is answered.  Rows read are allocated in the caller's arena. */
#ifndef PW_STORE_STORE_H
#define PW_STORE_STORE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "pawl/hooks.h"
#include "pawl/service.h"

struct pw_store;

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

enum pw_task_status { PW_TASK_ACTIVE = 0, PW_TASK_WAITING = 1, PW_TASK_PAUSED = 2 };

/* Why a task is due.  The first three go before the fourth.  REPAIR is of paused tasks only: a step failed for good, and
 * the run waits for somebody to mend what is wrong. */
enum pw_task_kind { PW_TASK_WAKE = 0, PW_TASK_RETRY = 1, PW_TASK_RESUME = 2, PW_TASK_RUN = 3, PW_TASK_REPAIR = 4 };

/* What is demanded of an unfinished run; as stored.  It is only ever raised.  INTERRUPT and ROLLBACK let the run's code
 * unwind, TERMINATE does not. */
enum pw_demand { PW_DEMAND_NONE = 0, PW_DEMAND_INTERRUPT = 1, PW_DEMAND_ROLLBACK = 2, PW_DEMAND_TERMINATE = 3 };

/* What an instance is to the run that made it; as stored.  NONE: nothing, but that it knows who made it. */
enum pw_relation { PW_RELATION_NONE = 0, PW_RELATION_ATTACHED = 1, PW_RELATION_DETACHED = 2, PW_RELATION_JOB = 3 };

/* The run that made an instance.  Both live in the same database. */
struct pw_link {
    int64_t parent; /* key of its instance row; 0: there is none */
    int64_t run;
    enum pw_relation relation;
};

/* How an instance ended; as stored.  NULL in the database while it has not. */
enum pw_outcome { PW_OUTCOME_OPEN = 0, PW_OUTCOME_COMPLETE = 1, PW_OUTCOME_TERMINATED = 2, PW_OUTCOME_ERRORED = 3 };

struct pw_fence {
    int64_t instance; /* key of the instance row */
    int64_t run;
    int64_t epoch;
};

struct pw_task {
    int64_t epoch;
    enum pw_task_status status;
    enum pw_task_kind kind;
    int64_t due_at_ms;
    bool processing;
    int64_t owner;           /* runner, when processing */
    int64_t locked_until_ms; /* when processing */
    bool pause_requested;
    enum pw_demand demand;
    int64_t started_at_ms; /* 0: not yet */
    int64_t updated_at_ms;
    int64_t event_seq; /* number of the newest event of the run */
};

struct pw_instance {
    int64_t key;
    struct pw_text workflow, id;
    int64_t run;
    enum pw_outcome outcome;
    struct pw_text params, output, error_name, error_message;
    int64_t created_at_ms, updated_at_ms, started_at_ms,
        completed_at_ms; /* 0: none.  Live ones merged from the task and the newest step */
    struct pw_link link;
    bool has_task;       /* exactly when outcome is OPEN */
    struct pw_task task; /* when has_task */
};

/* seq numbers a run's steps from 1 in the order of their first record; the turn hands it out. */
struct pw_step_row {
    int64_t seq;
    struct pw_text name, description;
    enum pawl_step_kind kind;
    enum pawl_step_status status;
    int64_t attempts, attempts_max, timeout_ms;
    int64_t next_retry_at_ms, wake_at_ms, event_at_ms; /* 0: none */
    struct pw_text wait_event_type, result, error_name, error_message;
    int64_t created_at_ms, updated_at_ms;
};

struct pw_event_row {
    int64_t seq; /* order sent, from 1 within the run */
    struct pw_text id, type, payload;
    int64_t created_at_ms, delivered_at_ms;
    struct pw_text consumed_by;
};

struct pw_log_row {
    int64_t seq; /* from 1 within the run */
    struct pw_text step;
    int64_t attempt;
    enum pawl_log_level level;
    struct pw_text category, message, data;
    bool is_replay;
    int64_t created_at_ms; /* 0: the transaction's time */
};

/* Why a run is due, as a hook is told; as stored. */
enum pw_hook_reason {
    PW_REASON_CREATE = 1,
    PW_REASON_EVENT = 2,
    PW_REASON_RESUME = 3,
    PW_REASON_RETRY = 4,
    PW_REASON_WAKE = 5
};

/* What a hook is still to be told, or could not be. */
struct pw_hook_row {
    int64_t key;
    struct pw_text id, hook;
    enum pawl_hook_event event;
    enum pw_hook_reason reason; /* ENQUEUED */
    int64_t due_at_ms;          /* ENQUEUED: of the run; 0: at once */
    enum pw_outcome outcome;    /* FINISHED, as are the next two */
    struct pw_text error_name, error_message;
    struct pw_text workflow, instance_id;
    int64_t run, created_at_ms;
    int64_t attempts, attempts_max;
    int64_t next_at_ms;      /* when an attempt is due, or the lease of the one under way ends; 0: failed for good */
    int64_t locked_until_ms; /* 0: no attempt is under way */
    int64_t epoch;           /* raised by every change of hands */
    struct pw_text last_error;
};

/* A claimed task. */
struct pw_claim {
    struct pw_fence fence; /* epoch as raised by the claim */
    struct pw_text workflow, id;
    enum pw_task_kind kind;
    enum pw_demand demand;
    int64_t event_seq;
    bool is_first;   /* started_at was not set before */
    bool taken_over; /* its former holder's lease had expired */
    /* Filled where the claimer has them at hand, so that a first turn needs no read. */
    bool has_instance;
    struct pw_text params;
    int64_t created_at_ms;
    struct pw_link link;
};

/* A runner, as it says itself. */
struct pw_runner_row {
    int64_t owner;
    struct pw_text name;      /* for people */
    struct pw_text workflows; /* that it carries: their names, with a space between each two */
    bool is_sharing;          /* it is started, and takes its share of the due runs */
    int64_t started_at_ms;
    int64_t seen_at_ms; /* out: when it was last known to live */
};

/* ---- Shards -------------------------------------------------------------------------------------------------- */

/* Every instance is in a shard, for good: the number is in its task row, and runners of all machines must agree on it. */
enum { PW_SHARD_COUNT = 256 };
int pw_shard_of(struct pw_text workflow, struct pw_text id);
/* The same on every machine; begin with 0, or with the hash of what stands before. */
uint64_t pw_stable_hash(uint64_t hash, struct pw_text text);

/* The part of the due tasks that a runner looks for: those in its shards, and of the others what has been due for
 * grace_ms and was taken by nobody. */
struct pw_share {
    /* One for each workflow asked for: PW_SHARD_COUNT of '0' and '1', where 1 is the runner's; absent: all are.  NULL: all
     * of all workflows. */
    const struct pw_text *owned;
    int64_t grace_ms;
};

/* Before all times, and far enough from the least number that a grace can be taken off. */
#define PW_EVER (INT64_MIN / 2)

/* ---- Units of work ------------------------------------------------------------------------------------------- */

enum pw_op_kind {
    PW_OP_FENCE,   /* check.  Conflict: PAWL_CONFLICT */
    PW_OP_CREATE,  /* an instance and its task */
    PW_OP_RESTART, /* a new run of an instance */
    PW_OP_STEP,    /* insert or update a step row by (instance, run, seq) */
    PW_OP_EVENT,   /* add an event to a run */
    PW_OP_CONSUME, /* mark an event as delivered */
    PW_OP_LOG,     /* add a log line */
    PW_OP_PARK,    /* the task is nobody's: waiting, due, or paused */
    PW_OP_HOLD,    /* the task becomes a runner's: the eager claim */
    PW_OP_PAUSE,   /* set or clear the flag that asks for a pause */
    PW_OP_DEMAND,  /* raise what is demanded of a run */
    PW_OP_REACH,   /* the same for the children of a run; its jobs end */
    PW_OP_FINISH,  /* outcome into the instance, task deleted */
    PW_OP_END,     /* an instance, by its name, ends as terminated if it has not ended */
    PW_OP_CLAIM,   /* due tasks for a runner */
    PW_OP_RENEW,   /* leases */
    PW_OP_REAP,    /* leases of dead runners end now */
    PW_OP_SQL,     /* the user's */
    PW_OP_MUTATE,  /* the user's */

    PW_OP_HOOK,        /* what a hook is to be told of another op of the unit */
    PW_OP_HOOK_CLAIM,  /* due ones, for an attempt each */
    PW_OP_HOOK_SETTLE, /* how an attempt went */
    PW_OP_HOOK_RESEND  /* due again, whatever became of it */
};

/* PW_OP_FENCE.  Checks beyond the fence itself are asked for by the flags. */
struct pw_op_fence {
    struct pw_fence at;
    bool is_foreign;        /* in: not the run's own fence; when it does not hold: PAWL_BUSY, try again */
    bool unless_pause;      /* in: refuse with PAWL_STOPPED when a pause is requested */
    bool unless_new_events; /* in: refuse with PAWL_BUSY when event_seq is past event_seq_seen */
    int64_t event_seq_seen;
    bool pause_requested;  /* out */
    enum pw_demand demand; /* out */
    int64_t event_seq;     /* out */
};

struct pw_op_create {
    struct pw_text workflow, id, params;
    struct pw_link link;
    bool skip_existing; /* an existing id: leave it; otherwise the unit is refused, PAWL_INSTANCE_ID_ALREADY_EXISTS */
    int64_t hold_owner; /* not 0: claimed at once by this runner, until now + hold_lease_ms */
    int64_t hold_lease_ms;
    bool created;          /* out */
    struct pw_fence fence; /* out, when created: run 1, epoch 0, or 1 when held */
    int64_t created_at_ms; /* out */
};

/* Checks that the instance is in run `run`; refuses with PAWL_CONFLICT.  New run = run + 1, task active, due now, epoch 0
 * (1 when held).  Outcome and times of the old run are cleared.  Finished steps of the old run that were recorded before
 * keep_before_seq, but for keep_except_seq and those with the error keep_except_error, are copied into the new one, as they
 * are. */
struct pw_op_restart {
    int64_t instance, run;
    int64_t hold_owner, hold_lease_ms;
    int64_t keep_before_seq;          /* 0: none */
    int64_t keep_except_seq;          /* 0: no exception */
    struct pw_text keep_except_error; /* its name; absent: no exception */
};

struct pw_op_step {
    int64_t instance, run;
    bool is_new; /* insert; otherwise update of all but seq, name, kind, created_at */
    struct pw_step_row row;
};

/* The number is the task's event_seq raised by one.  With an id that the run has already the unit is refused,
 * PAWL_INSTANCE_ID_ALREADY_EXISTS.
 *
 * An answer needs no fence and refuses nothing: it goes to the run that the instance is in by now (`run` is not looked at);
 * where that has ended, or has the id, nothing happens.  A run that waits, and is nobody's, becomes due now: active, WAKE,
 * epoch raised.  One that is paused or held only has the event. */
struct pw_op_event {
    int64_t instance, run;
    struct pw_text id, type, payload;
    bool is_answer;
    bool recorded;    /* out */
    bool woke;        /* out, of an answer */
    bool is_paused;   /* out, of an answer that was recorded: the run is, or is asked to be */
    int64_t seq;      /* out, when recorded */
    int64_t run_told; /* out, of an answer that was recorded */
};

struct pw_op_consume {
    int64_t instance, run, seq;
    struct pw_text step;
    int64_t delivered_at_ms;
};

struct pw_op_log {
    int64_t instance, run;
    struct pw_log_row row; /* seq is the store's */
};

/* Raises the epoch.  With event_seq_seen >= 0 and the task's event_seq past it, due_at becomes now (an event came that
 * the turn has not seen).  A pause that was asked for takes effect: the status becomes PAUSED whatever was said.
 * due_at_ms 0 keeps the task's; PW_NOW is now.  A run that would wait for repair, and of which something is demanded, does
 * not: it becomes active, RESUME, due now. */
#define PW_NOW (-1)
struct pw_op_park {
    int64_t instance;
    enum pw_task_status status;
    enum pw_task_kind kind;
    int64_t due_at_ms;
    int64_t event_seq_seen;         /* -1: do not look */
    bool is_job;                    /* in, and for hooks alone: they are told nothing of it */
    bool if_requested;              /* PAUSED only if a pause is still asked for, otherwise active and due now */
    int64_t due_at_ms_set;          /* out */
    enum pw_task_status status_set; /* out */
};

/* It was to be paused, but there is no reason for that any more: the request was withdrawn, or there is a demand. */
bool pw_park_goes_on(const struct pw_op_park *op, bool pause_requested, enum pw_demand demand);

/* Raises the epoch, status active, processing, clears the pause request.  What waited for repair is resumed: RESUME. */
struct pw_op_hold {
    int64_t instance, owner, lease_ms;
    struct pw_claim claim; /* out; texts in the unit's arena */
};

struct pw_op_pause {
    int64_t instance;
    bool requested;
};

/* To at least this, and a pause that was only asked for is lifted.  The task's event_seq is raised by one, so that a turn which
 * has not heard of it does not park past it (event_seq_seen, above).  NONE: only the number is raised. */
struct pw_op_demand {
    int64_t instance;
    enum pw_demand demand;
};

/* Of every unfinished ATTACHED instance that this run of the parent made: its demand is raised as by PW_OP_DEMAND, and unless
 * it is held, by a lease that has not expired, it becomes due now: active, RESUME, nobody's, epoch raised.  Every unfinished
 * JOB of it ends as by PW_OP_END.  Demand NONE: only the jobs. */
struct pw_op_reach {
    int64_t parent, run;
    enum pw_demand demand;
    int64_t reached;    /* out: children and jobs */
    int64_t *woken;     /* out, in the unit's arena: the children that became due, in the order of their keys */
    size_t woken_count; /* out */
};

/* Outcome TERMINATED, no task; whatever its fence.  There is none, or it has ended: nothing happens. */
struct pw_op_end {
    struct pw_text workflow, id;
    int64_t instance; /* out: its key; 0: nothing happened */
};

struct pw_op_finish {
    int64_t instance;
    enum pw_outcome outcome;
    struct pw_text output, error_name, error_message;
    int64_t started_at_ms, completed_at_ms; /* out; started 0: it never was */
};

/* Takes up to max tasks of the named workflows, wake/retry/resume before run, oldest due first; then expired leases'
 * tasks count as due at their expiry, in the first group.  An expired one that was asked to pause becomes paused
 * instead of claimed.  Claimed: epoch raised, status active, started_at set when it was not. */
struct pw_op_claim {
    const struct pw_text *workflows;
    size_t workflow_count;
    struct pw_share share; /* an expired lease's task is due for as long as it is expired */
    size_t max;
    size_t leased_max; /* not 0: no more tasks than this of the one workflow named may be leased at once, by all */
    int64_t owner, lease_ms;
    struct pw_claim *claims; /* out, in the unit's arena */
    size_t claim_count;      /* out */
    bool kept_out; /* out, of one with leased_max: another process claims of the same just now, so there is none */
};

/* Who claims for somebody outside, who is no runner: never reaped, only its lease tells whether it lives. */
#define PW_OWNER_OUTSIDE (-1)

/* One entry per lease; only tasks still processing, still owned, at that epoch are renewed.  One that another transaction has
 * locked may be renewed later, which is no loss: nobody else can take it while it is locked. */
struct pw_lease {
    struct pw_fence fence;
    bool lost;             /* out */
    bool pause_requested;  /* out */
    enum pw_demand demand; /* out */
};
struct pw_op_renew {
    int64_t owner, lease_ms;
    struct pw_lease *leases;
    size_t count;
};

/* Ends now every lease whose owner is known to be dead (where the store can tell; else nothing). */
struct pw_op_reap {
    int64_t reaped; /* out */
};

struct pw_op_sql {
    struct pw_text sql, parameters; /* parameters: JSON array or absent; $1 is its first element */
};

struct pw_op_mutate {
    pawl_mutation_fn *mutate;
    const void *data;
    size_t size;
};

/* Records a row of what `cause` did, with the run that its instance is in by then.  Where the cause did nothing that
 * makes a run due (a CREATE that left an existing id alone, a PARK that paused) there is nothing to tell, and no row; where
 * it makes several due (a REACH) there is a row of each. */
struct pw_op_hook {
    const struct pw_op
        *cause; /* before it in the unit: CREATE, RESTART, HOLD, PARK, EVENT, REACH; of FINISHED a FINISH */
    struct pw_text id, hook;
    enum pawl_hook_event event;
    enum pw_hook_reason reason; /* ENQUEUED */
    int64_t attempts_max;
};

/* How many rows, known once the cause was applied; and of each, counted from 0, its instance and its id.  No memory for the
 * id: absent. */
size_t pw_hook_row_count(const struct pw_op_hook *op);
int64_t pw_hook_instance(const struct pw_op_hook *op, size_t position);
struct pw_text pw_hook_row_id(const struct pw_op_hook *op, size_t position, struct pw_arena *arena);
/* When its run is due; 0: at once. */
int64_t pw_hook_due_at_ms(const struct pw_op_hook *op);

/* Takes up to max rows of the named hooks, longest due first.  Claimed: an attempt is counted, the epoch raised, and
 * nobody else's until the lease ends.  One whose lease ended with no attempt left has failed for good instead, and lets no
 * younger row go before an older one. */
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
    bool delivered;            /* the row is deleted; otherwise the rest holds */
    bool untried;              /* the attempt was not made: it does not count */
    int64_t next_at_ms;        /* when the next one is due; 0: it has failed for good */
    struct pw_text last_error; /* why */
    bool lost;                 /* out: it is somebody else's by now, and was left alone */
};

/* An attempt that is under way can settle nothing any more. */
struct pw_op_hook_resend {
    struct pw_text id;
    bool found; /* out */
};

struct pw_op {
    enum pw_op_kind kind;
    struct pw_op *next;
    union {
        struct pw_op_fence fence;
        struct pw_op_create create;
        struct pw_op_restart restart;
        struct pw_op_step step;
        struct pw_op_event event;
        struct pw_op_consume consume;
        struct pw_op_log log;
        struct pw_op_park park;
        struct pw_op_hold hold;
        struct pw_op_pause pause;
        struct pw_op_demand demand;
        struct pw_op_reach reach;
        struct pw_op_finish finish;
        struct pw_op_end end;
        struct pw_op_claim claim;
        struct pw_op_renew renew;
        struct pw_op_reap reap;
        struct pw_op_sql sql;
        struct pw_op_mutate mutate;
        struct pw_op_hook hook;
        struct pw_op_hook_claim hook_claim;
        struct pw_op_hook_settle hook_settle;
        struct pw_op_hook_resend hook_resend;
    } as;
};

/* What units of one turn have in common: once one of them was not applied, no later one may be. */
struct pw_chain {
    atomic_int broken; /* a pawl_status; PAWL_OK: whole */
};

struct pw_unit {
    struct pw_arena arena; /* the ops', and what the store hands out */
    struct pw_op *first, *last;
    struct pw_chain *chain; /* or NULL */

    /* The answer: PAWL_OK, or why nothing of it was applied.  A refusal: PAWL_CONFLICT, PAWL_STOPPED, PAWL_BUSY (see the
     * fence), PAWL_INSTANCE_ID_ALREADY_EXISTS, PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION or PAWL_STEP_MUTATION_FAILED with
     * text.  Otherwise the store's trouble. */
    pawl_status status;
    struct pawl_error error;

    /* Out, when apply() as a whole failed: the store knows that nothing of it was committed. */
    bool undone;

    /* The committer's. */
    struct pw_unit *next;
    void (*done)(struct pw_unit *unit, void *user); /* or NULL; see commit.h */
    void *user;
    bool answered;
};

void pw_unit_init(struct pw_unit *unit);
void pw_unit_clear(struct pw_unit *unit);
/* Appends a zeroed op.  NULL when memory is out. */
struct pw_op *pw_unit_add(struct pw_unit *unit, enum pw_op_kind kind);
/* A unit that can be refused after its first write must be undone by the store; one whose checks all come first need
 * not be. */
bool pw_unit_needs_undo(const struct pw_unit *unit);
/* The same for all units about one instance, different for most others. */
uint64_t pw_unit_key(const struct pw_unit *unit);

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* A list ends with `max` rows, or by its payloads: behind the row with which they are more than bytes_max, but with two rows
 * at least (0: no such bound).  So whoever asks for one row more than a page has, and gives out as many as pw_page_count()
 * says, always gives one and knows whether there are more. */
typedef size_t pw_row_bytes_fn(const void *row); /* of payloads */
size_t pw_instance_bytes(const void *instance);
size_t pw_step_bytes(const void *step);
size_t pw_event_bytes(const void *event);
size_t pw_log_bytes(const void *log);

struct pw_instance_query {
    struct pw_text workflow;
    int64_t parent; /* not 0: the instances that its runs made, of whatever workflow and status, instead */
    bool has_status;
    enum pawl_instance_status status;
    bool oldest_first;
    int64_t after_key; /* rows past this one, in the order asked for; 0: from the start */
    size_t max, bytes_max;
};

/* Instances by their keys or, where keys is NULL, by their names. */
struct pw_instances_wanted {
    const int64_t *keys;
    const struct pw_text *workflows, *ids;
    size_t count;
};

struct pw_history_query {
    int64_t instance, run;
    bool newest_first;
    int64_t after_seq; /* 0: from the start */
    size_t max;
    bool has_level; /* logs only */
    enum pawl_log_level level;
    struct pw_text category; /* logs only; absent: all */
};

/* Oldest first. */
struct pw_hook_query {
    struct pw_text hook; /* absent: of all hooks */
    bool has_status;
    enum pawl_delivery_status status;
    int64_t after_key; /* rows past this one; 0: from the start */
    size_t max;
};

/* Of all workflows and all hooks. */
struct pw_task_counts {
    int64_t active, waiting, paused;
    int64_t due;              /* of those, what could be claimed now */
    int64_t oldest_due_at_ms; /* 0: nothing is due */
    int64_t hooks_pending, hooks_failed;
};

/* By enum pawl_instance_status. */
enum { PW_STATUS_COUNT = PAWL_ERRORED + 1 };
struct pw_status_counts {
    int64_t of[PW_STATUS_COUNT];
};

/* Which part of a store a database was; see read_part. */
struct pw_part {
    int64_t number; /* from 1 */
    int64_t count;  /* 0: it was never a part */
};

struct pw_run_rows {
    struct pw_text params;
    int64_t created_at_ms;
    struct pw_link link;
    struct pw_step_row *steps;
    size_t step_count;
    struct pw_event_row *events;
    size_t event_count;
};

/* ---- The table ----------------------------------------------------------------------------------------------- */

struct pw_store_ops {
    const char *name;
    void (*close)(struct pw_store *store);
    int64_t (*now_ms)(struct pw_store *store);

    /* How many apply() at once are worth while; NULL, or an answer of 0: one. */
    size_t (*lanes)(struct pw_store *store);

    /* Which of the lanes a unit belongs to: the same for all units about one instance, but those that only claim or renew.
     * NULL: its key decides. */
    size_t (*lane_of)(struct pw_store *store, const struct pw_unit *unit);

    /* S1-S5.  Called by as many threads at once as there are lanes.  The error is filled when the whole fails. */
    pawl_status (*apply)(struct pw_store *store, struct pw_unit **units, size_t count, int64_t now_ms,
                         struct pawl_error *error);

    /* Any number of threads at once.  PAWL_INSTANCE_NOT_FOUND where there is no such row. */
    pawl_status (*read_instance)(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                 struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error);
    pawl_status (*read_instance_by_key)(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                        struct pw_instance *out_instance, struct pawl_error *error);
    /* As read_instance, and with it, of the same state, the newest of the run's steps that wait or, when none does or the
     * run has ended, the newest of all.  *out_has_step false: none yet. */
    pawl_status (*read_current)(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                bool *out_has_step, struct pawl_error *error);
    pawl_status (*list_instances)(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                                  struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error);
    pawl_status (*read_steps)(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                              struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
    pawl_status (*read_events)(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                               struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error);
    pawl_status (*read_logs)(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                             struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error);
    /* Undelivered events past after_seq, in order. */
    pawl_status (*read_new_events)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                   int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                   struct pawl_error *error);
    /* The run's steps that wait, few as they are. */
    pawl_status (*read_waiting_steps)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
    /* What a run that is taken up again begins with, in one look where several cost more: the facts of its instance,
     * all of the run's steps and, when asked for, all events that are not delivered.  NULL: they are asked for one by one. */
    pawl_status (*read_run)(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                            bool with_events, struct pw_run_rows *out_rows, struct pawl_error *error);
    /* When the next task of these workflows is due or its lease expires, past after_ms or PW_EVER; INT64_MAX: never.  With a
     * share: when the next one is the share's; NULL: all are.  What the share has by then may be told of once more, for
     * the end of its grace. */
    pawl_status (*next_due)(struct pw_store *store, const struct pw_text *workflows, size_t count,
                            const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                            struct pawl_error *error);
    pawl_status (*count_tasks)(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                               struct pawl_error *error);
    /* How many instances of these workflows have which status, as list_instances would give them out.  No status is counted
     * beyond max, at least 1, so that it costs no more where there are millions. */
    pawl_status (*count_statuses)(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                                  struct pw_status_counts *out_counts, struct pawl_error *error);

    pawl_status (*list_hooks)(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                              struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error);
    /* When the next row of these hooks is due or the lease of an attempt ends; INT64_MAX: never. */
    pawl_status (*next_hook)(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                             struct pawl_error *error);

    /* Tells the store, for the life of this process, that the runner `owner` lives here; reap needs it. */
    pawl_status (*announce)(struct pw_store *store, int64_t owner, struct pawl_error *error);
    void (*withdraw)(struct pw_store *store, int64_t owner);
    /* What others are to see of an announced runner, until it is withdrawn or dies; again when it has changed. */
    pawl_status (*describe)(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);
    /* Those that were described and live, in the order of their numbers. */
    pawl_status (*list_runners)(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                size_t *out_count, struct pawl_error *error);

    /* Calls due(user), from a thread of the store's own, when another process may have made something due, while a
     * runner is announced.  A hint, and not the only one.  due NULL: no more, and none is under way once this returns.
     * NULL: the store cannot tell. */
    void (*listen)(struct pw_store *store, void (*due)(void *user), void *user);

    /* Earlier versions could spread one store over several databases, and marked each.  Reads the mark.  NULL: there is none. */
    pawl_status (*read_part)(struct pw_store *store, struct pw_part *out_part, struct pawl_error *error);
};

struct pw_store {
    const struct pw_store_ops *ops;
};

/* Opens what the URL names, or the URLs with white space between them.  `clock` is used by stores that have no clock of
 * their own. */
pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_sqlite_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                           struct pawl_error *error) PAWL_MUST_CHECK;
/* Only where the library is built with it (PAWL_HAS_POSTGRES). */
pawl_status pw_postgres_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                             struct pawl_error *error) PAWL_MUST_CHECK;

#endif
