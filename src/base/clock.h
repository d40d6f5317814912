/* clock.h - the system's time and chance.  Only this file's source reads them; everything else is handed them. */
#ifndef PW_BASE_CLOCK_H
#define PW_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t pw_system_now_ms(void *unused);                        /* wall time since 1970 */
int64_t pw_system_monotonic_ms(void);                          /* for waits of this process */
int64_t pw_system_monotonic_us(void);                          /* for measuring how long something took */
void pw_system_random(void *unused, void *bytes, size_t size); /* getrandom(2) */

#endif
