/* clock.c - completes a clock that a host has given only in part; see clock.h. */
#include "store/clock.h"

#include "base/clock.h"

static int64_t system_monotonic_ms(void *unused)
{
    (void)unused;
    return pw_system_monotonic_ms();
}

struct pawl_clock pw_clock_of(struct pawl_clock given)
{
    struct pawl_clock clock = given;
    if (clock.monotonic_ms == NULL)
        clock.monotonic_ms =
            clock.now_ms != NULL && clock.now_ms != pw_system_now_ms ? clock.now_ms : system_monotonic_ms;
    if (clock.now_ms == NULL)
        clock.now_ms = pw_system_now_ms;
    return clock;
}

bool pw_clock_is_system(const struct pawl_clock *clock)
{
    return clock->monotonic_ms == system_monotonic_ms;
}
