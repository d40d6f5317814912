/* file.h - the file that a store has opened, told from another one that took its place.
 *
 * SQLite finds a database, its -wal and its -shm by name.  When the file was deleted or replaced while it was open, a
 * connection that is opened by that name makes a new file, or takes the old log for the new file's and writes it there.
 * So every connection after the first one is opened only on the file that is remembered here. */
#ifndef PW_STORE_SQLITE_FILE_H
#define PW_STORE_SQLITE_FILE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "base/arena.h"
#include "pawl/status.h"

/* Makes a new file of that mode, whatever the process's umask, which is left alone.  SQLite gives the -wal and the -shm the mode
 * of their database.  Answers a descriptor, or -1 with errno; EEXIST: there is a file, which is not touched.  (To open and
 * close a database would take away the locks that this process has on it.) */
int pw_sqlite_file_create(const char *path, mode_t mode);

struct pw_sqlite_file {
    const char *path; /* absolute and without symbolic links, in the store's arena; NULL: in memory, always there */
    dev_t device;
    ino_t number;
    mode_t mode; /* who may read and write it */
};

/* What `db`, a connection to a file, has open. */
pawl_status pw_sqlite_file_remember(struct pw_sqlite_file *file, sqlite3 *db, struct pw_arena *arena,
                                    struct pawl_error *error) PAWL_MUST_CHECK;

/* PAWL_STORE_UNAVAILABLE: the file was deleted, or another one took its place, so what we write nobody will find. */
pawl_status pw_sqlite_file_check(const struct pw_sqlite_file *file, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same of a connection that has read nothing yet: also when the file was exchanged just before it was opened. */
pawl_status pw_sqlite_file_check_opened(const struct pw_sqlite_file *file, sqlite3 *db,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

#endif
