/* presence.c - announces runners by locking a byte, and asks about them by testing for such locks; see presence.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_OFD_SETLK */
#endif
#include "store/sqlite/presence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/sqlite/file.h"

bool pw_presence_init(struct pw_presence *presence, const char *database, mode_t mode)
{
    static const char suffix[] = "-runners";

    *presence = (struct pw_presence){ .held_file = -1, .asking_file = -1, .mode = mode };
    if (database != NULL) {
        size_t size = strlen(database);
        presence->path = malloc(size + sizeof suffix);
        if (presence->path == NULL)
            return false;
        memcpy(presence->path, database, size);
        memcpy(presence->path + size, suffix, sizeof suffix);
    }
    if (pthread_mutex_init(&presence->lock, NULL) != 0) {
        free(presence->path);
        return false;
    }
    return true;
}

static void close_file(int file)
{
    if (file >= 0)
        (void)close(file);
}

void pw_presence_clear(struct pw_presence *presence)
{
    close_file(presence->held_file);
    close_file(presence->asking_file);
    free(presence->path);
    free(presence->owners);
    (void)pthread_mutex_destroy(&presence->lock);
}

/* ---- In memory ----------------------------------------------------------------------------------------------- */

/* Call it with the lock held. */
static size_t place_of(const struct pw_presence *presence, int64_t owner)
{
    size_t place = 0;
    while (place < presence->owner_count && presence->owners[place] != owner)
        place++;
    return place;
}

static pawl_status remember(struct pw_presence *presence, int64_t owner, struct pawl_error *error)
{
    (void)pthread_mutex_lock(&presence->lock);
    bool is_known = place_of(presence, owner) < presence->owner_count;
    int64_t *owners =
        is_known ? presence->owners : realloc(presence->owners, (presence->owner_count + 1) * sizeof *presence->owners);
    if (owners != NULL && !is_known) {
        presence->owners = owners;
        owners[presence->owner_count++] = owner;
    }
    (void)pthread_mutex_unlock(&presence->lock);
    return owners != NULL ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
}

static void forget(struct pw_presence *presence, int64_t owner)
{
    (void)pthread_mutex_lock(&presence->lock);
    size_t place = place_of(presence, owner);
    if (place < presence->owner_count)
        presence->owners[place] = presence->owners[--presence->owner_count];
    (void)pthread_mutex_unlock(&presence->lock);
}

static bool is_remembered(struct pw_presence *presence, int64_t owner)
{
    (void)pthread_mutex_lock(&presence->lock);
    bool is_known = place_of(presence, owner) < presence->owner_count;
    (void)pthread_mutex_unlock(&presence->lock);
    return is_known;
}

/* ---- In a file beside the database --------------------------------------------------------------------------- */

static bool is_same_file(int one, int other)
{
    struct stat first, second;
    return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Both descriptors must refer to the same file, because in a new file in its place everybody would seem dead. */
static int open_beside(const struct pw_presence *presence, int other)
{
    int file = other < 0 ? pw_sqlite_file_create(presence->path, presence->mode) : -1;
    if (other >= 0 || (file < 0 && errno == EEXIST))
        file = open(presence->path, O_RDWR | O_CLOEXEC);
    if (file < 0 || other < 0 || is_same_file(file, other))
        return file;
    (void)close(file);
    errno = ESTALE;
    return -1;
}

/* -1, with errno, if it cannot be opened. */
static int open_once(struct pw_presence *presence, int *file)
{
    (void)pthread_mutex_lock(&presence->lock);
    if (*file < 0)
        *file = open_beside(presence, file == &presence->held_file ? presence->asking_file : presence->held_file);
    int opened = *file;
    (void)pthread_mutex_unlock(&presence->lock);
    return opened;
}

static struct flock byte_of(int64_t owner, short type)
{
    return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)owner, .l_len = 1 };
}

pawl_status pw_presence_announce(struct pw_presence *presence, int64_t owner, struct pawl_error *error)
{
    if (presence->path == NULL)
        return remember(presence, owner, error);

    struct flock byte = byte_of(owner, F_WRLCK);
    int file = open_once(presence, &presence->held_file);
    if (file >= 0 && fcntl(file, F_OFD_SETLK, &byte) == 0)
        return PAWL_OK;
    return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: cannot announce a runner there: %s", presence->path,
                    errno == EAGAIN || errno == EACCES ? "another one has its number, or the file may not be written"
                                                       : "the file cannot be opened or locked");
}

void pw_presence_withdraw(struct pw_presence *presence, int64_t owner)
{
    struct flock byte = byte_of(owner, F_UNLCK);
    if (presence->path == NULL)
        forget(presence, owner);
    else if (presence->held_file >= 0)
        (void)fcntl(presence->held_file, F_OFD_SETLK, &byte);
}

bool pw_presence_is_dead(struct pw_presence *presence, int64_t owner)
{
    if (presence->path == NULL)
        return false;

    struct flock byte = byte_of(owner, F_WRLCK);
    int file = open_once(presence, &presence->asking_file);
    return file >= 0 && fcntl(file, F_OFD_GETLK, &byte) == 0 && byte.l_type == F_UNLCK;
}

bool pw_presence_may_live(struct pw_presence *presence, int64_t owner)
{
    return presence->path == NULL ? is_remembered(presence, owner) : !pw_presence_is_dead(presence, owner);
}
