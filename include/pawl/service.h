/* service.h - what a host may ask of the engine: create, read, control, send events, follow.  Needs no HTTP.
 *
 * Every call that writes is one unit of work: it happens wholly or not at all, and is durable when the call returns.
 * Calls may be made from any thread and from step bodies.  Payloads are NUL-terminated JSON text, stored as
 * received; NULL means "none".  Answers live in the scope that the caller passes (value.h) and are valid until it is
 * freed. */
#ifndef PAWL_SERVICE_H
#define PAWL_SERVICE_H

#include "engine.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pawl_instance_status {
    PAWL_ACTIVE,  /* it runs, or will run at once */
    PAWL_WAITING, /* it sleeps, or waits for an event, a retry, a job, a child or a deferred */
    PAWL_PAUSED,
    PAWL_COMPLETE,
    PAWL_TERMINATED,
    PAWL_ERRORED
};
PAWL_API const char *pawl_instance_status_name(enum pawl_instance_status status); /* "active" ... */
/* PAWL_INVALID if there is no such status.  The error names the text. */
PAWL_API pawl_status pawl_instance_status_parse(const char *name, enum pawl_instance_status *out_status,
                                                struct pawl_error *error) PAWL_MUST_CHECK;

/* The status in more detail, for people.  "queued" and "running" refine active.  "waitingForPause" is a busy run
 * that pauses at its next step boundary.  "waitingForRepair" refines paused: a step failed for good, and a resume
 * tries it again. */
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
    PAWL_STEP_CALL,    /* waits for a job that a worker carries out */
    PAWL_STEP_CHILD,   /* waits for the end of another instance */
    PAWL_STEP_DEFERRED /* waits for whoever has the token */
};
/* "do", "sleep", "waitForEvent", "first", "call", "child", "deferred" */
PAWL_API const char *pawl_step_kind_name(enum pawl_step_kind kind);

enum pawl_step_status { PAWL_STEP_WAITING, PAWL_STEP_COMPLETED, PAWL_STEP_ERRORED };
PAWL_API const char *pawl_step_status_name(enum pawl_step_status status); /* "waiting" ... */

/* What became of a step.  More precise than the status, which is "errored" for the last three. */
enum pawl_step_state {
    PAWL_STATE_WAITING, /* the step waits, or is to be tried, for the first time or again */
    PAWL_STATE_COMPLETED,
    PAWL_STATE_FAILED,    /* for good */
    PAWL_STATE_ABANDONED, /* another branch of a race finished first */
    PAWL_STATE_GIVEN_UP   /* the run was told to stop before the step's job was answered */
};
/* "waiting", "completed", "failed", "abandoned", "givenUp" */
PAWL_API const char *pawl_step_state_name(enum pawl_step_state state);

/* The job of a call that still waits.  A job is queued until a worker takes it.  It is queued again when the
 * worker's lease ends. */
struct pawl_step_job {
    const char *function;
    bool is_taken;
    bool is_outside;         /* taken by an external worker (pawl_job_claim()), not by a runner */
    int64_t taken_at_ms;     /* 0: it is queued */
    int64_t deadline_ms;     /* when the attempt times out, counted from the first time it was taken; 0: never taken */
    int64_t leased_until_ms; /* when another worker may take it, unless the lease is renewed; 0: it is queued */
    const char *runner_id;   /* the runner that has taken it (pawl_list_runners()); else NULL */
};

/* What a step waits for, or waited for.  The step's kind says which fields are set. */
struct pawl_waits_for {
    const char *event_type; /* EVENT; else NULL */
    const char *function;   /* CALL; else NULL */
    const char *workflow;   /* CHILD: the awaited instance, which may not exist yet; else NULL */
    /* CHILD: the awaited instance.  CALL: the job, known only to the worker that has it. */
    const char *id;
    int64_t until_ms; /* EVENT, DEFERRED: when the wait times out; 0: never */
};

enum pawl_fork_kind { PAWL_FORK_NONE, PAWL_FORK_ALL, PAWL_FORK_FIRST };
PAWL_API const char *pawl_fork_kind_name(enum pawl_fork_kind kind); /* "none", "all", "first" */

/* Where in the workflow a step was first reached. */
struct pawl_step_place {
    const char *fork;         /* the name of the pawl_all() or pawl_first() around the step; NULL: none */
    enum pawl_fork_kind kind; /* of the fork */
    int64_t branch;           /* of the fork, from 0 */
    /* Counts the durable calls of the branch, or those outside all branches, from 1.  0: unknown, because an earlier version
     * recorded the step. */
    int64_t order;
    /* The branch that the fork itself is in: {"fork", "kind", "branch", "within"}.  NULL: none. */
    const char *within_json;
};

/* A row of history.  Times are milliseconds since 1970; 0 means none.  The steps of a run are listed in the order in
 * which they were recorded, and so are its events and its log lines.  In that order created_at_ms never decreases,
 * whichever process wrote the row, even if a clock was set back.  updated_at_ms is never before created_at_ms.  If
 * branches overlap, a step that began before another one but was recorded after it carries the other step's time. */
struct pawl_step_record {
    int64_t run_number;
    const char *name;        /* also its key */
    const char *description; /* or NULL */
    enum pawl_step_kind kind;
    enum pawl_step_status status;
    enum pawl_step_state state;
    const char *undoes; /* a compensation: the name of the step that it undoes; else NULL */
    struct pawl_step_place place;
    int64_t attempts;
    int64_t attempts_max; /* 0: unlimited, or not a body */
    int64_t timeout_ms;   /* 0: none */
    int64_t next_retry_at_ms;
    int64_t wake_at_ms;
    const struct pawl_waits_for *waits_for; /* NULL: the step waits for nothing that somebody else does */
    const char *result_json;                /* NULL: no result */
    const char *error_name;                 /* or NULL */
    const char *error_message;              /* or NULL */
    int64_t created_at_ms, updated_at_ms;
    const struct pawl_step_job *job; /* of a call that still waits; else NULL.  Not set in changes */
};

struct pawl_event_record {
    const char *id;
    int64_t run_number;
    const char *type;         /* the engine's own types begin with "$" */
    bool is_failure;          /* engine's own: a call, a child or a deferred failed, and the payload is the error */
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
    bool is_replay;        /* an earlier pass of the run had already recorded this line */
    int64_t created_at_ms;
};
PAWL_API const char *pawl_log_level_name(enum pawl_log_level level); /* "debug" ... */

struct pawl_why_node; /* see pawl_why() */

/* What an unfinished run was told to do. */
enum pawl_demand {
    PAWL_DEMAND_NONE,
    PAWL_DEMAND_INTERRUPT, /* pawl_interrupt() */
    PAWL_DEMAND_ROLLBACK,  /* pawl_terminate_with_rollback() */
    PAWL_DEMAND_TERMINATE  /* its parent was terminated or restarted */
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
    const char *error_name;    /* errored; or terminated by an interrupt, or with compensations that failed */
    const char *error_message; /* set whenever error_name is */
    int64_t created_at_ms, updated_at_ms;
    int64_t started_at_ms;   /* of this run; 0: not yet */
    int64_t completed_at_ms; /* of this run; 0: not yet */
    /* The step that it waits for, or else its newest step.  NULL: none.  Not set in lists. */
    const struct pawl_step_record *current_step;
    /* The instance whose step created it.  NULL: none.  Set neither in changes nor in lists, except by
     * pawl_list_children(). */
    const struct pawl_parent *parent;
    bool is_interrupted;     /* it was told to stop and has not finished yet */
    enum pawl_demand demand; /* how it was told to stop */
    /* For an earlier run (pawl_get_run(), pawl_list_runs()): */
    int64_t replaced_at_ms; /* when the next run began; 0: this is the newest run, or the time is unknown */
    /* A Pawl that did not keep outcomes replaced the run: status, output, error and times are unknown. */
    bool is_unrecorded;
    /* The workflow version that was registered in the process that began the run.  NULL: none was, or the run began
     * before the database had schema version 7. */
    const char *version;
    /* What a waiting or paused run waits for: the tree of pawl_why() made from the run's own rows, with at most
     * PAWL_WAITS_SHOWN steps.  Set only by pawl_get_run() for the newest run, and in changes.  NULL: nothing. */
    const struct pawl_why_node *waiting_for;
};

/* ---- Creating ------------------------------------------------------------------------------------------------ */

struct pawl_create_options {
    size_t struct_size;
    const char *id;          /* NULL: generated */
    const char *params_json; /* NULL: none */
    bool return_existing; /* return the instance that has the id instead of failing with INSTANCE_ID_ALREADY_EXISTS */
};
#define PAWL_CREATE_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct pawl_create_options), NULL, NULL, false                                                          \
    }

/* Creates an instance.  Returns once the row is durable; never waits for the run.  options NULL: all defaults. */
PAWL_API pawl_status pawl_create(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                 const struct pawl_create_options *options, struct pawl_instance *out_instance,
                                 struct pawl_error *error) PAWL_MUST_CHECK;

struct pawl_batch_item {
    const char *id;
    const char *params_json; /* NULL: none */
};

/* Creates up to 100 instances in one unit of work.  Ids that exist are skipped and left out of the answer. */
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
/* Lists the registered workflows, sorted by name.  The array belongs to the scope.  Everything else is valid until
 * the engine is closed. */
PAWL_API pawl_status pawl_list_workflows(pawl_engine *engine, pawl_scope *scope,
                                         const struct pawl_workflow_info **out_workflows,
                                         size_t *out_count) PAWL_MUST_CHECK;
/* Finds a registered workflow by name.  Its texts are valid until the engine is closed.  PAWL_WORKFLOW_NOT_FOUND if
 * there is none. */
PAWL_API pawl_status pawl_find_workflow(pawl_engine *engine, const char *name, struct pawl_workflow_info *out_workflow,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* Reads one instance as it is now, with its current step. */
PAWL_API pawl_status pawl_get(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                              struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

/* Reads one run of an instance.  run_number 0: the newest.  PAWL_INVALID: the instance never had that run.
 *
 * For an earlier run this gives the status, output, error and times that the run had when a restart began the next
 * one, and the instance's params, which are the same in all runs.  A run that had not ended by then counts as
 * terminated at the time of the restart, with the error RESTARTED.  An earlier run has no current step;
 * pawl_get_history() reads its steps.  Runs that were replaced before the database had schema version 5 are
 * unrecorded: only their history is left. */
PAWL_API pawl_status pawl_get_run(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                  int64_t run_number, struct pawl_instance *out_instance,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Why it does not move ------------------------------------------------------------------------------------- */

/* Why a run does not move, or what a part of it waits for. */
enum pawl_why_kind {
    PAWL_WHY_COMPLETE,
    PAWL_WHY_TERMINATED,
    PAWL_WHY_ERRORED,  /* parts: the steps that made it fail, or whose compensations failed */
    PAWL_WHY_RUNNING,  /* a runner works on it */
    PAWL_WHY_PAUSING,  /* a runner works on it and will pause it at the next step boundary */
    PAWL_WHY_LOST,     /* the runner that worked on it is gone; others may take it when the lease ends */
    PAWL_WHY_QUEUED,   /* due; runners serve its workflow, but none has taken it yet */
    PAWL_WHY_UNSERVED, /* due, but no started runner serves its workflow; a tick would */
    PAWL_WHY_PAUSED,   /* parts: what it will wait for after a resume */
    PAWL_WHY_REPAIR,   /* paused because steps failed for good; parts: those steps */
    PAWL_WHY_ALL,      /* all parts have to finish */
    PAWL_WHY_FIRST,    /* the first part to finish decides */
    PAWL_WHY_SLEEP,
    PAWL_WHY_EVENT,
    PAWL_WHY_WORKER, /* a worker has to carry out a job */
    PAWL_WHY_CHILD,  /* the end of another instance */
    PAWL_WHY_DEFERRED,
    PAWL_WHY_RETRY, /* the step's next attempt */
    PAWL_WHY_BEGIN, /* the step is about to begin, because a repair reset it */
    PAWL_WHY_FAILED /* the step has failed for good */
};
/* "complete", "terminated", "errored", "running", "waitingForPause", "lost", "queued", "unserved", "paused", "waitingForRepair",
 * "all", "first", "sleeping", "waitingForEvent", "waitingForWorker", "waitingForChild", "waitingForDeferred", "waitingForRetry",
 * "beginning", "failed" */
PAWL_API const char *pawl_why_kind_name(enum pawl_why_kind kind);

/* The command that would move a run.  For a group, this is the first one in this list that applies to one of its
 * parts. */
enum pawl_verb {
    PAWL_VERB_NONE,       /* no command: it only takes time */
    PAWL_VERB_SEND_EVENT, /* pawl_send_event() */
    PAWL_VERB_SUCCEED,    /* pawl_deferred_succeed(), by whoever has the token */
    PAWL_VERB_CLAIM,      /* pawl_job_claim() */
    PAWL_VERB_RESUME,
    PAWL_VERB_RETRY,
    PAWL_VERB_RESTART,
    PAWL_VERB_TICK, /* pawl_runner_tick() */
    PAWL_VERB_WHY,  /* ask pawl_why() about that instance */
    PAWL_VERB_WATCH /* it moves by itself */
};
/* "none", "send-event", "succeed", "claim", "resume", "retry", "restart", "tick", "why", "watch" */
PAWL_API const char *pawl_verb_name(enum pawl_verb verb);

struct pawl_why_command {
    enum pawl_verb verb;
    const char *workflow, *id; /* the target instance; NULL for SUCCEED, CLAIM and TICK */
    const char *event_type;    /* SEND_EVENT; else NULL */
    const char *function;      /* CLAIM; else NULL */
};

struct pawl_why_node {
    enum pawl_why_kind kind;
    const char *fork; /* ALL, FIRST: the name of the fork; NULL: a group of steps outside forks.  Else NULL */
    int64_t branch;   /* of the surrounding fork, from 0; -1: there is none */
    const struct pawl_step_record *step; /* the step that waits or failed; NULL: the node is the run, or a group */
    int64_t since_ms;                    /* 0: unknown */
    /* When it ends by itself or times out; LOST: when the lease ends.  0: never, or unknown. */
    int64_t until_ms;
    const struct pawl_why_node *parts; /* the first part; NULL: none */
    const struct pawl_why_node *next;  /* the next part of the same group; NULL: this is the last */
    int64_t more;                      /* topmost node: how many more steps wait that are not shown */
    /* The fields below are set only by pawl_why(). */
    /* QUEUED, UNSERVED, LOST, WORKER: how many started runners serve the workflow, or the function. */
    int64_t runners;
    const char *runner_id, *runner_name; /* the runner that works on it, or on its job; NULL: none, or unknown */
    bool has_phase; /* the step waits for a child, or its child failed; the child exists and has this phase */
    enum pawl_phase phase;
    struct pawl_why_command command;
};

struct pawl_why_answer {
    struct pawl_instance instance;            /* without current_step and parent */
    const struct pawl_step_record *last_step; /* the newest recorded step, without its result; NULL: none yet */
    bool is_undone; /* its steps were undone, or are being undone; no repair is possible (PAWL_NOT_REPAIRABLE) */
    struct pawl_why_node node;
};

enum { PAWL_WAITS_SHOWN = 20, PAWL_WAITS_SHOWN_MAX = 100 };

/* Explains why an instance does not move and what would move it: a tree of what its newest run waits for, with at
 * most PAWL_WAITS_SHOWN_MAX steps.  For a run that has ended, the answer says how it ended and which commands are
 * possible now.  The rows are read one after the other, so the run may move on in between. */
PAWL_API pawl_status pawl_why(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                              struct pawl_why_answer *out_why, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Lists ----------------------------------------------------------------------------------------------------- */

/* Instances are listed in the order in which the database numbered them.  That is the order of created_at_ms, with
 * two exceptions: in PostgreSQL, instances that several processes create at once may be out of order by
 * milliseconds; and a clock may have been set back. */
enum pawl_order { PAWL_NEWEST_FIRST, PAWL_OLDEST_FIRST };

struct pawl_list_options {
    size_t struct_size;
    bool has_status;
    enum pawl_instance_status status;
    int32_t page_size;  /* 1-100; 0: 25 */
    const char *cursor; /* from the previous page; NULL: the first page.  Refused if the filters have changed */
    enum pawl_order order;
    /* Bounds the params and outputs of a page.  The page ends early, but has at least one instance.  0: 4 MiB. */
    int64_t page_bytes_max;
    /* Lists the instances whose newest run has this version.  NULL: no filter.  Refused together with a status. */
    const char *version;
};
#define PAWL_LIST_OPTIONS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct pawl_list_options), false, PAWL_ACTIVE, 0, NULL, PAWL_NEWEST_FIRST, 0, NULL                      \
    }

struct pawl_instance_page {
    const struct pawl_instance *instances;
    size_t count;
    const char *cursor; /* NULL: this is the last page */
};
PAWL_API pawl_status pawl_list(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                               const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                               struct pawl_error *error) PAWL_MUST_CHECK;

/* Lists the runs of an instance, each as pawl_get_run() gives it, but without params, parent and current step.
 * Pages as pawl_list() does.  status and version must not be given; page_bytes_max bounds the outputs. */
PAWL_API pawl_status pawl_list_runs(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                    const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                                    struct pawl_error *error) PAWL_MUST_CHECK;

/* How many instances have each status.  Counting stops at PAWL_COUNT_MAX, so that it takes milliseconds even among
 * millions. */
enum { PAWL_INSTANCE_STATUSES = PAWL_ERRORED + 1, PAWL_COUNT_MAX = 100000 };
struct pawl_instance_counts {
    int64_t count[PAWL_INSTANCE_STATUSES]; /* by enum pawl_instance_status */
    bool has_more[PAWL_INSTANCE_STATUSES]; /* there are more than PAWL_COUNT_MAX, which is the count given */
};
/* Counts what pawl_list() would list on all its pages.  workflow NULL: all registered workflows. */
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
    enum pawl_log_level log_level; /* only lines of exactly this level */
    const char *log_category;      /* NULL: all */
    /* Bounds results, payloads and log data together.  Steps use it first, then events, then logs.  Pages end early,
     * but each one that has rows has at least one.  0: 4 MiB. */
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
/* PAWL_INVALID: the instance never had that run. */
PAWL_API pawl_status pawl_get_history(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                      const struct pawl_history_options *options, struct pawl_history *out_history,
                                      struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Controlling --------------------------------------------------------------------------------------------- */

/* Pauses the run: at once if no runner works on it, otherwise at its next step boundary.  Does nothing if it is
 * paused already.  Like pawl_resume(), pawl_terminate() and pawl_interrupt(), it answers PAWL_INSTANCE_TERMINAL for
 * a finished instance. */
PAWL_API pawl_status pawl_pause(pawl_engine *engine, const char *workflow, const char *id,
                                struct pawl_error *error) PAWL_MUST_CHECK;
/* Resumes a paused instance, or cancels a pause that was asked for.  Otherwise does nothing.  An instance that waits
 * for repair tries its failed steps again, from their first attempts. */
PAWL_API pawl_status pawl_resume(pawl_engine *engine, const char *workflow, const char *id,
                                 struct pawl_error *error) PAWL_MUST_CHECK;
/* Ends the run at once.  A turn under way can commit nothing afterwards.  Attached children are terminated with it. */
PAWL_API pawl_status pawl_terminate(pawl_engine *engine, const char *workflow, const char *id,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
/* Begins a new run from the top with the same params, whatever the state.  Earlier runs keep their history and their
 * outcome.  If the old run has not finished, its attached children are terminated. */
PAWL_API pawl_status pawl_restart(pawl_engine *engine, const char *workflow, const char *id,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* Stops the run cooperatively.  Its next durable call returns PAWL_INTERRUPTED, its completed steps are undone
 * (compensations), and it ends as terminated with the error INTERRUPTED.  Attached children are interrupted with it.
 * A paused run is resumed for this.  A run that makes no more durable calls ends as it would have.  Does nothing if
 * the run is interrupted already. */
PAWL_API pawl_status pawl_interrupt(pawl_engine *engine, const char *workflow, const char *id,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
/* Like pawl_interrupt(), but the run ends as terminated without an error: a pawl_terminate() that undoes the steps
 * first. */
PAWL_API pawl_status pawl_terminate_with_rollback(pawl_engine *engine, const char *workflow, const char *id,
                                                  struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Repair --------------------------------------------------------------------------------------------------- */

/* Begins a new run of an errored instance that goes on where the old run failed.  Everything that had finished is
 * kept.  The step that failed last is tried again from its first attempt.  Unfinished children still belong to the
 * old run.  The new run may await them, but ending it does not end them.  PAWL_NOT_REPAIRABLE for any other status,
 * and if the run's steps were undone. */
PAWL_API pawl_status pawl_retry(pawl_engine *engine, const char *workflow, const char *id,
                                struct pawl_error *error) PAWL_MUST_CHECK;
/* Begins a new run at the named step, whatever the state.  Steps recorded before it are kept; it and the later ones
 * are not.  PAWL_INVALID_STEP_NAME: the run has no such step.  PAWL_NOT_REPAIRABLE: its steps were undone. */
PAWL_API pawl_status pawl_restart_from(pawl_engine *engine, const char *workflow, const char *id, const char *step,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Children ------------------------------------------------------------------------------------------------- */

/* Lists the instances that this one created in any of its runs, except jobs.  Pages as pawl_list() does; status and
 * version must not be given. */
PAWL_API pawl_status pawl_list_children(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                        const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Execute -------------------------------------------------------------------------------------------------- */

struct pawl_execute_options {
    size_t struct_size;
    const char *key;         /* 1 to 1024 bytes: calls with the same key share one instance.  NULL: a new one */
    const char *params_json; /* NULL: none.  Only those of the first call count */
    bool discard;            /* do not wait */
    int64_t timeout_ms;      /* how long to wait; 0: until it has finished */
};
#define PAWL_EXECUTE_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(struct pawl_execute_options), NULL, NULL, false, 0                                                      \
    }
/* Creates the instance whose id is derived from workflow and key, or attaches to it if it exists.  Waits until it
 * has finished or the timeout has passed; the answer's status tells which.  key NULL: a new instance each time.  An
 * inline workflow (workflow.h) runs to its end in this thread, in memory.  It has no instances: it cannot be
 * created, listed or polled. */
PAWL_API pawl_status pawl_execute(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                  const struct pawl_execute_options *options, struct pawl_instance *out_instance,
                                  struct pawl_error *error) PAWL_MUST_CHECK;
/* The id that is derived from workflow and key, for use with the other calls. */
enum { PAWL_EXECUTION_ID_SIZE = 33 };
PAWL_API pawl_status pawl_execution_id(const char *workflow, const char *key, char out_id[PAWL_EXECUTION_ID_SIZE],
                                       struct pawl_error *error) PAWL_MUST_CHECK;
/* Reads the instance of that key as it is now.  PAWL_INSTANCE_NOT_FOUND: it was never executed. */
PAWL_API pawl_status pawl_poll(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *key,
                               struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Deferreds ------------------------------------------------------------------------------------------------ */

/* Completes a deferred, which its token names (workflow.h).  The first call wins.  Repeating it with the same
 * outcome is fine; another outcome is PAWL_DEFERRED_COMPLETED.  PAWL_INVALID_TOKEN: not a token, or its run is over.
 * error_message may be NULL. */
PAWL_API pawl_status pawl_deferred_succeed(pawl_engine *engine, const char *token, const char *result_json,
                                           struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_deferred_fail(pawl_engine *engine, const char *token, const char *error_name,
                                        const char *error_message, struct pawl_error *error) PAWL_MUST_CHECK;
/* Checks only the form of a token.  If it cannot be one, the result is false and the error is PAWL_INVALID_TOKEN. */
PAWL_API bool pawl_deferred_is_token(const char *token, struct pawl_error *error);
/* Checks a token against the store, so that a server can refuse a bad one before it receives a large body.  PAWL_OK
 * also if the deferred was completed or its run is over.  PAWL_INVALID_TOKEN otherwise. */
PAWL_API pawl_status pawl_deferred_check(pawl_engine *engine, const char *token,
                                         struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Jobs, for external workers -------------------------------------------------------------------------------- */

/* One attempt at a call of a function (pawl_call), to be carried out by the worker that claims it.  workflow,
 * instance_id, run_number, step and attempt are those of the call. */
struct pawl_job {
    const char *token; /* of this claim.  A secret, which cannot be derived from the token of another claim */
    const char *id;
    const char *function;
    const char *data_json; /* NULL: none */
    const char *workflow, *instance_id;
    int64_t run_number;
    const char *step;
    int64_t attempt;         /* from 1 */
    int64_t deadline_ms;     /* after this its answer no longer counts; 0: none */
    int64_t leased_until_ms; /* after this another worker may get it, unless the lease is renewed */
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
/* Claims due jobs, the oldest of each function first.  *out_count 0: none is due now.  Never waits for jobs to
 * become due. */
PAWL_API pawl_status pawl_job_claim(pawl_engine *engine, pawl_scope *scope, const struct pawl_claim_options *options,
                                    const struct pawl_job **out_jobs, size_t *out_count,
                                    struct pawl_error *error) PAWL_MUST_CHECK;
/* Extends the lease to lease_ms (0: 30 s) from now, but not past the deadline.  PAWL_JOB_GONE: stop working, because
 * another worker has taken the job, it timed out, or its run has moved on.  out_leased_until_ms may be NULL. */
PAWL_API pawl_status pawl_job_heartbeat(pawl_engine *engine, const char *token, int64_t lease_ms,
                                        int64_t *out_leased_until_ms, struct pawl_error *error) PAWL_MUST_CHECK;
/* Ends the job, and the run goes on.  PAWL_JOB_GONE: the answer does not count.  may_retry false: another attempt
 * would not help.  error_message may be NULL. */
PAWL_API pawl_status pawl_job_complete(pawl_engine *engine, const char *token, const char *result_json,
                                       struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_job_fail(pawl_engine *engine, const char *token, const char *error_name,
                                   const char *error_message, bool may_retry, struct pawl_error *error) PAWL_MUST_CHECK;

/* Limits how many jobs of the function run at once, over all workers that claim or run through engines with this
 * limit.  0: no limit.  Call it before a runner starts. */
PAWL_API pawl_status pawl_limit_function(pawl_engine *engine, const char *function, int32_t concurrency,
                                         struct pawl_error *error) PAWL_MUST_CHECK;

/* Calls `due` when a job may have become due in this process.  It is a hint: jobs of other processes are not
 * announced, so look every second or so as well.  As with pawl_watch_open(), a committing thread calls it with a
 * lock held. */
typedef struct pawl_job_watch pawl_job_watch;
PAWL_API pawl_status pawl_job_watch_open(pawl_engine *engine, void (*due)(void *user), void *user,
                                         pawl_job_watch **out_watch, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_job_watch_close(pawl_job_watch *watch); /* NULL is fine */

/* ---- Events --------------------------------------------------------------------------------------------------- */

struct pawl_send_event_options {
    size_t struct_size;
    const char *type;         /* 1-100 of [a-zA-Z0-9_-], no leading - */
    const char *payload_json; /* NULL: none */
    const char *event_id;     /* NULL: generated.  Sending the same id to the same run again changes nothing */
};
#define PAWL_SEND_EVENT_OPTIONS_INIT                                                                                   \
    {                                                                                                                  \
        sizeof(struct pawl_send_event_options), NULL, NULL, NULL                                                       \
    }

/* Sends an event to the instance's current run.  out_instance (or NULL): the instance after the event was recorded. */
PAWL_API pawl_status pawl_send_event(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                     const struct pawl_send_event_options *options, struct pawl_instance *out_instance,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Without waiting ----------------------------------------------------------------------------------------- */

/* The writing calls again, for callers that must not block, such as a server with many connections on few threads.
 * Each returns as soon as the change is queued.  `answered` is then called exactly once, from inside the call or
 * from another thread, when the change is durable or was refused.  Everything passed in, including `error` and the
 * answer, is borrowed until then and must not be touched.  `answered` must be quick.  It must not call into an
 * engine, except for these asynchronous calls.
 *
 * None of these calls waits for a slow store.  If too many changes are queued already, `answered` gets
 * PAWL_STORE_UNAVAILABLE and nothing has happened. */
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

/* The state of a run right after an event.  Unknown if the run already had the event, because nothing changed then. */
struct pawl_standing {
    bool is_known;
    enum pawl_instance_status status;
    enum pawl_phase phase;
};
/* As pawl_send_event().  out_standing may be NULL; it is filled in before `answered` is called. */
PAWL_API void pawl_send_event_async(pawl_engine *engine, const char *workflow, const char *id,
                                    const struct pawl_send_event_options *options, struct pawl_standing *out_standing,
                                    struct pawl_error *error, pawl_answered_fn *answered, void *user);

/* The outcome that a worker, or the holder of a token, reports. */
struct pawl_outcome {
    const char *result_json;   /* success: NULL is "no result" */
    const char *error_name;    /* not NULL: it failed */
    const char *error_message; /* failure: or NULL */
    bool may_retry;            /* failure of a job: another attempt may help */
};
/* As pawl_deferred_succeed() or pawl_deferred_fail().  out_is_paused (or NULL): the run is paused and goes on only
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

/* Every instance belongs to one shard, which its workflow and id determine.  For each workflow, the started and live
 * runners that have registered it divide the shards among themselves.  A runner takes due work of its own shards at
 * once.  It takes due work of other shards only after nobody has taken it for a second.  Shards change owners when a
 * runner comes or goes.  They only say where a run is likely to be carried on.  Who may carry it on is decided by
 * the lease. */
enum { PAWL_SHARD_COUNT = 256 };

struct pawl_served_workflow {
    const char *name;
    int32_t shards; /* how many shards of the workflow the runner owns */
};

struct pawl_runner_info {
    const char *id;   /* a number, unique among all runners */
    const char *name; /* see pawl_runner_options */
    bool is_sharing;  /* it is started and owns shards; a ticked runner owns none and takes whatever is due */
    int64_t started_at_ms;
    int64_t seen_at_ms; /* when it last showed that it is alive */
    const struct pawl_served_workflow *workflows;
    size_t workflow_count;
};
/* Lists the live runners on the store, of all machines, ordered by number.  A runner whose process has died
 * disappears within seconds. */
PAWL_API pawl_status pawl_list_runners(pawl_engine *engine, pawl_scope *scope,
                                       const struct pawl_runner_info **out_runners, size_t *out_count,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* Which runner owns each shard of a workflow: an array of PAWL_SHARD_COUNT runner ids, NULL where no started runner
 * serves the workflow. */
PAWL_API pawl_status pawl_list_shards(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                      const char *const **out_runner_ids, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Following a run ----------------------------------------------------------------------------------------- */

typedef struct pawl_watch pawl_watch;

/* Calls `changed` after every commit of this process that touched the instance: a hint to look again.  The
 * committing thread calls it with a lock held, so it must only note the fact and must not call Pawl.  Commits of
 * other processes are not announced, so look every second or so as well. */
PAWL_API pawl_status pawl_watch_open(pawl_engine *engine, const char *workflow, const char *id,
                                     void (*changed)(void *user), void *user, pawl_watch **out_watch,
                                     struct pawl_error *error) PAWL_MUST_CHECK;
/* After this returns, `changed` is not called any more.  NULL is fine.  Call it before pawl_close(). */
PAWL_API void pawl_watch_close(pawl_watch *watch);

/* Waits until the instance has finished or timeout_ms have passed.  The answer's status tells which; a timeout is no
 * error.  Commits of this process end the wait at once.  Those of other processes are noticed within a second. */
PAWL_API pawl_status pawl_wait(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                               int64_t timeout_ms, struct pawl_instance *out_instance,
                               struct pawl_error *error) PAWL_MUST_CHECK;

typedef struct pawl_follow pawl_follow;

enum pawl_change_kind {
    PAWL_CHANGE_STATUS, /* the status, the phase, the run, or what it waits for has changed */
    PAWL_CHANGE_STEP,   /* a step was recorded, for the first time or again */
    PAWL_CHANGE_LOG     /* a log line */
};

struct pawl_change {
    enum pawl_change_kind kind;
    const struct pawl_instance *instance; /* STATUS: the instance, without current_step */
    const struct pawl_step_record *step;  /* STEP: the step as it is now */
    const struct pawl_log_record *log;    /* LOG: the line */
    const char *mark;                     /* pass it as `since` to get what comes after this change */
};

/* Follows an instance, across restarts, from the beginning of its current run or from a mark.  Every log line comes
 * once.  A step comes each time its record has changed; changes in quick succession may come as one.  After a resume
 * that resets failed steps (repair), all steps of the run come once more.  PAWL_INVALID_CURSOR: `since` is not a
 * mark of this instance. */
PAWL_API pawl_status pawl_follow_open(pawl_engine *engine, const char *workflow, const char *id, const char *since,
                                      pawl_follow **out_follow, struct pawl_error *error) PAWL_MUST_CHECK;
/* Gives what is new since the last call, at most a few hundred changes.  *out_count 0: nothing is new.  Never waits.
 * *out_ended: the instance has finished and all changes were given. */
PAWL_API pawl_status pawl_follow_next(pawl_follow *follow, pawl_scope *scope, const struct pawl_change **out_changes,
                                      size_t *out_count, bool *out_ended, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_follow_close(pawl_follow *follow); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
