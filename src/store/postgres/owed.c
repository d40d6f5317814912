/* owed.c - see owed.h.  There are few at a time, and mostly none: that is known without the lock. */
#include "store/postgres/owed.h"

#include <stdlib.h>

bool pw_pg_owed_init(struct pw_pg_owed *owed)
{
    atomic_init(&owed->count, 0);
    owed->debts = NULL;
    owed->capacity = 0;
    return pthread_mutex_init(&owed->lock, NULL) == 0;
}

void pw_pg_owed_clear(struct pw_pg_owed *owed)
{
    free(owed->debts);
    (void)pthread_mutex_destroy(&owed->lock);
}

bool pw_pg_owe(struct pw_pg_owed *owed, const struct pw_pg_debt *debt)
{
    (void)pthread_mutex_lock(&owed->lock);
    size_t count = atomic_load(&owed->count);
    if (count == owed->capacity) {
        size_t capacity = count > 0 ? 2 * count : 16;
        struct pw_pg_debt *debts = realloc(owed->debts, capacity * sizeof *debts);
        if (debts != NULL) {
            owed->debts = debts;
            owed->capacity = capacity;
        }
    }
    bool fits = count < owed->capacity;
    if (fits) {
        owed->debts[count] = *debt;
        atomic_store(&owed->count, count + 1);
    }
    (void)pthread_mutex_unlock(&owed->lock);
    return fits;
}

static bool is_of_owner(const struct pw_pg_debt *debt, const struct pw_pg_debt *like)
{
    return debt->owner == like->owner;
}

static bool is_same(const struct pw_pg_debt *debt, const struct pw_pg_debt *like)
{
    return debt->owner == like->owner && debt->until_ms == like->until_ms &&
           debt->fence.instance == like->fence.instance && debt->fence.run == like->fence.run &&
           debt->fence.epoch == like->fence.epoch;
}

static void drop(struct pw_pg_owed *owed, bool (*is_meant)(const struct pw_pg_debt *, const struct pw_pg_debt *),
                 const struct pw_pg_debt *like)
{
    if (atomic_load(&owed->count) == 0)
        return;
    (void)pthread_mutex_lock(&owed->lock);
    size_t kept = 0, count = atomic_load(&owed->count);
    for (size_t i = 0; i < count; i++)
        if (!is_meant(&owed->debts[i], like))
            owed->debts[kept++] = owed->debts[i];
    atomic_store(&owed->count, kept);
    (void)pthread_mutex_unlock(&owed->lock);
}

void pw_pg_owe_nothing(struct pw_pg_owed *owed, int64_t owner)
{
    drop(owed, is_of_owner, &(struct pw_pg_debt){ .owner = owner });
}

void pw_pg_owed_forget(struct pw_pg_owed *owed, const struct pw_pg_debt *debt)
{
    drop(owed, is_same, debt);
}

bool pw_pg_owed_at(struct pw_pg_owed *owed, size_t position, struct pw_pg_debt *out_debt)
{
    if (position >= atomic_load(&owed->count))
        return false;
    (void)pthread_mutex_lock(&owed->lock);
    bool is_there = position < atomic_load(&owed->count);
    if (is_there)
        *out_debt = owed->debts[position];
    (void)pthread_mutex_unlock(&owed->lock);
    return is_there;
}
