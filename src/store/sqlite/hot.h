/* hot.h - keeps recently used tasks in memory as long as nobody else writes to the database.
 *
 * SQLite's data version changes with every commit of any connection, in this process or another.  It is remembered
 * after each commit of ours.  If the next transaction begins with the same version, nobody has committed in between,
 * and the kept tasks are what the database holds.  Otherwise everything is forgotten.
 *
 * Only the thread that has the writing connection uses it. */
#ifndef PW_STORE_SQLITE_HOT_H
#define PW_STORE_SQLITE_HOT_H

#include <sqlite3.h>

#include "core/core.h"

struct pw_hot_task {
    int64_t key; /* 0: the place is free */
    int64_t run;
    struct pw_task task;
    bool has_tail; /* the next two are known */
    int64_t tail_seq, tail_created_at_ms;
};

struct pw_hot {
    struct pw_hot_task *places; /* owned; NULL: memory was out, and nothing is kept */
    unsigned version;           /* after our last commit */
    int64_t last_key;           /* of the newest instance; -1: unknown */
};

void pw_hot_init(struct pw_hot *hot);
void pw_hot_clear(struct pw_hot *hot);

/* Called when a transaction has begun.  Forgets everything if somebody else has written. */
void pw_hot_begin(struct pw_hot *hot, sqlite3 *db);
/* Fills in the task.  False: it is not kept. */
bool pw_hot_load(const struct pw_hot *hot, struct pw_core_run *run);
bool pw_hot_load_tail(const struct pw_hot *hot, struct pw_core_tail *tail);
/* Called when the batch was committed.  Keeps what it has loaded and changed. */
void pw_hot_keep(struct pw_hot *hot, sqlite3 *db, const struct pw_core *core);

#endif
