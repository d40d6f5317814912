/* clock.h - the clocks that stores are given. */
#ifndef PW_STORE_CLOCK_H
#define PW_STORE_CLOCK_H

#include "pawl/engine.h"

/* Completes the clock so that both functions are set, as include/pawl/engine.h says. */
struct pawl_clock pw_clock_of(struct pawl_clock given);
/* True if its monotonic clock is the system's. */
bool pw_clock_is_system(const struct pawl_clock *clock);

#endif
