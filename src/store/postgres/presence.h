/* presence.h - heartbeats, which show that runners live, and notifications from other machines that something is
 * due.
 *
 * While a runner is announced, a thread of the store sends its heartbeats and listens.  With a test's own clock
 * there is no thread, because time stands still between calls.  Then each claim and renewal writes a heartbeat
 * instead. */
#ifndef PW_STORE_POSTGRES_PRESENCE_H
#define PW_STORE_POSTGRES_PRESENCE_H

#include <pthread.h>

#include "store/postgres/call.h"

struct pw_pg_connection;
struct pw_postgres;

struct pw_pg_owner {
    int64_t number;
    int64_t heard_at_ms;     /* when its newest answered heartbeat was sent, by the monotonic clock */
    int64_t steady_since_ms; /* since then no gap between heartbeats was long enough to be taken for dead */
};

struct pw_pg_presence {
    pthread_mutex_t coming;     /* held while a runner is announced or withdrawn, and the thread started or ended */
    pthread_mutex_t lock;       /* guards the members up to wake */
    struct pw_pg_owner *owners; /* announced here; owned */
    size_t owner_count;
    int64_t beaten_at_ms;     /* when a heartbeat was last answered, by the monotonic clock; 0: never */
    int64_t beating_since_ms; /* since when they were answered without a gap */
    pthread_t thread;
    bool has_thread;
    bool stopping;
    int wake[2]; /* a pipe that wakes the thread */

    pthread_mutex_t due_lock; /* held while `due` is called */
    void (*due)(void *user);  /* or NULL */
    void *due_user;
};

/* False when the system refuses. */
bool pw_pg_presence_init(struct pw_pg_presence *presence);
void pw_pg_presence_clear(struct pw_pg_presence *presence); /* ends the thread */

/* Adds a row for each runner announced here. */
void pw_pg_presence_put_owners(struct pw_pg_presence *presence, struct pw_columns *columns);
/* Sends a heartbeat for each owner. */
void pw_pg_send_beat(struct pw_pg_connection *connection, struct pw_columns *owners, int64_t now_ms);
bool pw_pg_presence_has(struct pw_pg_presence *presence, int64_t owner);

/* True if its newest heartbeat is so recent that no other process takes it for dead for another third of
 * PW_PG_DEAD_MS. */
bool pw_pg_presence_is_heard(struct pw_pg_presence *presence, int64_t owner, int64_t now_ms);
/* True if that has been so without a gap since since_ms. */
bool pw_pg_presence_is_steady(struct pw_pg_presence *presence, int64_t owner, int64_t since_ms);
/* Notes that a heartbeat sent at sent_at_ms was answered by now_ms, both by the monotonic clock.  PW_PG_EVERYBODY:
 * for all owners. */
#define PW_PG_EVERYBODY 0
void pw_pg_presence_note_heard(struct pw_pg_presence *presence, int64_t owner, int64_t sent_at_ms, int64_t now_ms);

/* Notes that one of our heartbeats was answered, at this time of the monotonic clock. */
void pw_pg_presence_note_beat(struct pw_pg_presence *presence, int64_t now_ms);
/* True if our own heartbeats have been answered for so long that every live runner must have been heard since.
 * False: we were cut off, or have just started.  Others may be cut off as well, so a missing heartbeat proves
 * nothing. */
bool pw_pg_presence_can_tell(struct pw_pg_presence *presence, int64_t now_ms);

#endif
