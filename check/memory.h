/* memory.h - saves and restores the static variables of a loaded module.
 *
 * A process that dies loses its variables, and its successor starts with fresh ones.  Restoring them simulates that.
 * Everything writable in the module's image is restored.  Memory that the module has allocated, thread-locals and
 * variables of other libraries are not. */
#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

struct memory;

/* Saves the variables of the module, which must have been loaded by that path and stay loaded.  Returns NULL without
 * memory, or if there is no such module. */
struct memory *memory_keep(const char *path);

/* Restores them.  No code of the module may be running. */
void memory_put_back(const struct memory *memory);

/* Accepts NULL. */
void memory_free(struct memory *memory);

#endif
