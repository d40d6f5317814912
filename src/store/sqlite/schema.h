/* schema.h - brings a database's schema up to date, even if other processes open it at the same time.
 *
 * The file may belong to the application and have tables of its own.  So the version is kept in a table of ours.  A
 * table that has one of our names without being ours is refused. */
#ifndef PW_STORE_SQLITE_SCHEMA_H
#define PW_STORE_SQLITE_SCHEMA_H

#include "store/sqlite/connection.h"
#include "store/store.h"

pawl_status pw_sqlite_migrate(struct pw_sqlite_connection *connection, const struct pw_progress *progress,
                              struct pawl_error *error) PAWL_MUST_CHECK;

/* The newest schema version that this library knows. */
int64_t pw_sqlite_newest_version(void);
/* Answers PW_READ_SCHEMA. */
pawl_status pw_sqlite_read_version(struct pw_sqlite_connection *connection, int64_t *out_version,
                                   struct pawl_error *error) PAWL_MUST_CHECK;

#endif
