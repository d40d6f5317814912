/* bar.h - bars a thread from calling the store inside a completion callback and under a turn's lock.
 *
 * A store call may wait for the thread that commits.  That thread runs the completion callbacks, and these take
 * turns' locks.  So a store call in either place could wait for itself.  Both places bar the store while they last.
 * Calls to the store assert that it is not barred (pw_ops() in store.h), and work that needs the store is deferred
 * (pw_commit_later() in commit.h). */
#ifndef PW_BASE_BAR_H
#define PW_BASE_BAR_H

#include <stdbool.h>

/* For the calling thread only.  Bars may be nested; each must be lifted once. */
void pw_bar_store(void);
void pw_unbar_store(void);
bool pw_store_is_barred(void);
/* In builds with tests, aborts if the store is barred. */
void pw_assert_store_is_free(void);

#endif
