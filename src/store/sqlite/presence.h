/* presence.h - shows which runners live, by locks that end with their process.
 *
 * An announced runner holds a lock on one byte of the file "<database>-runners", at the offset that is its number.
 * The kernel releases the lock when the process ends, however it ends.  Locks belong to an open file description, so
 * two stores in one process count as two.  A store in memory has no file: its runners live in this process, from
 * when they are announced until they are withdrawn. */
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
    char *path;           /* owned; NULL: a store in memory, which no other process can see */
    int held_file;        /* holds our locks; -1: not opened yet */
    mode_t mode;          /* for a new file: the database's */
    int asking_file;      /* a second description of the same file, with which our own locks conflict as well */
    int64_t *owners;      /* owned; the announced runners, if there is no file */
    size_t owner_count;
};

/* database NULL: a store in memory.  mode: for a new file.  False when memory is out; then clear is not needed. */
bool pw_presence_init(struct pw_presence *presence, const char *database, mode_t mode);
void pw_presence_clear(struct pw_presence *presence);

pawl_status pw_presence_announce(struct pw_presence *presence, int64_t owner, struct pawl_error *error) PAWL_MUST_CHECK;
void pw_presence_withdraw(struct pw_presence *presence, int64_t owner);

/* True only if it is certain that no process holds the runner's byte.  Never true for a store in memory. */
bool pw_presence_is_dead(struct pw_presence *presence, int64_t owner);
/* True unless it is certain that no such runner lives: it is dead, or was not announced to a store in memory. */
bool pw_presence_may_live(struct pw_presence *presence, int64_t owner);

#endif
