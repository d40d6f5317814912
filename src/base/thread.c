/* thread.c - see thread.h. */
#include "base/thread.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

bool pw_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(cond, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return ok;
}

void pw_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms)
{
    if (ms <= 0)
        return;
    int64_t limit_ms = ms < INT64_C(3600000) ? ms : INT64_C(3600000); /* callers look again anyway */
    int64_t until_ms = pw_system_waiting_ms() + limit_ms;
    struct timespec until = { .tv_sec = (time_t)(until_ms / 1000), .tv_nsec = (long)(until_ms % 1000) * 1000000 };
    (void)pthread_cond_timedwait(cond, mutex, &until);
}
