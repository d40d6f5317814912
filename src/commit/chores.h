/* chores.h (internal to commit/) - work that a completion callback left behind; see pw_commit_later() in commit.h. */
#ifndef PW_COMMIT_CHORES_H
#define PW_COMMIT_CHORES_H

#include <pthread.h>
#include <stdatomic.h>

#include "commit/commit.h"

struct pw_chores {
    pthread_mutex_t lock;
    pthread_cond_t wake;           /* the serving thread waits here */
    struct pw_chore *first, **end; /* end: where the next one is linked */
    pthread_t thread;              /* the serving one, while there is one */
    atomic_bool served;            /* there is a serving thread, or somebody who plays it */
    bool draining;                 /* a thread runs them all, one after the other */
};

/* False when the system refuses. */
bool pw_chores_init(struct pw_chores *chores);
void pw_chores_clear(struct pw_chores *chores);

void pw_chores_add(struct pw_chores *chores, struct pw_chore *chore);
/* Runs what is there, unless there is a serving thread.  True: there was something. */
bool pw_chores_drain(struct pw_chores *chores);
/* Runs one, whoever serves them.  False: there is none. */
bool pw_chores_run_one(struct pw_chores *chores);

void pw_chores_set_served(struct pw_chores *chores, bool served);
/* The serving thread's main function: returns when they are served no more, and none is left. */
void *pw_chores_main(void *chores);

#endif
