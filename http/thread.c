/* thread.c - see thread.h. */
#include "http/thread.h"

#include <signal.h>
#include <time.h>

bool pw_http_lock_init(pthread_mutex_t *lock, pthread_cond_t *changed)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool is_done =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(changed, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    if (is_done && pthread_mutex_init(lock, NULL) != 0) {
        (void)pthread_cond_destroy(changed);
        is_done = false;
    }
    return is_done;
}

void pw_http_lock_clear(pthread_mutex_t *lock, pthread_cond_t *changed)
{
    (void)pthread_cond_destroy(changed);
    (void)pthread_mutex_destroy(lock);
}

bool pw_http_thread_need(struct pw_http_thread *thread, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    if (thread->has_thread)
        return true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->has_thread = pthread_create(&thread->thread, NULL, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread->has_thread;
}

void pw_http_thread_clear(struct pw_http_thread *thread)
{
    (void)pthread_mutex_lock(&thread->lock);
    thread->is_stopped = true;
    (void)pthread_cond_signal(&thread->changed);
    (void)pthread_mutex_unlock(&thread->lock);
    if (thread->has_thread)
        (void)pthread_join(thread->thread, NULL);
    pw_http_lock_clear(&thread->lock, &thread->changed);
}
