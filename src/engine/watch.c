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

static pawl_watch **list_of(struct pw_watches *watches, int64_t instance)
{
    return instance == PW_WATCH_JOBS ? &watches->jobs : &watches->buckets[(uint64_t)instance % PW_WATCH_BUCKETS];
}

pawl_watch *pw_watch_add(struct pw_watches *watches, int64_t instance, void (*changed)(void *user), void *user)
{
    pawl_watch *watch = malloc(sizeof *watch);
    if (watch == NULL)
        return NULL;
    *watch = (pawl_watch){ watches, instance, changed, user, NULL };
    pawl_watch **list = list_of(watches, instance);
    pthread_mutex_lock(&watches->lock);
    watch->next = *list;
    *list = watch;
    pthread_mutex_unlock(&watches->lock);
    atomic_fetch_add(&watches->count, instance != PW_WATCH_JOBS);
    return watch;
}

void pawl_watch_close(pawl_watch *watch)
{
    if (watch == NULL)
        return;
    struct pw_watches *watches = watch->watches;
    pthread_mutex_lock(&watches->lock);
    pawl_watch **link = list_of(watches, watch->instance);
    while (*link != watch)
        link = &(*link)->next;
    *link = watch->next;
    pthread_mutex_unlock(&watches->lock);
    atomic_fetch_sub(&watches->count, watch->instance != PW_WATCH_JOBS);
    free(watch);
}

/* With the lock held. */
static void tell(struct pw_watches *watches, int64_t instance)
{
    for (pawl_watch *watch = *list_of(watches, instance); watch != NULL; watch = watch->next) {
        if (watch->instance == instance)
            watch->changed(watch->user);
    }
}

static void tell_of_unit(struct pw_watches *watches, const struct pw_unit *unit)
{
    int64_t told = 0; /* most units have effects on one instance only */
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

void pw_watches_tell_jobs(struct pw_watches *watches)
{
    pthread_mutex_lock(&watches->lock);
    tell(watches, PW_WATCH_JOBS);
    pthread_mutex_unlock(&watches->lock);
}
