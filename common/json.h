/* json.h - reads JSON: checks it, parses it into a Jansson tree, or splits it as text.
 *
 * A scan only checks and needs no memory, so "not JSON" and "out of memory" cannot be confused, as they are in Jansson.
 * Jansson accepts everything that passes here; tests compare the two.
 *
 * Beyond the grammar of RFC 8259: UTF-8 only, a limit of levels, integers of 64 bits, reals that a double can hold, escaped
 * surrogates in pairs only, no NUL in keys. */
#ifndef PW_COMMON_JSON_H
#define PW_COMMON_JSON_H

#include <jansson.h>

#include "common/text.h"

struct pw_json_flaw {
    const char *what;    /* static */
    bool is_limit;       /* it is JSON, but exceeds a limit: too deep, or a number too large */
    size_t position;     /* of the first byte that is wrong */
    size_t line, column; /* the same, from 1; columns are characters */
};

/* At most 128 levels.  out_flaw is written if this returns false. */
bool pw_json_scan(struct pw_text text, struct pw_json_flaw *out_flaw);
/* With another limit than 128 levels, for texts that carry payloads. */
bool pw_json_scan_to(struct pw_text text, int depth_max, struct pw_json_flaw *out_flaw);

/* Makes the node of a number or a string, in place of Jansson's own.  The token of a number is its text; the token of a string
 * is its decoded value.  NULL: out of memory. */
typedef json_t *pw_json_node_fn(const char *token, size_t size);
struct pw_json_nodes {
    pw_json_node_fn *number; /* called for numbers of any size */
    pw_json_node_fn *string;
};

/* A new reference.  NULL: out of memory, or the text is not JSON; pw_json_scan() tells which.  A NULL member of nodes:
 * Jansson's own node. */
json_t *pw_json_parse(struct pw_text text);
json_t *pw_json_parse_as(struct pw_text text, const struct pw_json_nodes *nodes);

/* ---- As text (json_walk.c): nothing is checked; nothing beyond the end is read, even if it is not JSON ----------------- */

/* The size of the white space at the start. */
size_t pw_json_blanks(struct pw_text text);
/* The size of the string, number, word, bracket, comma or colon that begins here. */
size_t pw_json_token(struct pw_text text);
/* The end of the string, number, word, array or object at `at`. */
const char *pw_json_skip(const char *at, const char *end);

/* A member of an object, or an element of an array, which has no key. */
struct pw_json_part {
    struct pw_text key; /* with its quotes */
    struct pw_text value;
};
/* The next part.  *position is 0 at first, and then the end of the last part.  False: there are no more. */
bool pw_json_next(struct pw_text text, size_t *position, struct pw_json_part *out_part);

#endif
