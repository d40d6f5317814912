/* writable.h - can the store be written?  Commits tell.  Where none was made lately, or the newest one failed, a probe does:
 * a small transaction, at most one a second, made only when somebody asks. */
#ifndef PW_ENGINE_WRITABLE_H
#define PW_ENGINE_WRITABLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

/* Zeroed, and its lock made, is ready. */
struct pw_writable {
    _Atomic int64_t written_at_ms; /* monotonic: when a commit last wrote something; 0: never */
    atomic_bool is_failing;        /* the newest thing known is a failure */
    pthread_mutex_t lock;          /* guards what follows */
    bool is_probing;
    int64_t probed_at_ms;      /* monotonic; 0: never */
    struct pawl_error failure; /* while is_failing */
};

/* now_ms: monotonic.  A transaction was tried. */
void pw_writable_note(struct pw_writable *writable, struct pw_unit **units, size_t count, pawl_status whole,
                      int64_t now_ms);
pawl_status pw_writable_check(struct pw_writable *writable, struct pw_store *store, int64_t now_ms,
                              struct pawl_error *error) PAWL_MUST_CHECK;

#endif
