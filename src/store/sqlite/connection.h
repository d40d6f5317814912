/* connection.h - one SQLite connection as the store uses it: its settings, how long it waits for other processes,
 * and its prepared statements.  Used by one thread at a time. */
#ifndef PW_STORE_SQLITE_CONNECTION_H
#define PW_STORE_SQLITE_CONNECTION_H

#include <sqlite3.h>

#include "store/sqlite/file.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/url.h"

struct pw_sqlite_connection {
    sqlite3 *db;
    const struct pw_sqlite_url *url; /* borrowed from the store */
    const struct pw_sqlite_file
        *file;             /* borrowed from the store; NULL: the first connection, until the file is known */
    int64_t busy_since_ms; /* when the current wait for a lock began, by the monotonic clock */
    int64_t idle_since_ms; /* of an idle reader, by the monotonic clock */
    bool user_is_running;  /* the user's SQL or function runs: the guard is active, see guard.h */
    sqlite3_stmt *statements[PW_QUERY_COUNT];
};

/* Both leave the connection closed if they fail.  A writer without a file is the store's first connection: it
 * creates the file if there is none.  All others open only that file. */
pawl_status pw_sqlite_open_writer(struct pw_sqlite_connection *connection, const struct pw_sqlite_url *url,
                                  const struct pw_sqlite_file *file, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_sqlite_open_reader(struct pw_sqlite_connection *connection, const struct pw_sqlite_url *url,
                                  const struct pw_sqlite_file *file, struct pawl_error *error) PAWL_MUST_CHECK;
/* A zeroed connection is closed already, and is fine.  Closing the last one copies the write-ahead log into the file
 * and deletes the log, unless the file has been replaced: the log that is found then may belong to another database. */
void pw_sqlite_close(struct pw_sqlite_connection *connection);

/* Prepares the statement at the first call.  Returns a SQLite code. */
int pw_sqlite_statement(struct pw_sqlite_connection *connection, unsigned name, sqlite3_stmt **out_statement);

#endif
