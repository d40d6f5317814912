/* server_idle.h - which connections can be closed to make room, the oldest first.
 *
 * Idle is who has no request under way: between two requests, or with a head that has not come wholly.  Who has sent its head
 * and not its whole body is closed only where nobody is idle.  Who waits for an answer, or reads one, is not closed.
 *
 * Each worker keeps its own lists, in the order of time; the first worker, which lets people in, only looks at how old the
 * heads of these lists are, and asks a worker to close one. */
#ifndef HTTP_SERVER_IDLE_H
#define HTTP_SERVER_IDLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "pawl/http.h"

struct pw_connection;
struct pw_worker;

enum pw_idle { PW_IDLE, PW_IDLE_IN_BODY, PW_IDLE_COUNT, PW_NOT_IDLE = PW_IDLE_COUNT };

/* The worker's. */
struct pw_idle_list {
    struct pw_connection *first, *last;
    _Atomic int64_t oldest_ms; /* since when the first is idle; 0: there is none */
};
struct pw_idles {
    struct pw_idle_list lists[PW_IDLE_COUNT];
    atomic_int wanted; /* how many of them are to be closed */
};

/* From now on it is that; first PW_NOT_IDLE. */
void pw_idle_set(struct pw_connection *connection, enum pw_idle idle);

/* From the first worker: asks for one connection to be closed, if there is one that can be. */
void pw_idle_make_room(pawl_http_server *server);
/* Closes as many as were asked for. */
void pw_idle_pass(struct pw_worker *worker);

#endif
