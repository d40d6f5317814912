/* run.h (internal) - the structs of the authoring calls: the run or branch, the running step, and what must be
 * undone. */
#ifndef PW_WORKFLOW_RUN_H
#define PW_WORKFLOW_RUN_H

#include "pawl/workflow.h"
#include "workflow/shelf.h"

/* A completed step with a compensation.  Lives in the pass's scope. */
struct pw_undo {
    const char *name; /* the name of the compensating step */
    pawl_step_fn *undo;
    struct pawl_policy policy;
    pawl_value *input;
    int64_t finished_at_ms, order; /* when the completed step finished, and its number */
    struct pw_undo *next;
};

struct pawl_run {
    pawl_turn *turn;
    pawl_lane *lane;
    pawl_scope *scope; /* the scope of the whole pass, branches included */
    const struct pw_shelf *shelf;
    const struct pw_registration *registration; /* NULL: this is a job */
    void *user;
    struct pawl_turn_info info;
    struct pw_undo *_Atomic *undos; /* the undo list of the pass, or of the branch until it is joined */
    bool parked;                    /* it waits for repair; sticky */
    /* The status of the last failed call, and its failure.  PAWL_OK: a later call succeeded, or none failed yet. */
    pawl_status failed;
    struct pawl_failure failure;
};

struct pawl_step {
    pawl_run *run;
    const char *name;
    pawl_attempt *attempt; /* NULL: a bare call */
    int64_t number;        /* the number of the attempt */
    bool records;          /* its completion is recorded, together with what it registers */
    void *user;
    pawl_scope *scope;
    pawl_status failed; /* by pawl_fail or pawl_fail_for_good */
    struct pawl_failure failure;
};

/* The number of texts before the NULL that ends the list.  NULL is an empty list. */
static inline size_t pw_count_texts(const char *const *texts)
{
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL)
        count++;
    return count;
}

/* ---- run.c ------------------------------------------------------------------------------------------------------- */

/* True if the pass ends here and the run goes on later: such a status says nothing about how the run ends. */
static inline bool pw_is_undecided(pawl_status status)
{
    return status == PAWL_SUSPENDED || status == PAWL_NOMEM;
}

/* Begins the run of a pass: needs run->turn, fills in what follows from it, and reads the params.  False when memory
 * runs out.  In both cases the caller frees run->scope. */
bool pw_run_begin(pawl_run *run, pawl_value **out_params);

/* The failure that goes with the status: `said` if it belongs to this status, and otherwise the status's own name
 * and text. */
static inline struct pawl_failure pw_failure_of(pawl_status status, pawl_status said_with, struct pawl_failure said)
{
    struct pawl_failure plain = { pawl_status_name(status), pawl_status_text(status) };
    return status == said_with ? said : plain;
}

/* Remembers the failure and returns the status.  Texts are borrowed for the turn. */
pawl_status pw_run_failed(pawl_run *run, pawl_status status, const char *name, const char *message);
/* The same for misuse, with a text that lives as long as the library. */
pawl_status pw_run_misused(pawl_run *run, pawl_status status, const char *text);
/* Passes on what the engine returned.  Remembers an error as the failure, with the lane's text. */
pawl_status pw_run_relay(pawl_run *run, pawl_status status) PAWL_MUST_CHECK;
/* Formats a failure into the scope.  A NULL name means "FAILED".  False when memory runs out. */
PAWL_PRINTF(3, 0)
bool pw_failure_format(pawl_scope *scope, const char *name, const char *format, va_list arguments,
                       struct pawl_failure *out_failure);

/* True once the run is parked or suspended: it makes no more durable calls in this pass. */
bool pw_run_is_stopped(const pawl_run *run);
/* PAWL_OK if the workflow may make a durable call with this name. */
pawl_status pw_run_ready(pawl_run *run, const char *name) PAWL_MUST_CHECK;

/* Applies options to a policy.  The error names the text that is wrong. */
pawl_status pw_policy_merge(struct pawl_policy *policy, const struct pawl_step_options *options,
                            struct pawl_error *error) PAWL_MUST_CHECK;
/* Reads a duration that the workflow gave.  `what` says what it is for. */
pawl_status pw_run_duration(pawl_run *run, const char *text, const char *what, int64_t *out_ms) PAWL_MUST_CHECK;

/* What a step's options amount to. */
struct pw_plan {
    struct pawl_policy policy;
    const struct pawl_compensation *compensate; /* or NULL */
    struct pawl_policy undo_policy;
};
pawl_status pw_run_plan(pawl_run *run, const struct pawl_step_options *options,
                        struct pw_plan *out_plan) PAWL_MUST_CHECK;

/* What a step does: it calls a function, runs a program, or creates another instance. */
struct pw_body {
    const char *name; /* the step's */
    pawl_status (*run)(pawl_step *step, const struct pw_body *body, const pawl_value *input, pawl_value **out_result);
    /* For run(), one of these: */
    pawl_step_fn *function;
    const struct pawl_process *process;
    const struct pw_child *child;
};

/* A body that calls the function.  If the function is NULL, the body has no run(). */
struct pw_body pw_body_of(const char *name, pawl_step_fn *function);

/* Recalls the step, or runs its body, until it is DONE or FAILED. */
pawl_status pw_run_step(pawl_run *run, const struct pawl_policy *policy, const struct pw_body *body,
                        const pawl_value *input, struct pawl_answer *out_answer) PAWL_MUST_CHECK;
/* What the call of a finished step returns: its value, its failure, or that the run is parked.  plan NULL: there is
 * nothing to undo. */
pawl_status pw_run_answer(pawl_run *run, const char *name, const struct pw_plan *plan, const pawl_value *input,
                          const struct pawl_answer *answer, pawl_value **out_result) PAWL_MUST_CHECK;
/* The same for a wait for an event or a deferred, whose timeout has its own status: PAWL_WAIT_FOR_EVENT_TIMEOUT. */
pawl_status pw_run_waited(pawl_run *run, const struct pawl_answer *answer, pawl_value **out_result) PAWL_MUST_CHECK;
/* Writes a log line of the attempt, or of the run if the attempt is NULL. */
PAWL_PRINTF(7, 0)
pawl_status pw_run_log(pawl_run *run, pawl_attempt *attempt, pawl_scope *scope, enum pawl_log_level level,
                       const char *category, const pawl_value *data, const char *format,
                       va_list arguments) PAWL_MUST_CHECK;
/* A whole step, from its options to its result. */
pawl_status pw_run_do(pawl_run *run, const struct pawl_step_options *options, const struct pw_body *body,
                      const pawl_value *input, pawl_value **out_result) PAWL_MUST_CHECK;

/* ---- step.c ------------------------------------------------------------------------------------------------------ */

/* How a body or a pass ended.  Texts belong to the step's or the run's scope. */
struct pw_verdict {
    pawl_status status;
    pawl_value *value;  /* PAWL_OK; NULL: no result */
    const char *result; /* the same as text */
    size_t result_size;
    struct pawl_failure failure; /* any other status */
    bool may_retry;
};

/* Runs the body with the middleware around it. */
void pw_step_call(pawl_step *step, const struct pw_body *body, const pawl_value *input, struct pw_verdict *out_outcome);
/* Runs a step's body and hands its outcome to the engine. */
pawl_status pw_step_run(pawl_run *run, pawl_attempt *attempt, const struct pw_body *body,
                        const pawl_value *input) PAWL_MUST_CHECK;

/* ---- undo.c ------------------------------------------------------------------------------------------------------ */

/* "prefix: name", shortened to fit a step name.  NULL when memory runs out. */
const char *pw_derived_name(pawl_run *run, const char *prefix, const char *name);
/* The step has completed: notes that it must be undone if the run fails. */
pawl_status pw_undo_note(pawl_run *run, const char *name, const struct pw_plan *plan, const pawl_value *input,
                         const struct pawl_answer *answer) PAWL_MUST_CHECK;
/* A branch was joined: the run takes over what the branch has to undo. */
void pw_undo_adopt(pawl_run *run, struct pw_undo *_Atomic *branch);
/* Undoes what was noted.  PAWL_OK: everything was undone.  PAWL_COMPENSATION_FAILED: everything that could be, and
 * run->failure says what could not.  PAWL_SUSPENDED, PAWL_NOMEM: not finished yet. */
pawl_status pw_undo_all(pawl_run *run) PAWL_MUST_CHECK;

/* ---- wrap.c ------------------------------------------------------------------------------------------------------ */

/* Middleware around the workflow function, and around a body. */
pawl_status pw_wrap_run(pawl_run *run, const pawl_value *params, pawl_value **out_result) PAWL_MUST_CHECK;
pawl_status pw_wrap_step(pawl_step *step, const struct pw_body *body, const pawl_value *input,
                         pawl_value **out_result) PAWL_MUST_CHECK;

#endif
