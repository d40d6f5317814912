/* rows.c - see rows.h.  Outgrown arrays stay in the arena; together they are no larger than the last one. */
#include "base/rows.h"

#include <stdint.h>

enum { CAPACITY_MIN = 8 };

static bool grow(struct pw_rows *rows)
{
    size_t capacity = rows->capacity == 0 ? CAPACITY_MIN : rows->capacity * 2;
    size_t size = 0;
    if (__builtin_mul_overflow(capacity, rows->row_size, &size))
        return false;

    void *larger = pw_arena_take(rows->arena, size);
    if (larger == NULL)
        return false;
    if (rows->count > 0)
        memcpy(larger, rows->rows, rows->count * rows->row_size);
    rows->rows = larger;
    rows->capacity = capacity;
    return true;
}

void *pw_rows_add(struct pw_rows *rows)
{
    if (rows->count == rows->capacity && !grow(rows))
        return NULL;
    void *row = (char *)rows->rows + rows->count * rows->row_size;
    memset(row, 0, rows->row_size);
    rows->count++;
    return row;
}
