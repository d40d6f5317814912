/* rows.h - a growing array in an arena, for results whose number is not known in advance. */
#ifndef PW_BASE_ROWS_H
#define PW_BASE_ROWS_H

#include "base/arena.h"

struct pw_rows {
    struct pw_arena *arena;
    size_t row_size;
    void *rows; /* NULL while there are none */
    size_t count, capacity;
};

/* Adds a zeroed row at the end.  Earlier rows may move.  NULL when memory is out. */
void *pw_rows_add(struct pw_rows *rows);

#endif
