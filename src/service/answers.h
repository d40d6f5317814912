/* answers.h - the two forms of an answer for steps that others finish: a success carries the result unchanged, a
 * failure carries the error.  Everything is made in the arena. */
#ifndef PW_SERVICE_ANSWERS_H
#define PW_SERVICE_ANSWERS_H

#include "engine/engine.h"

/* The payload of a failure: {"name","message","retry"}.  Texts that are too long are cut.  An absent message becomes
 * empty. */
pawl_status pw_answer_failure(struct pw_arena *arena, struct pw_text name, struct pw_text message, bool may_retry,
                              struct pw_text *out_payload) PAWL_MUST_CHECK;

/* Checks an outcome: the result must be JSON that is not too large, and an error must have a name. */
pawl_status pw_outcome_check(const struct pawl_outcome *outcome, int64_t size_max,
                             struct pawl_error *error) PAWL_MUST_CHECK;

#endif
