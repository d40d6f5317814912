/* plan.c - see plan.h. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

struct plan {
    bool armed, for_ever;
    enum fault_kind kind;
    int64_t nth, struck;
    int64_t calls[FAULT_KIND_COUNT];
};

static _Thread_local struct plan plan;

const char *fault_kind_name(enum fault_kind kind)
{
    static const char *const names[] = {
#define FAULT_KIND_NAME(code, name) name,
        FAULT_KINDS(FAULT_KIND_NAME)
#undef FAULT_KIND_NAME
    };
    return names[kind];
}

void fault_arm(enum fault_kind kind, int64_t nth, bool for_ever)
{
    plan = (struct plan){ .armed = true, .for_ever = for_ever, .kind = kind, .nth = nth };
}

int64_t fault_disarm(void)
{
    plan.armed = false;
    return plan.struck;
}

int64_t fault_struck(void)
{
    return plan.struck;
}

int64_t fault_calls(enum fault_kind kind)
{
    return plan.calls[kind];
}

int64_t fault_stride(int64_t otherwise)
{
    const char *every = getenv("PAWL_FAULT_EVERY");
    int64_t stride = every != NULL ? strtoll(every, NULL, 10) : otherwise;
    return stride > 0 ? stride : 1;
}

bool fault_strikes(enum fault_kind kind)
{
    if (!plan.armed)
        return false;
    int64_t call = ++plan.calls[kind];
    if (plan.kind != kind)
        return false;
    bool strikes = plan.for_ever ? call >= plan.nth : call == plan.nth;
    plan.struck += strikes;
    return strikes;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------------
 * The linker sends every malloc, calloc, realloc and strdup of the program's own objects here (the engine is linked
 * statically).  SQLite and Jansson are shared libraries that take their memory from functions that can be set, so their
 * calls are counted apart. */

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

/* ---- Arenas ---------------------------------------------------------------------------------------------------------
 * An arena seldom asks malloc, for many takes at once.  In a program that links fault_arena each take can fail. */

#ifdef FAULT_ARENA
#include "base/arena.h"

void *__real_pw_arena_take(struct pw_arena *arena, size_t size);
void *__real_pw_arena_zero(struct pw_arena *arena, size_t size);
bool __real_pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out);
char *__real_pw_arena_string(struct pw_arena *arena, const char *string);
void *__wrap_pw_arena_take(struct pw_arena *arena, size_t size);
void *__wrap_pw_arena_zero(struct pw_arena *arena, size_t size);
bool __wrap_pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out);
char *__wrap_pw_arena_string(struct pw_arena *arena, const char *string);

void *__wrap_pw_arena_take(struct pw_arena *arena, size_t size)
{
    return fault_strikes(FAULT_ALLOC) ? NULL : __real_pw_arena_take(arena, size);
}

void *__wrap_pw_arena_zero(struct pw_arena *arena, size_t size)
{
    return fault_strikes(FAULT_ALLOC) ? NULL : __real_pw_arena_zero(arena, size);
}

/* An absent text takes nothing. */
bool __wrap_pw_arena_text(struct pw_arena *arena, struct pw_text text, struct pw_text *out)
{
    return text.data != NULL && fault_strikes(FAULT_ALLOC) ? false : __real_pw_arena_text(arena, text, out);
}

char *__wrap_pw_arena_string(struct pw_arena *arena, const char *string)
{
    return string != NULL && fault_strikes(FAULT_ALLOC) ? NULL : __real_pw_arena_string(arena, string);
}
#endif
