/* text.c - what can be said about a text without knowing what it means.  Nothing here allocates. */
#include "common/text.h"

#include <stdio.h>

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

/* How many bytes a character has that begins with this one; 0: none does. */
static size_t size_after(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF)
        return 3;
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/* May it be the second byte?  This is what rules out overlong forms, surrogates and what lies past U+10FFFF (Unicode, table
 * 3-7). */
static bool may_follow(unsigned char lead, unsigned char second)
{
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

/* How many of the bytes at `at`, at least one, are the beginning of a well-formed character; 0: none are. */
static size_t beginning_size(const unsigned char *at, size_t size)
{
    size_t expected = size_after(at[0]), known = expected > 0 ? 1 : 0;
    while (known > 0 && known < expected && known < size &&
           (known == 1 ? may_follow(at[0], at[1]) : (at[known] & 0xC0) == 0x80))
        known++;
    return known;
}

/* The size of the well-formed character at `at`, 0 when there is none. */
static size_t character_size(const unsigned char *at, size_t size)
{
    size_t known = beginning_size(at, size);
    return known > 0 && known == size_after(at[0]) ? known : 0;
}

size_t pw_utf8_size(const char *at, size_t size)
{
    return size > 0 ? character_size((const unsigned char *)at, size) : 0;
}

size_t pw_utf8_decode(const char *at, uint32_t *out_code)
{
    static const unsigned char lead_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    size_t size = pw_utf8_size(at, strnlen(at, 4));
    uint32_t code = size > 0 ? (unsigned char)at[0] & lead_bits[size] : 0;
    for (size_t i = 1; i < size; i++)
        code = code << 6 | ((unsigned char)at[i] & 0x3F);
    *out_code = code;
    return size;
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

/* 1 to size_max letters, digits, '_', '-' and one other sign. */
static bool is_word(struct pw_text text, size_t size_max, char other)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (!is_alphanumeric(c) && c != '_' && c != '-' && c != other)
            return false;
    }
    return text.size > 0 && text.size <= size_max;
}

bool pw_text_is_identifier(struct pw_text text, size_t size_max, bool underscore_first)
{
    return is_word(text, size_max, '-') && text.data[0] != '-' && (underscore_first || text.data[0] != '_');
}

bool pw_text_is_version(struct pw_text text, size_t size_max)
{
    return is_word(text, size_max, '.');
}

size_t pw_text_mend(char *text, size_t size)
{
    unsigned char *bytes = (unsigned char *)text;
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        size_t whole = character_size(bytes + at, size - at);
        size_t cut = whole == 0 ? beginning_size(bytes + at, size - at) : 0;
        for (size_t i = 0; i < whole; i++)
            bytes[kept++] = bytes[at + i];
        if (whole == 0 && cut == 0)
            bytes[kept++] = '?';
        at += whole > 0 ? whole : cut > 0 ? cut : 1;
    }
    return kept;
}

size_t pw_text_format(char *out_text, size_t size, const char *format, va_list arguments)
{
    int wanted = vsnprintf(out_text, size, format, arguments);
    size_t written = wanted < 0 ? 0 : (size_t)wanted < size ? (size_t)wanted : size - 1;
    written = pw_text_mend(out_text, written);
    out_text[written] = '\0';
    return written;
}

/* Without what is left of a last character that was cut. */
static struct pw_text without_cut_end(struct pw_text text)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    for (size_t back = 1; back <= 3 && back <= text.size; back++) {
        size_t left = beginning_size(bytes + text.size - back, back);
        if (left == back && size_after(bytes[text.size - back]) > back) {
            text.size -= back;
            return text;
        }
    }
    return text;
}

struct pw_text pw_text_cut(struct pw_text text, size_t size_max)
{
    text = without_cut_end(text);
    if (!pw_text_is_utf8(text))
        return pw_text_of("(a text that is not UTF-8)");
    if (text.size > size_max) {
        text.size = size_max;
        while (text.size > 0 && ((unsigned char)text.data[text.size] & 0xC0) == 0x80)
            text.size--;
    }
    return text;
}
