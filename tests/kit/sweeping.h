/* sweeping.h - what the tests of crash sweeps share: options, a prepared world, and common workflows. */
#ifndef TESTS_SWEEPING_H
#define TESTS_SWEEPING_H

#include "pawl/testing.h"
#include "test.h"

struct sweeping {
    struct pawl_sweep_options options;
    struct pawl_workflow workflows[3];
    struct pawl_sweep_report report;
    struct pawl_error error;
    pawl_scope *scope;
    int count;         /* for the workflows to use; reset by the setup if count_resets */
    bool count_resets; /* each new world begins with a count of 0 */
    int setups, checks, crashes;
    char told[8192]; /* collects what the sweep reports */
};

extern const struct test_setting sweeping_setting;

/* Adds a workflow.  The first one is run. */
void sweeping_add(struct sweeping *sweeping, const char *name, pawl_workflow_fn *run);
void sweeping_sweep(struct sweeping *sweeping);
/* Adds the function as "w" and sweeps it. */
void sweeping_sweep_workflow(struct sweeping *sweeping, pawl_workflow_fn *run);

/* Checks that nothing was found and that the run ends like this: "complete with 7". */
void sweeping_is_clean(const struct sweeping *sweeping, const char *outcome);
/* Checks that the report contains this text. */
void sweeping_says(const struct sweeping *sweeping, const char *wanted);

/* Returns its input, or 7. */
pawl_step_fn sweeping_plain;
/* Does a step, sleeps (1 hour if its input begins with "a", else 2) and does another step. */
pawl_workflow_fn sweeping_branch;
/* One plain step. */
pawl_workflow_fn sweeping_leaf;
/* The result depends on a count of calls in the outside world. */
pawl_workflow_fn sweeping_result_by_calls;
/* The steps depend on that count. */
pawl_workflow_fn sweeping_steps_by_calls;

#endif
