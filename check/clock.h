/* clock.h - replaces the C library's wall clock for the module.
 *
 * While a world is followed, time(), gettimeofday(), timespec_get() and clock_gettime(CLOCK_REALTIME) return the
 * world's simulated time.  All other clocks, and all clocks while no world is followed, are the machine's.  This
 * holds for all code in the process, because a program's own definitions take precedence over those of libraries.
 * The library under test does not read these clocks while it has a world's clock. */
#ifndef CHECK_CLOCK_H
#define CHECK_CLOCK_H

#include <pawl/testing.h>

/* Call it from the thread that drives the world.  Other threads see the time that this thread has read last. */
void clock_follow(const pawl_world *world);

/* Call it before the world is closed.  Does nothing if another world is followed by now. */
void clock_leave(void *world);

#endif
