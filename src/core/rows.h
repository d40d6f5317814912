/* rows.h - the rows that every store keeps, as values.
 *
 * The task row is the live state of an unfinished run: status, lease, due time.  A finished run has no task; its
 * instance row has the outcome.  So parking and waking touch only small rows, and paused and finished runs are in no
 * due index.  Enums are stored by number, and a number never changes its meaning.
 *
 * Times are milliseconds since 1970; 0 means none. */
#ifndef PW_CORE_ROWS_H
#define PW_CORE_ROWS_H

#include "common/text.h"
#include "pawl/hooks.h"
#include "pawl/service.h"

enum pw_task_status { PW_TASK_ACTIVE = 0, PW_TASK_WAITING = 1, PW_TASK_PAUSED = 2 };

/* Why a task is due.  Claims take the first three before the fourth.  REPAIR is only for paused tasks: a step failed
 * for good, and the run waits until somebody resumes it. */
enum pw_task_kind { PW_TASK_WAKE = 0, PW_TASK_RETRY = 1, PW_TASK_RESUME = 2, PW_TASK_RUN = 3, PW_TASK_REPAIR = 4 };

/* What is demanded of an unfinished run.  It is only ever raised.  INTERRUPT and ROLLBACK let the run's code unwind;
 * TERMINATE does not. */
enum pw_demand { PW_DEMAND_NONE = 0, PW_DEMAND_INTERRUPT = 1, PW_DEMAND_ROLLBACK = 2, PW_DEMAND_TERMINATE = 3 };

/* The relation of an instance to the run that created it.  NONE: it only knows its parent. */
enum pw_relation { PW_RELATION_NONE = 0, PW_RELATION_ATTACHED = 1, PW_RELATION_DETACHED = 2, PW_RELATION_JOB = 3 };

/* The run that created an instance. */
struct pw_link {
    int64_t parent; /* key of its instance row; 0: there is none */
    int64_t run;
    enum pw_relation relation;
};

/* How an instance ended.  OPEN is stored as NULL. */
enum pw_outcome { PW_OUTCOME_OPEN = 0, PW_OUTCOME_COMPLETE = 1, PW_OUTCOME_TERMINATED = 2, PW_OUTCOME_ERRORED = 3 };

/* Names one holder of one run.  It holds as long as nobody else has moved the task. */
struct pw_fence {
    int64_t instance; /* key of the instance row */
    int64_t run;
    int64_t epoch;
};

struct pw_task {
    int64_t epoch; /* raised by one at every change of hands */
    enum pw_task_status status;
    enum pw_task_kind kind;
    int64_t due_at_ms;
    bool processing;         /* a runner holds it */
    int64_t owner;           /* that runner, or external worker; 0 if nobody holds it */
    int64_t locked_until_ms; /* the end of its lease; 0 if nobody holds it */
    bool pause_requested;
    enum pw_demand demand;
    int64_t started_at_ms;
    int64_t updated_at_ms; /* the newest time recorded for the run */
    int64_t event_seq;     /* the number of the run's newest event */
};

/* Corrects a task row that is damaged or was changed by hand, so that it is one that the engine could have written. */
void pw_task_mend(struct pw_task *task);

/* What a create or a restart gives to a run.  It stays the same until the next restart.  PW_TERMS_FIELDS (fields.h)
 * lists its columns. */
struct pw_terms {
    struct pw_text version; /* of the workflow's code, given by its author; absent: none */
};

struct pw_instance {
    int64_t key;
    struct pw_text workflow, id;
    int64_t run;
    enum pw_outcome outcome;
    struct pw_text params, output, error_name, error_message;
    /* While the run is unfinished, the last three are completed from the task and the newest step. */
    int64_t created_at_ms, updated_at_ms, started_at_ms, completed_at_ms;
    struct pw_link link;
    struct pw_terms terms;
    bool has_task;       /* exactly if outcome is OPEN */
    struct pw_task task; /* if has_task */
};

/* What is kept of a run when a restart begins the next one.  A run that had not ended counts as TERMINATED at that
 * time, with the error PW_CUT_OFF_NAME.  The params are the instance's, because they are the same in all its runs. */
#define PW_CUT_OFF_NAME "RESTARTED"
#define PW_CUT_OFF_MESSAGE "a restart began the next run before this one had ended"
struct pw_earlier_run {
    int64_t run;
    enum pw_outcome outcome;
    struct pw_terms terms;
    struct pw_text output, error_name, error_message;
    int64_t started_at_ms; /* 0: no runner had claimed it */
    int64_t completed_at_ms;
    int64_t replaced_at_ms; /* when the next run began */
};

/* Where in the workflow a step was first reached; see struct pawl_step_place. */
struct pw_step_place {
    struct pw_text fork, outer; /* outer: the surrounding forks, as JSON */
    enum pawl_fork_kind kind;
    int64_t branch, order;
};

/* A step.  seq numbers the steps of a run from 1, in the order in which they were first recorded.  The turn assigns
 * it.
 *
 * `state` says what became of a step.  `status` says the same less precisely and is indexed.  pw_step_row_set() sets
 * both, and pw_step_state() reads them.  No code looks at names or error texts to find that out. */
struct pw_step_row {
    int64_t seq;
    struct pw_text name, description;
    struct pw_text undoes; /* in a compensation: the name of the step that it undoes; else absent */
    struct pw_step_place place;
    enum pawl_step_kind kind;
    enum pawl_step_status status;
    enum pawl_step_state state;
    int64_t attempts, attempts_max;
    int64_t timeout_ms; /* of an attempt, or of a wait for a deferred; 0: none */
    int64_t next_retry_at_ms, wake_at_ms, event_at_ms;
    struct pw_text wait_event_type;              /* the type of the event that ends the wait */
    struct pw_text awaited_workflow, awaited_id; /* CALL, CHILD: the awaited instance, which may not exist yet */
    struct pw_text result, error_name, error_message;
    int64_t created_at_ms, updated_at_ms;
};

static inline enum pawl_step_status pw_status_of_state(enum pawl_step_state state)
{
    return state == PAWL_STATE_WAITING     ? PAWL_STEP_WAITING
           : state == PAWL_STATE_COMPLETED ? PAWL_STEP_COMPLETED
                                           : PAWL_STEP_ERRORED;
}

static inline void pw_step_row_set(struct pw_step_row *row, enum pawl_step_state state)
{
    row->state = state;
    row->status = pw_status_of_state(state);
}

/* If somebody has changed one of the two columns by hand, the status wins. */
static inline enum pawl_step_state pw_step_state(const struct pw_step_row *row)
{
    if (pw_status_of_state(row->state) == row->status)
        return row->state;
    return row->status == PAWL_STEP_ERRORED     ? PAWL_STATE_FAILED
           : row->status == PAWL_STEP_COMPLETED ? PAWL_STATE_COMPLETED
                                                : PAWL_STATE_WAITING;
}

/* True if the step ended without an outcome of its own. */
static inline bool pw_step_is_dropped(const struct pw_step_row *row)
{
    enum pawl_step_state state = pw_step_state(row);
    return state == PAWL_STATE_ABANDONED || state == PAWL_STATE_GIVEN_UP;
}

struct pw_event_row {
    int64_t seq; /* the order of sending, from 1 within the run */
    struct pw_text id, type, payload;
    bool is_failure; /* what a step waits for has failed, and the payload is the error */
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
    bool is_repair;        /* its unit reset failed steps, so followers of the run have to read its steps again */
    int64_t created_at_ms; /* in an op, 0 means the transaction's time; never before the previous line */
};

/* Why a run is due, as hooks are told. */
enum pw_hook_reason {
    PW_REASON_CREATE = 1,
    PW_REASON_EVENT = 2,
    PW_REASON_RESUME = 3,
    PW_REASON_RETRY = 4,
    PW_REASON_WAKE = 5
};

/* A delivery that waits, is under way, or failed for good. */
struct pw_hook_row {
    int64_t key;
    struct pw_text id, hook;
    enum pawl_hook_event event;
    enum pw_hook_reason reason; /* ENQUEUED only */
    int64_t due_at_ms;          /* ENQUEUED only: when the run is due; 0: at once */
    enum pw_outcome outcome;    /* FINISHED only, as are the next two */
    struct pw_text error_name, error_message;
    struct pw_text workflow, instance_id;
    int64_t run, created_at_ms;
    int64_t attempts, attempts_max;
    int64_t next_at_ms;      /* when an attempt is due, or when the lease of the current one ends; 0: failed for good */
    int64_t locked_until_ms; /* 0: no attempt is under way */
    int64_t epoch;           /* raised by one at every change of hands */
    struct pw_text last_error;
};

/* A claimed task. */
struct pw_claim {
    struct pw_fence fence; /* with the epoch after the claim */
    struct pw_text workflow, id;
    enum pw_task_kind kind;
    enum pw_demand demand;
    int64_t event_seq;
    bool is_first;         /* no runner has claimed this run before */
    bool taken_over;       /* the lease of the previous holder had expired */
    int64_t updated_at_ms; /* the newest time of the run */
    struct pw_link link;   /* lets a run that ends before it was loaded tell its parent */
    /* Filled in for a first claim, so that the first turn needs no read. */
    bool has_instance;
    struct pw_text params;
    int64_t created_at_ms;
    int64_t
        leased_from_ms; /* begun_ms of the unit that took it; filled in by the code that hands the claim to a runner */
};

/* A runner, as it describes itself to others. */
struct pw_runner_row {
    int64_t owner;
    struct pw_text name;      /* for people */
    struct pw_text workflows; /* their names, separated by spaces */
    bool is_sharing;          /* it is started and takes its share of the due runs */
    int64_t started_at_ms;
    int64_t seen_at_ms; /* out: when it last showed that it is alive */
};

/* The time of a record that is made now.  Times of a run never go back, so it is not before newest_ms. */
static inline int64_t pw_not_before(int64_t now_ms, int64_t newest_ms)
{
    return now_ms > newest_ms ? now_ms : newest_ms;
}

#endif
