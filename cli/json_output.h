/* json_output.h - JSON values looked into and written.
 *
 * Numbers are written as they were read, digit by digit: 1.10 stays 1.10, and no integer is too big.  Jansson has no place
 * for that, so a number that it would change is kept as a string: a NUL, and the number's text.  (A string that begins with
 * a NUL is kept with another one before it.)  Everything here knows; json_string_value() does not. */
#ifndef CLI_JSON_OUTPUT_H
#define CLI_JSON_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

#include "screen.h"

/* Of what a server sent; NULL when it is not JSON. */
json_t *json_read(const char *text, size_t size);

/* What is at a path ("details.error.name"); NULL when it is not there. */
json_t *json_at(const json_t *value, const char *path);
/* Its text, or the fallback when it is none. */
const char *json_text(const json_t *value, const char *path, const char *fallback);
/* Whether it is this text. */
bool json_is(const json_t *value, const char *path, const char *text);
int64_t json_number(const json_t *value, const char *path, int64_t fallback);
bool json_flag(const json_t *value, const char *path);
/* A time; 0 when it is not there. */
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

/* Of JSON: the text without its blanks, laid out anew; nothing is decoded, so nothing of it changes.  indent 0: all on one
 * line. */
void json_lay_out(struct pw_buffer *out, const char *text, size_t size, size_t indent);
void json_write(struct pw_buffer *out, const json_t *value, size_t indent);
/* On one line, in the pool; "" for NULL. */
const char *json_show(struct pool *pool, const json_t *value);

#endif
