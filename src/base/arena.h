/* arena.h - memory that is freed together.  Allocation is a pointer bump; blocks grow; nothing is freed singly.
 * Not thread-safe: who shares one locks. */
#ifndef PW_BASE_ARENA_H
#define PW_BASE_ARENA_H

#include <stddef.h>

#include "base/text.h"

struct pw_arena_block;
struct pw_arena {
    struct pw_arena_block *blocks; /* newest first */
    size_t used;                   /* bytes taken from malloc in all */
    size_t limit;                  /* how many these may be, at most; 0: any number */
    bool is_over;                  /* the limit kept it from taking more */
};

/* All zero is an empty arena, too. */
void pw_arena_init(struct pw_arena *arena);
void pw_arena_clear(struct pw_arena *arena); /* it has no limit then */

/* The arena, which is empty, begins with this memory, aligned for any type.  It is not freed, and must outlive the arena. */
void pw_arena_lend(struct pw_arena *arena, void *memory, size_t size);

/* Aligned for any type, not zeroed.  NULL when memory is out, or the limit is reached. */
void *pw_arena_take(struct pw_arena *arena, size_t size);
void *pw_arena_zero(struct pw_arena *arena, size_t size);

/* A NUL-terminated copy.  Of an absent text: absent.  False when memory is out; *out is then untouched. */
bool pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out);
/* The same for C strings: NULL for NULL, and NULL when memory is out. */
char *pw_arena_string(struct pw_arena *arena, const char *string);

#endif
