/* writable.h - tells whether the store can be written.  Commits show it.  If there was no commit lately, or the
 * newest one failed, a probe shows it: a small transaction, at most one a second, made only when somebody asks. */
#ifndef PW_ENGINE_WRITABLE_H
#define PW_ENGINE_WRITABLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

/* Zero it and initialise its lock. */
struct pw_writable {
    _Atomic int64_t written_at_ms; /* monotonic: when a commit last wrote something; 0: never */
    atomic_bool is_failing;        /* the newest result is a failure */
    pthread_mutex_t lock;          /* guards the fields below */
    bool is_probing;
    int64_t probed_at_ms;      /* monotonic; 0: never */
    struct pawl_error failure; /* while is_failing */
};

/* A transaction was tried.  now_ms: monotonic. */
void pw_writable_note(struct pw_writable *writable, struct pw_unit **units, size_t count, pawl_status whole,
                      int64_t now_ms);
pawl_status pw_writable_check(struct pw_writable *writable, struct pw_store *store, int64_t now_ms,
                              struct pawl_error *error) PAWL_MUST_CHECK;

#endif
