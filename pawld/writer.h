/* writer.h - writes lines to a descriptor without ever making the caller wait.
 *
 * Standard error may be a pipe that nobody reads, a terminal that is stopped, a disk that hangs.  So a thread does the
 * writing.  Lines wait for it in a buffer of bounded size.  A line that does not fit is dropped and counted, and the count
 * is written as soon as there is room again. */
#ifndef PAWLD_WRITER_H
#define PAWLD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITER_BYTES_MAX = 256 * 1024 }; /* that wait */

struct writer;

/* Makes the line that tells of dropped ones; answers its size.  Called in the writer's thread. */
typedef size_t writer_tell_fn(void *user, int64_t dropped, char *text, size_t size);

/* NULL: there is no memory or no thread to be had.  `user` is borrowed until the writer is closed. */
struct writer *writer_open(int descriptor, writer_tell_fn *tell, void *user);
/* Gives what waits a moment to be written, and drops the rest.  NULL is fine. */
void writer_close(struct writer *writer);

/* Whole lines, one or more.  Never waits. */
void writer_add(struct writer *writer, const char *text, size_t size);
/* Until all is written, but not longer than this.  False: something still waits. */
bool writer_flush(struct writer *writer, int64_t limit_ms);

#endif
