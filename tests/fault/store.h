/* store.h - the engine's store in these tests: the real one, which fails as planned, and whose every commit goes into the
 * ledger.  A commit can also be watched, before and after, by who wants to end the process there. */
#ifndef FAULT_STORE_H
#define FAULT_STORE_H

#include "ledger.h"

struct fault_store_options {
    struct ledger *ledger;
    void (*before_commit)(void *user, int64_t nth); /* or NULL */
    void (*after_commit)(void *user, int64_t nth);  /* or NULL */
    void *user;
};

/* A pw_store_wrap_fn for pw_engine_open(); `user` is the options, which are copied. */
struct pw_store *fault_store_wrap(struct pw_store *inner, void *user);

#endif
