/* shelf.h (internal) - what the authoring layer keeps beside an engine, until that is closed: workflows, functions and
 * middleware.  Entries are added and never changed or taken away, so whoever runs reads them without a lock. */
#ifndef PW_WORKFLOW_SHELF_H
#define PW_WORKFLOW_SHELF_H

#include <pthread.h>

#include "base/arena.h"
#include "pawl/workflow.h"

struct pw_shelf;

/* A registered workflow, as the turn function gets it back. */
struct pw_registration {
    const struct pw_shelf *shelf;
    const char *name;
    struct pawl_limits limits;
    pawl_workflow_fn *run;
    struct pawl_policy policy; /* of its steps, unless they say otherwise */
    void *user;
    bool suspend_on_failure;
    struct pw_registration *next; /* older */
};

struct pw_function {
    const struct pw_shelf *shelf;
    const char *name;
    pawl_step_fn *run;
    void *user;
    struct pw_function *next; /* older */
};

struct pw_wrapper {
    struct pawl_middleware how;
    struct pw_wrapper *_Atomic next; /* further in */
};

struct pw_shelf {
    pthread_mutex_t lock; /* of who adds; guards the arena */
    struct pw_arena arena;
    struct pw_registration *_Atomic workflows; /* the newest first */
    struct pw_function *_Atomic functions;
    struct pw_wrapper *_Atomic wrappers; /* the outermost first */
};

/* The engine's, made when there is none yet.  NULL: memory is out. */
struct pw_shelf *pw_shelf_of(pawl_engine *engine);
/* Zeroed memory, and a copy of a text, of the shelf's life.  NULL when out. */
void *pw_shelf_take(struct pw_shelf *shelf, size_t size);
const char *pw_shelf_text(struct pw_shelf *shelf, const char *text);

void pw_shelf_add_workflow(struct pw_shelf *shelf, struct pw_registration *registration);
void pw_shelf_add_function(struct pw_shelf *shelf, struct pw_function *function);
void pw_shelf_add_wrapper(struct pw_shelf *shelf, struct pw_wrapper *wrapper);
/* NULL when there is none of that name. */
const struct pw_function *pw_shelf_function(const struct pw_shelf *shelf, const char *name);

/* Both make known to the engine what is, or will be, on a shelf: its own, or that of another which lives longer. */
pawl_status pw_define_function(pawl_engine *engine, struct pw_function *function, const char *description,
                               struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_define_workflow(pawl_engine *engine, struct pw_registration *registration,
                               const struct pawl_workflow *workflow, struct pawl_error *error) PAWL_MUST_CHECK;

/* inline.c: a pawl_inline_fn whose user is the registration. */
pawl_inline_fn pw_run_inline;

#endif
