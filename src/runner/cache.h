/* cache.h - warm runs: the histories of recent runs, up to bytes_max.  The least recently parked is dropped first.
 * A history is good for a later turn only if nobody else advanced the run: its fence must be the one before the claim's.
 * Not thread-safe. */
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

/* Takes the history over; frees it when it does not fit or memory is out. */
void pw_cache_put(struct pw_cache *cache, const struct pw_fence *fence, struct pw_history *history);

/* The history of the run as it was when the claimed task was parked, the caller's from now on; or NULL. */
struct pw_history *pw_cache_take(struct pw_cache *cache, const struct pw_fence *claimed);

#endif
