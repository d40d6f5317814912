/* cursor.c - see cursor.h. */
#include "service/cursor.h"

#include <assert.h>

#include "base/error.h"
#include "base/table.h"
#include "value/value.h"

/* The bytes behind the text, little endian, base64url without padding. */
enum {
    KIND_AT = 0,
    POSITION_AT = 1,
    FILTER_AT = 9,
    CHECKSUM_AT = 13,
    BYTES_SIZE = 17,
    TEXT_SIZE = (BYTES_SIZE * 8 + 5) / 6
};

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void put(unsigned char *bytes, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get(const unsigned char *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    return pw_hash((struct pw_text){ (const char *)bytes, size });
}

void pw_cursor_filter_number(struct pw_cursor_filter *filter, int64_t number)
{
    unsigned char bytes[16];
    put(bytes, filter->hash, 8);
    put(bytes + 8, (uint64_t)number, 8);
    filter->hash = hash_of(bytes, sizeof bytes);
}

void pw_cursor_filter_text(struct pw_cursor_filter *filter, struct pw_text text)
{
    pw_cursor_filter_number(filter, text.data != NULL);
    if (text.data != NULL)
        pw_cursor_filter_number(filter, (int64_t)pw_hash(text));
}

static void encode(const unsigned char bytes[BYTES_SIZE], char out_text[TEXT_SIZE + 1])
{
    unsigned bits = 0, bit_count = 0;
    char *end = out_text;
    for (size_t i = 0; i < BYTES_SIZE; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffff;
        for (bit_count += 8; bit_count >= 6; bit_count -= 6)
            *end++ = letters[bits >> (bit_count - 6) & 63];
    }
    if (bit_count > 0)
        *end++ = letters[bits << (6 - bit_count) & 63];
    *end = '\0';
}

/* Only what encode() writes: the spare bits of the last letter are zero. */
static bool decode(const char *text, unsigned char out_bytes[BYTES_SIZE])
{
    unsigned bits = 0, bit_count = 0;
    size_t size = 0;
    if (strlen(text) != TEXT_SIZE)
        return false;
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        const char *letter = strchr(letters, text[i]);
        if (letter == NULL)
            return false;
        bits = (bits << 6 | (unsigned)(letter - letters)) & 0xffff;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            out_bytes[size++] = (unsigned char)(bits >> bit_count);
        }
    }
    return (bits & ((1U << bit_count) - 1)) == 0;
}

static uint32_t checksum_of(const unsigned char bytes[BYTES_SIZE])
{
    return (uint32_t)hash_of(bytes, CHECKSUM_AT);
}

const char *pw_cursor_write(pawl_scope *scope, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                            int64_t position)
{
    unsigned char bytes[BYTES_SIZE];
    assert(position > 0);
    char *text = pw_scope_take(scope, TEXT_SIZE + 1);
    if (text == NULL)
        return NULL;
    bytes[KIND_AT] = (unsigned char)kind;
    put(bytes + POSITION_AT, (uint64_t)position, 8);
    put(bytes + FILTER_AT, filter.hash, 4);
    put(bytes + CHECKSUM_AT, checksum_of(bytes), 4);
    encode(bytes, text);
    return text;
}

pawl_status pw_cursor_read(const char *text, const char *name, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                           int64_t *out_position, struct pawl_error *error)
{
    unsigned char bytes[BYTES_SIZE];
    if (text == NULL) {
        *out_position = 0;
        return PAWL_OK;
    }
    if (!decode(text, bytes) || get(bytes + CHECKSUM_AT, 4) != checksum_of(bytes))
        return pw_error(error, PAWL_INVALID_CURSOR, "%s is not a cursor; pass on the one of the page before, unchanged",
                        name);
    if (bytes[KIND_AT] != (unsigned char)kind)
        return pw_error(error, PAWL_INVALID_CURSOR, "%s is the cursor of another listing", name);
    if (get(bytes + FILTER_AT, 4) != (uint32_t)filter.hash)
        return pw_error(error, PAWL_INVALID_CURSOR,
                        "%s comes from a listing with other filters; keep them the same from page to page", name);
    int64_t position = (int64_t)get(bytes + POSITION_AT, 8);
    if (position <= 0)
        return pw_error(error, PAWL_INVALID_CURSOR, "%s names no place", name);
    *out_position = position;
    return PAWL_OK;
}
