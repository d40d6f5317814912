/* moment.h - times and durations, as the server writes them and as people read them. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

/* Now, in milliseconds since 1970; or the time in PAWL_NOW, for tests of the output. */
int64_t moment_now_ms(void);
void moment_rest_ms(int64_t ms);

/* "2026-01-01T00:00:00.000Z"; false: it is not that. */
bool moment_parse(const char *text, int64_t *out_ms);

/* In the user's time zone, as short as possible: "14:02:11", "yesterday 14:02:11", "2026-01-01 14:02:11". */
const char *moment_show(struct pool *pool, int64_t ms, int64_t now_ms);
/* The same without seconds when it is a minute or more away: "14:02". */
const char *moment_show_coarse(struct pool *pool, int64_t ms, int64_t now_ms);
/* "14:02:11.123" in the user's time zone, for log lines; with the date if it is not today. */
const char *moment_show_exact(struct pool *pool, int64_t ms, int64_t now_ms);
/* "3 min ago", "in 2 h", "now", "just now". */
const char *moment_relative(struct pool *pool, int64_t ms, int64_t now_ms);

/* "12 ms", "1.3 s", "2 min 5 s", "3 h 12 min", "2 d 3 h". */
const char *duration_show(struct pool *pool, int64_t ms);
/* Only the broadest unit: "3 h". */
const char *duration_show_coarse(struct pool *pool, int64_t ms);
/* As the engine reads them, up to a year: "1.5s", "500 ms", "2 minutes", "1h"; "30" are seconds. */
bool duration_parse(const char *text, int64_t *out_ms);

#endif
