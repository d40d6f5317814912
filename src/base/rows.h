/* rows.h - a growing array in an arena, for results whose number is not known beforehand. */
#ifndef PW_BASE_ROWS_H
#define PW_BASE_ROWS_H

#include "base/arena.h"

struct pw_rows {
    struct pw_arena *arena;
    size_t row_size;
    void *rows; /* NULL while there are none */
    size_t count, capacity;
};

/* A zeroed row at the end; rows handed out before may have moved.  NULL when memory is out. */
void *pw_rows_add(struct pw_rows *rows);

#endif
