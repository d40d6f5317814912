/* file.h - identifies the file that a store has opened, so that another file in its place is noticed.
 *
 * SQLite finds a database, its -wal and its -shm by name.  If the file was deleted or replaced while it was open,
 * opening it by name again creates a new file, or takes the old log for the new file's and writes it there.  So
 * every connection after the first is opened only on the file that is remembered here. */
#ifndef PW_STORE_SQLITE_FILE_H
#define PW_STORE_SQLITE_FILE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "base/arena.h"
#include "pawl/status.h"

/* Creates a new file with that mode, whatever the umask.  SQLite gives -wal and -shm the mode of their database.
 * Returns a descriptor, or -1 with errno.  EEXIST: there is a file, which is not touched, because opening and
 * closing a database would release this process's locks on it. */
int pw_sqlite_file_create(const char *path, mode_t mode);

struct pw_sqlite_file {
    const char *path; /* absolute, without symbolic links, in the store's arena; NULL: in memory, always valid */
    dev_t device;
    ino_t number;
    mode_t mode; /* its permissions */
};

/* Remembers the file that the connection `db` has open. */
pawl_status pw_sqlite_file_remember(struct pw_sqlite_file *file, sqlite3 *db, struct pw_arena *arena,
                                    struct pawl_error *error) PAWL_MUST_CHECK;

/* PAWL_STORE_UNAVAILABLE: the file was deleted or replaced, so nobody would find what we write. */
pawl_status pw_sqlite_file_check(const struct pw_sqlite_file *file, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same for a connection that has read nothing yet.  Also fails if the file was replaced just before it was
 * opened. */
pawl_status pw_sqlite_file_check_opened(const struct pw_sqlite_file *file, sqlite3 *db,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

#endif
