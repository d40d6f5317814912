/* store_model.h - the rules of store.h over arrays, as plainly as they can be said, for comparison.
 *
 * Stores that share the core agree on a wrong rule.  The model shares nothing with it: it is written apart, and every rule is
 * one loop over all rows, with no index and no lock.  It keeps the rows of one sequence of test_store_differential.c at a
 * time, carries out that test's SQL alone, and knows nothing of runners and of pages. */
#ifndef TESTS_STORE_MODEL_H
#define TESTS_STORE_MODEL_H

#include "store/store.h"

/* Fails the test when memory is out. */
struct pw_store *store_model_new(struct pawl_clock clock);
/* Forgets all rows. */
void store_model_reset(struct pw_store *store);
/* The user's table: the sum of n, and 1000 for each row. */
int64_t store_model_sum(struct pw_store *store);

#endif
