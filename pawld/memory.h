/* memory.h - gives memory that is free back to the system.
 *
 * The C library keeps freed memory for later allocations.  After a burst of large requests that can be many times what is in
 * use, for as long as the process lives.  When the process has had little to do for some seconds, and much more memory is
 * resident than is in use, the rest is given back.  A busy process never gets to that, so its heap is also set up to stay
 * compact.  Both are done by the program only: a library does not do that to its host's heap. */
#ifndef PAWLD_MEMORY_H
#define PAWLD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* All zero at first. */
struct memory {
    int64_t looked_at_ms, busy_us; /* at the last look: the time, and how long processors had worked for us */
    int idle_looks;                /* in a row */
    int64_t not_before_ms;         /* some of it cannot be given back, and trying costs time */
};

/* Sets up the heap of this process.  Call it first, before any thread is started. */
void memory_begin(void);

/* Call it about once a second.  Answers how many bytes were given back. */
size_t memory_look(struct memory *memory, int64_t now_ms);

#endif
