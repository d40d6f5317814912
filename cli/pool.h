/* pool.h - memory that is given back all at once: bytes, texts and JSON values.
 *
 * The session has one pool, and everything that a command makes or fetches lives there until the command ends.  A loop that
 * may run for long takes a mark and releases everything that it took in one round.  The program ends with a message when
 * memory runs out: all state is the server's, so nothing is left half done. */
#ifndef CLI_POOL_H
#define CLI_POOL_H

#include <jansson.h>
#include <stddef.h>

struct pool {
    struct pool_block *blocks;
};

void *pool_take(struct pool *pool, size_t size); /* zeroed; never NULL */
char *pool_copy(struct pool *pool, const char *text, size_t size);
char *pool_string(struct pool *pool, const char *text);
char *pool_format(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keeps a new reference, and returns it as a borrowed one.  NULL stays NULL. */
json_t *pool_json(struct pool *pool, json_t *value);
void pool_clear(struct pool *pool);

/* pool_release() gives back everything that was taken since the mark. */
struct pool pool_mark(const struct pool *pool);
void pool_release(struct pool *pool, struct pool mark);

/* Memory outside a pool, to free(): zeroed, never NULL.  Jansson allocates here (main.c), so making a value fails only for
 * text that is not UTF-8, and adding one value to another cannot fail. */
void *memory_take(size_t size);
/* Ends the program with a message. */
void out_of_memory(void) __attribute__((noreturn));

#endif
