/* value.h (internal) - what the rest of the library may do with scopes and JSON text besides the public calls.
 *
 * A scope is an arena behind a lock, plus the parsed trees that hang from its values.  A value made from stored text is
 * parsed at its first read: replaying a thousand steps whose results nobody looks at parses nothing.  When memory runs
 * out in such a read the reader answers "absent" and pw_scope_status() is no longer PAWL_OK: whoever drives the code that
 * read must then discard its outcome.
 *
 * Trees are shared by reference count: what was packed from another scope's value stays valid when that scope is freed.
 * A value made from stored text answers pawl_value_text() with that text as it is, read or not; others are written
 * compactly. */
#ifndef PW_VALUE_VALUE_H
#define PW_VALUE_VALUE_H

#include "common/text.h"
#include "pawl/value.h"

/* Memory of the scope's lifetime, NULL when out. */
void *pw_scope_take(pawl_scope *scope, size_t size);
bool pw_scope_text(pawl_scope *scope, struct pw_text text, struct pw_text *out);
/* As pawl_scope_format(). */
PAWL_PRINTF(2, 0) const char *pw_scope_format_list(pawl_scope *scope, const char *format, va_list arguments);
/* PAWL_OK, PAWL_NOMEM, or PAWL_STORE_CORRUPT: stored text turned out not to be JSON. */
pawl_status pw_scope_status(const pawl_scope *scope);

/* A value over text that is known to be valid JSON, copied into the scope; NULL text gives a NULL value. */
pawl_status pw_value_of_text(pawl_scope *scope, struct pw_text text, pawl_value **out_value) PAWL_MUST_CHECK;

/* Valid JSON of at most size_max bytes and 128 levels?  An absent text is fine.  `what` names it in the error:
 * PAWL_INVALID_JSON or PAWL_PAYLOAD_TOO_LARGE. */
pawl_status pw_json_check(struct pw_text text, int64_t size_max, const char *what,
                          struct pawl_error *error) PAWL_MUST_CHECK;

#endif
