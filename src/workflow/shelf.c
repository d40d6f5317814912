/* shelf.c - see shelf.h.  Lists that only grow, and are read without a lock. */
#include "workflow/shelf.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void shelf_free(void *user)
{
    struct pw_shelf *shelf = user;
    pw_arena_clear(&shelf->arena);
    pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

struct pw_shelf *pw_shelf_of(pawl_engine *engine)
{
    struct pw_shelf *shelf = calloc(1, sizeof *shelf);
    if (shelf == NULL)
        return NULL;
    pthread_mutex_init(&shelf->lock, NULL);
    struct pw_shelf *kept = pawl_at_close_once(engine, shelf_free, shelf);
    if (kept != shelf)
        shelf_free(shelf);
    return kept;
}

void *pw_shelf_take(struct pw_shelf *shelf, size_t size)
{
    pthread_mutex_lock(&shelf->lock);
    void *memory = pw_arena_zero(&shelf->arena, size);
    pthread_mutex_unlock(&shelf->lock);
    return memory;
}

const char *pw_shelf_text(struct pw_shelf *shelf, const char *text)
{
    pthread_mutex_lock(&shelf->lock);
    const char *copy = pw_arena_string(&shelf->arena, text != NULL ? text : "");
    pthread_mutex_unlock(&shelf->lock);
    return copy;
}

void *pw_shelf_next(const struct pw_shelf_entry *entry)
{
    return atomic_load(&entry->next);
}

void pw_shelf_add(struct pw_shelf *shelf, struct pw_shelf_entry *list, struct pw_shelf_entry *entry)
{
    pthread_mutex_lock(&shelf->lock);
    for (struct pw_shelf_entry *next = pw_shelf_next(list); next != NULL; next = pw_shelf_next(list))
        list = next;
    atomic_store(&list->next, entry);
    pthread_mutex_unlock(&shelf->lock);
}

const struct pw_function *pw_shelf_function(const struct pw_shelf *shelf, const char *name)
{
    const struct pw_function *function = pw_shelf_next(&shelf->functions);
    while (function != NULL && strcmp(function->name, name) != 0)
        function = pw_shelf_next(&function->entry);
    return function;
}
