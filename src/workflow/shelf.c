/* shelf.c - the lists that only grow. */
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
    struct pw_shelf *kept = pawl_keep(engine, shelf_free, shelf);
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

void pw_shelf_add_workflow(struct pw_shelf *shelf, struct pw_registration *registration)
{
    pthread_mutex_lock(&shelf->lock);
    registration->next = atomic_load(&shelf->workflows);
    atomic_store(&shelf->workflows, registration);
    pthread_mutex_unlock(&shelf->lock);
}

void pw_shelf_add_function(struct pw_shelf *shelf, struct pw_function *function)
{
    pthread_mutex_lock(&shelf->lock);
    function->next = atomic_load(&shelf->functions);
    atomic_store(&shelf->functions, function);
    pthread_mutex_unlock(&shelf->lock);
}

void pw_shelf_add_wrapper(struct pw_shelf *shelf, struct pw_wrapper *wrapper)
{
    pthread_mutex_lock(&shelf->lock);
    struct pw_wrapper *_Atomic *link = &shelf->wrappers;
    for (struct pw_wrapper *at = atomic_load(link); at != NULL; at = atomic_load(link))
        link = &at->next;
    atomic_store(link, wrapper);
    pthread_mutex_unlock(&shelf->lock);
}

const struct pw_function *pw_shelf_function(const struct pw_shelf *shelf, const char *name)
{
    const struct pw_function *function = atomic_load(&shelf->functions);
    while (function != NULL && strcmp(function->name, name) != 0)
        function = function->next;
    return function;
}
