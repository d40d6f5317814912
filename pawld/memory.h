/* memory.h - gives free memory back to the system.
 *
 * The C library keeps freed memory for later allocations.  After a burst of large requests that can be many times
 * what is in use, for as long as the process lives.  When the process has been mostly idle for some seconds, and
 * much more memory is resident than in use, the rest is given back.  A busy process never gets there, so its heap is
 * also set up to stay compact.  Only the program does this, because a library must not change its host's heap. */
#ifndef PAWLD_MEMORY_H
#define PAWLD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* All zero at first. */
struct memory {
    int64_t looked_at_ms, busy_us; /* at the last look: the time, and the processor time used */
    int idle_looks;                /* in a row */
    int64_t not_before_ms;         /* not again before this, because it costs time */
};

/* Sets up the heap of this process.  Call it first, before any thread is started. */
void memory_begin(void);

/* Call it about once a second.  Returns how many bytes were given back. */
size_t memory_look(struct memory *memory, int64_t now_ms);

#endif
