/* errors.h - turns SQLite's result codes into statuses, with texts that name the file and say what would be right. */
#ifndef PW_STORE_SQLITE_ERRORS_H
#define PW_STORE_SQLITE_ERRORS_H

#include <stdbool.h>

#include "pawl/status.h"
#include "store/sqlite/connection.h"

/* Fills in the error for a code that a call on this connection has just returned.  Returns the status, never
 * PAWL_OK. */
pawl_status pw_sqlite_error(const struct pw_sqlite_connection *connection, int code, struct pawl_error *error);

/* True if the code concerns the database as a whole, and not the statement that met it. */
bool pw_sqlite_is_trouble(int code);

#endif
