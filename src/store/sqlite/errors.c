/* errors.c - one text for each kind of SQLite error; see errors.h. */
#include "store/sqlite/errors.h"

#include "base/error.h"

pawl_status pw_sqlite_error(const struct pw_sqlite_connection *connection, int code, struct pawl_error *error)
{
    const char *path = connection->url->path;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return pw_error(error, PAWL_STORE_FULL, "%s: the disk or the database is full; make room", path);
    case SQLITE_NOMEM:
        return pw_error_plain(error, PAWL_NOMEM);
    case SQLITE_READONLY:
        return pw_error(error, PAWL_STORE_READ_ONLY,
                        "%s: cannot be written; the file and its directory must be writable", path);
    case SQLITE_NOTADB:
        return pw_error(error, PAWL_STORE_CORRUPT, "%s: is not a SQLite database; name another file", path);
    case SQLITE_CORRUPT:
        return pw_error(error, PAWL_STORE_CORRUPT, "%s: the database is damaged (%s); restore it from a backup", path,
                        sqlite3_errmsg(connection->db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: another process has kept the database busy for %lld ms",
                        path, (long long)connection->url->busy_ms);
    default:
        return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: %s (SQLite code %d)", path, sqlite3_errmsg(connection->db),
                        code);
    }
}

bool pw_sqlite_is_trouble(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_BUSY:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
        return true;
    default:
        return false;
    }
}
