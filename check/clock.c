/* clock.c - see clock.h.  The replaced functions have no argument for the world, so it is in variables of the
 * program. */
#define _GNU_SOURCE
#include "clock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static _Thread_local const pawl_world *followed; /* thread-local, because other threads cannot know when it is closed */
static _Atomic int64_t shown_ms;                 /* what other threads see; 0: no world is followed */

void clock_follow(const pawl_world *world)
{
    followed = world;
    atomic_store(&shown_ms, world != NULL ? pawl_world_now_ms(world) : 0);
}

void clock_leave(void *world)
{
    if (followed == world)
        clock_follow(NULL);
}

/* Returns 0 without a world. */
static int64_t read_world_ms(void)
{
    if (followed != NULL)
        atomic_store(&shown_ms, pawl_world_now_ms(followed));
    return atomic_load(&shown_ms);
}

/* ---- In place of the C library's --------------------------------------------------------------------------------------- */

EXPORTED int clock_gettime(clockid_t clock, struct timespec *out_time)
{
    int64_t ms = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? read_world_ms() : 0;
    if (ms == 0)
        return (int)syscall(SYS_clock_gettime, clock, out_time);
    *out_time = (struct timespec){ (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
    return 0;
}

EXPORTED time_t time(time_t *out_time)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out_time != NULL)
        *out_time = now.tv_sec;
    return now.tv_sec;
}

/* The zone is obsolete and ignored. */
EXPORTED int gettimeofday(struct timeval *restrict out_time, void *restrict zone)
{
    struct timespec now = { 0, 0 };
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *out_time = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
    return 0;
}

EXPORTED int timespec_get(struct timespec *out_time, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, out_time) == 0 ? base : 0;
}
