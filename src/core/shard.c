/* shard.c - computes the shard of an instance.  Databases store the result, so the computation must never change. */
#include "core/shard.h"

/* FNV-1a.  0 stands for its offset basis. */
uint64_t pw_stable_hash(uint64_t hash, struct pw_text text)
{
    if (hash == 0)
        hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The zero byte keeps ("ab", "c") and ("a", "bc") apart.  The low bits of FNV-1a depend only on the low bits of its
 * input, so the high bits are folded into them. */
int pw_shard_of(struct pw_text workflow, struct pw_text id)
{
    uint64_t hash = pw_stable_hash(0, workflow);
    hash = pw_stable_hash(hash, (struct pw_text){ "", 1 });
    hash = pw_stable_hash(hash, id);
    hash ^= hash >> 32;
    hash ^= hash >> 16;
    return (int)((hash ^ hash >> 8) % PW_SHARD_COUNT);
}

bool pw_share_excepts(const struct pw_share *share, int64_t instance)
{
    for (size_t i = 0; i < share->except_count; i++) {
        if (share->except[i] == instance)
            return true;
    }
    return false;
}
