/* connection.h - one client's connection, from its opening to its closing, over all its requests.  All in its worker. */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include <microhttpd.h>

#include "http/server.h"

struct pw_exchange;

struct pw_connection {
    struct pw_sleeper sleeper; /* first: the waker knows only it */
    struct pw_worker *worker;
    struct MHD_Connection *mhd;
    struct pw_connection *previous, *next;           /* of the worker's */
    struct pw_connection *held_previous, *held_next; /* of those whose answers the worker holds back */
    bool is_held;
    int fd;
    int64_t late_at_ms;           /* pw_server_now_ms(); INT64_MAX: nothing is expected of the client */
    bool has_asked;               /* there was a request before */
    bool awaits_request;          /* it has not come, or not wholly */
    bool lingers;                 /* it was answered before it was read to its end */
    struct pw_exchange *exchange; /* under way, or NULL */
    enum pw_idle idle;
    int64_t idle_since_ms;
    struct pw_connection *idle_previous, *idle_next;
    char peer[PW_PEER_SIZE];
};

/* A MHD_OPTION_NOTIFY_CONNECTION; user: the worker. */
void pw_connection_notify(void *user, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code);

struct pw_connection *pw_connection_of(struct MHD_Connection *mhd); /* NULL: memory was out when it came */

/* For the waker. */
void pw_connection_wake(struct pw_sleeper *sleeper);

/* The client has so long for what it has to do next; INT64_MAX: it is not its turn. */
void pw_connection_expect(struct pw_connection *connection, int64_t within_ms);

/* What is sent on it is kept back until the worker has been through all that is ready: then clients are woken once for many
 * answers, not once for each while the next is being made. */
void pw_connection_hold(struct pw_connection *connection);
void pw_connections_let_go(struct pw_worker *worker);

/* False: the client has closed its side. */
bool pw_connection_is_there(const struct pw_connection *connection);

/* Cuts it off if its client is late, or if it has no request while the server drains. */
void pw_connection_look(struct pw_connection *connection, bool is_draining, int64_t now_ms);

#endif
