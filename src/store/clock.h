/* clock.h - the clocks that stores are handed. */
#ifndef PW_STORE_CLOCK_H
#define PW_STORE_CLOCK_H

#include "pawl/engine.h"

/* The clock with both functions, as include/pawl/engine.h says. */
struct pawl_clock pw_clock_of(struct pawl_clock given);
/* Is its monotonic clock the system's? */
bool pw_clock_is_system(const struct pawl_clock *clock);

#endif
