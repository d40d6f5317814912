/* value.h - immutable JSON values, and the scopes they live in.
 *
 * A value belongs to the scope in which it was made and is valid until that scope is freed.  Nothing else needs to
 * be freed.  Workflows and steps come with a scope of their own (see workflow.h); hosts make one with
 * pawl_scope_new().  A value never changes, so several threads may read it at once.
 *
 * NULL is "no value", which is not JSON null: 0, false, "", null and no value are five different things.
 *
 * Readers take a path: keys and array positions joined by dots, "lines.0.price".  A dot inside a key is written
 * "\.".  A NULL or empty path is the value itself.  Readers with an `otherwise` return it if there is nothing at the
 * path, or something of another kind.  pawl_value_kind() tells these cases apart. */
#ifndef PAWL_VALUE_H
#define PAWL_VALUE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_value pawl_value;
typedef struct pawl_scope pawl_scope;

enum pawl_kind {
    PAWL_KIND_NONE, /* no value: the pointer is NULL */
    PAWL_KIND_NULL,
    PAWL_KIND_BOOL,
    PAWL_KIND_INT,
    PAWL_KIND_REAL,
    PAWL_KIND_STRING,
    PAWL_KIND_ARRAY,
    PAWL_KIND_OBJECT
};

/* Returns NULL when memory is out.  Scopes may be used by several threads at once. */
PAWL_API pawl_scope *pawl_scope_new(void);

/* Frees the scope and every value and text made in it.  NULL is fine. */
PAWL_API void pawl_scope_free(pawl_scope *scope);

/* Parses JSON text, which is copied.  Refuses text that is not JSON, nesting deeper than 128, and integers beyond 64
 * bits.  The error gives line and column. */
PAWL_API pawl_status pawl_value_parse(pawl_scope *scope, const char *text, size_t size, pawl_value **out_value,
                                      struct pawl_error *error) PAWL_MUST_CHECK;

/* Builds a value from a format.  It is Jansson's format with one more letter, V:
 *     s const char *     i int     I int64_t (as long long)     f double     b int     n null
 *     {s:x, ...} object  [x, ...] array
 *     V const pawl_value *: copied by reference; if it is NULL, its key or array element is left out
 *   Example: pawl_value_pack(scope, &v, "{s:s, s:[i,i], s:V}", "name", "Ada", "at", 1, 2, "order", order). */
PAWL_API pawl_status pawl_value_pack(pawl_scope *scope, pawl_value **out_value, const char *format,
                                     ...) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_value_vpack(pawl_scope *scope, pawl_value **out_value, const char *format,
                                      va_list arguments) PAWL_MUST_CHECK;

/* The value as compact JSON text, NUL-terminated, owned by `scope`.  A NULL value gives NULL and size 0. */
PAWL_API pawl_status pawl_value_text(pawl_scope *scope, const pawl_value *value, const char **out_text,
                                     size_t *out_size) PAWL_MUST_CHECK;

/* Memory that lives as long as the scope, aligned for any type, not zeroed.  Returns NULL when memory is out. */
PAWL_API void *pawl_scope_take(pawl_scope *scope, size_t size);

/* Formats a text into the scope, as printf does.  Returns NULL when memory is out. */
PAWL_API const char *pawl_scope_format(pawl_scope *scope, const char *format, ...) PAWL_PRINTF(2, 3);

/* The kind of value at the path. */
PAWL_API enum pawl_kind pawl_value_kind(const pawl_value *value, const char *path);

/* The value at the path, with the same lifetime.  NULL: there is none. */
PAWL_API const pawl_value *pawl_value_at(const pawl_value *value, const char *path);

/* Reads true or false. */
PAWL_API bool pawl_value_bool(const pawl_value *value, const char *path, bool otherwise);

/* Reads an integer, or a real that is a whole number and fits. */
PAWL_API int64_t pawl_value_int(const pawl_value *value, const char *path, int64_t otherwise);

/* Reads a real or an integer. */
PAWL_API double pawl_value_real(const pawl_value *value, const char *path, double otherwise);

/* Reads a string: NUL-terminated UTF-8 that lives as long as the value.  It may contain NUL bytes;
 * pawl_value_size() gives its size. */
PAWL_API const char *pawl_value_string(const pawl_value *value, const char *path, const char *otherwise);

/* Elements of an array, members of an object, bytes of a string; 0 for anything else. */
PAWL_API size_t pawl_value_size(const pawl_value *value, const char *path);

/* The element of an array, or the member of an object in the order of the text; NULL past the end. */
PAWL_API const pawl_value *pawl_value_item(const pawl_value *value, size_t position);

/* The key of an object's member; NULL past the end or when it is not an object. */
PAWL_API const char *pawl_value_key(const pawl_value *value, size_t position);

/* Walks the members of an object or the elements of an array without parsing them.  Each is given as its original
 * text, so that a part can be passed on unchanged.  `text` must be valid JSON (pawl_json_check()).  Begin with
 * *position 0.  False: there are no more, or the text is neither an object nor an array.  A key includes its quotes
 * and escapes. */
struct pawl_json_part {
    const char *key; /* NULL in an array */
    size_t key_size;
    const char *text;
    size_t size;
};
PAWL_API bool pawl_json_next(const char *text, size_t size, size_t *position, struct pawl_json_part *out_part);

/* Checks that a text is JSON that pawl_value_parse() accepts.  Builds nothing.  PAWL_INVALID_JSON: the error says
 * what is wrong, with line and column.  depth_max: how deep it may be nested, up to 1000; 0: 128. */
PAWL_API pawl_status pawl_json_check(const char *text, size_t size, int depth_max,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* Same kind and same content; the order of an object's members does not matter.  NULL equals only NULL. */
PAWL_API bool pawl_value_equal(const pawl_value *left, const pawl_value *right);

#ifdef __cplusplus
}
#endif
#endif
