/* shards.h - which runner takes which shard, by rendezvous hashing: of the runners that share a workflow, the one whose
 * number and the shard's hash highest together.  Everybody who sees the same runners comes to the same answer, and when one
 * comes or goes only its own shards change hands.
 *
 * Ownership is where a run is looked for first, and where it is warm.  No safety rests on it: leases and fences decide who
 * may advance a run. */
#ifndef PW_ENGINE_SHARDS_H
#define PW_ENGINE_SHARDS_H

#include "store/store.h"

enum {
    PW_SHARD_GRACE_MS =
        1000, /* so long a due task waits for the runner that owns its shard before others may take it */
    PW_RUNNER_LATE_MS = 5000, /* a runner of which nothing was heard for so long says that it is there */
};

/* The runner carries the workflow, and takes its share of it. */
bool pw_runner_shares(const struct pw_runner_row *runner, struct pw_text workflow);

/* Positions in `runners`, one for each shard; `count` where nobody shares the workflow. */
void pw_shard_owners(const struct pw_runner_row *runners, size_t count, struct pw_text workflow,
                     size_t out_owners[PW_SHARD_COUNT]);

#endif
