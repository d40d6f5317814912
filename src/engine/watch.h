/* watch.h (internal) - watches: callbacks for a commit that changes an instance, or that may make a job due.
 *
 * After a commit by this engine is durable, the committing thread calls the watches of the instances that it
 * changed.  With no watch open this costs one read of a counter. */
#ifndef PW_ENGINE_WATCH_H
#define PW_ENGINE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

enum { PW_WATCH_BUCKETS = 1024, PW_WATCH_JOBS = 0 };

/* Zero it and initialise its lock. */
struct pw_watches {
    pthread_mutex_t lock; /* guards the lists, and is held while a watch is called */
    atomic_size_t count;  /* watches of instances */
    pawl_watch *buckets[PW_WATCH_BUCKETS];
    pawl_watch *jobs; /* watches for jobs: see engine/news.h */
};

/* The instance is given by its key.  PW_WATCH_JOBS, which is no key, stands for all jobs.  NULL when memory runs
 * out. */
pawl_watch *pw_watch_add(struct pw_watches *watches, int64_t instance, void (*changed)(void *user), void *user);

/* Calls the watches of the instances that these units changed.  Refused units changed nothing. */
void pw_watches_tell(struct pw_watches *watches, struct pw_unit **units, size_t count);
/* Calls the watches for jobs. */
void pw_watches_tell_jobs(struct pw_watches *watches);

#endif
