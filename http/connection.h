/* connection.h - one client's connection from open to close, over all its requests.  Only its worker's thread
 * touches it. */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include <microhttpd.h>

#include "http/server.h"

struct pw_exchange;

struct pw_connection {
    struct pw_sleeper sleeper; /* must be first: the waker passes only this */
    struct pw_worker *worker;
    struct MHD_Connection *mhd;
    struct pw_connection *previous, *next;           /* in the worker's list */
    struct pw_connection *held_previous, *held_next; /* in the worker's list of held connections */
    bool is_held;
    int fd;
    int64_t late_at_ms;           /* by pw_server_now_ms(); INT64_MAX: nothing is expected of the client */
    bool has_asked;               /* there was an earlier request */
    bool awaits_request;          /* no whole request has arrived */
    bool lingers;                 /* it was answered before its request was read to the end */
    struct pw_exchange *exchange; /* the current request, or NULL */
    enum pw_idle idle;
    int64_t idle_since_ms;
    struct pw_connection *idle_previous, *idle_next;
    char peer[PW_PEER_SIZE];
};

/* A MHD_OPTION_NOTIFY_CONNECTION whose user is the worker. */
void pw_connection_notify(void *user, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code);

struct pw_connection *pw_connection_of(struct MHD_Connection *mhd); /* NULL: there was no memory for it */

/* The waker's callback. */
void pw_connection_wake(struct pw_sleeper *sleeper);

/* Sets how long the client may take for its next action.  INT64_MAX: it is the server's turn. */
void pw_connection_expect(struct pw_connection *connection, int64_t within_ms);

/* Holds back what is sent on this connection until the worker has handled everything that is ready.  Clients are
 * then woken once for many answers, and not once for each while the next answer is being made. */
void pw_connection_hold(struct pw_connection *connection);
void pw_connections_let_go(struct pw_worker *worker);

/* Returns false if the client has closed its side. */
bool pw_connection_is_there(const struct pw_connection *connection);

/* Shuts the connection down if its client is late, has left, or has no request while the server drains. */
void pw_connection_look(struct pw_connection *connection, bool is_draining, int64_t now_ms);

#endif
