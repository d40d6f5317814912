/* forward.h - a store that wraps another one.  By itself it passes every call on.  A decorator has it as its first
 * member, replaces the entries of `ops` that it handles differently, and calls the same entries of inner->ops from
 * there.
 *
 * It owns the inner store, and closes it when it is closed. */
#ifndef PW_TESTING_FORWARD_H
#define PW_TESTING_FORWARD_H

#include "store/store.h"

struct pw_forward {
    struct pw_store store; /* first: the engine sees only this */
    struct pw_store_ops ops;
    struct pw_store *inner;
};

/* Initialises one in the caller's memory. */
void pw_forward_init(struct pw_forward *forward, struct pw_store *inner);
/* Makes a zeroed decorator of this size, which close() frees.  NULL when memory runs out. */
void *pw_forward_new(struct pw_store *inner, size_t size);

#endif
