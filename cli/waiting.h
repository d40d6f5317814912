/* waiting.h - what a run waits for, and until when, in words. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

/* A step as the API shows it; NULL: it does not wait.
 *     waiting for event "approval" until 14:02, 3 h left
 *     sleeping until tomorrow 09:00, 14 h left
 *     trying "charge" again at 14:02:11, in 5 s: attempt 2 of 6 failed (CardDeclined: no money)
 *     waiting for a worker to carry out call "charge" (@charge), attempt 2 of 6: nobody has taken it yet
 *     waiting for a worker to carry out call "charge" (@charge): a worker outside took it at 14:02:11, 5 s ago
 *     waiting for child parcel/parcel-1
 *     waiting for deferred "approval", no timeout
 * A stream does not say who has taken a call. */
const char *waiting_sentence(struct pool *pool, const json_t *step, int64_t now_ms);

/* The same of a run that has ended, or was restarted: it waits no more.  Also of a deferred that it had not come to.
 *     cut off while sleeping
 *     cut off before it was tried again: attempt 2 of 6 failed (CardDeclined: no money) */
const char *cut_off_sentence(struct pool *pool, const json_t *step);

/* Of a run that waits for repair: step "charge" failed for good (CardDeclined: no money) */
const char *failure_show(struct pool *pool, const json_t *steps);
/* paused: step "charge" failed for good (CardDeclined: no money); mend it, then pawl instances resume order/order-1 */
const char *repair_sentence(struct pool *pool, const json_t *steps, const char *name);

/* Whether somebody has taken the job of a call that waits. */
bool waiting_is_taken(const json_t *step);
/* The function that a worker is to carry out; NULL: it is no call that waits for one. */
const char *waiting_function(const json_t *step);
/* "parcel/p-1", the instance whose end it waits for, or waited for; NULL: there is none. */
const char *child_of(struct pool *pool, const json_t *step);
/* Whether the step waits, and is of that type and not about to be tried again. */
bool waits_as(const json_t *step, const char *type);

/* Whether it is a compensation. */
bool undoes_another(const json_t *step);
/* Whether any of them is: then the run waits in no other step, whatever that says. */
bool is_being_undone(const json_t *steps);

/* When the step goes on by itself; 0: it does not say. */
int64_t waiting_until_ms(const json_t *step);

/* Its error is none of its own: it lost a race, or was given up when the run was told to stop. */
bool is_given_up(const json_t *step);
/* It failed for good. */
bool has_failed(const json_t *step);
/* "CardDeclined: no money"; "" when there is no error at the path. */
const char *error_show(struct pool *pool, const json_t *value, const char *path);
/* "2 of 6", "2" when there is no limit, "" when nothing is tried. */
const char *attempts_show(struct pool *pool, const json_t *step, const char *between);

#endif
