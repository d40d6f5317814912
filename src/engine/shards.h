/* shards.h - decides which runner owns which shard, by rendezvous hashing: among the runners that share a workflow,
 * the owner is the one whose number hashes highest together with the shard's.  All processes that see the same
 * runners get the same result, and when a runner comes or goes only its own shards move.
 *
 * The owner looks for a shard's runs first, and has them warm.  Safety does not depend on ownership: leases and
 * fences decide who may advance a run. */
#ifndef PW_ENGINE_SHARDS_H
#define PW_ENGINE_SHARDS_H

#include "store/store.h"

enum {
    PW_SHARD_GRACE_MS = 1000, /* a due task waits this long for the owner of its shard before others may take it */
    PW_RUNNER_LATE_MS = 5000, /* a runner whose heartbeat is this late writes its row again */
};

/* True if the runner carries the workflow and takes a share of it. */
bool pw_runner_shares(const struct pw_runner_row *runner, struct pw_text workflow);

/* The owner of each shard as a position in `runners`; `count` if nobody shares the workflow. */
void pw_shard_owners(const struct pw_runner_row *runners, size_t count, struct pw_text workflow,
                     size_t out_owners[PW_SHARD_COUNT]);

#endif
