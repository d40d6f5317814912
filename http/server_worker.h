/* server_worker.h - one thread of the server with its connections.  See server.h. */
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
    _Atomic(struct pw_newcomer *) newcomers; /* handed over by the first worker; a lock-free stack */
    atomic_int connection_count;             /* includes the newcomers */
    /* The rest belongs to the worker's thread. */
    struct MHD_Daemon *daemon;
    int daemon_fd; /* the daemon's epoll set */
    struct pw_connection *connections;
    struct pw_connection *held; /* answers held back; see pw_connection_hold() */
    struct pw_linger linger;
    struct pw_idles idles;
    bool must_run;        /* libmicrohttpd must run, although it does not know it */
    bool has_left;        /* set when a connection is closed */
    int vain_passes;      /* how often in a row libmicrohttpd wanted to run and then did nothing */
    int64_t sweep_at_ms;  /* when to look for late clients */
    int64_t accept_at_ms; /* accept no connection before this */
    int64_t room_at_ms;   /* nor before this, unless there is room */
};

/* The worker must be all zero.  PAWL_FAILED, with the reason, if the system refuses. */
pawl_status pw_worker_start(struct pw_worker *worker, pawl_http_server *server,
                            struct pawl_error *error) PAWL_MUST_CHECK;
/* Call after setting the server's is_stopping.  All connections are closed when this returns. */
void pw_worker_join(struct pw_worker *worker);
/* Notes that libmicrohttpd did something.  Every callback of libmicrohttpd calls this. */
static inline void pw_worker_moved(struct pw_worker *worker)
{
    worker->vain_passes = 0;
}
/* Called when one of its connections has closed. */
void pw_worker_leave(struct pw_worker *worker);
/* Call after all workers were joined. */
void pw_worker_clear(struct pw_worker *worker);

#endif
