/* json.h - JSON read: checked, turned into a tree of Jansson's, or taken apart as text.
 *
 * A scan only checks and needs no memory, so that "not JSON" and "out of memory" are never confused, as Jansson does.  Jansson
 * also reads whatever passes here; tests compare the two.
 *
 * Beyond the grammar of RFC 8259: UTF-8 only, a limit of levels, integers of 64 bits, reals that a double can hold, escaped
 * surrogates in pairs only, no NUL in keys. */
#ifndef PW_COMMON_JSON_H
#define PW_COMMON_JSON_H

#include <jansson.h>

#include "common/text.h"

struct pw_json_flaw {
    const char *what;    /* static */
    bool is_limit;       /* it is JSON, but more than is taken: too deep, or too large a number */
    size_t position;     /* of the first byte that is wrong */
    size_t line, column; /* the same, from 1; columns are characters */
};

/* At most 128 levels.  out_flaw is written when the answer is false. */
bool pw_json_scan(struct pw_text text, struct pw_json_flaw *out_flaw);
/* With another limit than 128 levels, for texts that carry payloads. */
bool pw_json_scan_to(struct pw_text text, int depth_max, struct pw_json_flaw *out_flaw);

/* Makes the node of a number or a string, for whoever does not want Jansson's own.  The token of a number is its text; that
 * of a string is what it stands for.  NULL: memory is out. */
typedef json_t *pw_json_node_fn(const char *token, size_t size);
struct pw_json_nodes {
    pw_json_node_fn *number; /* is given numbers of any size */
    pw_json_node_fn *string;
};

/* Whole or not at all.  nodes NULL: Jansson's own.  The answer NULL: memory is out, or the text is not JSON, which
 * pw_json_scan() tells. */
json_t *pw_json_parse(struct pw_text text);
json_t *pw_json_parse_as(struct pw_text text, const struct pw_json_nodes *nodes);

/* ---- As text (json_walk.c): found without checking; nothing beyond the end is read, even if it is not JSON ------------- */

/* How many bytes of white space there are. */
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
/* The part behind *position, which is 0 at first, and then where the last one ended.  False: there is no more. */
bool pw_json_next(struct pw_text text, size_t *position, struct pw_json_part *out_part);

#endif
