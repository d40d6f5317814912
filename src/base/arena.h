/* arena.h - memory that is freed together.  Allocation bumps a pointer, blocks grow, and nothing is freed on its own.
 * Not thread-safe: threads that share an arena need a lock. */
#ifndef PW_BASE_ARENA_H
#define PW_BASE_ARENA_H

#include <stddef.h>

#include "common/text.h"

struct pw_arena_block;
struct pw_arena {
    struct pw_arena_block *blocks; /* newest first */
    size_t used;                   /* bytes taken from malloc in all */
    size_t limit;                  /* how many bytes that may be; 0: no limit */
    bool is_over;                  /* an allocation failed because of the limit */
};

/* An arena of all zeroes is also empty. */
void pw_arena_init(struct pw_arena *arena);
void pw_arena_clear(struct pw_arena *arena); /* clears the limit, too */

/* Lends an empty arena its first block, aligned for any type.  The arena does not free it; it must outlive the arena. */
void pw_arena_lend(struct pw_arena *arena, void *memory, size_t size);

/* Aligned for any type, not zeroed.  NULL when memory is out, or the limit is reached. */
void *pw_arena_take(struct pw_arena *arena, size_t size);
void *pw_arena_zero(struct pw_arena *arena, size_t size);

/* A NUL-terminated copy; an absent text stays absent.  False when memory is out; *out is then untouched. */
bool pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out);
/* The same for C strings: NULL for NULL, and NULL when memory is out. */
char *pw_arena_string(struct pw_arena *arena, const char *string);

#endif
