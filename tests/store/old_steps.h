/* old_steps.h - steps as they were recorded before a step's state, what it undoes and what it waits for had columns: for tests
 * of migrations, in both databases. */
#ifndef OLD_STEPS_H
#define OLD_STEPS_H

#include "store/store.h"

/* SQL that adds them to run 1 of instance 1, in any version of the schema up to the fifth. */
extern const char old_steps_sql[];
/* They have got what their texts said. */
void assert_old_steps(struct pw_store *store);

#endif
