/* shelf.h (internal) - what the authoring layer keeps beside an engine until the engine is closed: workflows, functions and
 * middleware.  Entries are added, but never changed or removed, so they are read without a lock. */
#ifndef PW_WORKFLOW_SHELF_H
#define PW_WORKFLOW_SHELF_H

#include <pthread.h>

#include "base/arena.h"
#include "pawl/workflow.h"

struct pw_shelf;

/* The first member of each entry. */
struct pw_shelf_entry {
    struct pw_shelf_entry *_Atomic next; /* the entry that was added after this one */
};

/* A registered workflow, as the turn function gets it back. */
struct pw_registration {
    struct pw_shelf_entry entry;
    const struct pw_shelf *shelf;
    const char *name;
    struct pawl_limits limits;
    pawl_workflow_fn *run;
    struct pawl_policy policy; /* the default policy of its steps */
    void *user;
    bool suspend_on_failure;
};

struct pw_function {
    struct pw_shelf_entry entry;
    const struct pw_shelf *shelf;
    const char *name;
    pawl_step_fn *run;
    void *user;
};

struct pw_wrapper {
    struct pw_shelf_entry entry; /* the next wrapper is further inside */
    struct pawl_middleware how;
};

struct pw_shelf {
    pthread_mutex_t lock; /* held while adding; guards the arena */
    struct pw_arena arena;
    struct pw_shelf_entry workflows, functions, wrappers; /* each is followed by the entries of its list */
};

/* The engine's shelf.  Made at the first call.  NULL when memory runs out. */
struct pw_shelf *pw_shelf_of(pawl_engine *engine);
/* Zeroed memory, and a copy of a text, that live as long as the shelf.  NULL when memory runs out. */
void *pw_shelf_take(struct pw_shelf *shelf, size_t size);
const char *pw_shelf_text(struct pw_shelf *shelf, const char *text);

/* Adds the entry at the end of one of the shelf's lists. */
void pw_shelf_add(struct pw_shelf *shelf, struct pw_shelf_entry *list, struct pw_shelf_entry *entry);
/* The entry after this one, or after the head of a list; NULL: there is none. */
void *pw_shelf_next(const struct pw_shelf_entry *entry);
/* NULL if no function has that name. */
const struct pw_function *pw_shelf_function(const struct pw_shelf *shelf, const char *name);

/* Both register an entry with the engine.  The entry is, or will be, on this engine's shelf or on that of another
 * engine that lives longer. */
pawl_status pw_define_function(pawl_engine *engine, struct pw_function *function, const char *description,
                               struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_define_workflow(pawl_engine *engine, struct pw_registration *registration,
                               const struct pawl_workflow *workflow, struct pawl_error *error) PAWL_MUST_CHECK;

/* inline.c: a pawl_inline_fn whose user is the registration. */
pawl_inline_fn pw_run_inline;

#endif
