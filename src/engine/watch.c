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

/* The instance that an op has changed; 0: none. */
static int64_t changed_by(const struct pw_op *op)
{
    switch (op->kind) {
    case PW_OP_CREATE:
        return op->as.create.created ? op->as.create.fence.instance : 0;
    case PW_OP_RESTART:
        return op->as.restart.instance;
    case PW_OP_STEP:
        return op->as.step.instance;
    case PW_OP_EVENT:
        return op->as.event.is_answer && !op->as.event.recorded ? 0 : op->as.event.instance;
    case PW_OP_CONSUME:
        return op->as.consume.instance;
    case PW_OP_LOG:
        return op->as.log.instance;
    case PW_OP_PARK:
        return op->as.park.instance;
    case PW_OP_HOLD:
        return op->as.hold.instance;
    case PW_OP_PAUSE:
        return op->as.pause.instance;
    case PW_OP_DEMAND:
        return op->as.demand.instance;
    case PW_OP_FINISH:
        return op->as.finish.instance;
    case PW_OP_END:
        return op->as.end.instance;
    case PW_OP_FENCE:
    case PW_OP_REACH:
    case PW_OP_CLAIM:
    case PW_OP_RENEW:
    case PW_OP_REAP:
    case PW_OP_SQL:
    case PW_OP_MUTATE:
    case PW_OP_HOOK:
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        break; /* checks, leases and hooks; claims are many; a child that is reached is told when it is claimed */
    }
    return 0;
}

static void tell_of_unit(struct pw_watches *watches, const struct pw_unit *unit)
{
    int64_t told = 0; /* ops of one unit are mostly about one instance */
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        for (size_t i = 0; op->kind == PW_OP_CLAIM && i < op->as.claim.claim_count; i++)
            tell(watches, op->as.claim.claims[i].fence.instance);
        int64_t instance = changed_by(op);
        if (instance != 0 && instance != told)
            tell(watches, instance);
        told = instance != 0 ? instance : told;
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
