/* watch.c - see watch.h. */
#include "engine/watch.h"

#include <stdlib.h>

struct pawl_watch {
    struct pw_watches *watches;
    int64_t instance;
    void (*changed)(void *user);
    void *user;
    pawl_watch *next;
};

void pw_watches_init(struct pw_watches *watches)
{
    (void)pthread_mutex_init(&watches->lock, NULL);
}

void pw_watches_clear(struct pw_watches *watches)
{
    (void)pthread_mutex_destroy(&watches->lock);
}

static pawl_watch **bucket_of(struct pw_watches *watches, int64_t instance)
{
    return &watches->buckets[(uint64_t)instance % PW_WATCH_BUCKETS];
}

pawl_watch *pw_watch_add(struct pw_watches *watches, int64_t instance, void (*changed)(void *user), void *user)
{
    pawl_watch *watch = malloc(sizeof *watch);
    if (watch == NULL)
        return NULL;
    *watch = (pawl_watch){ watches, instance, changed, user, NULL };
    pawl_watch **bucket = bucket_of(watches, instance);
    pthread_mutex_lock(&watches->lock);
    watch->next = *bucket;
    *bucket = watch;
    pthread_mutex_unlock(&watches->lock);
    atomic_fetch_add(&watches->count, 1);
    return watch;
}

void pawl_watch_close(pawl_watch *watch)
{
    if (watch == NULL)
        return;
    struct pw_watches *watches = watch->watches;
    pthread_mutex_lock(&watches->lock);
    pawl_watch **link = bucket_of(watches, watch->instance);
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    pthread_mutex_unlock(&watches->lock);
    atomic_fetch_sub(&watches->count, 1);
    free(watch);
}

/* With the lock held. */
static void tell(struct pw_watches *watches, int64_t instance)
{
    for (pawl_watch *watch = *bucket_of(watches, instance); watch != NULL; watch = watch->next) {
        if (watch->instance == instance)
            watch->changed(watch->user);
    }
}

static void tell_of_unit(struct pw_watches *watches, const struct pw_unit *unit)
{
    int64_t told = 0; /* effects of one unit are mostly about one instance */
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        if (effect->instance != told)
            tell(watches, effect->instance);
        told = effect->instance;
    }
}

void pw_watches_tell(struct pw_watches *watches, struct pw_unit **units, size_t count)
{
    if (atomic_load(&watches->count) == 0)
        return;
    pthread_mutex_lock(&watches->lock);
    for (size_t i = 0; i < count; i++) {
        if (units[i]->status == PAWL_OK)
            tell_of_unit(watches, units[i]);
    }
    pthread_mutex_unlock(&watches->lock);
}
