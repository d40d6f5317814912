/* buffer.h - a text that grows.
 *
 * Nothing here says that memory is out: the buffer remembers it in `failed`, further writes do nothing, and whoever uses the
 * text looks once, at the end. */
#ifndef PW_COMMON_BUFFER_H
#define PW_COMMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts memory that changes from `before` to `after` bytes.  False: it is not granted, which a buffer that is_owed, or that
 * takes less, is not told. */
typedef bool pw_buffer_count_fn(void *counter, size_t before, size_t after, bool is_owed);

/* All zero is an empty buffer that is not counted. */
struct pw_buffer {
    char *data; /* with a NUL behind it, once something was written */
    size_t size, room;
    bool failed;
    bool needs_comma;          /* of json_writer.h */
    pw_buffer_count_fn *count; /* NULL: its memory is not counted */
    void *counter;
    bool is_owed;    /* it is written in any case: what it tells has happened */
    bool is_refused; /* it failed because its memory was not granted */
};

void pw_buffer_clear(struct pw_buffer *buffer); /* frees; the buffer is then empty and usable */
void pw_buffer_reset(struct pw_buffer *buffer); /* empties it and keeps its memory, unless that is much */

/* Room for `size` bytes more, and a NUL.  False: it has failed. */
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
