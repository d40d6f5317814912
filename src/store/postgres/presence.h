/* presence.h - which runners live, told by heartbeats, and word from other machines that something is due.
 *
 * While a runner is announced a thread of the store beats for it and listens.  With a clock of a test's own there is no
 * thread: time stands still between calls, and each claim and renewal beats instead. */
#ifndef PW_STORE_POSTGRES_PRESENCE_H
#define PW_STORE_POSTGRES_PRESENCE_H

#include <pthread.h>

#include "store/postgres/call.h"

struct pw_postgres;

struct pw_pg_presence {
    pthread_mutex_t coming; /* held while a runner comes or goes, with the thread if it is the first or the last */
    pthread_mutex_t lock;   /* guards what follows, up to the next */
    int64_t *owners;        /* announced here; owned */
    size_t owner_count;
    int64_t beaten_at_ms;     /* when a heartbeat was last answered, by the monotonic clock; 0: never */
    int64_t beating_since_ms; /* since when that was so without a gap */
    pthread_t thread;
    bool has_thread;
    bool stopping;
    int wake[2]; /* a pipe, whose reading end the thread sleeps at */

    pthread_mutex_t due_lock; /* held while `due` is called */
    void (*due)(void *user);  /* or NULL */
    void *due_user;
};

/* False when the system refuses. */
bool pw_pg_presence_init(struct pw_pg_presence *presence);
void pw_pg_presence_clear(struct pw_pg_presence *presence); /* ends the thread */

/* The runners announced here, and 0, which is nobody, so that there is always one. */
void pw_pg_presence_put_owners(struct pw_pg_presence *presence, struct pw_columns *columns);
bool pw_pg_presence_has(struct pw_pg_presence *presence, int64_t owner);

/* A heartbeat of ours was answered, at this time of the monotonic clock. */
void pw_pg_presence_note_beat(struct pw_pg_presence *presence, int64_t now_ms);
/* Our own heart has been beating for so long that all who live must have been heard of since.  False: we were cut off, or
 * have only come; then so may others be, and a heartbeat that is missing says nothing. */
bool pw_pg_presence_can_tell(struct pw_pg_presence *presence, int64_t now_ms);

#endif
