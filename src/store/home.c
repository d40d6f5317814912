/* home.c - where an instance lives, where the store is made of several databases; and how far a listing has come in each.
 What is computed here says where rows are: it never changes. */
#include <assert.h>

#include "store/store.h"

/* As shards are hashed, and then once more, so that neither says anything about the other. */
static uint64_t hash_of(struct pw_text workflow, struct pw_text id)
{
    uint64_t hash = pw_stable_hash(0, workflow);
    hash = pw_stable_hash(hash, (struct pw_text){ "", 1 });
    hash = pw_stable_hash(hash, id);
    hash = (hash ^ (hash >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ (hash >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ (hash >> 33);
}

size_t pw_home_of(struct pw_text workflow, struct pw_text id, size_t homes)
{
    return homes > 1 ? (size_t)((hash_of(workflow, id) >> 32) % homes) : 0;
}

size_t pw_store_homes(struct pw_store *store)
{
    return store->ops->homes != NULL ? store->ops->homes(store) : 1;
}

void pw_positions_init(struct pw_positions *positions, struct pw_store *store)
{
    *positions = (struct pw_positions){ .count = pw_store_homes(store) };
}

void pw_positions_pass(struct pw_positions *positions, int64_t key)
{
    assert(key > 0 && positions->count > 0);
    positions->keys[(uint64_t)key % positions->count] = key;
}

int64_t pw_positions_key(const struct pw_positions *positions)
{
    assert(positions == NULL || positions->count == 1);
    return positions != NULL ? positions->keys[0] : 0;
}
