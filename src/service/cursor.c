/* cursor.c - see cursor.h. */
#include "service/cursor.h"

#include <assert.h>

#include "base/error.h"
#include "base/table.h"
#include "value/value.h"

/* The bytes behind the text: kind 1, each position 8, filters 4, checksum 4, little endian; base64url without padding.
 * How many positions there are shows in the size. */
enum {
    POSITION_SIZE = 8,
    REST_SIZE = 9,
    BYTES_SIZE_MAX = REST_SIZE + PW_HOMES_MAX * POSITION_SIZE,
    TEXT_SIZE_MAX = (BYTES_SIZE_MAX * 8 + 5) / 6
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

static size_t bytes_size(size_t positions)
{
    return REST_SIZE + positions * POSITION_SIZE;
}

static size_t text_size(size_t bytes)
{
    return (bytes * 8 + 5) / 6;
}

static void encode(const unsigned char *bytes, size_t size, char *out_text)
{
    unsigned bits = 0, bit_count = 0;
    char *end = out_text;
    for (size_t i = 0; i < size; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffff;
        for (bit_count += 8; bit_count >= 6; bit_count -= 6)
            *end++ = letters[bits >> (bit_count - 6) & 63];
    }
    if (bit_count > 0)
        *end++ = letters[bits << (6 - bit_count) & 63];
    *end = '\0';
}

/* Only what encode() writes: the spare bits of the last letter are zero. */
static bool decode(const char *text, unsigned char *out_bytes, size_t *out_size)
{
    unsigned bits = 0, bit_count = 0;
    size_t size = 0, text_length = strlen(text);
    if (text_length > TEXT_SIZE_MAX)
        return false;
    for (size_t i = 0; i < text_length; i++) {
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
    *out_size = size;
    return (bits & ((1U << bit_count) - 1)) == 0 && text_length == text_size(size);
}

/* How many positions the bytes hold; 0: they are no cursor. */
static size_t count_positions(const unsigned char *bytes, size_t size)
{
    if (size <= REST_SIZE || (size - REST_SIZE) % POSITION_SIZE != 0)
        return 0;
    if (get(bytes + size - 4, 4) != (uint32_t)hash_of(bytes, size - 4))
        return 0;
    return (size - REST_SIZE) / POSITION_SIZE;
}

const char *pw_cursor_write_positions(pawl_scope *scope, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                                      const struct pw_positions *positions)
{
    unsigned char bytes[BYTES_SIZE_MAX];
    size_t size = bytes_size(positions->count), at = 1;
    char *text = pw_scope_take(scope, text_size(size) + 1);
    if (text == NULL)
        return NULL;
    bytes[0] = (unsigned char)kind;
    for (size_t i = 0; i < positions->count; i++, at += POSITION_SIZE)
        put(bytes + at, (uint64_t)positions->keys[i], POSITION_SIZE);
    put(bytes + at, filter.hash, 4);
    put(bytes + at + 4, hash_of(bytes, at + 4), 4);
    encode(bytes, size, text);
    return text;
}

const char *pw_cursor_write(pawl_scope *scope, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                            int64_t position)
{
    assert(position > 0);
    return pw_cursor_write_positions(scope, kind, filter, &(struct pw_positions){ .count = 1, .keys = { position } });
}

static pawl_status check_cursor(const unsigned char *bytes, size_t count, const char *name, enum pw_cursor_kind kind,
                                struct pw_cursor_filter filter, size_t wanted, struct pawl_error *error)
{
    if (count == 0)
        return pw_error(error, PAWL_INVALID_CURSOR, "%s is not a cursor; pass on the one of the page before, unchanged",
                        name);
    if (bytes[0] != (unsigned char)kind)
        return pw_error(error, PAWL_INVALID_CURSOR, "%s is the cursor of another listing", name);
    if (count != wanted)
        return pw_error(error, PAWL_INVALID_CURSOR,
                        "%s comes from a store of another number of databases, %zu; this one has %zu: list again from "
                        "the start",
                        name, count, wanted);
    if (get(bytes + bytes_size(count) - 8, 4) != (uint32_t)filter.hash)
        return pw_error(error, PAWL_INVALID_CURSOR,
                        "%s comes from a listing with other filters; keep them the same from page to page", name);
    return PAWL_OK;
}

pawl_status pw_cursor_read_positions(const char *text, const char *name, enum pw_cursor_kind kind,
                                     struct pw_cursor_filter filter, struct pw_positions *positions,
                                     struct pawl_error *error)
{
    unsigned char bytes[BYTES_SIZE_MAX + 1];
    struct pw_positions read = { .count = positions->count };
    size_t size = 0;
    bool is_somewhere = false;
    if (text == NULL) {
        *positions = read;
        return PAWL_OK;
    }
    size_t count = decode(text, bytes, &size) ? count_positions(bytes, size) : 0;
    pawl_status status = check_cursor(bytes, count, name, kind, filter, positions->count, error);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        read.keys[i] = (int64_t)get(bytes + 1 + i * POSITION_SIZE, POSITION_SIZE);
        if (read.keys[i] < 0)
            return pw_error(error, PAWL_INVALID_CURSOR, "%s names no place", name);
        is_somewhere = is_somewhere || read.keys[i] > 0;
    }
    if (!is_somewhere)
        return pw_error(error, PAWL_INVALID_CURSOR, "%s names no place", name);
    *positions = read;
    return PAWL_OK;
}

pawl_status pw_cursor_read(const char *text, const char *name, enum pw_cursor_kind kind, struct pw_cursor_filter filter,
                           int64_t *out_position, struct pawl_error *error)
{
    struct pw_positions positions = { .count = 1 };
    pawl_status status = pw_cursor_read_positions(text, name, kind, filter, &positions, error);
    if (status == PAWL_OK)
        *out_position = positions.keys[0];
    return status;
}
