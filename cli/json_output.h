/* json_output.h - reads members of JSON values, and writes values.
 *
 * Numbers are written as they were read, digit by digit: 1.10 stays 1.10, and no integer is too big.  Jansson cannot do that,
 * so a number that it would change is stored as a string: a NUL and the number's text.  (A string that begins with a NUL is
 * stored with another NUL before it.)  The functions here know this; json_string_value() does not. */
#ifndef CLI_JSON_OUTPUT_H
#define CLI_JSON_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

#include "screen.h"

/* Parses what a server sent.  A new reference; NULL: it is not JSON. */
json_t *json_read(const char *text, size_t size);

/* The value at a path ("details.error.name"); NULL: there is none. */
json_t *json_at(const json_t *value, const char *path);
/* Its text, or the fallback if it is no text. */
const char *json_text(const json_t *value, const char *path, const char *fallback);
/* Whether it is this text. */
bool json_is(const json_t *value, const char *path, const char *text);
int64_t json_number(const json_t *value, const char *path, int64_t fallback);
bool json_flag(const json_t *value, const char *path);
/* A time; 0: there is none. */
int64_t json_time_ms(const json_t *value, const char *path);

/* The elements of an array, which is evaluated once:
 *     json_each(step, steps)
 *         put(step.value); */
struct json_item {
    const json_t *array;
    size_t index;
    json_t *value;
};
#define json_each(item, list)                                                                                          \
    for (struct json_item item = { list, 0, NULL }; (item.value = json_array_get(item.array, item.index)) != NULL;     \
         item.index++)

/* Indents a JSON text.  Nothing is decoded, so no value changes.  indent 0: all on one line. */
void json_lay_out(struct pw_buffer *out, const char *text, size_t size, size_t indent);
void json_write(struct pw_buffer *out, const json_t *value, size_t indent);
/* On one line, in the pool; "" for NULL. */
const char *json_show(struct pool *pool, const json_t *value);

#endif
