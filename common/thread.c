/* thread.c - see thread.h. */
#include "common/thread.h"

#include <signal.h>

bool pw_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(cond, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

bool pw_lock_init(pthread_mutex_t *lock, pthread_cond_t *changed)
{
    if (!pw_cond_init(changed))
        return false;
    if (pthread_mutex_init(lock, NULL) == 0)
        return true;
    (void)pthread_cond_destroy(changed);
    return false;
}

void pw_lock_clear(pthread_mutex_t *lock, pthread_cond_t *changed)
{
    (void)pthread_cond_destroy(changed);
    (void)pthread_mutex_destroy(lock);
}

static struct timespec read_clock(void)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* this clock always exists */
    return now;
}

int64_t pw_monotonic_ms(void)
{
    struct timespec now = read_clock();
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct timespec pw_cond_moment(int64_t ms)
{
    struct timespec until = read_clock();
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

void pw_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms)
{
    if (ms <= 0)
        return;
    const struct timespec until =
        pw_cond_moment(ms < INT64_C(3600000) ? ms : INT64_C(3600000)); /* callers look again */
    (void)pthread_cond_timedwait(cond, mutex, &until);
}

bool pw_helper_init(struct pw_helper *helper)
{
    *helper = (struct pw_helper){ .has_thread = false };
    return pw_lock_init(&helper->lock, &helper->changed);
}

bool pw_helper_start(struct pw_helper *helper, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    if (helper->has_thread)
        return true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    helper->has_thread = pthread_create(&helper->thread, NULL, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return helper->has_thread;
}

void pw_helper_clear(struct pw_helper *helper)
{
    (void)pthread_mutex_lock(&helper->lock);
    helper->is_stopped = true;
    (void)pthread_cond_signal(&helper->changed);
    (void)pthread_mutex_unlock(&helper->lock);
    if (helper->has_thread)
        (void)pthread_join(helper->thread, NULL);
    pw_lock_clear(&helper->lock, &helper->changed);
}
