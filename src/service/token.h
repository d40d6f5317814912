/* token.h - reading texts that the engine once gave out, and gets back from anybody. */
#ifndef PW_SERVICE_TOKEN_H
#define PW_SERVICE_TOKEN_H

#include <stdint.h>

#include "base/text.h"

/* Passes over digits.  False: there are none, or the number is beyond 64 bits. */
bool pw_token_number(const char **at, int64_t *out_number);

/* The same for a number from 1 with a dot behind it, which is passed over, too. */
bool pw_token_part_number(const char **at, int64_t *out_number);

/* The text up to a dot, which is passed over.  False: there is no dot. */
bool pw_token_part(const char **at, struct pw_text *out_text);

/* Takes as long wherever they differ. */
bool pw_token_is_secret(struct pw_text given, struct pw_text secret);

#endif
