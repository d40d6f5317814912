/* read.h - turns result rows into structs, for reads and for transactions, and declares the functions that answer
 * reads.  Each is beside its statement, in read.c, or in read_numbers.c if it finds numbers. */
#ifndef PW_STORE_SQLITE_READ_H
#define PW_STORE_SQLITE_READ_H

#include "store/sqlite/query.h"
#include "store/sqlite/sqlite.h"

/* Reads TASK_COLUMNS_OF(). */
void pw_read_task(struct pw_query *query, struct pw_task *task);
/* Reads three columns: parent, its run, relation. */
void pw_read_link(struct pw_query *query, struct pw_link *out_link);
/* Reads HELD_COLUMNS. */
void pw_read_held(struct pw_query *query, struct pw_held *held);
/* Reads HOOK_COLUMNS. */
void pw_read_hook_row(struct pw_query *query, struct pw_arena *arena, struct pw_hook_row *hook);

/* A read under way. */
struct pw_reading {
    struct pw_sqlite *sqlite;
    struct pw_sqlite_connection *connection;
    const struct pw_read *asked;
    struct pw_arena *arena;
    struct pw_found *found;
    struct pawl_error *error;
    struct pw_query query;
};

#define PW_SQLITE_READ(kind, function) pawl_status pw_sqlite_##function(struct pw_reading *reading);
PW_READS(PW_SQLITE_READ)
#undef PW_SQLITE_READ

#endif
