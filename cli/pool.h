/* pool.h - memory that is given back all at once, and text in it.
 *
 * What a command needs until its end comes from one pool; what a long-lived stream needs for one event comes from
 * another, which is cleared behind each.  Where memory is out the program says so and ends: nothing is half done here
 * that the server would not still have. */
#ifndef CLI_POOL_H
#define CLI_POOL_H

#include <stddef.h>

struct pool {
    struct pool_block *blocks;
};

void *pool_take(struct pool *pool, size_t size); /* zeroed; never NULL */
char *pool_copy(struct pool *pool, const char *text, size_t size);
char *pool_string(struct pool *pool, const char *text);
char *pool_format(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_clear(struct pool *pool);

/* For those that have memory of their own: zeroed, never NULL, to free().  Jansson takes its memory here, see main.c: so a
 * value is NULL only where it was made of what is no UTF-8, and adding one to another cannot fail. */
void *memory_take(size_t size);
/* The same end. */
void out_of_memory(void) __attribute__((noreturn));

#endif
