/* answers.h - the two forms of an answer, for whatever is finished by somebody else: a success carries the result as it is,
 * a failure the error.  Everything is made in the arena. */
#ifndef PW_SERVICE_ANSWERS_H
#define PW_SERVICE_ANSWERS_H

#include "engine/engine.h"

/* {"name","message","retry"}.  Both texts are cut where they are too long; an absent message is empty. */
pawl_status pw_answer_failure(struct pw_arena *arena, struct pw_text name, struct pw_text message, bool may_retry,
                              struct pw_text *out_payload) PAWL_MUST_CHECK;

/* Is this an outcome that can be told?  The result is JSON that is not too large, the error has a name. */
pawl_status pw_outcome_check(const struct pawl_outcome *outcome, int64_t size_max,
                             struct pawl_error *error) PAWL_MUST_CHECK;

#endif
