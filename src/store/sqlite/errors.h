/* errors.h - SQLite's result codes as statuses, with a text that names the file and says what would be right. */
#ifndef PW_STORE_SQLITE_ERRORS_H
#define PW_STORE_SQLITE_ERRORS_H

#include <stdbool.h>

#include "pawl/status.h"
#include "store/sqlite/connection.h"

/* What the code, just returned by a call on this connection, means.  Returns the status, never PAWL_OK. */
pawl_status pw_sqlite_error(const struct pw_sqlite_connection *connection, int code, struct pawl_error *error);

/* Does the code speak of the database as a whole, and not of the statement that met it? */
bool pw_sqlite_is_trouble(int code);

#endif
