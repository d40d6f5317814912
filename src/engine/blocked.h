/* blocked.h - calls of the author's code that have not come back in time, and the threads that they keep.
 *
 * A call is listed by the runner that found it and removed when it has returned.  While workflow code of a run blocks, no
 * runner of this engine takes that run again: it would block the next thread as well.  Other processes may. */
#ifndef PW_ENGINE_BLOCKED_H
#define PW_ENGINE_BLOCKED_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

/* Lives in whatever knows of the call, which also owns the texts.  Zeroed is "not listed". */
struct pw_blocked_call {
    int64_t number; /* from 1, in the order in which they were found; 0: not listed */
    int64_t instance, run;
    struct pw_text workflow, id;
    struct pw_text step; /* whose body it is; for workflow code the durable call before it, or absent */
    bool in_body;
    bool keeps_out; /* no runner of this engine takes the run */
    int64_t began_at_ms;
    struct pw_blocked_call *next;
};

/* Zeroed, and its lock made, is ready. */
struct pw_blocked {
    atomic_llong threads; /* that such calls keep, and those that wait for such a call */
    pthread_mutex_t lock; /* guards what follows; no other lock is taken while it is held */
    struct pw_blocked_call *newest;
    size_t count;
    int64_t found; /* so far */
    int64_t found_in_code;
};

void pw_blocked_add(struct pw_blocked *blocked, struct pw_blocked_call *call);
/* It must be listed. */
void pw_blocked_remove(struct pw_blocked *blocked, struct pw_blocked_call *call);

/* To be called when the run has ended, or a newer one has begun: the instance may be taken again. */
void pw_blocked_let_in(struct pw_blocked *blocked, int64_t instance, int64_t run);
bool pw_blocked_keeps_out(struct pw_blocked *blocked, int64_t instance, int64_t run);
/* The instances that are kept out, in the arena.  False when memory is out. */
bool pw_blocked_instances(struct pw_blocked *blocked, struct pw_arena *arena, int64_t **out_instances,
                          size_t *out_count);

#endif
