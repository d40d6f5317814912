/* table.c - open addressing with linear probing, at most three quarters full, so that a search always meets a free
 * place.  The hash is kept beside the key, so a search compares bytes only if all 64 bits agree, and growing
 * computes no hashes. */
#include "base/table.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 16 };

/* The place is free if its key is absent. */
struct pw_table_entry {
    uint64_t hash;
    struct pw_text key;
    void *value;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

static uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Hashes eight bytes at a time, because replay looks a name up at each durable call.  The last step overlaps the one
 * before, which does no harm, because the size is hashed as well. */
uint64_t pw_hash(struct pw_text text)
{
    uint64_t hash = mix(UINT64_C(0xCBF29CE484222325), text.size), last = 0;
    if (text.size >= sizeof last) {
        for (size_t at = 0; at + sizeof last < text.size; at += sizeof last)
            hash = mix(hash, word_at(text.data + at));
        last = word_at(text.data + text.size - sizeof last);
    } else {
        for (size_t at = 0; at < text.size; at++)
            last = last << 8 | (unsigned char)text.data[at];
    }
    /* Mixed once more, so that the last bytes also reach the low bits, which choose the place. */
    return mix(mix(hash, last), 0);
}

void pw_table_clear(struct pw_table *table)
{
    if (table->arena == NULL)
        free(table->entries);
    *table = (struct pw_table){ .arena = table->arena };
}

/* The key's entry, or the free place where it belongs. */
static struct pw_table_entry *place_of(struct pw_table_entry *entries, size_t capacity, uint64_t hash,
                                       struct pw_text key)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (entries[at].key.data != NULL && !(entries[at].hash == hash && pw_text_equal(entries[at].key, key)))
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

void *pw_table_find(const struct pw_table *table, struct pw_text key)
{
    if (table->count == 0)
        return NULL;
    return place_of(table->entries, table->capacity, pw_hash(key), key)->value;
}

static bool grow(struct pw_table *table)
{
    size_t capacity = table->capacity == 0 ? CAPACITY_MIN : table->capacity * 2;
    struct pw_table_entry *entries = table->arena != NULL ? pw_arena_zero(table->arena, capacity * sizeof *entries)
                                                          : calloc(capacity, sizeof *entries);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < table->capacity; i++) {
        const struct pw_table_entry *entry = &table->entries[i];
        if (entry->key.data != NULL)
            *place_of(entries, capacity, entry->hash, entry->key) = *entry;
    }
    if (table->arena == NULL)
        free(table->entries);
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

bool pw_table_add(struct pw_table *table, struct pw_text key, void *value)
{
    if (table->count >= table->capacity / 4 * 3 && !grow(table))
        return false;
    if (key.data == NULL)
        key.data = ""; /* an absent key is found like the empty one, because NULL marks free places */
    uint64_t hash = pw_hash(key);
    *place_of(table->entries, table->capacity, hash, key) = (struct pw_table_entry){ hash, key, value };
    table->count++;
    return true;
}
