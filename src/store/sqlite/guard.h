/* guard.h - stops what the user's SQL and functions may not do on the store's connection: begin, end or split
 * transactions, attach databases, change settings, and write Pawl's own tables. */
#ifndef PW_STORE_SQLITE_GUARD_H
#define PW_STORE_SQLITE_GUARD_H

#include "store/sqlite/connection.h"

/* Installs the guard, once, when the connection is opened, because installing it expires every prepared statement.
 * It is active only while connection->user_is_running.  Returns a SQLite code. */
int pw_sqlite_install_guard(struct pw_sqlite_connection *connection);

#endif
