/* json_writer.h - writes JSON into a buffer.
 *
 * Commas are added automatically.  `key` is NULL for elements of arrays and for the document itself.  Keys are written without
 * escapes.  In strings, bytes that are not UTF-8 become U+FFFD. */
#ifndef PW_COMMON_JSON_WRITER_H
#define PW_COMMON_JSON_WRITER_H

#include "common/buffer.h"

void pw_json_open(struct pw_buffer *buffer, const char *key, char bracket);                   /* '{' or '[' */
void pw_json_close(struct pw_buffer *buffer, char bracket);                                   /* '}' or ']' */
void pw_json_string(struct pw_buffer *buffer, const char *key, const char *value);            /* NULL: null */
void pw_json_text(struct pw_buffer *buffer, const char *key, const char *value, size_t size); /* may hold NULs */
void pw_json_integer(struct pw_buffer *buffer, const char *key, int64_t value);
void pw_json_bool(struct pw_buffer *buffer, const char *key, bool value);
void pw_json_raw(struct pw_buffer *buffer, const char *key, const char *json); /* NULL: null */
/* "2026-01-01T00:00:00.000Z". */
void pw_json_time(struct pw_buffer *buffer, const char *key, int64_t at_ms);
void pw_json_time_or_null(struct pw_buffer *buffer, const char *key, int64_t at_ms); /* 0: null */
/* These leave the member out if the value is NULL or 0. */
void pw_json_string_if(struct pw_buffer *buffer, const char *key, const char *value);
void pw_json_raw_if(struct pw_buffer *buffer, const char *key, const char *json);
void pw_json_time_if(struct pw_buffer *buffer, const char *key, int64_t at_ms);

#endif
