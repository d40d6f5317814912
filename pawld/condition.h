/* condition.h - waiting for a condition, but not for ever, and whatever becomes of the time of day. */
#ifndef PAWLD_CONDITION_H
#define PAWLD_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* For waits until a moment of condition_in(). */
bool condition_init(pthread_cond_t *condition);
struct timespec condition_in(int64_t ms);

#endif
