/* text.c - see text.h. */
#include "http/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 512, ROOM_KEPT_MAX = 16 * 1024 };

/* False: the budget does not allow it. */
static bool count_room(struct pw_http_text *text, size_t room)
{
    if (text->engine == NULL)
        return true;
    int64_t bytes = *text->held - (int64_t)pw_http_weight(text->room) + (int64_t)pw_http_weight(room);
    if (!text->is_owed)
        return pawl_memory_hold(text->engine, text->held, bytes);
    pawl_memory_owe(text->engine, text->held, bytes);
    return true;
}

void pw_http_text_clear(struct pw_http_text *text)
{
    (void)count_room(text, 0); /* less is always granted */
    free(text->data);
    *text = (struct pw_http_text){ .engine = text->engine, .held = text->held, .is_owed = text->is_owed };
}

void pw_http_text_reset(struct pw_http_text *text)
{
    if (text->room > ROOM_KEPT_MAX)
        pw_http_text_clear(text);
    text->size = 0;
    text->failed = text->is_refused = false;
    text->needs_comma = false;
}

/* False: not to be had. */
static bool take_room(struct pw_http_text *text, size_t room)
{
    if (!count_room(text, room)) {
        text->is_refused = true;
        return false;
    }
    char *data = realloc(text->data, room);
    if (data != NULL)
        text->data = data;
    else if (text->engine != NULL)
        pawl_memory_owe(text->engine, text->held,
                        *text->held - (int64_t)pw_http_weight(room) + (int64_t)pw_http_weight(text->room));
    return data != NULL;
}

static bool grow(struct pw_http_text *text, size_t size)
{
    size_t room = text->room == 0 ? ROOM_FIRST : text->room;
    while (!text->failed && room - text->size <= size) {
        if (room > SIZE_MAX / 4)
            text->failed = true;
        room *= 2;
    }
    if (text->failed || !take_room(text, room)) {
        text->failed = true;
        return false;
    }
    text->room = room;
    return true;
}

/* Room for `size` bytes and the NUL. */
static inline bool make_room(struct pw_http_text *text, size_t size)
{
    return !text->failed && (text->room - text->size > size || grow(text, size));
}

void pw_http_text_add(struct pw_http_text *text, const char *bytes, size_t size)
{
    if (!make_room(text, size))
        return;
    if (size > 0)
        memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void pw_http_text_string(struct pw_http_text *text, const char *string)
{
    pw_http_text_add(text, string, strlen(string));
}

void pw_http_text_integer(struct pw_http_text *text, int64_t number)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        *--at = '-';
    pw_http_text_add(text, at, (size_t)(digits + sizeof digits - at));
}

void pw_http_text_format(struct pw_http_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size < 0)
        text->failed = true;
    else if (make_room(text, (size_t)size)) {
        (void)vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
}

/* ---- UTF-8 ----------------------------------------------------------------------------------------------------- */

size_t pw_http_utf8_size(const char *at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at), size;
    unsigned char lowest = 0x80, highest = 0xBF; /* of the second byte: no overlong forms, no surrogates */
    if (left == 0)
        return 0;
    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] >= 0xC2 && bytes[0] <= 0xDF) {
        size = 2;
    } else if ((bytes[0] & 0xF0) == 0xE0) {
        size = 3;
        lowest = bytes[0] == 0xE0 ? 0xA0 : 0x80;
        highest = bytes[0] == 0xED ? 0x9F : 0xBF;
    } else if (bytes[0] >= 0xF0 && bytes[0] <= 0xF4) {
        size = 4;
        lowest = bytes[0] == 0xF0 ? 0x90 : 0x80;
        highest = bytes[0] == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (left < size || bytes[1] < lowest || bytes[1] > highest)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* What stands before a value: the comma that is due, and the key. */
static void begin_value(struct pw_http_text *text, const char *key)
{
    size_t size = key != NULL ? strlen(key) : 0;
    if (!make_room(text, size + 4))
        return;
    char *at = text->data + text->size;
    if (text->needs_comma)
        *at++ = ',';
    if (key != NULL) {
        *at++ = '"';
        memcpy(at, key, size);
        at += size;
        *at++ = '"';
        *at++ = ':';
    }
    text->size = (size_t)(at - text->data);
    text->needs_comma = true;
}

void pw_http_json_open(struct pw_http_text *text, const char *key, char bracket)
{
    begin_value(text, key);
    pw_http_text_add(text, &bracket, 1);
    text->needs_comma = false;
}

void pw_http_json_close(struct pw_http_text *text, char bracket)
{
    pw_http_text_add(text, &bracket, 1);
    text->needs_comma = true;
}

static void add_escape(struct pw_http_text *text, char c)
{
    static const char named[] = "\"\"\\\\\nn\rr\tt\bb\ff"; /* each with its letter behind it */
    for (size_t i = 0; i + 1 < sizeof named; i += 2) {
        if (named[i] == c) {
            pw_http_text_add(text, (const char[]){ '\\', named[i + 1] }, 2);
            return;
        }
    }
    pw_http_text_format(text, "\\u%04x", (unsigned)(unsigned char)c);
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
        size_t size = at < end && (unsigned char)*at >= 0x80 ? pw_http_utf8_size(at, end) : 0;
        if (size == 0)
            return at;
        at += size;
    }
}

static void add_escaped(struct pw_http_text *text, const char *at, const char *end)
{
    while (at < end) {
        const char *plain_end = skip_plain(at, end);
        pw_http_text_add(text, at, (size_t)(plain_end - at));
        at = plain_end;
        if (at == end)
            return;
        if ((unsigned char)*at >= 0x80)
            pw_http_text_string(text, "\xEF\xBF\xBD");
        else
            add_escape(text, *at);
        at++;
    }
}

void pw_http_json_string(struct pw_http_text *text, const char *key, const char *value)
{
    if (value == NULL) {
        pw_http_json_raw(text, key, NULL);
        return;
    }
    begin_value(text, key);
    pw_http_text_add(text, "\"", 1);
    add_escaped(text, value, value + strlen(value));
    pw_http_text_add(text, "\"", 1);
}

void pw_http_json_integer(struct pw_http_text *text, const char *key, int64_t value)
{
    begin_value(text, key);
    pw_http_text_integer(text, value);
}

void pw_http_json_bool(struct pw_http_text *text, const char *key, bool value)
{
    pw_http_json_raw(text, key, value ? "true" : "false");
}

void pw_http_json_raw(struct pw_http_text *text, const char *key, const char *json)
{
    begin_value(text, key);
    pw_http_text_string(text, json != NULL ? json : "null");
}

/* ---- Times ----------------------------------------------------------------------------------------------------- */

enum { DAY_MS = 86400000 };

/* The Gregorian date of a day counted from 1970-01-01.  Years are counted from March, so that the leap day is a year's
 * last, in cycles of 400 years, which have 146097 days. */
static void date_of_day(int64_t day, int64_t *out_year, int *out_month, int *out_day)
{
    int64_t from_march = day + 719468; /* days from 0000-03-01 */
    int64_t cycle = (from_march >= 0 ? from_march : from_march - 146096) / 146097;
    int64_t in_cycle = from_march - cycle * 146097;
    int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int in_year = (int)(in_cycle - (365 * year + year / 4 - year / 100));
    int month = (5 * in_year + 2) / 153; /* 0: March */
    *out_day = in_year - (153 * month + 2) / 5 + 1;
    *out_month = month < 10 ? month + 3 : month - 9;
    *out_year = year + cycle * 400 + (*out_month <= 2);
}

static void put_digits(char *at, int number, int count)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        at[i] = (char)('0' + number % 10);
}

void pw_http_json_time(struct pw_http_text *text, const char *key, int64_t at_ms)
{
    int64_t day = at_ms / DAY_MS - (at_ms % DAY_MS < 0), year;
    int in_day = (int)(at_ms - day * DAY_MS), month, day_of_month;
    char time[] = "\"0000-00-00T00:00:00.000Z\"";
    date_of_day(day, &year, &month, &day_of_month);
    put_digits(time + 1, (int)(year % 10000), 4); /* the engine keeps no times beyond */
    put_digits(time + 6, month, 2);
    put_digits(time + 9, day_of_month, 2);
    put_digits(time + 12, in_day / 3600000, 2);
    put_digits(time + 15, in_day / 60000 % 60, 2);
    put_digits(time + 18, in_day / 1000 % 60, 2);
    put_digits(time + 21, in_day % 1000, 3);
    begin_value(text, key);
    pw_http_text_add(text, time, sizeof time - 1);
}

void pw_http_json_time_or_null(struct pw_http_text *text, const char *key, int64_t at_ms)
{
    if (at_ms == 0)
        pw_http_json_raw(text, key, NULL);
    else
        pw_http_json_time(text, key, at_ms);
}

void pw_http_json_string_if(struct pw_http_text *text, const char *key, const char *value)
{
    if (value != NULL)
        pw_http_json_string(text, key, value);
}

void pw_http_json_raw_if(struct pw_http_text *text, const char *key, const char *json)
{
    if (json != NULL)
        pw_http_json_raw(text, key, json);
}

void pw_http_json_time_if(struct pw_http_text *text, const char *key, int64_t at_ms)
{
    if (at_ms != 0)
        pw_http_json_time(text, key, at_ms);
}
