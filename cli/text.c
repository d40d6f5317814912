/* text.c - see text.h. */
#define _XOPEN_SOURCE 700 /* wcwidth() */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void reserve(struct text *text, size_t more)
{
    if (text->room - text->size > more)
        return;
    size_t room = (text->size + more + 1) * 2;
    char *data = realloc(text->data, room);
    if (data == NULL)
        out_of_memory();
    text->data = data;
    text->room = room;
}

void text_put_size(struct text *text, const char *more, size_t size)
{
    reserve(text, size);
    memcpy(text->data + text->size, more, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void text_put(struct text *text, const char *more)
{
    text_put_size(text, more, strlen(more));
}

void text_format(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0)
        out_of_memory();
    reserve(text, (size_t)size + 1);
    (void)vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
    va_end(again);
    text->size += (size_t)size;
}

void text_repeat(struct text *text, const char *more, size_t times)
{
    for (size_t i = 0; i < times; i++)
        text_put(text, more);
}

const char *text_string(const struct text *text)
{
    return text->data != NULL ? text->data : "";
}

void text_reset(struct text *text)
{
    text->size = 0;
    if (text->data != NULL)
        text->data[0] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){ NULL, 0, 0 };
}

bool text_starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- Characters ---------------------------------------------------------------------------------------------------- */

/* Decodes one character of UTF-8; answers its size, 0 when the bytes are none. */
static size_t decode(const char *text, uint32_t *out_code)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t size = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (size == 1) {
        *out_code = bytes[0];
        return 1;
    }
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
        return 0;
    uint32_t code = bytes[0] & (0xffU >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *out_code = code;
    return size;
}

size_t text_character(const char *text)
{
    uint32_t code;
    return decode(text, &code);
}

void text_mend(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        unsigned char lead = (unsigned char)*at;
        size_t size = text_character(at);
        bool is_cut = size == 0 && lead >= 0xc2 && lead <= 0xf4;
        if (size == 0)
            size = 1;
        while (is_cut && ((unsigned char)at[size] & 0xc0) == 0x80)
            size++;
        for (size_t i = 0; i < size && !is_cut; i++)
            *to++ = at[i];
        at += size;
    }
    *to = '\0';
}

/* Controls of both sets, and what turns the direction of the text around it. */
static bool is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

static void put_hidden(struct text *text, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n')
            text_put(text, "\\n");
        else if (bytes[i] == '\t')
            text_put(text, "\\t");
        else
            text_format(text, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
    }
}

void text_put_safe(struct text *text, const char *more)
{
    while (*more != '\0') {
        uint32_t code = 0;
        size_t size = decode(more, &code);
        if (size == 0)
            put_hidden(text, more, 1);
        else if (is_harmful(code))
            put_hidden(text, more, size);
        else
            text_put_size(text, more, size);
        more += size > 0 ? size : 1;
    }
}

const char *safe(struct pool *pool, const char *text)
{
    struct text made = { NULL, 0, 0 };
    text_put_safe(&made, text);
    const char *copy = pool_string(pool, text_string(&made));
    text_free(&made);
    return copy;
}

/* wcwidth() knows wide characters where the locale is UTF-8; in another one each counts as a column. */
static size_t columns_of(uint32_t code)
{
    int width = wcwidth((wchar_t)code);
    return width >= 0 ? (size_t)width : 1;
}

size_t text_fit(const char *text, size_t columns)
{
    size_t bytes = 0, used = 0;
    while (text[bytes] != '\0') {
        uint32_t code = 0;
        size_t size = decode(text + bytes, &code), width = size > 0 ? columns_of(code) : 1;
        if (used + width > columns)
            break;
        used += width;
        bytes += size > 0 ? size : 1;
    }
    return bytes;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        uint32_t code = 0;
        size_t size = decode(text, &code);
        width += size > 0 ? columns_of(code) : 1;
        text += size > 0 ? size : 1;
    }
    return width;
}
