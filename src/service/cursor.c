/* cursor.c - see cursor.h. */
#include "service/cursor.h"

#include <assert.h>

#include "base/error.h"
#include "base/table.h"
#include "value/value.h"

/* The text is base64url without padding.  The numbers in its bytes are little endian. */
enum {
    KIND_AT = 0,
    POSITION_AT = 1,
    FILTER_AT = 9,
    CHECKSUM_AT = 13,
    SPARE_AT = 17, /* always 0, because the last letter has two bits more than needed */
    BYTES_SIZE = 18,
    TEXT_SIZE = (SPARE_AT * 8 + 5) / 6
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

/* Each letter holds six bits, which lie within two consecutive bytes. */
static void encode(const unsigned char bytes[BYTES_SIZE], char out_text[TEXT_SIZE + 1])
{
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        size_t at = i * 6 / 8, shift = 10 - i * 6 % 8;
        out_text[i] = letters[(bytes[at] << 8 | bytes[at + 1]) >> shift & 63];
    }
    out_text[TEXT_SIZE] = '\0';
}

/* Accepts only what encode() writes. */
static bool decode(const char *text, unsigned char out_bytes[BYTES_SIZE])
{
    memset(out_bytes, 0, BYTES_SIZE);
    if (strlen(text) != TEXT_SIZE || strspn(text, letters) != TEXT_SIZE)
        return false;
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        size_t at = i * 6 / 8, shift = 10 - i * 6 % 8;
        unsigned pair = (unsigned)(strchr(letters, text[i]) - letters) << shift;
        out_bytes[at] |= (unsigned char)(pair >> 8);
        out_bytes[at + 1] |= (unsigned char)pair;
    }
    return out_bytes[SPARE_AT] == 0;
}

static uint32_t checksum_of(const unsigned char bytes[BYTES_SIZE])
{
    return (uint32_t)hash_of(bytes, CHECKSUM_AT);
}

const char *pw_cursor_write(pawl_scope *scope, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                            int64_t position)
{
    unsigned char bytes[BYTES_SIZE] = { 0 };
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
