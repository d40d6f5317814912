/* shards.c - see shards.h. */
#include "engine/shards.h"

/* The finalizer of a 64-bit mixing hash: every bit of the input affects every bit of the result. */
static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    return word ^ word >> 31;
}

/* Mixed twice, so that neighbouring owners or shards get unrelated weights. */
static uint64_t weight(int64_t owner, size_t shard)
{
    return mix(mix((uint64_t)owner) + (shard + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

bool pw_runner_shares(const struct pw_runner_row *runner, struct pw_text workflow)
{
    const char *at = runner->workflows.data, *end = at != NULL ? at + runner->workflows.size : NULL;
    while (runner->is_sharing && at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at)), *past = space != NULL ? space : end;
        if (pw_text_equal((struct pw_text){ at, (size_t)(past - at) }, workflow))
            return true;
        at = space != NULL ? space + 1 : end;
    }
    return false;
}

void pw_shard_owners(const struct pw_runner_row *runners, size_t count, struct pw_text workflow,
                     size_t out_owners[PW_SHARD_COUNT])
{
    for (size_t shard = 0; shard < PW_SHARD_COUNT; shard++)
        out_owners[shard] = count;
    for (size_t i = 0; i < count; i++) {
        if (!pw_runner_shares(&runners[i], workflow))
            continue;
        for (size_t shard = 0; shard < PW_SHARD_COUNT; shard++) {
            size_t best = out_owners[shard];
            if (best == count || weight(runners[i].owner, shard) > weight(runners[best].owner, shard))
                out_owners[shard] = i;
        }
    }
}
