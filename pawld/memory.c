/* memory.c - see memory.h. */
#include "memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Giving memory back takes the heap's locks for some milliseconds per 100 MiB, so it is done when the process is
 * idle. */
enum { IDLE_LOOKS_MIN = 3, IDLE_PERCENT_MAX = 10, EVERY_MS = 30000 };
#define WASTE_MIN ((size_t)32 << 20)

static bool is_wasted(size_t resident, size_t in_use)
{
    return resident > in_use && resident - in_use > WASTE_MIN + in_use / 2;
}

/* Resident bytes without those of files, such as code.  Returns 0 if unknown. */
static size_t read_resident(void)
{
    unsigned long long size = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    bool is_read = fscanf(file, "%llu %llu %llu", &size, &resident, &shared) == 3 && resident > shared;
    (void)fclose(file);
    return is_read ? (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool has_been_idle(struct memory *memory, int64_t now_ms)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return false;
    int64_t busy_us = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
                      usage.ru_stime.tv_usec;
    int64_t passed_us = (now_ms - memory->looked_at_ms) * 1000;
    bool is_idle = memory->looked_at_ms != 0 && (busy_us - memory->busy_us) * 100 <= passed_us * IDLE_PERCENT_MAX;
    memory->looked_at_ms = now_ms;
    memory->busy_us = busy_us;
    memory->idle_looks = is_idle ? memory->idle_looks + 1 : 0;
    return memory->idle_looks >= IDLE_LOOKS_MIN;
}

#ifdef __GLIBC__
/* By default each thread may get its own heap, up to 8 per processor.  Each heap keeps its own free pieces, and
 * their sum grows for hours.  Most of our allocations are few and large (arenas), so two heaps are enough for all
 * threads.  A fixed mmap() threshold keeps large buffers out of the heaps.  Otherwise freeing the first large buffer
 * raises the threshold to its size, and later ones leave holes in the heap. */
enum { HEAPS_MAX = 2, MAPPED_BYTES_MIN = 256 * 1024 };

void memory_begin(void)
{
    (void)mallopt(M_ARENA_MAX, HEAPS_MAX);
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
}

static size_t read_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void give_back(void)
{
    (void)malloc_trim(0);
}
#else
/* Only glibc's heap is known here. */
void memory_begin(void)
{
}

static size_t read_in_use(void)
{
    return SIZE_MAX;
}

static void give_back(void)
{
}
#endif

size_t memory_look(struct memory *memory, int64_t now_ms)
{
    if (!has_been_idle(memory, now_ms) || now_ms < memory->not_before_ms)
        return 0;
    size_t resident = read_resident();
    if (resident < WASTE_MIN || !is_wasted(resident, read_in_use()))
        return 0;
    give_back();
    memory->not_before_ms = now_ms + EVERY_MS;
    size_t after = read_resident();
    return resident > after ? resident - after : 0;
}
