/* server_idle.c - see server_idle.h. */
#include "http/server_idle.h"

#include <sys/socket.h>

#include "http/connection.h"
#include "http/handler.h"

static void publish(struct pw_idle_list *list)
{
    atomic_store_explicit(&list->oldest_ms, list->first != NULL ? list->first->idle_since_ms : 0, memory_order_relaxed);
}

static void take_out(struct pw_connection *connection)
{
    struct pw_idle_list *list = &connection->worker->idles.lists[connection->idle];
    *(connection->idle_previous != NULL ? &connection->idle_previous->idle_next : &list->first) = connection->idle_next;
    *(connection->idle_next != NULL ? &connection->idle_next->idle_previous : &list->last) = connection->idle_previous;
    publish(list);
}

static void put_last(struct pw_connection *connection)
{
    struct pw_idle_list *list = &connection->worker->idles.lists[connection->idle];
    connection->idle_since_ms = pw_server_now_ms();
    connection->idle_next = NULL;
    connection->idle_previous = list->last;
    *(list->last != NULL ? &list->last->idle_next : &list->first) = connection;
    list->last = connection;
    publish(list);
}

void pw_idle_set(struct pw_connection *connection, enum pw_idle idle)
{
    if (connection->idle != PW_NOT_IDLE)
        take_out(connection);
    connection->idle = idle;
    if (idle != PW_NOT_IDLE)
        put_last(connection);
}

/* ---- Making room --------------------------------------------------------------------------------------------------- */

static struct pw_worker *worker_with_oldest(pawl_http_server *server, enum pw_idle idle)
{
    struct pw_worker *found = NULL;
    int64_t oldest_ms = INT64_MAX;
    for (int i = 0; i < server->options.threads; i++) {
        struct pw_idles *idles = &server->workers[i].idles;
        int64_t at_ms = atomic_load_explicit(&idles->lists[idle].oldest_ms, memory_order_relaxed);
        if (at_ms != 0 && at_ms < oldest_ms && atomic_load(&idles->wanted) == 0) {
            found = &server->workers[i];
            oldest_ms = at_ms;
        }
    }
    return found;
}

void pw_idle_make_room(pawl_http_server *server)
{
    struct pw_worker *worker = worker_with_oldest(server, PW_IDLE);
    if (worker == NULL)
        worker = worker_with_oldest(server, PW_IDLE_IN_BODY);
    if (worker == NULL)
        return;
    atomic_fetch_add(&worker->idles.wanted, 1);
    pw_waker_signal(&worker->waker);
}

/* Shuts the socket down, so that libmicrohttpd finds it closed and cleans up. */
static void cut_oldest(struct pw_worker *worker)
{
    struct pw_connection *connection = worker->idles.lists[PW_IDLE].first;
    if (connection == NULL)
        connection = worker->idles.lists[PW_IDLE_IN_BODY].first;
    if (connection == NULL)
        return;
    pw_idle_set(connection, PW_NOT_IDLE);
    (void)shutdown(connection->fd, SHUT_RDWR);
    atomic_fetch_add_explicit(&worker->server->http->idle_closed, 1, memory_order_relaxed);
}

void pw_idle_pass(struct pw_worker *worker)
{
    if (atomic_load_explicit(&worker->idles.wanted, memory_order_relaxed) == 0)
        return;
    for (int wanted = atomic_exchange(&worker->idles.wanted, 0); wanted > 0; wanted--)
        cut_oldest(worker);
}
