/* chores.h (internal to commit/) - work that a completion callback left behind; see pw_commit_later() in commit.h. */
#ifndef PW_COMMIT_CHORES_H
#define PW_COMMIT_CHORES_H

#include <pthread.h>

#include "commit/commit.h"

struct pw_chores {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* the serving thread waits here */
    struct pw_chore *first, *last;
    bool served;  /* a thread was lent, or is about to be */
    bool running; /* it is in pw_chores_serve() */
    bool dismissed;
    bool draining; /* a thread that led is at it */
};

/* False when the system refuses. */
bool pw_chores_init(struct pw_chores *chores);
void pw_chores_clear(struct pw_chores *chores);

void pw_chores_add(struct pw_chores *chores, struct pw_chore *chore);
bool pw_chores_are_served(struct pw_chores *chores);
/* Runs what is there, where no thread was lent for it.  True: there was something. */
bool pw_chores_drain(struct pw_chores *chores);
/* Runs one, whoever serves them.  False: there is none. */
bool pw_chores_run_one(struct pw_chores *chores);

void pw_chores_engage(struct pw_chores *chores);
void pw_chores_serve(struct pw_chores *chores);
void pw_chores_dismiss(struct pw_chores *chores);

#endif
