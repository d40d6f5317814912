/* owed.h - renewals that a store owes: of leases whose tasks somebody had locked when they were to be renewed.
 *
 * A renewal waits for nobody, because one task that stays locked would cost the runner all its leases.  What it passes over
 * is renewed by the next transaction of this store that has the task, be it the one that kept it locked, or that finds it
 * free.  Until then nobody takes the lease away who would have to lock the task as well, and this store does not claim it.
 *
 * Of one instance there is one debt at most, the youngest.  It is owed as soon as it is decided, before the commit: who
 * renews lives and holds the lease, whatever becomes of the transaction.  It goes when it was paid and committed, when its
 * task is seen not to be as it was, by a look that is younger than the debt, or when it would be over by now. */
#ifndef PW_STORE_POSTGRES_OWED_H
#define PW_STORE_POSTGRES_OWED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/rows.h"
#include "store/store.h"

struct pw_pg_debt {
    struct pw_fence fence;
    int64_t owner, until_ms; /* up to when the lease is to be */
    uint64_t number;         /* counted by the store from 1, in the order in which they came to be owed */
};

struct pw_pg_owed {
    atomic_size_t count; /* changed under the lock */
    pthread_mutex_t lock;
    uint64_t last_number;
    struct pw_pg_debt *debts; /* owned */
    size_t capacity;
};

bool pw_pg_owed_init(struct pw_pg_owed *owed); /* false when the system refuses */
void pw_pg_owed_clear(struct pw_pg_owed *owed);

/* In place of what was owed of the instance; gives it its number.  False when memory is out. */
bool pw_pg_owe(struct pw_pg_owed *owed, const struct pw_pg_debt *debt);
/* The number of the youngest so far, whether it is still owed or not; 0: none ever was. */
uint64_t pw_pg_owed_last(struct pw_pg_owed *owed);
void pw_pg_owed_forget(struct pw_pg_owed *owed, uint64_t number);
/* Adds all to the rows, which are of struct pw_pg_debt, but those that are over, which it forgets.  False when memory is
 * out. */
bool pw_pg_owed_list(struct pw_pg_owed *owed, int64_t now_ms, struct pw_rows *debts);

#endif
