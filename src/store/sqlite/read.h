/* read.h - rows as statements give them out, for whoever reads them inside a transaction as well. */
#ifndef PW_STORE_SQLITE_READ_H
#define PW_STORE_SQLITE_READ_H

#include "store/sqlite/query.h"
#include "store/sqlite/sightings.h"
#include "store/store.h"

/* Of TASK_COLUMNS_OF(). */
void pw_read_task(struct pw_query *query, struct pw_task *task);
/* Three columns: parent, its run, relation. */
void pw_read_link(struct pw_query *query, struct pw_link *out_link);
/* Of HELD_COLUMNS. */
void pw_read_held(struct pw_query *query, struct pw_held *held);
/* Of HOOK_COLUMNS. */
void pw_read_hook_row(struct pw_query *query, struct pw_arena *arena, struct pw_hook_row *hook);

#endif
