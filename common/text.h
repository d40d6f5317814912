/* text.h - a borrowed run of bytes.  data NULL is "absent", which is not the same as empty.  Texts made by this library are
 * also NUL-terminated; size does not count the NUL. */
#ifndef PW_COMMON_TEXT_H
#define PW_COMMON_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pw_text {
    const char *data;
    size_t size;
};

static inline struct pw_text pw_text_of(const char *string)
{
    return (struct pw_text){ string, string != NULL ? strlen(string) : 0 };
}

static inline bool pw_text_equal(struct pw_text left, struct pw_text right)
{
    return left.size == right.size && (left.size == 0 || memcmp(left.data, right.data, left.size) == 0);
}

static inline bool pw_text_begins_with(struct pw_text text, const char *beginning)
{
    size_t size = strlen(beginning);
    return text.size >= size && memcmp(text.data, beginning, size) == 0;
}

/* Without ASCII white space at both ends. */
struct pw_text pw_text_trim(struct pw_text text);

/* At most size_max bytes of it, cut between two characters.  A character that was already cut off at the end is dropped.  Any
 * other text that is not UTF-8 becomes a note that says so. */
struct pw_text pw_text_cut(struct pw_text text, size_t size_max);

/* Makes the text UTF-8, in place: remains of a cut character are removed, and any other byte that is not UTF-8 becomes a
 * question mark.  Returns the new size, which is never larger. */
size_t pw_text_mend(char *text, size_t size);
/* Like vsnprintf(), but mended: whatever the format or the end of the buffer cuts off, it is cut between two characters.  The
 * buffer has at least 1 byte.  Returns the size of the text. */
size_t pw_text_format(char *out_text, size_t size, const char *format, va_list arguments);

/* Well-formed UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF. */
bool pw_text_is_utf8(struct pw_text text);
/* The size of the well-formed character at the start of `size` bytes; 0: there is none. */
size_t pw_utf8_size(const char *at, size_t size);
/* The same of a text that ends with NUL, and the character's code point. */
size_t pw_utf8_decode(const char *at, uint32_t *out_code);

/* 1 to size_max of [a-zA-Z0-9_-], not starting with '-' (nor with '_' unless underscore_first). */
bool pw_text_is_identifier(struct pw_text text, size_t size_max, bool underscore_first);

/* 1 to size_max of [a-zA-Z0-9._-]. */
bool pw_text_is_version(struct pw_text text, size_t size_max);

#endif
