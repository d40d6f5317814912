/* table.h - a hash table from text to pointer.  Keys are borrowed and must outlive their entry.  Open addressing;
 * single entries cannot be removed. */
#ifndef PW_BASE_TABLE_H
#define PW_BASE_TABLE_H

#include <stdint.h>

#include "base/arena.h"

struct pw_table_entry;
struct pw_table {
    struct pw_table_entry *entries;
    size_t count, capacity; /* capacity is a power of two, or 0 */
    struct pw_arena *arena; /* holds the entries; NULL: malloc does */
};

uint64_t pw_hash(struct pw_text text);

void pw_table_clear(struct pw_table *table); /* frees the entries; a zeroed table is empty */
void *pw_table_find(const struct pw_table *table, struct pw_text key);
/* The key must not be in the table yet.  False when memory is out. */
bool pw_table_add(struct pw_table *table, struct pw_text key, void *value);

#endif
