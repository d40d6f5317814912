/* schema.h - brings the database to the schema this library knows. */
#ifndef PW_STORE_POSTGRES_SCHEMA_H
#define PW_STORE_POSTGRES_SCHEMA_H

#include "store/postgres/connection.h"
#include "base/rows.h"
#include "store/store.h"

/* Any number of processes at once.  PAWL_STORE_TOO_NEW: the schema is of a later version.  PAWL_STORE_CORRUPT: somebody
 * else's table has one of our names. */
pawl_status pw_postgres_migrate(struct pw_pg_connection *connection, const struct pw_progress *progress,
                                struct pawl_error *error) PAWL_MUST_CHECK;

/* What the user's code may not touch: the numbers of our tables, indexes and views (int64_t rows), and the search path
 * by which they are found. */
pawl_status pw_postgres_read_relations(struct pw_pg_connection *connection, struct pw_rows *relations,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* The server's numbers of the types in which rows travel. */
pawl_status pw_postgres_read_row_types(struct pw_pg_connection *connection, int64_t row_types[PW_PG_ROW_TYPE_COUNT],
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* The newest version that there is a migration to. */
int64_t pw_postgres_newest_version(void);

#endif
