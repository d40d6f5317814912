/* trace.h - what happened in a world, a line for each unit of work: its time, what was asked for, and the answer.
 *
 *     2026-01-01T00:00:00.000Z commit fence(3,1,2) step "charge" completed, log -> ok
 *
 * and for each wake and each decision about who may do what (pawl_note).
 *
 * A store around the world's own writes it.  Reads leave no line, and a claim that found nothing due leaves none.  When
 * memory is out a line is dropped; nothing fails because of it. */
#ifndef PW_TESTING_TRACE_H
#define PW_TESTING_TRACE_H

#include <pthread.h>
#include <stdarg.h>

#include "store/store.h"

struct pw_trace {
    pthread_mutex_t lock; /* guards what follows */
    char *text;           /* NUL-terminated, or NULL */
    size_t size, capacity;
    bool line_failed; /* memory ran out in the line that is being written */
};

void pw_trace_init(struct pw_trace *trace);
void pw_trace_free(struct pw_trace *trace);

/* Never NULL; valid until the next line. */
const char *pw_trace_read(struct pw_trace *trace);

/* A line of somebody else's: as the note of a struct pw_recorder, whose user is the trace. */
void pw_trace_note(void *trace, int64_t now_ms, const char *format, va_list arguments);

/* A pw_store_wrap_fn: the store, writing into the struct pw_trace, which must outlive it. */
struct pw_store *pw_trace_wrap(struct pw_store *inner, void *trace);

#endif
