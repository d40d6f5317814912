/* waiting.h - what a run waits for, and until when, in words. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include <jansson.h>
#include <stdint.h>

#include "pool.h"

/* A step as the API shows it; NULL: it does not wait.
 *     waiting for event "approval" until 14:02, 3 h left
 *     sleeping until tomorrow 09:00, 14 h left
 *     trying "charge" again at 14:02:11, in 5 s: attempt 2 of 6 failed (CardDeclined: no money) */
const char *waiting_sentence(struct pool *pool, const json_t *step, int64_t now_ms);

/* The same of a run that has ended, or was restarted: it waits no more.
 *     cut off while sleeping
 *     cut off before it was tried again: attempt 2 of 6 failed (CardDeclined: no money) */
const char *cut_off_sentence(struct pool *pool, const json_t *step);

/* When the step goes on by itself; 0: it does not say. */
int64_t waiting_until_ms(const json_t *step);

/* "CardDeclined: no money"; "" when there is no error at the path. */
const char *error_show(struct pool *pool, const json_t *value, const char *path);
/* "2 of 6", "2" when there is no limit, "" when nothing is tried. */
const char *attempts_show(struct pool *pool, const json_t *step, const char *between);

#endif
