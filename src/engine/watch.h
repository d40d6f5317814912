/* watch.h (internal) - who wants to know when a commit has touched an instance.
 *
 * A commit by this engine is told to the watches of the instances that it changed, by the committing thread, after it
 * is durable.  With no watch open it costs one read of a counter. */
#ifndef PW_ENGINE_WATCH_H
#define PW_ENGINE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

enum { PW_WATCH_BUCKETS = 1024 };

struct pw_watches {
    pthread_mutex_t lock; /* guards the lists, and is held while a watch is told */
    atomic_size_t count;
    pawl_watch *buckets[PW_WATCH_BUCKETS];
    pawl_job_watch *jobs; /* who waits for jobs: see engine/news.h */
};

void pw_watches_init(struct pw_watches *watches);
void pw_watches_clear(struct pw_watches *watches);

/* The instance is named by its key.  NULL when memory is out. */
pawl_watch *pw_watch_add(struct pw_watches *watches, int64_t instance, void (*changed)(void *user), void *user);

/* Tells the watches of what these units changed; units that were refused changed nothing. */
void pw_watches_tell(struct pw_watches *watches, struct pw_unit **units, size_t count);

#endif
