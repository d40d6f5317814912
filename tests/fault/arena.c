/* arena.c - memory that runs out as planned when an arena is asked for it.  An arena asks malloc seldom, for many takes at once:
 * here each take can fail.  The linker sends them here (fault_arena). */
#include "base/arena.h"
#include "plan.h"

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
