/* trace.h - the trace of a world.  Each unit of work is a line: its time, what was asked for, and the answer.
 *
 *     2026-01-01T00:00:00.000Z commit fence(3,1,2) step "charge" completed, log -> ok
 *
 * Each wake is a line as well, and each note of the struct pw_recorder.
 *
 * A store that wraps the world's own writes the trace.  Reads, and claims that found nothing due, leave no line.  If
 * memory runs out a line is dropped, and nothing else fails. */
#ifndef PW_TESTING_TRACE_H
#define PW_TESTING_TRACE_H

#include <pthread.h>
#include <stdarg.h>

#include "store/store.h"

struct pw_trace {
    pthread_mutex_t lock; /* guards the fields below */
    char *text;           /* NUL-terminated, or NULL */
    size_t size;
};

void pw_trace_init(struct pw_trace *trace);
void pw_trace_free(struct pw_trace *trace);

/* Never NULL; valid until the next line. */
const char *pw_trace_read(struct pw_trace *trace);

/* Writes any other line.  It is the `note` of a struct pw_recorder whose user is the trace. */
void pw_trace_note(void *trace, int64_t now_ms, const char *format, va_list arguments);

/* A pw_store_wrap_fn: wraps the store so that it writes into the struct pw_trace, which must outlive it. */
struct pw_store *pw_trace_wrap(struct pw_store *inner, void *trace);

#endif
