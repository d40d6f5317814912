/* batch.h - one transaction of the SQLite store, in three steps.
 *
 *   load     load.c reads the rows that the units need by key, one short statement each.  BEGIN IMMEDIATE keeps all other writers
 *            out, so what was read stays true.
 *   decide   the core's rules change the records in memory (core.h).
 *   write    write.c writes every changed row once.
 *
 * Claims and the user's code must see everything that was decided before them, so it is written first. */
#ifndef PW_STORE_SQLITE_BATCH_H
#define PW_STORE_SQLITE_BATCH_H

#include "core/core.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite.h"

struct pw_batch {
    struct pw_core core; /* first, so that the frame can cast it to the batch */
    struct pw_sqlite *sqlite;
    struct pw_sqlite_connection *connection;
    struct pw_rows asked; /* struct pw_core_run *: the runs that controls and reaches concern */
};

static inline struct pw_batch *pw_batch_of(struct pw_core *core)
{
    return (struct pw_batch *)core;
}

/* Calls `work` with each of the records, which are pointers, until it fails. */
pawl_status pw_batch_each(struct pw_batch *batch, const struct pw_rows *records,
                          pawl_status (*work)(struct pw_batch *batch, void *record)) PAWL_MUST_CHECK;

/* load.c */
pawl_status pw_sqlite_load(struct pw_batch *batch, struct pw_unit **units, size_t count) PAWL_MUST_CHECK;
/* For the frame; see core.h. */
pawl_status pw_sqlite_load_claimable(struct pw_core *core, struct pw_core_run *run, bool with_size) PAWL_MUST_CHECK;
pawl_status pw_sqlite_find_wait(struct pw_core *core, const struct pw_core_run *run, struct pw_text type,
                                int64_t *out_until_ms);
pawl_status pw_sqlite_count_unread(struct pw_core *core, const struct pw_core_run *run, int64_t max,
                                   int64_t *out_count) PAWL_MUST_CHECK;

/* write.c.  Writes everything that was decided and not written yet. */
pawl_status pw_sqlite_write(struct pw_core *core) PAWL_MUST_CHECK;

/* claim.c */
pawl_status pw_sqlite_claim(struct pw_core *core, struct pw_op_claim *op) PAWL_MUST_CHECK;
pawl_status pw_sqlite_reap(struct pw_core *core, struct pw_op_reap *op) PAWL_MUST_CHECK;

/* user_ops.c */
pawl_status pw_sqlite_run_sql(struct pw_core *core, struct pw_op_sql *op) PAWL_MUST_CHECK;
pawl_status pw_sqlite_run_mutation(struct pw_core *core, struct pw_op_mutate *op) PAWL_MUST_CHECK;

/* hook_ops.c */
pawl_status pw_sqlite_claim_hooks(struct pw_core *core, struct pw_op_hook_claim *op) PAWL_MUST_CHECK;
/* Loads the deliveries that are settled or sent again. */
pawl_status pw_sqlite_load_hooks(struct pw_batch *batch) PAWL_MUST_CHECK;

#endif
