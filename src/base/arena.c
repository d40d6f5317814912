/* arena.c - takes blocks from malloc and hands them out by advancing an offset.  The first block is small, because
 * many arenas hold next to nothing.  Each further block is twice as large, up to a limit. */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    BLOCK_SIZE_MIN = 512,
    BLOCK_SIZE_MAX = 64 * 1024,
    /* A larger request gets a block of its own, because sharing a block would waste too much of it. */
    SHARED_SIZE_MAX = BLOCK_SIZE_MAX / 4,
    ALIGNMENT = _Alignof(max_align_t),
};

struct pw_arena_block {
    struct pw_arena_block *older;
    size_t size, taken;
    bool is_lent;
    _Alignas(max_align_t) unsigned char bytes[];
};

void pw_arena_init(struct pw_arena *arena)
{
    *arena = (struct pw_arena){ .blocks = NULL };
}

void pw_arena_clear(struct pw_arena *arena)
{
    for (struct pw_arena_block *block = arena->blocks; block != NULL;) {
        struct pw_arena_block *older = block->older;
        if (!block->is_lent)
            free(block);
        block = older;
    }
    pw_arena_init(arena);
}

void pw_arena_lend(struct pw_arena *arena, void *memory, size_t size)
{
    assert(arena->blocks == NULL && size > sizeof(struct pw_arena_block));
    struct pw_arena_block *block = memory;
    *block = (struct pw_arena_block){ .size = size - sizeof *block, .is_lent = true };
    arena->blocks = block;
}

static struct pw_arena_block *block_new(struct pw_arena *arena, size_t size)
{
    size_t whole = sizeof(struct pw_arena_block) + size;
    bool is_over = arena->limit > 0 && (whole > arena->limit || arena->used > arena->limit - whole);
    struct pw_arena_block *block = is_over ? NULL : malloc(whole);
    arena->is_over |= is_over;
    if (block == NULL)
        return NULL;
    *block = (struct pw_arena_block){ .older = NULL, .size = size, .taken = 0 };
    arena->used += whole;
    return block;
}

static void *take_from_new_block(struct pw_arena *arena, size_t size)
{
    struct pw_arena_block **place = &arena->blocks;
    size_t block_size = arena->blocks != NULL ? arena->blocks->size * 2 : BLOCK_SIZE_MIN;
    while (block_size < size)
        block_size *= 2;
    if (block_size > BLOCK_SIZE_MAX)
        block_size = BLOCK_SIZE_MAX;
    if (size > SHARED_SIZE_MAX) {
        block_size = size;
        if (arena->blocks != NULL)
            place = &arena->blocks->older; /* behind the newest block, whose free space stays in use */
    }
    struct pw_arena_block *block = block_new(arena, block_size);
    if (block == NULL)
        return NULL;
    block->taken = size;
    block->older = *place;
    *place = block;
    return block->bytes;
}

void *pw_arena_take(struct pw_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(struct pw_arena_block) - ALIGNMENT) /* no object can be larger */
        return NULL;
    if (size == 0)
        size = 1; /* so that every result is a distinct pointer */
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct pw_arena_block *block = arena->blocks;
    if (block != NULL && block->size - block->taken >= size) {
        void *memory = block->bytes + block->taken;
        block->taken += size;
        return memory;
    }
    return take_from_new_block(arena, size);
}

void *pw_arena_zero(struct pw_arena *arena, size_t size)
{
    void *memory = pw_arena_take(arena, size);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

bool pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out)
{
    if (text.data == NULL) {
        *out = (struct pw_text){ NULL, 0 };
        return true;
    }
    if (text.size == SIZE_MAX)
        return false;
    char *copy = pw_arena_take(arena, text.size + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *out = (struct pw_text){ copy, text.size };
    return true;
}

char *pw_arena_string(struct pw_arena *arena, const char *string)
{
    if (string == NULL)
        return NULL;
    size_t size = strlen(string) + 1;
    char *copy = pw_arena_take(arena, size);
    return copy != NULL ? memcpy(copy, string, size) : NULL;
}
