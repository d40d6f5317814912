/* forward.h - a store around another one.  By itself it hands every call on; a decorator puts it first in its own
 * struct and then replaces the entries of `ops` for what it does differently, calling the same entry of inner->ops in
 * between.
 *
 * It owns the inner store.  It allocates nothing itself: a decorator that did must replace close(), and there close the
 * inner one and free what is its own. */
#ifndef PW_TESTING_FORWARD_H
#define PW_TESTING_FORWARD_H

#include "store/store.h"

struct pw_forward {
    struct pw_store store; /* first: the engine sees only this */
    struct pw_store_ops ops;
    struct pw_store *inner;
};

void pw_forward_init(struct pw_forward *forward, struct pw_store *inner);

#endif
