/* cache.c - see cache.h.  A hash table by instance, and a list by age.
 *
 * An instance has at most one entry.  A history may take up to a quarter of bytes_max, so that one history cannot
 * push out all others. */
#include "runner/cache.h"

#include <stdlib.h>

struct pw_cache_entry {
    struct pw_fence fence;
    struct pw_history *history;
    size_t bytes;
    struct pw_cache_entry *chain;
    struct pw_cache_entry *newer, *older;
};

static struct pw_cache_entry **bucket_of(const struct pw_cache *cache, int64_t instance)
{
    uint64_t mixed = (uint64_t)instance * UINT64_C(0x9E3779B97F4A7C15);
    return &cache->buckets[(mixed >> 32) & (cache->bucket_count - 1)];
}

static void unlink_entry(struct pw_cache *cache, struct pw_cache_entry *entry)
{
    struct pw_cache_entry **link = bucket_of(cache, entry->fence.instance);
    while (*link != entry)
        link = &(*link)->chain;
    *link = entry->chain;
    *(entry->newer != NULL ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &cache->oldest) = entry->newer;
    cache->count--;
    cache->bytes -= entry->bytes;
}

static void drop(struct pw_cache *cache, struct pw_cache_entry *entry)
{
    unlink_entry(cache, entry);
    pw_history_free(entry->history);
    free(entry);
}

static struct pw_cache_entry *find(const struct pw_cache *cache, int64_t instance)
{
    if (cache->bucket_count == 0)
        return NULL;
    struct pw_cache_entry *entry = *bucket_of(cache, instance);
    while (entry != NULL && entry->fence.instance != instance)
        entry = entry->chain;
    return entry;
}

static bool grow(struct pw_cache *cache)
{
    size_t wanted = cache->bucket_count == 0 ? 64 : cache->bucket_count * 2;
    if (cache->count < cache->bucket_count)
        return true;
    struct pw_cache_entry **buckets = calloc(wanted, sizeof(struct pw_cache_entry *));
    if (buckets == NULL)
        return cache->bucket_count > 0; /* keeps the old table, with longer chains */
    free(cache->buckets);
    cache->buckets = buckets;
    cache->bucket_count = wanted;
    for (struct pw_cache_entry *entry = cache->newest; entry != NULL; entry = entry->older) {
        struct pw_cache_entry **bucket = bucket_of(cache, entry->fence.instance);
        entry->chain = *bucket;
        *bucket = entry;
    }
    return true;
}

void pw_cache_clear(struct pw_cache *cache)
{
    while (cache->newest != NULL)
        drop(cache, cache->newest);
    free(cache->buckets);
    cache->buckets = NULL;
    cache->bucket_count = 0;
}

void pw_cache_put(struct pw_cache *cache, const struct pw_fence *fence, struct pw_history *history)
{
    struct pw_cache_entry *known = find(cache, fence->instance);
    if (known != NULL)
        drop(cache, known);
    size_t bytes = pw_history_bytes(history) + sizeof(struct pw_cache_entry);
    struct pw_cache_entry *entry = bytes <= cache->bytes_max / 4 && grow(cache) ? calloc(1, sizeof *entry) : NULL;
    if (entry == NULL) {
        pw_history_free(history);
        return;
    }
    while (cache->bytes + bytes > cache->bytes_max)
        drop(cache, cache->oldest);
    *entry = (struct pw_cache_entry){ .fence = *fence, .history = history, .bytes = bytes, .older = cache->newest };
    struct pw_cache_entry **bucket = bucket_of(cache, fence->instance);
    entry->chain = *bucket;
    *bucket = entry;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
    cache->count++;
    cache->bytes += bytes;
}

struct pw_history *pw_cache_take(struct pw_cache *cache, const struct pw_fence *claimed)
{
    struct pw_cache_entry *entry = find(cache, claimed->instance);
    if (entry == NULL)
        return NULL;
    struct pw_history *history = NULL;
    if (entry->fence.run == claimed->run && entry->fence.epoch + 1 == claimed->epoch) {
        history = entry->history;
        entry->history = NULL;
    }
    drop(cache, entry);
    return history;
}
