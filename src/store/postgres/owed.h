/* owed.h - renewals that a store owes: of leases whose tasks another transaction had locked when they were to be
 * renewed.
 *
 * A renewal never waits for a lock, because one task that stays locked would cost the runner all its leases.  A
 * skipped task is renewed by the next transaction of this store that has it locked: the one that held the lock, or
 * one that finds it free.  Until then no other process can take the lease, because it would have to lock the task,
 * and this store does not claim it.
 *
 * Each instance has at most one debt, the newest.  It is owed as soon as it is decided, before the commit, because
 * the runner lives and holds the lease whatever becomes of the transaction.  A debt is removed when it was paid and
 * committed, when a look that is younger than the debt sees that the task has changed hands, or when the lease would
 * be over by now. */
#ifndef PW_STORE_POSTGRES_OWED_H
#define PW_STORE_POSTGRES_OWED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/rows.h"
#include "store/store.h"

struct pw_pg_debt {
    struct pw_fence fence;
    int64_t owner, until_ms; /* until when the lease is to last */
    uint64_t number;         /* counted by the store from 1, in the order in which debts arise */
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

/* Records a debt in place of an earlier one of the same instance, and numbers it.  False when memory is out. */
bool pw_pg_owe(struct pw_pg_owed *owed, const struct pw_pg_debt *debt);
/* The number of the newest debt so far, whether or not it is still owed.  0: there never was one. */
uint64_t pw_pg_owed_last(struct pw_pg_owed *owed);
void pw_pg_owed_forget(struct pw_pg_owed *owed, uint64_t number);
/* Adds all debts to the rows, which are of struct pw_pg_debt.  Forgets those whose lease would be over.  False when
 * memory is out. */
bool pw_pg_owed_list(struct pw_pg_owed *owed, int64_t now_ms, struct pw_rows *debts);

#endif
