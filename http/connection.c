/* connection.c - see connection.h. libmicrohttpd reports opening and closing through pw_connection_notify().  While
 * a call waits, the connection is suspended and sleeps with its worker's waker, which resumes it through
 * pw_connection_wake(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POLLRDHUP */
#endif
#include "http/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "http/connection_exchange.h"

static void open_connection(struct pw_worker *worker, struct MHD_Connection *mhd, void **context)
{
    struct pw_connection *connection = calloc(1, sizeof *connection);
    *context = connection;
    if (connection == NULL)
        return; /* its requests are refused */
    connection->worker = worker;
    connection->mhd = mhd;
    connection->awaits_request = true;
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    pw_peer_text(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr, connection->peer);
    pw_connection_expect(connection, worker->server->options.request_ms_max);
    connection->idle = PW_NOT_IDLE;
    pw_idle_set(connection, PW_IDLE);
    connection->next = worker->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    worker->connections = connection;
}

/* ---- Holding back -------------------------------------------------------------------------------------------------- */

static void set_cork(const struct pw_connection *connection, int is_on)
{
    (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_CORK, &is_on, sizeof is_on); /* no-op on Unix sockets */
}

void pw_connection_hold(struct pw_connection *connection)
{
    struct pw_worker *worker = connection->worker;
    if (connection->is_held)
        return;
    set_cork(connection, 1);
    connection->is_held = true;
    connection->held_previous = NULL;
    connection->held_next = worker->held;
    if (connection->held_next != NULL)
        connection->held_next->held_previous = connection;
    worker->held = connection;
}

static void let_go(struct pw_connection *connection)
{
    if (!connection->is_held)
        return;
    connection->is_held = false;
    if (connection->held_previous != NULL)
        connection->held_previous->held_next = connection->held_next;
    else
        connection->worker->held = connection->held_next;
    if (connection->held_next != NULL)
        connection->held_next->held_previous = connection->held_previous;
    set_cork(connection, 0);
}

void pw_connections_let_go(struct pw_worker *worker)
{
    while (worker->held != NULL)
        let_go(worker->held);
}

/* ---- Opening and closing ------------------------------------------------------------------------------------------- */

/* libmicrohttpd closes the descriptor after this. */
static void close_connection(struct pw_connection *connection)
{
    struct pw_worker *worker = connection->worker;
    if (connection->exchange != NULL) /* libmicrohttpd does not always report a completed request */
        pw_exchange_end(connection->exchange);
    let_go(connection);
    pw_idle_set(connection, PW_NOT_IDLE);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        worker->connections = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    if (connection->lingers)
        pw_linger_add(&worker->linger, connection->fd, pw_server_now_ms());
    free(connection);
}

void pw_connection_notify(void *user, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    pw_worker_moved(user);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(user, mhd, context);
        return;
    }
    if (*context != NULL)
        close_connection(*context);
    pw_worker_leave(user);
}

struct pw_connection *pw_connection_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void pw_connection_wake(struct pw_sleeper *sleeper)
{
    struct pw_connection *connection = (struct pw_connection *)sleeper;
    if (connection->exchange == NULL || !pw_exchange_sleeps_on(connection->exchange))
        MHD_resume_connection(connection->mhd);
}

void pw_connection_expect(struct pw_connection *connection, int64_t within_ms)
{
    if (__builtin_add_overflow(pw_server_now_ms(), within_ms, &connection->late_at_ms))
        connection->late_at_ms = INT64_MAX;
}

bool pw_connection_is_there(const struct pw_connection *connection)
{
    struct pollfd poll_one = { .fd = connection->fd, .events = POLLRDHUP };
    return poll(&poll_one, 1, 0) <= 0;
}

/* Shutting down the socket makes libmicrohttpd find it closed and clean up.  A client that sends part of a request
 * and closes at the same time is not noticed otherwise, because libmicrohttpd gets one event for both.  Where only
 * reading is shut down, a request that has arrived as a whole is still answered. */
void pw_connection_look(struct pw_connection *connection, bool is_draining, int64_t now_ms)
{
    bool is_idle = connection->exchange == NULL;
    if (now_ms >= connection->late_at_ms) {
        connection->late_at_ms = INT64_MAX;
        (void)shutdown(connection->fd, SHUT_RDWR);
    } else if ((is_draining && is_idle) || (connection->awaits_request && !pw_connection_is_there(connection))) {
        (void)shutdown(connection->fd, SHUT_RD);
    }
}
