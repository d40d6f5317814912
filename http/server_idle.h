/* server_idle.h - which connections can be closed to make room for new ones, oldest first.
 *
 * A connection is idle if it has no request under way: it is between two requests, or its request's head is
 * incomplete.  A connection with a complete head and an incomplete body is closed only if none is idle.  A
 * connection that waits for an answer, or reads one, is never closed.
 *
 * Each worker keeps its own lists in order of time.  The first worker, which accepts connections, only compares the
 * ages of the lists' heads and asks a worker to close one. */
#ifndef HTTP_SERVER_IDLE_H
#define HTTP_SERVER_IDLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "pawl/http.h"

struct pw_connection;
struct pw_worker;

enum pw_idle { PW_IDLE, PW_IDLE_IN_BODY, PW_IDLE_COUNT, PW_NOT_IDLE = PW_IDLE_COUNT };

/* Used by the worker alone, except for the atomic members. */
struct pw_idle_list {
    struct pw_connection *first, *last;
    _Atomic int64_t oldest_ms; /* since when the first one is idle; 0: the list is empty */
};
struct pw_idles {
    struct pw_idle_list lists[PW_IDLE_COUNT];
    atomic_int wanted; /* how many connections are to be closed */
};

/* Moves the connection to that list, or to none.  A new connection must begin as PW_NOT_IDLE. */
void pw_idle_set(struct pw_connection *connection, enum pw_idle idle);

/* Called by the first worker.  Asks for one connection to be closed, if there is one that can be. */
void pw_idle_make_room(pawl_http_server *server);
/* Closes as many connections as were asked for. */
void pw_idle_pass(struct pw_worker *worker);

#endif
