/* reason.h - says in words what a run waits for.  A node is part of the tree that the server sends as `why` or `waitingFor`. */
#ifndef CLI_REASON_H
#define CLI_REASON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "session.h"

/* The sentence of a node:
 *     waiting for event "approval" until 14:02, 3 h left
 *     sleeping until tomorrow 09:00, 14 h left
 *     trying "charge" again at 14:02:11, in 5 s: attempt 2 of 6 failed (CardDeclined: no money)
 *     waiting for a worker to carry out call "charge" (@charge), attempt 2 of 6: nobody has taken it yet
 *     waiting for a worker to carry out call "charge" (@charge): a worker outside took it at 14:02:11, 5 s ago
 *     waiting for child parcel/parcel-1, which is paused
 *     waiting for deferred "approval", no timeout
 *     waiting for all of "both"
 *     step "charge" failed for good (CardDeclined: no money)
 * If the server does not say who took a call, or how a child stands, that is left out. */
const char *reason_sentence(struct pool *pool, const json_t *node, int64_t now_ms);

/* The sentences of a node and of all its parts, one on each line; parts are indented.  The first line begins with `before`. */
void reason_put(struct session *session, struct pw_buffer *out, enum style style, const char *before,
                const json_t *node);
/* Only the lines of its parts. */
void reason_put_parts(struct session *session, struct pw_buffer *out, enum style style, const json_t *node);

/* The sentence of a step of a history or a stream; NULL: it does not wait. */
const char *step_waiting(struct pool *pool, const json_t *step, int64_t now_ms);
/* The sentence of a step that the run's end or restart cut off, also of a deferred that the run never waited for:
 *     cut off while sleeping
 *     cut off before it was tried again: attempt 2 of 6 failed (CardDeclined: no money) */
const char *step_cut_off(struct pool *pool, const json_t *step);

/* True if its error is not its own: it lost a race, or the run was told to stop. */
bool is_given_up(const json_t *step);
/* "CardDeclined: no money"; "" if there is no error at the path. */
const char *error_show(struct pool *pool, const json_t *value, const char *path);
/* "2 of 6"; "2" if there is no limit; "" for steps that have no attempts. */
const char *attempts_show(struct pool *pool, const json_t *step, const char *between);

#endif
