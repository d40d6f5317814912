/* value.h (internal) - what the rest of the library may do with scopes and JSON text besides the public calls.
 *
 * A scope is an arena behind a lock, plus the parsed trees of its values.  A value made from stored text is parsed
 * at its first read, so replaying a thousand steps whose results nobody reads parses nothing.  If memory runs out in
 * such a read, the reader answers "absent" and pw_scope_status() is no longer PAWL_OK.  The caller of the code that
 * read must then discard that code's outcome.
 *
 * Trees are shared by reference count: a value packed from another scope's value stays valid when that scope is
 * freed.  A value made from stored text answers pawl_value_text() with that text unchanged, whether it was read or
 * not.  Other values are written compactly. */
#ifndef PW_VALUE_VALUE_H
#define PW_VALUE_VALUE_H

#include "common/text.h"
#include "pawl/value.h"

/* Memory that lives as long as the scope.  NULL when memory runs out. */
void *pw_scope_take(pawl_scope *scope, size_t size);
bool pw_scope_text(pawl_scope *scope, struct pw_text text, struct pw_text *out);
/* Like pawl_scope_format(). */
PAWL_PRINTF(2, 0) const char *pw_scope_format_list(pawl_scope *scope, const char *format, va_list arguments);
/* PAWL_OK, PAWL_NOMEM, or PAWL_STORE_CORRUPT if stored text was not JSON. */
pawl_status pw_scope_status(const pawl_scope *scope);

/* A value over text that is known to be valid JSON.  Copies the text into the scope.  An absent text gives a NULL
 * value. */
pawl_status pw_value_of_text(pawl_scope *scope, struct pw_text text, pawl_value **out_value) PAWL_MUST_CHECK;

/* Checks that the text is valid JSON of at most size_max bytes and 128 levels.  An absent text is valid.  `what`
 * names the text in the error, which is PAWL_INVALID_JSON or PAWL_PAYLOAD_TOO_LARGE. */
pawl_status pw_json_check(struct pw_text text, int64_t size_max, const char *what,
                          struct pawl_error *error) PAWL_MUST_CHECK;

#endif
