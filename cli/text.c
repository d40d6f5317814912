/* text.c - see text.h. */
#define _XOPEN_SOURCE 700 /* wcwidth() */
#include "text.h"

#include <string.h>
#include <wchar.h>

#include "common/text.h"

const char *text_string(const struct pw_buffer *text)
{
    if (text->failed)
        out_of_memory();
    return text->data != NULL ? text->data : "";
}

const char *text_keep(struct pool *pool, struct pw_buffer *text)
{
    const char *copy = pool_copy(pool, text_string(text), text->size);
    pw_buffer_clear(text);
    return copy;
}

bool text_starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- Characters ---------------------------------------------------------------------------------------------------- */

void text_mend(char *text)
{
    text[pw_text_mend(text, strlen(text))] = '\0';
}

/* Control characters (C0 and C1), and characters that change the direction of text. */
static bool is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

static void put_hidden(struct pw_buffer *text, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n')
            pw_buffer_put(text, "\\n");
        else if (bytes[i] == '\t')
            pw_buffer_put(text, "\\t");
        else
            pw_buffer_format(text, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
    }
}

void text_put_safe(struct pw_buffer *text, const char *more)
{
    while (*more != '\0') {
        uint32_t code = 0;
        size_t size = pw_utf8_decode(more, &code);
        if (size == 0)
            put_hidden(text, more, 1);
        else if (is_harmful(code))
            put_hidden(text, more, size);
        else
            pw_buffer_add(text, more, size);
        more += size > 0 ? size : 1;
    }
}

const char *safe(struct pool *pool, const char *text)
{
    struct pw_buffer made = { 0 };
    text_put_safe(&made, text);
    return text_keep(pool, &made);
}

/* wcwidth() knows wide characters only in UTF-8 locales; in others each character counts as one column. */
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
        size_t size = pw_utf8_decode(text + bytes, &code), width = size > 0 ? columns_of(code) : 1;
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
        size_t size = pw_utf8_decode(text, &code);
        width += size > 0 ? columns_of(code) : 1;
        text += size > 0 ? size : 1;
    }
    return width;
}
