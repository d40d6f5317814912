/* chores.h (internal to commit/) - store calls that a callback had to leave for later; see pw_commit_later() in
 * commit.h. */
#ifndef PW_COMMIT_CHORES_H
#define PW_COMMIT_CHORES_H

#include <pthread.h>
#include <stdatomic.h>

#include "commit/commit.h"

struct pw_chores {
    pthread_mutex_t lock;
    pthread_cond_t wake;           /* the serving thread waits here */
    struct pw_chore *first, **end; /* end: where the next chore is linked */
    pthread_t thread;              /* the serving thread, while there is one */
    atomic_bool served;            /* there is a serving thread, or a test that plays it */
    bool draining;                 /* a thread is in pw_chores_drain() */
};

/* False if the system refuses a lock. */
bool pw_chores_init(struct pw_chores *chores);
void pw_chores_clear(struct pw_chores *chores);

void pw_chores_add(struct pw_chores *chores, struct pw_chore *chore);
/* Runs all chores, unless there is a serving thread.  True if it ran any. */
bool pw_chores_drain(struct pw_chores *chores);
/* Runs one chore, even if there is a serving thread.  False: there is none. */
bool pw_chores_run_one(struct pw_chores *chores);

void pw_chores_set_served(struct pw_chores *chores, bool served);
/* The main function of the serving thread: returns once `served` is false and no chore is left. */
void *pw_chores_main(void *chores);

#endif
