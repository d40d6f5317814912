/* server_worker.h - a thread of the server, with its connections.  See server.h. */
#ifndef HTTP_SERVER_WORKER_H
#define HTTP_SERVER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "http/server_idle.h"
#include "http/server_linger.h"
#include "http/waker.h"
#include "pawl/http.h"

struct MHD_Daemon;
struct pw_connection;
struct pw_newcomer;

struct pw_worker {
    pawl_http_server *server;
    pthread_t thread;
    struct pw_waker waker;
    _Atomic(struct pw_newcomer *) newcomers; /* handed over by the first worker */
    atomic_int connection_count;             /* with the newcomers */
    /* The thread's own. */
    struct MHD_Daemon *daemon;
    int daemon_fd; /* its epoll set */
    struct pw_connection *connections;
    struct pw_connection *held; /* see pw_connection_hold() */
    struct pw_linger linger;
    struct pw_idles idles;
    bool must_run;        /* libmicrohttpd has something to do that it does not know of */
    bool has_left;        /* a connection was closed */
    int vain_passes;      /* in a row, that libmicrohttpd wanted and then called us for nothing */
    int64_t sweep_at_ms;  /* when to look for clients that are late */
    int64_t accept_at_ms; /* nobody is let in before */
    int64_t room_at_ms;   /* nor before this, unless there is room */
};

/* Of a worker that is all zero.  PAWL_FAILED, saying why, when the system refuses. */
pawl_status pw_worker_start(struct pw_worker *worker, pawl_http_server *server,
                            struct pawl_error *error) PAWL_MUST_CHECK;
/* After the server's is_stopping was set.  All connections are closed when this returns. */
void pw_worker_join(struct pw_worker *worker);
/* Something was done: to be called by all that libmicrohttpd calls. */
static inline void pw_worker_moved(struct pw_worker *worker)
{
    worker->vain_passes = 0;
}
/* A connection of it was closed. */
void pw_worker_leave(struct pw_worker *worker);
/* After all were joined. */
void pw_worker_clear(struct pw_worker *worker);

#endif
