/* hooks.h (internal) - the registered hooks, and what they are to be told of a unit of work.
 *
 * Every unit passes through pw_hooks_annotate() on its way to the committer.  For each op that makes a run due, or ends
 * one, it adds an op that records it for each hook that asked; so both are durable, or neither is.  Hooks are only ever
 * added, at the end of a list that is read without a lock. */
#ifndef PW_ENGINE_HOOKS_H
#define PW_ENGINE_HOOKS_H

#include "engine/engine.h"
#include "pawl/hooks.h"

/* A registered hook.  Lives until the engine is closed. */
struct pw_hook {
    struct pw_text name;
    unsigned events;
    pawl_deliver_fn *deliver; /* or NULL */
    void *user;
    int64_t attempts_max, delay_ms, lease_ms; /* filled in: no zeroes */
    atomic_int under_way;                     /* deliveries by this process's couriers */
    struct pw_hook *_Atomic next;
};

struct pw_hooks {
    struct pw_hook *_Atomic first;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* broadcast at every kick */
    int64_t kicks;
};

/* The engine's, made at the first call.  NULL when memory is out. */
struct pw_hooks *pw_hooks_of(pawl_engine *engine);

/* NULL when there is none of that name. */
struct pw_hook *pw_hooks_find(const struct pw_hooks *hooks, struct pw_text name);

/* Adds what hooks are to be told of the unit's ops.  PAWL_NOMEM: the unit must not be committed.  Called once for a unit,
 * when it is complete. */
pawl_status pw_hooks_annotate(pawl_engine *engine, struct pw_unit *unit) PAWL_MUST_CHECK;

/* Has the unit, which was answered, recorded something for hooks?  One look at its last op. */
bool pw_hooks_concerns(const struct pw_unit *unit);

/* Something is due: couriers of this engine look at once.  From any thread. */
void pw_hooks_kick(pawl_engine *engine);

#endif
