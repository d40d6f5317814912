/* chores.c - see chores.h.  A list behind one lock, which is not held while a chore runs. */
#include "commit/chores.h"

#include "common/thread.h"

bool pw_chores_init(struct pw_chores *chores)
{
    chores->end = &chores->first;
    if (pthread_mutex_init(&chores->lock, NULL) != 0)
        return false;
    if (pw_cond_init(&chores->wake))
        return true;
    (void)pthread_mutex_destroy(&chores->lock);
    return false;
}

void pw_chores_clear(struct pw_chores *chores)
{
    (void)pthread_cond_destroy(&chores->wake);
    (void)pthread_mutex_destroy(&chores->lock);
}

void pw_chores_add(struct pw_chores *chores, struct pw_chore *chore)
{
    chore->next = NULL;
    pthread_mutex_lock(&chores->lock);
    *chores->end = chore;
    chores->end = &chore->next;
    pthread_cond_signal(&chores->wake);
    pthread_mutex_unlock(&chores->lock);
}

/* With the lock held, which it drops while the chore runs.  The chore may free itself. */
static void run_first(struct pw_chores *chores)
{
    struct pw_chore *chore = chores->first;
    chores->first = chore->next;
    if (chores->first == NULL)
        chores->end = &chores->first;
    pthread_mutex_unlock(&chores->lock);
    chore->run(chore->user);
    pthread_mutex_lock(&chores->lock);
}

/* Only one thread drains at a time.  So a chore that leads a commit, and gets here again, leaves the rest to the
 * outer loop instead of deepening the stack. */
bool pw_chores_drain(struct pw_chores *chores)
{
    bool any = false;
    pthread_mutex_lock(&chores->lock);
    while (chores->first != NULL && !chores->served && !chores->draining) {
        chores->draining = true;
        run_first(chores);
        chores->draining = false;
        any = true;
    }
    pthread_mutex_unlock(&chores->lock);
    return any;
}

bool pw_chores_run_one(struct pw_chores *chores)
{
    pthread_mutex_lock(&chores->lock);
    bool any = chores->first != NULL;
    if (any)
        run_first(chores);
    pthread_mutex_unlock(&chores->lock);
    return any;
}

void pw_chores_set_served(struct pw_chores *chores, bool served)
{
    pthread_mutex_lock(&chores->lock);
    chores->served = served;
    pthread_cond_signal(&chores->wake);
    pthread_mutex_unlock(&chores->lock);
}

void *pw_chores_main(void *user)
{
    struct pw_chores *chores = user;
    pthread_mutex_lock(&chores->lock);
    while (chores->served) {
        if (chores->first != NULL)
            run_first(chores);
        else
            pthread_cond_wait(&chores->wake, &chores->lock);
    }
    pthread_mutex_unlock(&chores->lock);
    (void)pw_chores_drain(chores);
    return NULL;
}
