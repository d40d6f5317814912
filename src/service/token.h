/* token.h - reads tokens and marks: texts that the engine gave out, and that anybody may send back. */
#ifndef PW_SERVICE_TOKEN_H
#define PW_SERVICE_TOKEN_H

#include <stdint.h>

#include "common/text.h"

/* Reads digits and moves *at past them.  False: there are none, or the number does not fit. */
bool pw_token_number(const char **at, int64_t *out_number);

/* The same for a number from 1 that is followed by a dot; moves *at past the dot. */
bool pw_token_part_number(const char **at, int64_t *out_number);

/* The text up to the next dot; moves *at past the dot.  False: there is no dot. */
bool pw_token_part(const char **at, struct pw_text *out_text);

/* True if the two are equal.  Takes the same time wherever they differ, so that timing reveals nothing. */
bool pw_token_is_secret(struct pw_text given, struct pw_text secret);

#endif
