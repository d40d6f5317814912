/* schema.h - does a JSON value keep to a JSON schema?  The part of the language that openapi.json uses: type (one or
 * several), properties, required, additionalProperties, items, enum, const, pattern, the limits of numbers and sizes,
 * $ref within the document.  A keyword that it does not know is a mismatch, so that none is passed over. */
#ifndef TESTS_HTTP_SCHEMA_H
#define TESTS_HTTP_SCHEMA_H

#include "pawl/value.h"

/* NULL: it does.  Otherwise where it does not and why, in the scope. */
const char *schema_mismatch(pawl_scope *scope, const pawl_value *document, const pawl_value *schema,
                            const pawl_value *value);

/* The member of that very key, dots and all; NULL: none. */
const pawl_value *schema_member(const pawl_value *object, const char *key);

/* What a "$ref" of the document names; NULL: nothing. */
const pawl_value *schema_resolve(const pawl_value *document, const char *reference);

/* The value itself, or what its "$ref" names. */
const pawl_value *schema_follow(const pawl_value *document, const pawl_value *value);

#endif
