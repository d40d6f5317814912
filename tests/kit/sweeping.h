/* sweeping.h - what the tests of crash sweeps share: options, a world made ready, and workflows that both need. */
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
    int count;         /* for the workflows to use as they like; the setup resets it when told to */
    bool count_resets; /* as the outside world does */
    int setups, checks, crashes;
    char told[8192]; /* for who is told what is played */
};

extern const struct test_setting sweeping_setting;

/* The first one is the one that is run. */
void sweeping_add(struct sweeping *sweeping, const char *name, pawl_workflow_fn *run);
void sweeping_sweep(struct sweeping *sweeping);
/* Adds it as "w", and sweeps. */
void sweeping_sweep_workflow(struct sweeping *sweeping, pawl_workflow_fn *run);

/* Nothing was found, and the run ends like this: "complete with 7". */
void sweeping_is_clean(const struct sweeping *sweeping, const char *outcome);
/* The report's text has this in it. */
void sweeping_says(const struct sweeping *sweeping, const char *wanted);

/* Gives back its input, or 7. */
pawl_step_fn sweeping_plain;
/* Begins, sleeps (1 hour when its input begins with "a", else 2), ends. */
pawl_workflow_fn sweeping_branch;
/* One plain step. */
pawl_workflow_fn sweeping_leaf;
/* The outside counts how often it was called, and the run believes it. */
pawl_workflow_fn sweeping_result_by_calls;
/* The same, but the path depends on it. */
pawl_workflow_fn sweeping_steps_by_calls;

#endif
