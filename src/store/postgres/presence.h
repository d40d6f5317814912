/* presence.h - which runners live, told by heartbeats, and word from other machines that something is due.
 *
 * While a runner is announced a thread of the store beats for it and listens.  With a clock of a test's own there is no
 * thread: time stands still between calls, and each claim and renewal beats instead. */
#ifndef PW_STORE_POSTGRES_PRESENCE_H
#define PW_STORE_POSTGRES_PRESENCE_H

#include <pthread.h>

#include "store/postgres/call.h"

struct pw_pg_connection;
struct pw_postgres;

struct pw_pg_owner {
    int64_t number;
    int64_t heard_at_ms;     /* when its newest heartbeat was sent that was answered, by the monotonic clock */
    int64_t steady_since_ms; /* since then no gap between heartbeats was so long that others could take it for dead */
};

struct pw_pg_presence {
    pthread_mutex_t coming;     /* held while a runner comes or goes, with the thread if it is the first or the last */
    pthread_mutex_t lock;       /* guards what follows, up to the next */
    struct pw_pg_owner *owners; /* announced here; owned */
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

/* Adds a row for each runner announced here. */
void pw_pg_presence_put_owners(struct pw_pg_presence *presence, struct pw_columns *columns);
/* Sends a heartbeat of each owner. */
void pw_pg_send_beat(struct pw_pg_connection *connection, struct pw_columns *owners, int64_t now_ms);
bool pw_pg_presence_has(struct pw_pg_presence *presence, int64_t owner);

/* True: its newest heartbeat is so recent that no other process takes it for dead for another third of PW_PG_DEAD_MS. */
bool pw_pg_presence_is_heard(struct pw_pg_presence *presence, int64_t owner, int64_t now_ms);
/* Has that been so without a gap since since_ms? */
bool pw_pg_presence_is_steady(struct pw_pg_presence *presence, int64_t owner, int64_t since_ms);
/* A heartbeat that was sent at sent_at_ms was answered by now_ms, both by the monotonic clock.  PW_PG_EVERYBODY: those of all
 * owners. */
#define PW_PG_EVERYBODY 0
void pw_pg_presence_note_heard(struct pw_pg_presence *presence, int64_t owner, int64_t sent_at_ms, int64_t now_ms);

/* A heartbeat of ours was answered, at this time of the monotonic clock. */
void pw_pg_presence_note_beat(struct pw_pg_presence *presence, int64_t now_ms);
/* Our own heart has been beating for so long that all who live must have been heard of since.  False: we were cut off, or
 * have only come; then so may others be, and a heartbeat that is missing says nothing. */
bool pw_pg_presence_can_tell(struct pw_pg_presence *presence, int64_t now_ms);

#endif
