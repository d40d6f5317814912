/* owed.h - renewals that a store owes: of leases whose tasks somebody had locked when they were to be renewed.
 *
 * A renewal waits for nobody, because one task that stays locked would cost the runner all its leases.  What it passes over
 * is renewed by the next transaction of this store that has the task, be it the one that kept it locked, or that finds it
 * free.  Until then nobody takes the lease away who would have to lock the task as well. */
#ifndef PW_STORE_POSTGRES_OWED_H
#define PW_STORE_POSTGRES_OWED_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

struct pw_pg_debt {
    struct pw_fence fence;
    int64_t owner, until_ms; /* up to when the lease is to be */
};

struct pw_pg_owed {
    atomic_size_t count; /* changed under the lock */
    pthread_mutex_t lock;
    struct pw_pg_debt *debts; /* owned */
    size_t capacity;
};

bool pw_pg_owed_init(struct pw_pg_owed *owed); /* false when the system refuses */
void pw_pg_owed_clear(struct pw_pg_owed *owed);

/* False when memory is out. */
bool pw_pg_owe(struct pw_pg_owed *owed, const struct pw_pg_debt *debt);
/* An owner's renewal speaks of all that it holds: nothing older counts. */
void pw_pg_owe_nothing(struct pw_pg_owed *owed, int64_t owner);
void pw_pg_owed_forget(struct pw_pg_owed *owed, const struct pw_pg_debt *debt);
/* The one at this position, as long as there is one. */
bool pw_pg_owed_at(struct pw_pg_owed *owed, size_t position, struct pw_pg_debt *out_debt);

#endif
