/* text.c - what can be said about a text without knowing what it means.  Nothing here allocates. */
#include "base/text.h"

#include <stdint.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct pw_text pw_text_trim(struct pw_text text)
{
    while (text.size > 0 && is_blank(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_blank(text.data[text.size - 1]))
        text.size--;
    return text;
}

/* How many of the bytes at `at` are ASCII, as far as whole words of eight tell. */
static size_t ascii_words(const unsigned char *at, size_t size)
{
    size_t done = 0;
    for (; size - done >= sizeof(uint64_t); done += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + done, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    return done;
}

/* The size of the well-formed character at `at`, 0 when there is none.  The second byte's range is what rules out
 * overlong forms, surrogates and what lies past U+10FFFF (Unicode, table 3-7). */
static size_t character_size(const unsigned char *at, size_t size)
{
    unsigned char lead = at[0], low = 0x80, high = 0xBF;
    size_t expected;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        expected = 2;
    else if (lead >= 0xE0 && lead <= 0xEF)
        expected = 3;
    else if (lead >= 0xF0 && lead <= 0xF4)
        expected = 4;
    else
        return 0;
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    if (size < expected || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < expected; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return expected;
}

bool pw_text_is_utf8(struct pw_text text)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    size_t at = 0;
    while (at < text.size) {
        size_t step = ascii_words(bytes + at, text.size - at);
        if (step == 0)
            step = character_size(bytes + at, text.size - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool pw_text_is_identifier(struct pw_text text, size_t size_max, bool underscore_first)
{
    if (text.size == 0 || text.size > size_max)
        return false;
    if (!is_alphanumeric(text.data[0]) && !(underscore_first && text.data[0] == '_'))
        return false;
    for (size_t i = 1; i < text.size; i++)
        if (!is_alphanumeric(text.data[i]) && text.data[i] != '_' && text.data[i] != '-')
            return false;
    return true;
}

struct pw_text pw_text_cut(struct pw_text text, size_t size_max)
{
    if (!pw_text_is_utf8(text))
        return pw_text_of("(a text that is not UTF-8)");
    if (text.size > size_max) {
        text.size = size_max;
        while (text.size > 0 && ((unsigned char)text.data[text.size] & 0xC0) == 0x80)
            text.size--;
    }
    return text;
}
