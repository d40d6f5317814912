/* alloc.c - memory that runs out as planned.  The linker sends every malloc, calloc, realloc and strdup of the program's
 * own objects (the engine is linked statically) here; SQLite and Jansson take their memory from functions that one can
 * set, and are shared libraries, so theirs are counted apart. */
#include <string.h>
#include <stdlib.h>

#include <jansson.h>
#include <sqlite3.h>

#include "plan.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return fault_strikes(FAULT_ALLOC) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fault_strikes(FAULT_ALLOC) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fault_strikes(FAULT_ALLOC) ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    return fault_strikes(FAULT_ALLOC) ? NULL : __real_strdup(text);
}

static sqlite3_mem_methods sqlite_memory; /* SQLite's own, set once before anything runs */

static void *sqlite_malloc(int size)
{
    return fault_strikes(FAULT_ALLOC_SQLITE) ? NULL : sqlite_memory.xMalloc(size);
}

static void *sqlite_realloc(void *memory, int size)
{
    return fault_strikes(FAULT_ALLOC_SQLITE) ? NULL : sqlite_memory.xRealloc(memory, size);
}

static void *jansson_malloc(size_t size)
{
    return fault_strikes(FAULT_ALLOC_JANSSON) ? NULL : __real_malloc(size);
}

bool fault_install_allocators(void)
{
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory) != SQLITE_OK)
        return false;
    sqlite3_mem_methods planned = sqlite_memory;
    planned.xMalloc = sqlite_malloc;
    planned.xRealloc = sqlite_realloc;
    json_set_alloc_funcs(jansson_malloc, free);
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &planned) == SQLITE_OK;
}
