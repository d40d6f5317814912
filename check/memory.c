/* memory.c - see memory.h.  Parts that the loader makes read-only after relocation are skipped, because they cannot
 * have changed. */
#define _GNU_SOURCE
#include "memory.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads and writes memory of any type. */
typedef size_t __attribute__((may_alias)) word;

enum { PARTS_MAX = 8 };

struct part {
    uintptr_t begin, end; /* rounded to whole words, which never cross a page */
    word *copy;
};

struct memory {
    const struct link_map *of; /* the module, while its parts are being found */
    struct part parts[PARTS_MAX];
    size_t part_count;
};

/* ---- Finding it ------------------------------------------------------------------------------------------------------- */

static bool add_part(struct memory *memory, uintptr_t begin, uintptr_t end)
{
    begin -= begin % sizeof(word);
    end += (sizeof(word) - end % sizeof(word)) % sizeof(word);
    if (begin >= end)
        return true;
    if (memory->part_count == PARTS_MAX)
        return false;
    word *copy = malloc(end - begin);
    if (copy == NULL)
        return false;
    memory->parts[memory->part_count++] = (struct part){ begin, end, copy };
    return true;
}

/* Finds the whole pages that become read-only, as the loader computes them. */
static void find_read_only(const struct dl_phdr_info *object, uintptr_t *out_begin, uintptr_t *out_end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *out_begin = *out_end = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type != PT_GNU_RELRO)
            continue;
        uintptr_t begin = object->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
        *out_begin = begin - begin % page;
        *out_end = end - end % page;
    }
}

static bool add_segment(struct memory *memory, const struct dl_phdr_info *object, const ElfW(Phdr) * header)
{
    uintptr_t read_only_begin, read_only_end;
    uintptr_t begin = object->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
    find_read_only(object, &read_only_begin, &read_only_end);
    if (read_only_end <= begin || read_only_begin >= end)
        return add_part(memory, begin, end);
    return (begin >= read_only_begin || add_part(memory, begin, read_only_begin)) &&
           (read_only_end >= end || add_part(memory, read_only_end, end));
}

/* Returns 1 if it is the module, and -1 if it is but its parts cannot be kept. */
static int look_at_object(struct dl_phdr_info *object, size_t size, void *user)
{
    struct memory *memory = user;
    (void)size;
    if (object->dlpi_addr != memory->of->l_addr || strcmp(object->dlpi_name, memory->of->l_name) != 0)
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) != 0 && !add_segment(memory, object, header))
            return -1;
    }
    return 1;
}

static bool find_parts(struct memory *memory, const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    struct link_map *map = NULL;
    bool is_found = false;
    if (handle == NULL)
        return false;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
        memory->of = map;
        is_found = dl_iterate_phdr(look_at_object, memory) == 1;
    }
    (void)dlclose(handle); /* the world keeps it open */
    return is_found;
}

/* ---- Copying ------------------------------------------------------------------------------------------------------------ */

/* Copies word by word without checks.  The address sanitizer has marked the gaps between variables as invalid, and
 * its memcpy() would complain. */
__attribute__((no_sanitize("address"))) static void copy_words(volatile word *to, const volatile word *from,
                                                               size_t size)
{
    for (size_t i = 0; i < size / sizeof *to; i++)
        to[i] = from[i];
}

struct memory *memory_keep(const char *path)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return NULL;
    if (!find_parts(memory, path)) {
        memory_free(memory);
        return NULL;
    }
    for (size_t i = 0; i < memory->part_count; i++) {
        const struct part *part = &memory->parts[i];
        copy_words(part->copy, (const volatile word *)part->begin, part->end - part->begin);
    }
    return memory;
}

void memory_put_back(const struct memory *memory)
{
    for (size_t i = 0; i < memory->part_count; i++) {
        const struct part *part = &memory->parts[i];
        copy_words((volatile word *)part->begin, part->copy, part->end - part->begin);
    }
}

void memory_free(struct memory *memory)
{
    for (size_t i = 0; memory != NULL && i < memory->part_count; i++)
        free(memory->parts[i].copy);
    free(memory);
}
