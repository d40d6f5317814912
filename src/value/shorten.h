/* shorten.h - reals as people write them.  Jansson writes each with the 17 digits that every double needs, so 19.99 would
 * come out as 19.989999999999998; most need fewer to be read back as the same. */
#ifndef PW_VALUE_SHORTEN_H
#define PW_VALUE_SHORTEN_H

#include <stddef.h>

/* Writes each real in the JSON text with the fewest digits that give the same number again, in place.  Returns the new
 * size, which is never larger. */
size_t pw_json_shorten(char *text, size_t size);

#endif
