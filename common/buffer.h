/* buffer.h - a growing text.
 *
 * No function reports that memory ran out.  Instead `failed` is set, further writes do nothing, and the caller checks `failed`
 * once, at the end. */
#ifndef PW_COMMON_BUFFER_H
#define PW_COMMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts memory that changes from `before` to `after` bytes.  False: refused.  A buffer that is_owed, or that shrinks, is never
 * refused. */
typedef bool pw_buffer_count_fn(void *counter, size_t before, size_t after, bool is_owed);

/* All zero is an empty buffer that is not counted. */
struct pw_buffer {
    char *data; /* NUL-terminated, once something was written */
    size_t size, room;
    bool failed;
    bool needs_comma;          /* used by json_writer.h */
    pw_buffer_count_fn *count; /* NULL: memory is not counted */
    void *counter;
    bool is_owed;    /* it must be written in any case, because it reports what has happened */
    bool is_refused; /* it failed because `count` refused */
};

void pw_buffer_clear(struct pw_buffer *buffer); /* frees; the buffer is then empty and usable */
void pw_buffer_reset(struct pw_buffer *buffer); /* empties it, and keeps its memory unless that is large */

/* Makes room for `size` more bytes and a NUL.  False: the buffer has failed. */
bool pw_buffer_grow(struct pw_buffer *buffer, size_t size);
static inline bool pw_buffer_reserve(struct pw_buffer *buffer, size_t size)
{
    return !buffer->failed && (buffer->room - buffer->size > size || pw_buffer_grow(buffer, size));
}

void pw_buffer_add(struct pw_buffer *buffer, const char *bytes, size_t size);
void pw_buffer_put(struct pw_buffer *buffer, const char *string);
void pw_buffer_repeat(struct pw_buffer *buffer, const char *string, size_t times);
void pw_buffer_integer(struct pw_buffer *buffer, int64_t number);
void pw_buffer_format(struct pw_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
