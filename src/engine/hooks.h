/* hooks.h (internal) - the registered hooks.
 *
 * Every unit passes through pw_hooks_attach() on its way to the committer, which attaches what the hooks ask for.
 * The core records a delivery for each effect that a hook asks for (core/effects.h) in the same transaction, so both
 * are durable or neither is.  Hooks are only added, at the end of a list that is read without a lock. */
#ifndef PW_ENGINE_HOOKS_H
#define PW_ENGINE_HOOKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "pawl/hooks.h"
#include "store/store.h"

/* A registered hook.  Lives until the engine is closed. */
struct pw_hook {
    struct pw_subscription asks; /* the first member: pw_hook_next() */
    pawl_deliver_fn *deliver;    /* or NULL */
    void *user;
    int64_t delay_ms, lease_ms; /* with defaults filled in */
    atomic_int under_way;       /* deliveries that couriers of this process are making */
};

struct pw_hooks {
    struct pw_subscription *_Atomic first; /* or NULL */

    pthread_mutex_t lock;   /* guards the fields below, and the couriers' own fields */
    pthread_cond_t changed; /* broadcast at every kick */
    int64_t kicks;
};

/* Hooks in the order of their registration; NULL after the last. */
static inline struct pw_hook *pw_hooks_first(const struct pw_hooks *hooks)
{
    return (struct pw_hook *)atomic_load(&hooks->first);
}
static inline struct pw_hook *pw_hook_next(const struct pw_hook *hook)
{
    return (struct pw_hook *)atomic_load(&hook->asks.next);
}

/* NULL if no hook has that name. */
struct pw_hook *pw_hooks_find(const struct pw_hooks *hooks, struct pw_text name);

/* Called for every unit before it is committed: attaches what the hooks ask for, and an id for the deliveries. */
void pw_hooks_attach(pawl_engine *engine, struct pw_unit *unit);

/* A delivery is due: wakes the couriers of this engine.  From any thread. */
void pw_hooks_kick(pawl_engine *engine);

#endif
