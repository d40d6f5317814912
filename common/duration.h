/* duration.h - "1 hour" and "250 ms" as milliseconds. */
#ifndef PW_COMMON_DURATION_H
#define PW_COMMON_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "<number> <unit>" with ms, s/sec/second(s), m/min/minute(s), h/hr/hour(s), d/day(s), w/week(s), the blank optional; a
 * bare number is milliseconds.  The number may have a fraction ("1.5 hours", rounded to the nearest ms); no sign, no
 * exponent.  False for anything else, and for what does not fit. */
bool pw_duration_parse(const char *text, int64_t *out_ms);
/* The same where a bare number counts units of bare_ms. */
bool pw_duration_parse_bare(const char *text, int64_t bare_ms, int64_t *out_ms);

#endif
