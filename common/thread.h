/* thread.h - timed waits on the monotonic clock, which jumps of the wall clock do not affect, and helper threads that belong
 * to one object. */
#ifndef PW_COMMON_THREAD_H
#define PW_COMMON_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A condition variable on the monotonic clock, which stands still while the machine is suspended.  False when the system refuses. */
bool pw_cond_init(pthread_cond_t *cond);
/* A lock with its condition: both, or neither. */
bool pw_lock_init(pthread_mutex_t *lock, pthread_cond_t *changed);
void pw_lock_clear(pthread_mutex_t *lock, pthread_cond_t *changed);
/* The time of that clock, and the moment in so many ms. */
int64_t pw_monotonic_ms(void);
struct timespec pw_cond_moment(int64_t ms);
/* Waits for a signal, at most that long; 0 or less returns at once. */
void pw_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms);

/* A thread that waits for work, and the lock of what it works on. */
struct pw_helper {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, is_stopped;
};

bool pw_helper_init(struct pw_helper *helper);
/* Call it with the lock held, or before other threads know the object.  Signals are blocked in the thread.  True if it runs
 * already.  False: the system has no thread. */
bool pw_helper_start(struct pw_helper *helper, void *(*run)(void *user), void *user);
/* Sets is_stopped, and waits for the thread to end. */
void pw_helper_clear(struct pw_helper *helper);

#endif
