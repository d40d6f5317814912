/* parse.h - JSON to Jansson's tree, whole or not at all. */
#ifndef PW_VALUE_PARSE_H
#define PW_VALUE_PARSE_H

#include <jansson.h>

#include "base/text.h"

/* NULL: memory is out, or the text is not JSON, which pw_json_scan() tells. */
json_t *pw_json_parse(struct pw_text text);

#endif
