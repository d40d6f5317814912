/* scan.h - is a text JSON?  Needs no memory, so that "not JSON" and "out of memory" are never confused, as Jansson does.
 * Jansson also reads whatever passes here; tests compare the two.
 *
 * Beyond the grammar of RFC 8259: UTF-8 only, at most 128 levels, integers of 64 bits, reals that a double can hold,
 * escaped surrogates in pairs only, no NUL in keys. */
#ifndef PW_VALUE_SCAN_H
#define PW_VALUE_SCAN_H

#include "base/text.h"

struct pw_json_flaw {
    const char *what;    /* static */
    size_t line, column; /* from 1; columns are characters */
};

/* out_flaw is written when the answer is false. */
bool pw_json_scan(struct pw_text text, struct pw_json_flaw *out_flaw);
/* With another limit than 128 levels, for texts that carry payloads. */
bool pw_json_scan_to(struct pw_text text, int depth_max, struct pw_json_flaw *out_flaw);

/* The end of the string, number, word, array or object at `at`, found without checking it (walk.c). */
const char *pw_json_skip(const char *at, const char *end);

#endif
