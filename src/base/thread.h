/* thread.h - waiting with a limit, on the monotonic clock, so that a jump of the wall clock changes no wait. */
#ifndef PW_BASE_THREAD_H
#define PW_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A condition variable on the monotonic clock.  False when the system refuses. */
bool pw_cond_init(pthread_cond_t *cond);

/* Waits for a signal, at most that long; 0 or less returns at once. */
void pw_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms);

#endif
