/* clock.h - the system's time and randomness.  Only clock.c reads them; everything else is given them. */
#ifndef PW_BASE_CLOCK_H
#define PW_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t pw_system_now_ms(void *unused); /* wall time since 1970 */
/* Never jumps, and goes on while the machine is suspended, so that leases and timeouts also run out during that
 * time. */
int64_t pw_system_monotonic_ms(void);
int64_t pw_system_monotonic_us(void);
void pw_system_random(void *unused, void *bytes, size_t size); /* getrandom(2) */

#endif
