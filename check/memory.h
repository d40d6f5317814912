/* memory.h - the static variables of a loaded module: all that it can write to in its own image.  They are kept as they are,
 * and put back as often as wanted, as a process that dies loses them and its successor begins with them anew.  Nothing else
 * is: not what the module allocated, nor thread-locals, nor the variables of other libraries. */
#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

struct memory;

/* The module has been loaded by that path, and stays so.  NULL: memory is out, or there is no such module. */
struct memory *memory_keep(const char *path);

/* None of the module's code may be under way. */
void memory_put_back(const struct memory *memory);

/* NULL is fine. */
void memory_free(struct memory *memory);

#endif
