/* json_writer.h - JSON written into a buffer.
 *
 * The commas are put here.  `key` is NULL for an element of an array and for the document itself; keys are ours and need no
 * escapes.  Strings that are not UTF-8 are written with U+FFFD in place of what is wrong. */
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
/* The same; NULL or 0: the member is left out. */
void pw_json_string_if(struct pw_buffer *buffer, const char *key, const char *value);
void pw_json_raw_if(struct pw_buffer *buffer, const char *key, const char *json);
void pw_json_time_if(struct pw_buffer *buffer, const char *key, int64_t at_ms);

#endif
