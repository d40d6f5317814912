/* schema.h - brings the database to the schema that this library knows. */
#ifndef PW_STORE_POSTGRES_SCHEMA_H
#define PW_STORE_POSTGRES_SCHEMA_H

#include "store/postgres/connection.h"
#include "base/rows.h"
#include "store/store.h"

/* Any number of processes may call it at once.  PAWL_STORE_TOO_NEW: the schema has a later version.
 * PAWL_STORE_CORRUPT: a foreign table has one of our names. */
pawl_status pw_postgres_migrate(struct pw_pg_connection *connection, const struct pw_progress *progress,
                                struct pawl_error *error) PAWL_MUST_CHECK;

/* Reads the numbers of our tables, indexes and views, which the user's code may not touch (int64_t rows). */
pawl_status pw_postgres_read_relations(struct pw_pg_connection *connection, struct pw_rows *relations,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* Reads the server's numbers of the row types (call.h). */
pawl_status pw_postgres_read_row_types(struct pw_pg_connection *connection, int64_t row_types[PW_PG_ROW_TYPE_COUNT],
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* The newest schema version that this library knows. */
int64_t pw_postgres_newest_version(void);

#endif
