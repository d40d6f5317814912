/* owed.c - see owed.h.  There are few debts at a time and mostly none, so the list is searched in order, and an
 * empty one is recognised without the lock. */
#include "store/postgres/owed.h"

#include <stdlib.h>

bool pw_pg_owed_init(struct pw_pg_owed *owed)
{
    atomic_init(&owed->count, 0);
    owed->last_number = 0;
    owed->debts = NULL;
    owed->capacity = 0;
    return pthread_mutex_init(&owed->lock, NULL) == 0;
}

void pw_pg_owed_clear(struct pw_pg_owed *owed)
{
    free(owed->debts);
    (void)pthread_mutex_destroy(&owed->lock);
}

/* Call these three with the lock held. */
static struct pw_pg_debt *find(struct pw_pg_owed *owed, int64_t instance)
{
    size_t count = atomic_load(&owed->count);
    for (size_t i = 0; i < count; i++)
        if (owed->debts[i].fence.instance == instance)
            return &owed->debts[i];
    return NULL;
}

static struct pw_pg_debt *append(struct pw_pg_owed *owed)
{
    size_t count = atomic_load(&owed->count);
    if (count == owed->capacity) {
        size_t capacity = count > 0 ? 2 * count : 16;
        struct pw_pg_debt *debts = realloc(owed->debts, capacity * sizeof *debts);
        if (debts == NULL)
            return NULL;
        owed->debts = debts;
        owed->capacity = capacity;
    }
    atomic_store(&owed->count, count + 1);
    return &owed->debts[count];
}

static void drop(struct pw_pg_owed *owed, size_t position)
{
    size_t count = atomic_load(&owed->count) - 1;
    owed->debts[position] = owed->debts[count];
    atomic_store(&owed->count, count);
}

bool pw_pg_owe(struct pw_pg_owed *owed, const struct pw_pg_debt *debt)
{
    (void)pthread_mutex_lock(&owed->lock);
    struct pw_pg_debt *place = find(owed, debt->fence.instance);
    if (place == NULL)
        place = append(owed);
    if (place != NULL) {
        *place = *debt;
        place->number = ++owed->last_number;
    }
    (void)pthread_mutex_unlock(&owed->lock);
    return place != NULL;
}

uint64_t pw_pg_owed_last(struct pw_pg_owed *owed)
{
    (void)pthread_mutex_lock(&owed->lock);
    uint64_t number = owed->last_number;
    (void)pthread_mutex_unlock(&owed->lock);
    return number;
}

void pw_pg_owed_forget(struct pw_pg_owed *owed, uint64_t number)
{
    (void)pthread_mutex_lock(&owed->lock);
    for (size_t i = atomic_load(&owed->count); i-- > 0;)
        if (owed->debts[i].number == number)
            drop(owed, i);
    (void)pthread_mutex_unlock(&owed->lock);
}

bool pw_pg_owed_list(struct pw_pg_owed *owed, int64_t now_ms, struct pw_rows *debts)
{
    bool fits = true;
    if (atomic_load(&owed->count) == 0)
        return true;
    (void)pthread_mutex_lock(&owed->lock);
    for (size_t i = atomic_load(&owed->count); i-- > 0 && fits;) {
        struct pw_pg_debt *place = owed->debts[i].until_ms > now_ms ? pw_rows_add(debts) : NULL;
        if (place != NULL)
            *place = owed->debts[i];
        else if (owed->debts[i].until_ms > now_ms)
            fits = false;
        else
            drop(owed, i);
    }
    (void)pthread_mutex_unlock(&owed->lock);
    return fits;
}
