/* shard.h - the shard of an instance, and the part of the due tasks that a runner looks for. */
#ifndef PW_CORE_SHARD_H
#define PW_CORE_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/text.h"

/* Every instance belongs to one shard for good.  The number is stored in its task row, and runners on all machines
 * must agree on it. */
enum { PW_SHARD_COUNT = 256 };
int pw_shard_of(struct pw_text workflow, struct pw_text id);

/* A hash that is the same on every machine and in every version.  Start with 0, or with the hash of the preceding
 * text. */
uint64_t pw_stable_hash(uint64_t hash, struct pw_text text);

/* The due tasks that a runner looks for: those in its own shards, and those of other shards that have been due for grace_ms
 * without being claimed. */
struct pw_share {
    /* For each workflow asked for, PW_SHARD_COUNT characters: '1' marks a shard that the runner owns, '0' another
     * one.  An absent text means all shards.  NULL means all shards of all workflows. */
    const struct pw_text *owned;
    int64_t grace_ms;
    /* Instances that the runner never takes. */
    const int64_t *except;
    size_t except_count;
};

bool pw_share_excepts(const struct pw_share *share, int64_t instance);

/* Earlier than any real time.  Subtracting a grace period cannot overflow. */
#define PW_EVER (INT64_MIN / 2)

#endif
