/* buffer.c - see buffer.h. */
#include "common/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 512, ROOM_KEPT_MAX = 16 * 1024 };

static bool count_room(const struct pw_buffer *buffer, size_t before, size_t after)
{
    return buffer->count == NULL || buffer->count(buffer->counter, before, after, buffer->is_owed);
}

void pw_buffer_clear(struct pw_buffer *buffer)
{
    (void)count_room(buffer, buffer->room, 0);
    free(buffer->data);
    *buffer = (struct pw_buffer){ .count = buffer->count, .counter = buffer->counter, .is_owed = buffer->is_owed };
}

void pw_buffer_reset(struct pw_buffer *buffer)
{
    if (buffer->room > ROOM_KEPT_MAX)
        pw_buffer_clear(buffer);
    buffer->size = 0;
    if (buffer->data != NULL)
        buffer->data[0] = '\0';
    buffer->failed = buffer->is_refused = false;
    buffer->needs_comma = false;
}

/* False: not to be had. */
static bool take_room(struct pw_buffer *buffer, size_t room)
{
    if (!count_room(buffer, buffer->room, room)) {
        buffer->is_refused = true;
        return false;
    }
    char *data = realloc(buffer->data, room);
    if (data != NULL)
        buffer->data = data;
    else
        (void)count_room(buffer, room, buffer->room);
    return data != NULL;
}

bool pw_buffer_grow(struct pw_buffer *buffer, size_t size)
{
    size_t room = buffer->room == 0 ? ROOM_FIRST : buffer->room;
    while (!buffer->failed && room - buffer->size <= size) {
        if (room > SIZE_MAX / 4)
            buffer->failed = true;
        room *= 2;
    }
    if (buffer->failed || !take_room(buffer, room)) {
        buffer->failed = true;
        return false;
    }
    buffer->room = room;
    return true;
}

void pw_buffer_add(struct pw_buffer *buffer, const char *bytes, size_t size)
{
    if (!pw_buffer_reserve(buffer, size))
        return;
    if (size > 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void pw_buffer_put(struct pw_buffer *buffer, const char *string)
{
    pw_buffer_add(buffer, string, strlen(string));
}

void pw_buffer_repeat(struct pw_buffer *buffer, const char *string, size_t times)
{
    for (size_t i = 0; i < times; i++)
        pw_buffer_put(buffer, string);
}

void pw_buffer_integer(struct pw_buffer *buffer, int64_t number)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        *--at = '-';
    pw_buffer_add(buffer, at, (size_t)(digits + sizeof digits - at));
}

void pw_buffer_format(struct pw_buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size < 0)
        buffer->failed = true;
    else if (pw_buffer_reserve(buffer, (size_t)size)) {
        (void)vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, again);
        buffer->size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
}
