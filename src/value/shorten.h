/* shorten.h - writes reals as people do.  Jansson writes the 17 digits that some doubles need, so 19.99 comes out as
 * 19.989999999999998.  Most need fewer digits to be read back as the same number. */
#ifndef PW_VALUE_SHORTEN_H
#define PW_VALUE_SHORTEN_H

#include <stddef.h>

/* Rewrites each real in the JSON text, in place, with the fewest digits that give the same number.  Returns the new
 * size, which is never larger. */
size_t pw_json_shorten(char *text, size_t size);

#endif
