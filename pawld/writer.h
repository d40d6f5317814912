/* writer.h - writes lines to a descriptor without ever making the caller wait.
 *
 * Standard error may be a pipe that nobody reads, a stopped terminal or a hanging disk.  So a thread does the
 * writing, and lines wait for it in a buffer of bounded size.  A line that does not fit is dropped and counted.  The
 * count is written as soon as there is room again. */
#ifndef PAWLD_WRITER_H
#define PAWLD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITER_BYTES_MAX = 256 * 1024 }; /* in the buffer */

struct writer;

/* Composes the line that reports dropped lines and returns its size.  Called in the writer's thread. */
typedef size_t writer_tell_fn(void *user, int64_t dropped, char *text, size_t size);

/* Returns NULL without memory or a thread.  `user` is borrowed until the writer is closed. */
struct writer *writer_open(int descriptor, writer_tell_fn *tell, void *user);
/* Waits up to a second for the buffer to be written and drops the rest.  Accepts NULL. */
void writer_close(struct writer *writer);

/* Adds one or more whole lines.  Never waits. */
void writer_add(struct writer *writer, const char *text, size_t size);
/* Waits until everything is written, at most limit_ms.  Returns false if something is left. */
bool writer_flush(struct writer *writer, int64_t limit_ms);

#endif
