/* cache.h - warm runs: histories of recently parked runs, up to bytes_max.  The least recently parked one is dropped
 * first.  A later turn can use a history only if nobody else advanced the run: the claim's epoch must be the very
 * next one.  Not thread-safe. */
#ifndef PW_RUNNER_CACHE_H
#define PW_RUNNER_CACHE_H

#include "history/history.h"

struct pw_cache_entry;
struct pw_cache {
    struct pw_cache_entry **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    size_t count;
    struct pw_cache_entry *newest, *oldest;
    size_t bytes, bytes_max;
};

void pw_cache_clear(struct pw_cache *cache);

/* Takes the history over.  Frees it if it does not fit or memory runs out. */
void pw_cache_put(struct pw_cache *cache, const struct pw_fence *fence, struct pw_history *history);

/* The history of the run as it was when the claimed task was parked, or NULL.  The caller owns it. */
struct pw_history *pw_cache_take(struct pw_cache *cache, const struct pw_fence *claimed);

#endif
