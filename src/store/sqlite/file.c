/* file.c - identifies the file by device and inode; see file.h. */
#include "store/sqlite/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

int pw_sqlite_file_create(const char *path, mode_t mode)
{
    struct stat found;
    int flags = O_RDWR | O_CREAT | O_CLOEXEC;
    int file = open(path, flags | O_EXCL, mode);
    if (file < 0 && errno == EEXIST && stat(path, &found) != 0) /* a symbolic link whose target does not exist yet */
        file = open(path, flags, mode);
    if (file < 0 || fchmod(file, mode) == 0)
        return file;
    int why = errno;
    (void)close(file);
    errno = why;
    return -1;
}

static pawl_status tell_lost(const char *path, struct pawl_error *error)
{
    return pw_error(error, PAWL_STORE_UNAVAILABLE,
                    "%s: the file was deleted or replaced while it was open; stop, put it back, and start again", path);
}

/* True if the file that `db` has open is no longer the one at its path. */
static bool has_moved(sqlite3 *db)
{
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

pawl_status pw_sqlite_file_remember(struct pw_sqlite_file *file, sqlite3 *db, struct pw_arena *arena,
                                    struct pawl_error *error)
{
    const char *path = sqlite3_db_filename(db, "main");
    struct stat found;
    if (stat(path, &found) != 0 || has_moved(db))
        return tell_lost(path, error);
    path = pw_arena_string(arena, path);
    if (path == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *file = (struct pw_sqlite_file){
        .path = path, .device = found.st_dev, .number = found.st_ino, .mode = found.st_mode & 0666
    };
    return PAWL_OK;
}

pawl_status pw_sqlite_file_check(const struct pw_sqlite_file *file, struct pawl_error *error)
{
    struct stat found;
    if (file->path == NULL ||
        (stat(file->path, &found) == 0 && found.st_dev == file->device && found.st_ino == file->number))
        return PAWL_OK;
    return tell_lost(file->path, error);
}

pawl_status pw_sqlite_file_check_opened(const struct pw_sqlite_file *file, sqlite3 *db, struct pawl_error *error)
{
    return has_moved(db) ? tell_lost(file->path, error) : pw_sqlite_file_check(file, error);
}
