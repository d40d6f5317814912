/* thread.h - a lock with its condition, and a thread of the handler's own, which is started by the first who needs it. */
#ifndef HTTP_THREAD_H
#define HTTP_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Both, or neither.  Waits on the condition go by the monotonic clock. */
bool pw_http_lock_init(pthread_mutex_t *lock, pthread_cond_t *changed);
void pw_http_lock_clear(pthread_mutex_t *lock, pthread_cond_t *changed);

struct pw_http_thread {
    pthread_mutex_t lock; /* guards what the thread works on, and what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, is_stopped;
};

/* With the lock held.  The host's signals are for the host's threads: this one gets none.  False: there is no thread to be
 * had. */
bool pw_http_thread_need(struct pw_http_thread *thread, void *(*run)(void *user), void *user);
/* Sets is_stopped, and waits until the thread has ended, if there is one. */
void pw_http_thread_clear(struct pw_http_thread *thread);

#endif
