/* run.h (internal) - what the authoring calls keep: the run or branch, and the step under way. */
#ifndef PW_WORKFLOW_RUN_H
#define PW_WORKFLOW_RUN_H

#include "pawl/workflow.h"

/* A registered workflow, as the turn function gets it back. */
struct pw_registration {
    pawl_workflow_fn *run;
    struct pawl_policy policy; /* of its steps, unless they say otherwise */
    void *user;
};

struct pawl_run {
    pawl_turn *turn;
    pawl_lane *lane;
    pawl_scope *scope; /* of the whole pass, branches included */
    const struct pw_registration *registration;
    struct pawl_turn_info info;
    /* What the last failing call answered, and with what.  PAWL_OK: a later call succeeded, or nothing failed yet. */
    pawl_status failed;
    struct pawl_failure failure;
};

struct pawl_step {
    pawl_run *run;
    pawl_attempt *attempt;
    pawl_scope *scope;
    pawl_status failed; /* by pawl_fail or pawl_fail_for_good */
    struct pawl_failure failure;
};

/* Remembers the failure and returns the status.  Texts are borrowed for the turn. */
pawl_status pw_run_failed(pawl_run *run, pawl_status status, const char *name, const char *message);
/* The same for an error that the engine returned: its name, and the lane's text. */
pawl_status pw_run_refused(pawl_run *run, pawl_status status);

/* Options over a policy.  The error names the text that is wrong. */
pawl_status pw_policy_merge(struct pawl_policy *policy, const struct pawl_step_options *options,
                            struct pawl_error *error) PAWL_MUST_CHECK;

/* What a step does: a function, or a program. */
struct pw_body {
    pawl_step_fn *function;
    const struct pawl_process *process; /* instead, or NULL */
    const char *name;                   /* the step's */
};

/* Runs a step's body and hands its outcome to the engine. */
pawl_status pw_step_run(pawl_run *run, pawl_attempt *attempt, const struct pw_body *body,
                        const pawl_value *input) PAWL_MUST_CHECK;
/* process.c: as a pawl_step_fn. */
pawl_status pw_process_body(pawl_step *step, const struct pw_body *body, const pawl_value *input,
                            pawl_value **out_result) PAWL_MUST_CHECK;
/* The step, recalled or carried out. */
pawl_status pw_run_do(pawl_run *run, const struct pawl_step_options *options, const struct pw_body *body,
                      const pawl_value *input, pawl_value **out_result) PAWL_MUST_CHECK;

#endif
