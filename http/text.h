/* text.h - a text that grows, and JSON written into it.
 *
 * Nothing here says that memory is out: the text remembers it in `failed`, further writes do nothing, and whoever sends
 * the text looks once, at the end.
 *
 * The JSON writer puts the commas.  `key` is NULL for an element of an array and for the document itself; keys are ours
 * and need no escapes.  Strings that are not UTF-8 are written with U+FFFD in place of what is wrong. */
#ifndef HTTP_TEXT_H
#define HTTP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pawl/engine.h"

/* What memory of this size counts against the engine's budget: a little counts nothing, so that small requests go on beside a
 * budget that is used up, and cost no counting. */
static inline size_t pw_http_weight(size_t bytes)
{
    enum { LIGHT_BYTES_MAX = 16 * 1024 };
    return bytes > LIGHT_BYTES_MAX ? bytes : 0;
}

/* All zero is an empty text that is not counted. */
struct pw_http_text {
    char *data; /* with a NUL behind it, once something was written */
    size_t size, room;
    bool failed;
    bool needs_comma; /* the writer's */
    /* Where its memory is counted; engine NULL: nowhere.  See pawl_memory_hold(). */
    pawl_engine *engine;
    int64_t *held;
    bool is_owed;    /* it is written in any case: what it tells has happened */
    bool is_refused; /* it failed because the budget did not allow more */
};

void pw_http_text_clear(struct pw_http_text *text); /* frees; the text is then empty and usable */
void pw_http_text_reset(struct pw_http_text *text); /* empties it and keeps its memory, unless that is much */

void pw_http_text_add(struct pw_http_text *text, const char *bytes, size_t size);
void pw_http_text_string(struct pw_http_text *text, const char *string);
void pw_http_text_integer(struct pw_http_text *text, int64_t number);
void pw_http_text_format(struct pw_http_text *text, const char *format, ...) PAWL_PRINTF(2, 3);

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

void pw_http_json_open(struct pw_http_text *text, const char *key, char bracket);        /* '{' or '[' */
void pw_http_json_close(struct pw_http_text *text, char bracket);                        /* '}' or ']' */
void pw_http_json_string(struct pw_http_text *text, const char *key, const char *value); /* NULL: null */
void pw_http_json_integer(struct pw_http_text *text, const char *key, int64_t value);
void pw_http_json_bool(struct pw_http_text *text, const char *key, bool value);
void pw_http_json_raw(struct pw_http_text *text, const char *key, const char *json); /* NULL: null */
/* The same; NULL or 0: the member is left out. */
void pw_http_json_string_if(struct pw_http_text *text, const char *key, const char *value);
void pw_http_json_raw_if(struct pw_http_text *text, const char *key, const char *json);
void pw_http_json_time_if(struct pw_http_text *text, const char *key, int64_t at_ms);
/* "2026-01-01T00:00:00.000Z". */
void pw_http_json_time(struct pw_http_text *text, const char *key, int64_t at_ms);
void pw_http_json_time_or_null(struct pw_http_text *text, const char *key, int64_t at_ms); /* 0: null */

/* How many bytes the well-formed UTF-8 character at `at` has; 0: it is none. */
size_t pw_http_utf8_size(const char *at, const char *end);

#endif
