/* hooks.h (internal) - the registered hooks.
 *
 * Every unit passes through pw_hooks_attach() on its way to the committer and so carries what hooks ask to be told.  The core
 * records a delivery for each effect that a hook asked for (core/effects.h), in the same transaction: both are durable, or
 * neither is.  Hooks are only ever added, at the end of a list that is read without a lock. */
#ifndef PW_ENGINE_HOOKS_H
#define PW_ENGINE_HOOKS_H

#include "engine/engine.h"
#include "pawl/hooks.h"

/* A registered hook.  Lives until the engine is closed. */
struct pw_hook {
    struct pw_subscription asks; /* the first member: pw_hook_next() */
    pawl_deliver_fn *deliver;    /* or NULL */
    void *user;
    int64_t delay_ms, lease_ms; /* filled in: no zeroes */
    atomic_int under_way;       /* deliveries by this process's couriers */
};

struct pw_hooks {
    struct pw_subscription *_Atomic first;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* broadcast at every kick */
    int64_t kicks;
};

/* The engine's, made at the first call.  NULL when memory is out. */
struct pw_hooks *pw_hooks_of(pawl_engine *engine);

/* In the order of their registration; NULL behind the last. */
static inline struct pw_hook *pw_hooks_first(const struct pw_hooks *hooks)
{
    return (struct pw_hook *)atomic_load(&hooks->first);
}
static inline struct pw_hook *pw_hook_next(const struct pw_hook *hook)
{
    return (struct pw_hook *)atomic_load(&hook->asks.next);
}

/* NULL when there is none of that name. */
struct pw_hook *pw_hooks_find(const struct pw_hooks *hooks, struct pw_text name);

/* The unit is about to be committed: it carries what hooks ask to be told, and an id for the deliveries. */
void pw_hooks_attach(pawl_engine *engine, struct pw_unit *unit);

/* Something is due: couriers of this engine look at once.  From any thread. */
void pw_hooks_kick(pawl_engine *engine);

#endif
