/* clock.c - the only place that asks the system for time and randomness. */
#include "base/clock.h"

#include <sys/random.h>
#include <time.h>

static int64_t read_us(clockid_t clock)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(clock, &now); /* these clocks always exist */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t pw_system_now_ms(void *unused)
{
    (void)unused;
    return read_us(CLOCK_REALTIME) / 1000;
}

int64_t pw_system_monotonic_ms(void)
{
    return read_us(CLOCK_BOOTTIME) / 1000;
}

int64_t pw_system_monotonic_us(void)
{
    return read_us(CLOCK_BOOTTIME);
}

void pw_system_random(void *unused, void *bytes, size_t size)
{
    (void)unused;
    unsigned char *at = bytes;
    while (size > 0) {
        /* It fails only if a signal comes first.  Should there ever be another reason, waiting is better than going
         * on with ids and tokens that can be guessed. */
        ssize_t got = getrandom(at, size, 0);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}
