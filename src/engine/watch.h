/* watch.h (internal) - callers that want to know when a commit has touched an instance, or when a job may be due.
 *
 * A commit by this engine is told to the watches of the instances that it changed, by the committing thread, after it
 * is durable.  With no watch open it costs one read of a counter. */
#ifndef PW_ENGINE_WATCH_H
#define PW_ENGINE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

enum { PW_WATCH_BUCKETS = 1024, PW_WATCH_JOBS = 0 };

/* Zeroed, and its lock made, is ready. */
struct pw_watches {
    pthread_mutex_t lock; /* guards the lists, and is held while a watch is told */
    atomic_size_t count;  /* watches of instances */
    pawl_watch *buckets[PW_WATCH_BUCKETS];
    pawl_watch *jobs; /* watches for jobs: see engine/news.h */
};

/* The instance is named by its key; PW_WATCH_JOBS, which is no key, stands for all jobs.  NULL when memory is out. */
pawl_watch *pw_watch_add(struct pw_watches *watches, int64_t instance, void (*changed)(void *user), void *user);

/* Tells the watches of what these units changed; units that were refused changed nothing. */
void pw_watches_tell(struct pw_watches *watches, struct pw_unit **units, size_t count);
/* Tells the watches for jobs. */
void pw_watches_tell_jobs(struct pw_watches *watches);

#endif
