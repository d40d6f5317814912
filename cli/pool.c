/* pool.c - see pool.h. */
#include "pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

struct pool_block {
    struct pool_block *next;
    json_t *value; /* owned; or NULL */
    max_align_t bytes[];
};

void out_of_memory(void)
{
    (void)fputs("pawl: out of memory\n", stderr);
    exit(EXIT_UNREACHABLE);
}

void *memory_take(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

void *pool_take(struct pool *pool, size_t size)
{
    struct pool_block *block = memory_take(sizeof *block + size);
    block->next = pool->blocks;
    pool->blocks = block;
    return block->bytes;
}

char *pool_copy(struct pool *pool, const char *text, size_t size)
{
    char *copy = pool_take(pool, size + 1);
    memcpy(copy, text, size);
    return copy;
}

char *pool_string(struct pool *pool, const char *text)
{
    return pool_copy(pool, text, strlen(text));
}

char *pool_format(struct pool *pool, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0)
        out_of_memory();
    char *text = pool_take(pool, (size_t)size + 1);
    (void)vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

json_t *pool_json(struct pool *pool, json_t *value)
{
    (void)pool_take(pool, 0);
    pool->blocks->value = value;
    return value;
}

struct pool pool_mark(const struct pool *pool)
{
    return *pool;
}

void pool_clear(struct pool *pool)
{
    pool_release(pool, (struct pool){ NULL });
}

void pool_release(struct pool *pool, struct pool mark)
{
    while (pool->blocks != mark.blocks) {
        struct pool_block *next = pool->blocks->next;
        json_decref(pool->blocks->value);
        free(pool->blocks);
        pool->blocks = next;
    }
}
