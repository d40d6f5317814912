/* json_writer.c - see json_writer.h. */
#include "common/json_writer.h"

#include <string.h>

#include "common/iso.h"
#include "common/text.h"

/* What stands before a value: the comma that is due, and the key. */
static void begin_value(struct pw_buffer *buffer, const char *key)
{
    size_t size = key != NULL ? strlen(key) : 0;
    if (!pw_buffer_reserve(buffer, size + 4))
        return;
    char *at = buffer->data + buffer->size;
    if (buffer->needs_comma)
        *at++ = ',';
    if (key != NULL) {
        *at++ = '"';
        memcpy(at, key, size);
        at += size;
        *at++ = '"';
        *at++ = ':';
    }
    buffer->size = (size_t)(at - buffer->data);
    buffer->needs_comma = true;
}

void pw_json_open(struct pw_buffer *buffer, const char *key, char bracket)
{
    begin_value(buffer, key);
    pw_buffer_add(buffer, &bracket, 1);
    buffer->needs_comma = false;
}

void pw_json_close(struct pw_buffer *buffer, char bracket)
{
    pw_buffer_add(buffer, &bracket, 1);
    buffer->needs_comma = true;
}

static void add_escape(struct pw_buffer *buffer, char c)
{
    static const char named[] = "\"\"\\\\\nn\rr\tt\bb\ff"; /* each with its letter behind it */
    for (size_t i = 0; i + 1 < sizeof named; i += 2) {
        if (named[i] == c) {
            pw_buffer_add(buffer, (const char[]){ '\\', named[i + 1] }, 2);
            return;
        }
    }
    pw_buffer_format(buffer, "\\u%04x", (unsigned)(unsigned char)c);
}

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != '"' && c != '\\' && (unsigned char)c < 0x7F;
}

/* A run of bytes that can stand as they are, from `at` on. */
static const char *skip_plain(const char *at, const char *end)
{
    for (;;) {
        while (at < end && is_plain(*at))
            at++;
        size_t size = at < end && (unsigned char)*at >= 0x80 ? pw_utf8_size(at, (size_t)(end - at)) : 0;
        if (size == 0)
            return at;
        at += size;
    }
}

static void add_escaped(struct pw_buffer *buffer, const char *at, const char *end)
{
    while (at < end) {
        const char *plain_end = skip_plain(at, end);
        pw_buffer_add(buffer, at, (size_t)(plain_end - at));
        at = plain_end;
        if (at == end)
            return;
        if ((unsigned char)*at >= 0x80)
            pw_buffer_put(buffer, "\xEF\xBF\xBD");
        else
            add_escape(buffer, *at);
        at++;
    }
}

void pw_json_text(struct pw_buffer *buffer, const char *key, const char *value, size_t size)
{
    begin_value(buffer, key);
    pw_buffer_add(buffer, "\"", 1);
    add_escaped(buffer, value, value + size);
    pw_buffer_add(buffer, "\"", 1);
}

void pw_json_string(struct pw_buffer *buffer, const char *key, const char *value)
{
    if (value == NULL)
        pw_json_raw(buffer, key, NULL);
    else
        pw_json_text(buffer, key, value, strlen(value));
}

void pw_json_integer(struct pw_buffer *buffer, const char *key, int64_t value)
{
    begin_value(buffer, key);
    pw_buffer_integer(buffer, value);
}

void pw_json_bool(struct pw_buffer *buffer, const char *key, bool value)
{
    pw_json_raw(buffer, key, value ? "true" : "false");
}

void pw_json_raw(struct pw_buffer *buffer, const char *key, const char *json)
{
    begin_value(buffer, key);
    pw_buffer_put(buffer, json != NULL ? json : "null");
}

void pw_json_time(struct pw_buffer *buffer, const char *key, int64_t at_ms)
{
    char time[PW_ISO_SIZE];
    pw_iso_write(at_ms, time);
    begin_value(buffer, key);
    pw_buffer_add(buffer, "\"", 1);
    pw_buffer_put(buffer, time);
    pw_buffer_add(buffer, "\"", 1);
}

void pw_json_time_or_null(struct pw_buffer *buffer, const char *key, int64_t at_ms)
{
    if (at_ms == 0)
        pw_json_raw(buffer, key, NULL);
    else
        pw_json_time(buffer, key, at_ms);
}

void pw_json_string_if(struct pw_buffer *buffer, const char *key, const char *value)
{
    if (value != NULL)
        pw_json_string(buffer, key, value);
}

void pw_json_raw_if(struct pw_buffer *buffer, const char *key, const char *json)
{
    if (json != NULL)
        pw_json_raw(buffer, key, json);
}

void pw_json_time_if(struct pw_buffer *buffer, const char *key, int64_t at_ms)
{
    if (at_ms != 0)
        pw_json_time(buffer, key, at_ms);
}
