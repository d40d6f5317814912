/* forward.h - a store around another one.  By itself it hands every call on; a decorator puts it first in its own
 * struct and then replaces the entries of `ops` for what it does differently, calling the same entry of inner->ops in
 * between.
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

/* In the caller's memory. */
void pw_forward_init(struct pw_forward *forward, struct pw_store *inner);
/* A decorator of this size, zeroed, which close() frees.  NULL when memory is out. */
void *pw_forward_new(struct pw_store *inner, size_t size);

#endif
