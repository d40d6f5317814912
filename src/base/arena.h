/* arena.h - memory that is freed all at once.  Allocation advances a pointer, blocks grow, and nothing is freed on
 * its own.  Not thread-safe: threads that share an arena need a lock. */
#ifndef PW_BASE_ARENA_H
#define PW_BASE_ARENA_H

#include <stddef.h>

#include "common/text.h"

struct pw_arena_block;
struct pw_arena {
    struct pw_arena_block *blocks; /* newest first */
    size_t used;                   /* total bytes taken from malloc */
    size_t limit;                  /* the most that `used` may be; 0: no limit */
    bool is_over;                  /* an allocation failed because of the limit */
};

/* A zeroed arena is empty as well. */
void pw_arena_init(struct pw_arena *arena);
void pw_arena_clear(struct pw_arena *arena); /* also clears the limit */

/* Gives an empty arena its first block, aligned for any type.  The arena does not free it, and must not outlive it. */
void pw_arena_lend(struct pw_arena *arena, void *memory, size_t size);

/* Memory aligned for any type, not zeroed.  NULL when memory is out or the limit is reached. */
void *pw_arena_take(struct pw_arena *arena, size_t size);
void *pw_arena_zero(struct pw_arena *arena, size_t size);

/* Makes a NUL-terminated copy; an absent text stays absent.  False when memory is out; then *out is unchanged. */
bool pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out);
/* The same for C strings: NULL for NULL, and NULL when memory is out. */
char *pw_arena_string(struct pw_arena *arena, const char *string);

#endif
