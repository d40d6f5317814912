/* service.h - what a host may ask of the engine: create, look, control, send events, read history.  No HTTP needed.
 *
 * Every call is one unit of work: it happens wholly or not at all, and is durable when the call returns.  Calls may be
 * made from any thread, also from step bodies.  Payloads are JSON text, NUL-terminated, stored as received; NULL is
 * "none".  Answers live in the scope that is passed in (value.h) and are valid until it is freed. */
#ifndef PAWL_SERVICE_H
#define PAWL_SERVICE_H

#include "engine.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pawl_instance_status {
    PAWL_ACTIVE,  /* runs, or will at once */
    PAWL_WAITING, /* sleeps, waits for an event or for a retry */
    PAWL_PAUSED,
    PAWL_COMPLETE,
    PAWL_TERMINATED,
    PAWL_ERRORED
};
PAWL_API const char *pawl_instance_status_name(enum pawl_instance_status status); /* "active" ... */
/* PAWL_INVALID, naming the text, when there is no such status. */
PAWL_API pawl_status pawl_instance_status_parse(const char *name, enum pawl_instance_status *out_status,
                                                struct pawl_error *error) PAWL_MUST_CHECK;

/* For people: "queued" and "running" refine active, "waitingForPause" is a pause that a busy run has yet to reach,
 * "waitingForRepair" refines paused: a step failed for good, and a resume tries it again. */
enum pawl_phase {
    PAWL_PHASE_QUEUED,
    PAWL_PHASE_RUNNING,
    PAWL_PHASE_WAITING_FOR_PAUSE,
    PAWL_PHASE_WAITING,
    PAWL_PHASE_PAUSED,
    PAWL_PHASE_WAITING_FOR_REPAIR,
    PAWL_PHASE_COMPLETE,
    PAWL_PHASE_TERMINATED,
    PAWL_PHASE_ERRORED
};
PAWL_API const char *pawl_phase_name(enum pawl_phase phase);

enum pawl_step_kind {
    PAWL_STEP_DO,
    PAWL_STEP_SLEEP,
    PAWL_STEP_EVENT,
    PAWL_STEP_FIRST,
    PAWL_STEP_CALL,    /* a job for a worker */
    PAWL_STEP_CHILD,   /* the end of another instance */
    PAWL_STEP_DEFERRED /* whoever has the token */
};
/* "do", "sleep", "waitForEvent", "first", "call", "child", "deferred" */
PAWL_API const char *pawl_step_kind_name(enum pawl_step_kind kind);

enum pawl_step_status { PAWL_STEP_WAITING, PAWL_STEP_COMPLETED, PAWL_STEP_ERRORED };
PAWL_API const char *pawl_step_status_name(enum pawl_step_status status); /* "waiting" ... */

/* What became of a step.  It says more than the status, which is "errored" for the last three. */
enum pawl_step_state {
    PAWL_STATE_WAITING, /* it waits, or is to be tried, for the first time or again */
    PAWL_STATE_COMPLETED,
    PAWL_STATE_FAILED,    /* for good */
    PAWL_STATE_ABANDONED, /* another branch of a race came first */
    PAWL_STATE_GIVEN_UP   /* the run was told to stop while the step's job was out */
};
/* "waiting", "completed", "failed", "abandoned", "givenUp" */
PAWL_API const char *pawl_step_state_name(enum pawl_step_state state);

/* The job of a call that waits.  It is queued until somebody takes it, and again once who took it has let its lease end. */
struct pawl_step_job {
    const char *function;
    bool is_taken;
    bool is_outside;     /* taken by a worker outside (pawl_job_claim()), not by a runner */
    int64_t taken_at_ms; /* 0: it is queued */
    int64_t deadline_ms; /* when the attempt times out, which counts from when it was first taken; 0: it does not yet */
    int64_t leased_until_ms; /* when somebody else may take it, unless the lease is renewed; 0: it is queued */
    const char *runner_id;   /* of the runner that has taken it (pawl_list_runners()); else NULL */
};

/* What a step waits for, or waited for.  Its kind says which of these it has. */
struct pawl_waits_for {
    const char *event_type; /* EVENT; else NULL */
    const char *function;   /* CALL; else NULL */
    const char *workflow;   /* CHILD: the instance's, which may not exist yet; else NULL */
    const char *id;         /* CHILD: the instance's.  CALL: its job's, which only the worker that has it may know */
    int64_t until_ms;       /* EVENT, DEFERRED: when the wait times out; 0: it does not */
};

enum pawl_fork_kind { PAWL_FORK_NONE, PAWL_FORK_ALL, PAWL_FORK_FIRST };
PAWL_API const char *pawl_fork_kind_name(enum pawl_fork_kind kind); /* "none", "all", "first" */

/* Where in the workflow a step was reached first. */
struct pawl_step_place {
    const char *fork;         /* the name of the pawl_all() or pawl_first() of which it is in a branch; NULL: in none */
    enum pawl_fork_kind kind; /* of the fork */
    int64_t branch;           /* from 0 */
    int64_t order; /* counts the durable calls of the branch, or those outside of branches, from 1; 0: unknown,
                               * because an earlier version recorded the step */
    const char
        *within_json; /* {"fork", "kind", "branch", "within"}: the branch that the fork itself is in; NULL: none */
};

/* A row of history.  Times are milliseconds since 1970; 0 where there is none.  The steps of a run are listed in the order in
 * which they were recorded, and so are its events and its log lines.  In that order created_at_ms never goes back, whichever
 * processes recorded them, and also when a clock was set back; nor is updated_at_ms ever before created_at_ms.  Where branches
 * overlap, a step that began before another one and is recorded after it has the other's time. */
struct pawl_step_record {
    int64_t run_number;
    const char *name;        /* also its key */
    const char *description; /* or NULL */
    enum pawl_step_kind kind;
    enum pawl_step_status status;
    enum pawl_step_state state;
    const char *undoes; /* of a compensation: the name of the step that it undoes; else NULL */
    struct pawl_step_place place;
    int64_t attempts;
    int64_t attempts_max; /* 0: unlimited, or not a body */
    int64_t timeout_ms;   /* 0: none */
    int64_t next_retry_at_ms;
    int64_t wake_at_ms;
    const struct pawl_waits_for *waits_for; /* NULL: nothing that another one does */
    const char *result_json;                /* NULL: no result */
    const char *error_name;                 /* or NULL */
    const char *error_message;              /* or NULL */
    int64_t created_at_ms, updated_at_ms;
    const struct pawl_step_job *job; /* of a call that waits for it, else NULL.  Not in changes */
};

struct pawl_event_record {
    const char *id;
    int64_t run_number;
    const char *type; /* the engine's own begin with "$" */
    bool is_failure;  /* of the engine's: a call, a child or a deferred has failed, and the payload is the error */
    const char *payload_json; /* or NULL */
    int64_t created_at_ms;
    int64_t delivered_at_ms;      /* 0: not yet */
    const char *consumed_by_step; /* or NULL */
};

struct pawl_log_record {
    int64_t id; /* increases within the run */
    int64_t run_number;
    const char *step; /* or NULL */
    int64_t attempt;  /* 0: none */
    enum pawl_log_level level;
    const char *category;
    const char *message;
    const char *data_json; /* or NULL */
    bool is_replay;        /* the run had passed this place before, and recorded the line */
    int64_t created_at_ms;
};
PAWL_API const char *pawl_log_level_name(enum pawl_log_level level); /* "debug" ... */

struct pawl_why_node; /* see pawl_why() */

/* What is asked of a run that has not finished yet. */
enum pawl_demand {
    PAWL_DEMAND_NONE,
    PAWL_DEMAND_INTERRUPT, /* pawl_interrupt() */
    PAWL_DEMAND_ROLLBACK,  /* pawl_terminate_with_rollback() */
    PAWL_DEMAND_TERMINATE  /* its parent was terminated, or restarted */
};
PAWL_API const char *pawl_demand_name(enum pawl_demand demand); /* "none", "interrupt", "rollback", "terminate" */

struct pawl_instance {
    const char *workflow;
    const char *id;
    int64_t run_number; /* from 1 */
    enum pawl_instance_status status;
    enum pawl_phase phase;
    const char *params_json;   /* or NULL */
    const char *output_json;   /* complete: NULL is "no result" */
    const char *error_name;    /* errored; terminated, when it was interrupted or could not be undone wholly */
    const char *error_message; /* as the name */
    int64_t created_at_ms, updated_at_ms;
    int64_t started_at_ms;   /* of this run; 0: not yet */
    int64_t completed_at_ms; /* of this run; 0: not yet */
    /* What it waits for, else its newest step; NULL: none.  Not in lists. */
    const struct pawl_step_record *current_step;
    /* Who made it, from a step; NULL: nobody.  Not in lists but that of pawl_list_children(), nor in changes. */
    const struct pawl_parent *parent;
    bool is_interrupted;     /* it was asked to stop, and has not finished yet */
    enum pawl_demand demand; /* how it was asked to */
    /* Of an earlier run (pawl_get_run(), pawl_list_runs()). */
    int64_t replaced_at_ms; /* when the next run began; 0: this is the newest, or it is not known */
    bool
        is_unrecorded; /* replaced by a Pawl that did not keep outcomes: status, output, error and times are not known */
    /* The version of the workflow that the process which began the run had registered.  NULL: it had none, or the run began
     * before the database had schema version 7. */
    const char *version;
    /* What a run that waits, or is paused, waits for: the tree of pawl_why(), with at most PAWL_WAITS_SHOWN steps, and without what
     * other rows than the run's own say.  Only from pawl_get_run() of the newest run, and in changes.  NULL: nothing. */
    const struct pawl_why_node *waiting_for;
};

/* ---- Creating ------------------------------------------------------------------------------------------------ */

struct pawl_create_options {
    size_t struct_size;
    const char *id;          /* NULL: generated */
    const char *params_json; /* NULL: none */
    bool return_existing;    /* answer the instance that has the id, instead of INSTANCE_ID_ALREADY_EXISTS */
};
#define PAWL_CREATE_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct pawl_create_options), NULL, NULL, false                                                          \
    }

/* options NULL: all defaults.  Returns once the row is durable; never waits for the run. */
PAWL_API pawl_status pawl_create(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                 const struct pawl_create_options *options, struct pawl_instance *out_instance,
                                 struct pawl_error *error) PAWL_MUST_CHECK;

struct pawl_batch_item {
    const char *id;
    const char *params_json; /* NULL: none */
};

/* Creates up to 100 in one unit of work.  Ids that exist are skipped and left out of the answer. */
PAWL_API pawl_status pawl_create_batch(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                       const struct pawl_batch_item *items, size_t count,
                                       struct pawl_instance **out_instances, size_t *out_count,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Looking ------------------------------------------------------------------------------------------------- */

struct pawl_workflow_info {
    const char *name;
    const char *description; /* or NULL */
    const char *const *tags;
    size_t tag_count;
    const char *const *permissions; /* that a caller needs; see http.h */
    size_t permission_count;
    bool is_inline;
    const char *version; /* as registered; or NULL */
};
/* In the order of their names.  Valid until the engine is closed, but for the array, which is the scope's. */
PAWL_API pawl_status pawl_list_workflows(pawl_engine *engine, pawl_scope *scope,
                                         const struct pawl_workflow_info **out_workflows,
                                         size_t *out_count) PAWL_MUST_CHECK;
/* One of them by its name; its texts are valid until the engine is closed.  PAWL_WORKFLOW_NOT_FOUND. */
PAWL_API pawl_status pawl_find_workflow(pawl_engine *engine, const char *name, struct pawl_workflow_info *out_workflow,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* One instance as it stands now, with its current step. */
PAWL_API pawl_status pawl_get(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                              struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same for one of its runs; run_number 0: the newest.  PAWL_INVALID: the instance has not had that run.
 *
 * An earlier run answers the status, output, error and times that it had when a restart began the next run, and the
 * instance's params, which are the same in all runs.  One that had not ended by then is terminated at the time of the restart,
 * with the error RESTARTED.  It has no current step; pawl_get_history() reads its steps.  Runs that were replaced before the
 * database had schema version 5 are unrecorded: only their history is left. */
PAWL_API pawl_status pawl_get_run(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                  int64_t run_number, struct pawl_instance *out_instance,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Why it does not move ------------------------------------------------------------------------------------- */

/* Why a run does not move, or what a part of it waits for. */
enum pawl_why_kind {
    PAWL_WHY_COMPLETE,
    PAWL_WHY_TERMINATED,
    PAWL_WHY_ERRORED,  /* parts: the steps that failed it, or that could not be undone */
    PAWL_WHY_RUNNING,  /* a runner works on it */
    PAWL_WHY_PAUSING,  /* a runner works on it, and pauses it at the next step boundary */
    PAWL_WHY_LOST,     /* the runner that worked on it is gone; others may take it once the lease has ended */
    PAWL_WHY_QUEUED,   /* it is due, and runners carry its workflow, but none has taken it yet */
    PAWL_WHY_UNSERVED, /* it is due, and no runner takes up its workflow by itself; a tick would */
    PAWL_WHY_PAUSED,   /* parts: what it waits for once it is resumed */
    PAWL_WHY_REPAIR,   /* paused because of steps that failed for good, which are its parts */
    PAWL_WHY_ALL,      /* all parts have to be over */
    PAWL_WHY_FIRST,    /* the first part that is over decides */
    PAWL_WHY_SLEEP,
    PAWL_WHY_EVENT,
    PAWL_WHY_WORKER, /* to carry out a job */
    PAWL_WHY_CHILD,  /* the end of another instance */
    PAWL_WHY_DEFERRED,
    PAWL_WHY_RETRY, /* the step's next attempt */
    PAWL_WHY_BEGIN, /* the step is about to begin: a repair put it back */
    PAWL_WHY_FAILED /* the step has failed for good */
};
/* "complete", "terminated", "errored", "running", "waitingForPause", "lost", "queued", "unserved", "paused", "waitingForRepair",
 * "all", "first", "sleeping", "waitingForEvent", "waitingForWorker", "waitingForChild", "waitingForDeferred", "waitingForRetry",
 * "beginning", "failed" */
PAWL_API const char *pawl_why_kind_name(enum pawl_why_kind kind);

/* What would move a run.  In a group the first of these that applies to one of its parts is named. */
enum pawl_verb {
    PAWL_VERB_NONE,       /* only time does */
    PAWL_VERB_SEND_EVENT, /* pawl_send_event() */
    PAWL_VERB_SUCCEED,    /* pawl_deferred_succeed(), by whoever has the token */
    PAWL_VERB_CLAIM,      /* pawl_job_claim() */
    PAWL_VERB_RESUME,
    PAWL_VERB_RETRY,
    PAWL_VERB_RESTART,
    PAWL_VERB_TICK, /* pawl_runner_tick() */
    PAWL_VERB_WHY,  /* ask about that instance */
    PAWL_VERB_WATCH /* it moves by itself */
};
/* "none", "send-event", "succeed", "claim", "resume", "retry", "restart", "tick", "why", "watch" */
PAWL_API const char *pawl_verb_name(enum pawl_verb verb);

struct pawl_why_command {
    enum pawl_verb verb;
    const char *workflow, *id; /* the instance that it is about; NULL for SUCCEED, CLAIM and TICK */
    const char *event_type;    /* SEND_EVENT; else NULL */
    const char *function;      /* CLAIM; else NULL */
};

struct pawl_why_node {
    enum pawl_why_kind kind;
    const char *fork; /* ALL, FIRST: the name of the fork; NULL: several steps wait that are in no fork.  Else NULL */
    int64_t branch;   /* of the fork around it, from 0; -1: it is in none */
    const struct pawl_step_record *step; /* that waits or failed; NULL: it is about the run, or a group */
    int64_t since_ms;                    /* 0: not known */
    int64_t
        until_ms; /* when it is over by itself, or times out; of LOST, when the lease ends.  0: never, or not known */
    const struct pawl_why_node *parts; /* the first; NULL: none */
    const struct pawl_why_node *next;  /* of the same group; NULL: this is the last */
    int64_t more;                      /* steps that wait as well and are not shown; of the topmost node */
    /* What follows is said by pawl_why() alone. */
    int64_t
        runners; /* QUEUED, UNSERVED, LOST, WORKER: how many runners take up the workflow, or the function, by themselves */
    const char *runner_id, *runner_name; /* of the runner that works on it, or on its job; NULL: none is known */
    bool has_phase; /* of a step that waits for a child, or whose child failed: the child exists, and stands so */
    enum pawl_phase phase;
    struct pawl_why_command command;
};

struct pawl_why_answer {
    struct pawl_instance instance;            /* without current_step and parent */
    const struct pawl_step_record *last_step; /* that was recorded, without its result; NULL: none yet */
    bool is_undone; /* what its steps did was undone, or is being: no run can keep them (PAWL_NOT_REPAIRABLE) */
    struct pawl_why_node node;
};

enum { PAWL_WAITS_SHOWN = 20, PAWL_WAITS_SHOWN_MAX = 100 };

/* Why the instance does not move, and what would move it: what its newest run waits for as a tree, with at most
 * PAWL_WAITS_SHOWN_MAX steps.  Of a run that has ended: how, and what is possible now.  A few rows are read, one after the other,
 * while the run may go on. */
PAWL_API pawl_status pawl_why(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                              struct pawl_why_answer *out_why, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Lists ----------------------------------------------------------------------------------------------------- */

/* Instances are listed in the order in which their database numbered them.  That is the order of created_at_ms, but for those
 * that several processes make at once in PostgreSQL, which may differ from it by milliseconds, and for a clock that was set back. */
enum pawl_order { PAWL_NEWEST_FIRST, PAWL_OLDEST_FIRST };

struct pawl_list_options {
    size_t struct_size;
    bool has_status;
    enum pawl_instance_status status;
    int32_t page_size;  /* 1-100; 0: 25 */
    const char *cursor; /* from the page before; NULL: the first page.  Refused with other filters than it came from */
    enum pawl_order order;
    int64_t page_bytes_max; /* of params and outputs: a page ends early with them, but has one instance.  0: 4 MiB */
    const char *version;    /* those whose newest run has it; NULL: any, or none.  Refused together with a status */
};
#define PAWL_LIST_OPTIONS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct pawl_list_options), false, PAWL_ACTIVE, 0, NULL, PAWL_NEWEST_FIRST, 0, NULL                      \
    }

struct pawl_instance_page {
    const struct pawl_instance *instances;
    size_t count;
    const char *cursor; /* NULL: this was the last page */
};
PAWL_API pawl_status pawl_list(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                               const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                               struct pawl_error *error) PAWL_MUST_CHECK;

/* The runs of an instance, each as pawl_get_run() answers it, but without params, parent and current step.  Pages as with
 * pawl_list(), whose status and version must not be given; page_bytes_max bounds the outputs. */
PAWL_API pawl_status pawl_list_runs(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                    const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                                    struct pawl_error *error) PAWL_MUST_CHECK;

/* How many instances have which status.  Each is counted up to PAWL_COUNT_MAX, so that it costs milliseconds where there are
 * millions, too. */
enum { PAWL_INSTANCE_STATUSES = PAWL_ERRORED + 1, PAWL_COUNT_MAX = 100000 };
struct pawl_instance_counts {
    int64_t count[PAWL_INSTANCE_STATUSES]; /* by enum pawl_instance_status */
    bool has_more[PAWL_INSTANCE_STATUSES]; /* than PAWL_COUNT_MAX, which the count then is */
};
/* What pawl_list() would list, all pages of it.  workflow NULL: of all that are registered. */
PAWL_API pawl_status pawl_count(pawl_engine *engine, const char *workflow, struct pawl_instance_counts *out_counts,
                                struct pawl_error *error) PAWL_MUST_CHECK;

struct pawl_history_options {
    size_t struct_size;
    int64_t run_number;    /* 0: the current run */
    int32_t page_size;     /* 1-100; 0: 25; of steps, events and logs each */
    enum pawl_order order; /* of the rows' creation */
    const char *steps_cursor, *events_cursor, *logs_cursor;
    bool include_logs;
    bool has_log_level;
    enum pawl_log_level log_level; /* lines of just this level */
    const char *log_category;      /* NULL: all */
    /* Of results, payloads and log data together.  Pages end early with them, steps before events before logs; but each
     * has one row, if there is one.  0: 4 MiB */
    int64_t page_bytes_max;
};
/* clang-format off */
#define PAWL_HISTORY_OPTIONS_INIT                                                                                      \
    { sizeof(struct pawl_history_options), 0, 0, PAWL_OLDEST_FIRST, NULL, NULL, NULL, false, false, PAWL_LOG_DEBUG,    \
      NULL, 0 }
/* clang-format on */

struct pawl_history {
    int64_t run_number;
    const struct pawl_step_record *steps;
    size_t step_count;
    const char *steps_cursor; /* NULL: no more */
    const struct pawl_event_record *events;
    size_t event_count;
    const char *events_cursor;
    const struct pawl_log_record *logs;
    size_t log_count;
    const char *logs_cursor;
};
/* A run that the instance has not had is PAWL_INVALID. */
PAWL_API pawl_status pawl_get_history(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                      const struct pawl_history_options *options, struct pawl_history *out_history,
                                      struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Controlling --------------------------------------------------------------------------------------------- */

/* At once when nobody holds the run, otherwise at its next step boundary.  Paused already: nothing happens. */
PAWL_API pawl_status pawl_pause(pawl_engine *engine, const char *workflow, const char *id,
                                struct pawl_error *error) PAWL_MUST_CHECK;
/* Of a paused instance, or one that was asked to pause; otherwise nothing happens.  One that waits for repair tries its failed
 * steps again, from their first attempts.  Of a finished one pause, resume, terminate and interrupt say
 * PAWL_INSTANCE_TERMINAL. */
PAWL_API pawl_status pawl_resume(pawl_engine *engine, const char *workflow, const char *id,
                                 struct pawl_error *error) PAWL_MUST_CHECK;
/* A turn under way can commit nothing afterwards.  Attached children are terminated, too. */
PAWL_API pawl_status pawl_terminate(pawl_engine *engine, const char *workflow, const char *id,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
/* A new run from the top, from any state, with the same params; earlier runs stay, with their history and their outcome.
 * Attached children of a run that has not finished
 * are terminated. */
PAWL_API pawl_status pawl_restart(pawl_engine *engine, const char *workflow, const char *id,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* Stops cooperatively: the run's next durable call says PAWL_INTERRUPTED, what its steps did is undone (compensations), and
 * it ends as terminated, with the error INTERRUPTED; attached children are interrupted, too.  A pause is lifted.  A run that
 * makes no durable call any more ends as it would have.  Interrupted already: nothing happens. */
PAWL_API pawl_status pawl_interrupt(pawl_engine *engine, const char *workflow, const char *id,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
/* As pawl_interrupt(), but that it is terminated without an error: a pawl_terminate() that undoes first. */
PAWL_API pawl_status pawl_terminate_with_rollback(pawl_engine *engine, const char *workflow, const char *id,
                                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Repair --------------------------------------------------------------------------------------------------- */

/* Of an errored instance: a new run that goes on where the old one failed.  Everything that had finished is kept, but for
 * the step that failed last, which is tried again from its first attempt.  Children that had not ended stay those of the old
 * run: the new one may await them, and is not followed by them when it is cut off.  Other statuses, and a run whose steps were undone:
 * PAWL_NOT_REPAIRABLE. */
PAWL_API pawl_status pawl_retry(pawl_engine *engine, const char *workflow, const char *id,
                                struct pawl_error *error) PAWL_MUST_CHECK;
/* A new run, from any state, that begins with the named step: what was recorded before it is kept, it and what came after are
 * not.  PAWL_INVALID_STEP_NAME: the run has no such step.  PAWL_NOT_REPAIRABLE: its steps were undone. */
PAWL_API pawl_status pawl_restart_from(pawl_engine *engine, const char *workflow, const char *id, const char *step,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Children ------------------------------------------------------------------------------------------------- */

/* The instances that this one made, in any of its runs, jobs apart; pages as with pawl_list(), whose status and version must
 * not be given. */
PAWL_API pawl_status pawl_list_children(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                        const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Execute -------------------------------------------------------------------------------------------------- */

struct pawl_execute_options {
    size_t struct_size;
    const char *key;         /* 1 to 1024 bytes: who calls again with it gets what the first call began */
    const char *params_json; /* NULL: none; of the first call */
    bool discard;            /* do not wait */
    int64_t timeout_ms;      /* how long to wait; 0: until it has finished */
};
#define PAWL_EXECUTE_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(struct pawl_execute_options), NULL, NULL, false, 0                                                      \
    }
/* Creates the instance whose id follows from workflow and key, or attaches to it, and waits for its end, or for the timeout:
 * then the answer's status says so.  Key NULL: a new one each time.  A workflow that is inline (workflow.h) is carried out in
 * this thread, in memory, to its end; it has no instances, and is not created, listed or polled. */
PAWL_API pawl_status pawl_execute(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                  const struct pawl_execute_options *options, struct pawl_instance *out_instance,
                                  struct pawl_error *error) PAWL_MUST_CHECK;
/* The id that follows from workflow and key, for everything else that can be done with an instance. */
enum { PAWL_EXECUTION_ID_SIZE = 33 };
PAWL_API pawl_status pawl_execution_id(const char *workflow, const char *key, char out_id[PAWL_EXECUTION_ID_SIZE],
                                       struct pawl_error *error) PAWL_MUST_CHECK;
/* What is known of it now.  PAWL_INSTANCE_NOT_FOUND: nobody executed it. */
PAWL_API pawl_status pawl_poll(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *key,
                               struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Deferreds ------------------------------------------------------------------------------------------------ */

/* By token (workflow.h).  The first of these calls wins; the same again is fine, another one is PAWL_DEFERRED_COMPLETED.
 * PAWL_INVALID_TOKEN: it is none, or its run is over.  error_message may be NULL. */
PAWL_API pawl_status pawl_deferred_succeed(pawl_engine *engine, const char *token, const char *result_json,
                                           struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_deferred_fail(pawl_engine *engine, const char *token, const char *error_name,
                                        const char *error_message, struct pawl_error *error) PAWL_MUST_CHECK;
/* Could this be a token?  Looks at its form alone.  False: the error says so, PAWL_INVALID_TOKEN. */
PAWL_API bool pawl_deferred_is_token(const char *token, struct pawl_error *error);
/* Is it one?  Reads the store: for whoever takes much from a client before it settles the deferred.  PAWL_OK also where the
 * deferred was completed, or its run is over.  PAWL_INVALID_TOKEN. */
PAWL_API pawl_status pawl_deferred_check(pawl_engine *engine, const char *token,
                                         struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Jobs, for workers outside -------------------------------------------------------------------------------- */

/* A call that a run made of a function (pawl_call), to be carried out by whoever claims it.  What a job's text fields name is
 * the call's: workflow, instance, run, step and attempt. */
struct pawl_job {
    const char *token; /* of this claim, and a secret: nobody can make it up from another claim's */
    const char *id;
    const char *function;
    const char *data_json; /* NULL: none */
    const char *workflow, *instance_id;
    int64_t run_number;
    const char *step;
    int64_t attempt;         /* from 1 */
    int64_t deadline_ms;     /* after which nothing it says counts; 0: none */
    int64_t leased_until_ms; /* after which another worker may get it, unless the lease is renewed */
};

struct pawl_claim_options {
    size_t struct_size;
    const char *const *functions; /* names, up to 64 */
    size_t function_count;
    int32_t max;      /* 1-100; 0: 1 */
    int64_t lease_ms; /* 1 s to 1 hour; 0: 30 s */
};
#define PAWL_CLAIM_OPTIONS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(struct pawl_claim_options), NULL, 0, 0, 0                                                               \
    }
/* Takes jobs that are due, the oldest of each function first; none: there is nothing now.  Never waits. */
PAWL_API pawl_status pawl_job_claim(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                                    const struct pawl_job **out_jobs, size_t *out_count,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
/* Makes the lease last lease_ms (0: 30 s) from now, but not beyond the deadline.  PAWL_JOB_GONE: stop; it was taken by another
 * worker, outlived its timeout, or its run has moved on.  out_leased_until_ms may be NULL. */
PAWL_API pawl_status pawl_job_heartbeat(pawl_engine *engine, const char *token, int64_t lease_ms,
                                        int64_t *out_leased_until_ms, struct pawl_error *error) PAWL_MUST_CHECK;
/* Each ends the job; the run goes on.  PAWL_JOB_GONE: it does not count.  may_retry false: trying again would not help.
 * error_message may be NULL. */
PAWL_API pawl_status pawl_job_complete(pawl_engine *engine, const char *token, const char *result_json,
                                       struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_job_fail(pawl_engine *engine, const char *token, const char *error_name,
                                   const char *error_message, bool may_retry, struct pawl_error *error) PAWL_MUST_CHECK;

/* No more than `concurrency` jobs of the function at once, over all workers that claim or run through engines which say so
 * (0: no limit).  Before a runner starts. */
PAWL_API pawl_status pawl_limit_function(pawl_engine *engine, const char *function, int32_t concurrency,
                                         struct pawl_error *error) PAWL_MUST_CHECK;

/* Calls `due` when a job may have become due in this process: a hint, called by a committing thread with a lock held, as
 * with pawl_watch_open().  Look every second or so as well. */
typedef struct pawl_job_watch pawl_job_watch;
PAWL_API pawl_status pawl_job_watch_open(pawl_engine *engine, void (*due)(void *user), void *user,
                                         pawl_job_watch **out_watch, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_job_watch_close(pawl_job_watch *watch); /* NULL is fine */

/* ---- Events --------------------------------------------------------------------------------------------------- */

struct pawl_send_event_options {
    size_t struct_size;
    const char *type;         /* 1-100 of [a-zA-Z0-9_-], no leading - */
    const char *payload_json; /* NULL: none */
    const char *event_id;     /* NULL: generated.  Sending an id again to the same run changes nothing */
};
#define PAWL_SEND_EVENT_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(struct pawl_send_event_options), NULL, NULL, NULL                                                       \
    }

/* out_instance (or NULL): the instance as it stands after the event was recorded. */
PAWL_API pawl_status pawl_send_event(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                     const struct pawl_send_event_options *options, struct pawl_instance *out_instance,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Without waiting ----------------------------------------------------------------------------------------- */

/* The calls that write, for a caller that must not block, such as a server with many connections on few threads.
 * Each returns as soon as the change is queued; `answered` is then called exactly once, from inside the call or from
 * another thread, when the change is durable or was refused.  Everything passed in, `error` and the answer included, is
 * borrowed until then and must not be touched.  `answered` must be quick, and must not call into an engine, but for
 * these calls of its own.  None of them waits for a store that is slow: when too many changes wait for it already, `answered` is told
 * PAWL_STORE_UNAVAILABLE, and nothing has happened. */
typedef void pawl_answered_fn(void *user, pawl_status status);

/* As pawl_create(). */
PAWL_API void pawl_create_async(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                const struct pawl_create_options *options, struct pawl_instance *out_instance,
                                struct pawl_error *error, pawl_answered_fn *answered, void *user);
/* As pawl_create_batch(). */
PAWL_API void pawl_create_batch_async(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                      const struct pawl_batch_item *items, size_t count,
                                      struct pawl_instance **out_instances, size_t *out_count, struct pawl_error *error,
                                      pawl_answered_fn *answered, void *user);

enum pawl_control {
    PAWL_CONTROL_PAUSE,
    PAWL_CONTROL_RESUME,
    PAWL_CONTROL_TERMINATE,
    PAWL_CONTROL_RESTART,
    PAWL_CONTROL_INTERRUPT,
    PAWL_CONTROL_ROLLBACK, /* pawl_terminate_with_rollback() */
    PAWL_CONTROL_RETRY
};
/* As pawl_pause(), pawl_resume(), pawl_terminate(), pawl_restart() and so on. */
PAWL_API void pawl_control_async(pawl_engine *engine, enum pawl_control control, const char *workflow, const char *id,
                                 struct pawl_error *error, pawl_answered_fn *answered, void *user);
/* As pawl_restart_from(). */
PAWL_API void pawl_restart_from_async(pawl_engine *engine, const char *workflow, const char *id, const char *step,
                                      struct pawl_error *error, pawl_answered_fn *answered, void *user);

/* How a run stands right behind an event.  Not known for an event that the run had before: nothing has happened then. */
struct pawl_standing {
    bool is_known;
    enum pawl_instance_status status;
    enum pawl_phase phase;
};
/* As pawl_send_event().  out_standing is NULL, or filled before the answer. */
PAWL_API void pawl_send_event_async(pawl_engine *engine, const char *workflow, const char *id,
                                    const struct pawl_send_event_options *options, struct pawl_standing *out_standing,
                                    struct pawl_error *error, pawl_answered_fn *answered, void *user);

/* What became of something, as whoever carried it out says. */
struct pawl_outcome {
    const char *result_json;   /* of a success; NULL: no result */
    const char *error_name;    /* not NULL: it failed */
    const char *error_message; /* of a failure; or NULL */
    bool may_retry;            /* of a job that failed */
};
/* As pawl_deferred_succeed() or pawl_deferred_fail().  out_is_paused (or NULL): the run is paused, so that it goes on only
 * when it is resumed. */
PAWL_API void pawl_deferred_settle_async(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                                         bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered,
                                         void *user);

/* As pawl_job_claim(). */
PAWL_API void pawl_job_claim_async(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                                   const struct pawl_job **out_jobs, size_t *out_count, struct pawl_error *error,
                                   pawl_answered_fn *answered, void *user);
/* As pawl_job_heartbeat(). */
PAWL_API void pawl_job_heartbeat_async(pawl_engine *engine, const char *token, int64_t lease_ms,
                                       int64_t *out_leased_until_ms, struct pawl_error *error,
                                       pawl_answered_fn *answered, void *user);
/* As pawl_job_complete() or pawl_job_fail().  out_is_paused (or NULL): as with a deferred. */
PAWL_API void pawl_job_settle_async(pawl_engine *engine, const char *token, const struct pawl_outcome *outcome,
                                    bool *out_is_paused, struct pawl_error *error, pawl_answered_fn *answered,
                                    void *user);

/* ---- Runners ------------------------------------------------------------------------------------------------- */

/* Every instance is in one of so many shards, by its workflow and its id.  Of the runners that are started, live, and have
 * registered a workflow, each owns some of its shards: what is due there it takes at once, what is due elsewhere only when
 * nobody else has, for a second.  Shards change hands when a runner comes or goes.  They say where a run is likely to be
 * found, and nothing about who may advance it: that is the lease's to say. */
enum { PAWL_SHARD_COUNT = 256 };

struct pawl_served_workflow {
    const char *name;
    int32_t shards; /* of the workflow that the runner owns */
};

struct pawl_runner_info {
    const char *id;   /* a number, unlike any other runner's */
    const char *name; /* see pawl_runner_options */
    bool is_sharing;  /* it is started, and owns shards; one that is ticked takes what is due when it is */
    int64_t started_at_ms;
    int64_t seen_at_ms; /* when it was last known to live */
    const struct pawl_served_workflow *workflows;
    size_t workflow_count;
};
/* Those on the store that live, on all machines, in the order of their numbers.  A runner whose process has died is listed
 * no more within seconds. */
PAWL_API pawl_status pawl_list_runners(pawl_engine *engine, pawl_scope *scope,
                                       const struct pawl_runner_info **out_runners, size_t *out_count,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* Who owns which shard of a workflow: PAWL_SHARD_COUNT ids of runners; NULL where nobody shares the workflow. */
PAWL_API pawl_status pawl_list_shards(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                      const char *const **out_runner_ids, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Following a run ----------------------------------------------------------------------------------------- */

typedef struct pawl_watch pawl_watch;

/* `changed` is called after every commit of this process that touched the instance: a hint to look again.  It is called
 * by the committing thread, with a lock held: it must only note the fact, and call nothing of Pawl's.  What other
 * processes do on the same store is not told; look every second or so as well. */
PAWL_API pawl_status pawl_watch_open(pawl_engine *engine, const char *workflow, const char *id,
                                     void (*changed)(void *user), void *user, pawl_watch **out_watch,
                                     struct pawl_error *error) PAWL_MUST_CHECK;
/* Once this has returned, `changed` is not called any more.  NULL is fine.  Before pawl_close(). */
PAWL_API void pawl_watch_close(pawl_watch *watch);

/* Waits until the instance has finished, or timeout_ms have passed: then the answer's status says so, it is no error.
 * Told by push within this process; otherwise looked at every second. */
PAWL_API pawl_status pawl_wait(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                               int64_t timeout_ms, struct pawl_instance *out_instance,
                               struct pawl_error *error) PAWL_MUST_CHECK;

typedef struct pawl_follow pawl_follow;

enum pawl_change_kind {
    PAWL_CHANGE_STATUS, /* the status, the phase, the run or what it waits for is another one */
    PAWL_CHANGE_STEP,   /* a step was recorded, for the first time or again */
    PAWL_CHANGE_LOG     /* a log line */
};

struct pawl_change {
    enum pawl_change_kind kind;
    const struct pawl_instance *instance; /* STATUS; without current_step */
    const struct pawl_step_record *step;  /* STEP, as it stands now */
    const struct pawl_log_record *log;    /* LOG */
    const char *mark;                     /* following from here gives what comes behind this change */
};

/* Follows an instance, over restarts, too: from the beginning of its current run, or from a mark.  Every log line comes
 * once.  A step comes each time its record has changed; changes that follow one another quickly may come as one.
 * After a resume that puts failed steps back (repair) all steps of the run come once more.  PAWL_INVALID_CURSOR: `since` is not a mark of this instance. */
PAWL_API pawl_status pawl_follow_open(pawl_engine *engine, const char *workflow, const char *id, const char *since,
                                      pawl_follow **out_follow, struct pawl_error *error) PAWL_MUST_CHECK;
/* What is new since the last call, at most some hundred; none: there is nothing new now.  Never waits.  *out_ended: the
 * instance has finished and all of it was told. */
PAWL_API pawl_status pawl_follow_next(pawl_follow *follow, pawl_scope *scope, const struct pawl_change **out_changes,
                                      size_t *out_count, bool *out_ended, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_follow_close(pawl_follow *follow); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
