/* presence.h - which runners live, told by locks that die with their process.
 *
 * A runner that is announced holds a lock on one byte, at the offset that is its number, of the file
 * "<database>-runners".  The kernel drops the lock when the process ends, however it ends.  Locks belong to an open
 * file description, so two stores in one process are two runners to each other.  A store in memory has no file: its runners
 * live in this process, from when they are announced until they are withdrawn. */
#ifndef PW_STORE_SQLITE_PRESENCE_H
#define PW_STORE_SQLITE_PRESENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pawl/status.h"

struct pw_presence {
    pthread_mutex_t lock; /* guards the opening of the files */
    char *path;           /* owned; NULL: a store that no other process can see */
    int held_file;        /* -1: not opened yet */
    mode_t mode;          /* of a new file: that of the database */
    int asking_file;      /* another description of the same file, which conflicts with our own locks, too */
    int64_t *owners;      /* owned; those that were announced, where there is no file */
    size_t owner_count;
};

/* database NULL: for a store in memory; its mode is that of a new file.  False when memory is out; clear is then not needed. */
bool pw_presence_init(struct pw_presence *presence, const char *database, mode_t mode);
void pw_presence_clear(struct pw_presence *presence);

pawl_status pw_presence_announce(struct pw_presence *presence, int64_t owner, struct pawl_error *error) PAWL_MUST_CHECK;
void pw_presence_withdraw(struct pw_presence *presence, int64_t owner);

/* True only when it is certain that no process holds the runner's byte; never of a store in memory. */
bool pw_presence_is_dead(struct pw_presence *presence, int64_t owner);
/* True unless it is certain that no such runner lives: it is dead, or was not announced to a store in memory. */
bool pw_presence_may_live(struct pw_presence *presence, int64_t owner);

#endif
