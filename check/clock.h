/* clock.h - the C library's clock as the module sees it.  While a world is followed, time(), gettimeofday(), timespec_get()
 * and clock_gettime(CLOCK_REALTIME) answer with its time; every other clock, and every clock while there is no world, is the
 * machine's.  This holds for all code of the process, because a program's own definitions go before those of libraries; the
 * library under test reads none of these while it has a world's clock. */
#ifndef CHECK_CLOCK_H
#define CHECK_CLOCK_H

#include <pawl/testing.h>

/* By the thread that plays the world.  What other threads read is as of the newest reading of this one. */
void clock_follow(const pawl_world *world);

/* It is about to be closed; nothing happens when another one is followed by now. */
void clock_leave(void *world);

#endif
