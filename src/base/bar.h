/* bar.h - where a thread may not call the store: inside a completion callback, and under a turn's lock.
 *
 * A store call may wait for the thread that commits.  That thread runs the completion callbacks, and these take turns'
 * locks.  So a store call in either place can wait for itself.  Each place bars the store while it lasts; whoever calls the
 * store asserts that it is not barred (pw_ops() in store.h), and work that needs the store is put off until it is not
 * (pw_commit_later() in commit.h). */
#ifndef PW_BASE_BAR_H
#define PW_BASE_BAR_H

#include <stdbool.h>

/* For the calling thread only.  Bars may be nested; each is lifted once. */
void pw_bar_store(void);
void pw_unbar_store(void);
bool pw_store_is_barred(void);
/* Aborts when it is barred, in builds with tests. */
void pw_assert_store_is_free(void);

#endif
