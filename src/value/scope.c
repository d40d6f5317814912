/* scope.c - scopes: memory and trees with one lifetime, behind one lock. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "value/tree.h"

pawl_scope *pawl_scope_new(void)
{
    pawl_scope *scope = calloc(1, sizeof *scope);
    if (scope == NULL)
        return NULL;
    if (pthread_mutex_init(&scope->lock, NULL) != 0) {
        free(scope);
        return NULL;
    }
    return scope;
}

void pawl_scope_free(pawl_scope *scope)
{
    if (scope == NULL)
        return;
    for (pawl_value *value = scope->owners; value != NULL; value = value->next_owner)
        pw_tree_release(atomic_load_explicit(&value->tree, memory_order_relaxed));
    pw_arena_clear(&scope->arena);
    (void)pthread_mutex_destroy(&scope->lock);
    free(scope);
}

void *pw_scope_take(pawl_scope *scope, size_t size)
{
    pthread_mutex_lock(&scope->lock);
    void *memory = pw_arena_take(&scope->arena, size);
    pthread_mutex_unlock(&scope->lock);
    return memory;
}

void *pawl_scope_take(pawl_scope *scope, size_t size)
{
    return scope != NULL ? pw_scope_take(scope, size) : NULL;
}

bool pw_scope_text(pawl_scope *scope, struct pw_text text, struct pw_text *out)
{
    pthread_mutex_lock(&scope->lock);
    bool is_done = pw_arena_text(&scope->arena, text, out);
    pthread_mutex_unlock(&scope->lock);
    return is_done;
}

pawl_status pw_scope_status(const pawl_scope *scope)
{
    return (pawl_status)atomic_load(&scope->failed);
}

const char *pw_scope_format_list(pawl_scope *scope, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    char *text = size >= 0 ? pw_scope_take(scope, (size_t)size + 1) : NULL;
    if (text != NULL)
        (void)vsnprintf(text, (size_t)size + 1, format, again);
    else
        atomic_store(&scope->failed, PAWL_NOMEM); /* tells a later call why it is given NULL */
    va_end(again);
    return text;
}

const char *pawl_scope_format(pawl_scope *scope, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = scope != NULL ? pw_scope_format_list(scope, format, arguments) : NULL;
    va_end(arguments);
    return text;
}
