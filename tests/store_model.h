/* store_model.h - a third store, for comparison: the rules of store.h over arrays, as plainly as they can be said.
 *
 * No database, no index, no lock: every rule is one loop over all rows.  It keeps the rows of one sequence of
 * test_store_differential.c at a time, carries out that test's SQL alone, and knows nothing of runners.  It can be spoiled:
 * then one rule is broken, and whoever compares must find out. */
#ifndef TESTS_STORE_MODEL_H
#define TESTS_STORE_MODEL_H

#include "store/store.h"

enum store_model_flaw {
    FLAW_NONE,
    FLAW_PARK_OVERLOOKS_EVENTS,
    FLAW_FENCE_OVERLOOKS_RUN,
    FLAW_RENEW_FOR_ANYBODY,
    FLAW_CLAIM_YOUNGEST_FIRST,
    FLAW_CLAIM_OVERLOOKS_PAUSE,
    FLAW_RESTART_KEEPS_EVENTS,
    FLAW_REFUSAL_LEAVES_TRACES,
    FLAW_SETTLE_OVERLOOKS_EPOCH,
    FLAW_RESTART_KEEPS_WAITING_STEPS,
    FLAW_ANSWER_WAKES_THE_PAUSED,
    FLAW_ANSWER_TWICE,
    FLAW_DEMAND_IS_LOWERED,
    FLAW_REACH_TAKES_THE_HELD,
    FLAW_REACH_OVERLOOKS_RUN,
    FLAW_REACH_LEAVES_JOBS,
    FLAW_END_OVERLOOKS_WORKFLOW,
    FLAW_CLAIM_OVERLOOKS_LEASED,
    FLAW_TIME_GOES_BACK,
    FLAW_COUNT
};

/* Fails the test when memory is out. */
struct pw_store *store_model_new(enum store_model_flaw flaw, struct pawl_clock clock);
/* Forgets all rows. */
void store_model_reset(struct pw_store *store);
/* The user's table: the sum of n, and 1000 for each row. */
int64_t store_model_sum(struct pw_store *store);

#endif
