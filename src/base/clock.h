/* clock.h - the system's time and chance.  Only this file's source reads them; everything else is handed them. */
#ifndef PW_BASE_CLOCK_H
#define PW_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t pw_system_now_ms(void *unused); /* wall time since 1970 */
/* Never jumps, and goes on while the machine is suspended: a lease or a timeout does not wait for the machine to wake. */
int64_t pw_system_monotonic_ms(void);
int64_t pw_system_monotonic_us(void);
void pw_system_random(void *unused, void *bytes, size_t size); /* getrandom(2) */

#endif
