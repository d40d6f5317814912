/* blocked.h - calls of user code that have not returned in time, and the threads that they block.
 *
 * The runner that finds a late call lists it, and removes it when it has returned.  While workflow code of a run
 * blocks a thread, no runner of this engine takes that run again, because the run would block the next thread as
 * well.  Other processes may take it. */
#ifndef PW_ENGINE_BLOCKED_H
#define PW_ENGINE_BLOCKED_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

/* Lives in the attempt or lane that makes the call, whose turn owns the texts.  A zeroed one is not listed. */
struct pw_blocked_call {
    int64_t number; /* numbered from 1 in the order in which they were found; 0: not listed */
    int64_t instance, run;
    struct pw_text workflow, id;
    struct pw_text step; /* the step whose body it is; for workflow code, the durable call before it, or absent */
    bool in_body;
    bool keeps_out; /* no runner of this engine takes the run */
    int64_t began_at_ms;
    struct pw_blocked_call *next;
};

/* Zero it and initialise its lock. */
struct pw_blocked {
    atomic_llong threads; /* threads that such calls block, and threads that wait for such a call */
    pthread_mutex_t lock; /* guards the fields below; a leaf: no other lock is taken while it is held */
    struct pw_blocked_call *newest;
    size_t count;
    int64_t found; /* calls found so far, in bodies and in code */
    int64_t found_in_code;
};

void pw_blocked_add(struct pw_blocked *blocked, struct pw_blocked_call *call);
/* The call must be listed. */
void pw_blocked_remove(struct pw_blocked *blocked, struct pw_blocked_call *call);

/* Called when the run has ended or a newer one has begun: this engine may take the instance again. */
void pw_blocked_let_in(struct pw_blocked *blocked, int64_t instance, int64_t run);
bool pw_blocked_keeps_out(struct pw_blocked *blocked, int64_t instance, int64_t run);
/* The instances that are kept out, in the arena.  False when memory runs out. */
bool pw_blocked_instances(struct pw_blocked *blocked, struct pw_arena *arena, int64_t **out_instances,
                          size_t *out_count);

#endif
