/* server.h - the built-in server, on libmicrohttpd.
 *
 * It has some threads, the workers, each with a daemon of libmicrohttpd and connections of its own.  All that happens to a
 * connection happens in its worker; from outside come only new connections and news (waker.h).  The first worker listens,
 * and hands each connection to the worker that has the fewest.
 *
 * Promises:
 *  1. No thread is held by a request that waits.
 *  2. Every connection has a time by which its client must have done what is expected of it next: sent a request, read an
 *     answer, sent the next request.  Only while it is our turn it has none.  Bytes that trickle in do not move it.
 *  3. libmicrohttpd is stopped only when nothing sleeps: otherwise it would end the process.
 *  4. A worker waits for nobody.  Pages of rows, which may be megabytes, and all that asks a store on a server are made by
 *     threads of their own, the readers.  When these are all at it, who waits for one is told 503 after a while, and who
 *     asks for nothing of the store is answered as ever.
 *
 * A kept connection that trickles its next request line may take idle_ms_max for that, which it might as well spend in
 * silence; from then on it has request_ms_max.
 *
 * libmicrohttpd has threads and a listening socket of its own, which are not used.  Its threads (0.9.75) wait for more
 * when they find 128 events at once, so that as many clients who all wait for their answers wait for ever; and to stop
 * listening while its threads are at work ends the process now and then, because two of them take the socket out of one
 * epoll set. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "http/listen.h"
#include "http/server_reader.h"
#include "http/server_tls.h"
#include "http/server_worker.h"
#include "pawl/http.h"

/* What is refused before the handler sees it. */
enum pw_refusal {
    PW_REFUSE_BODY,
    PW_REFUSE_HEADERS,
    PW_REFUSE_FRAMING,
    PW_REFUSE_HOST,
    PW_REFUSE_MEMORY,
    PW_REFUSE_BUDGET,
    PW_REFUSAL_COUNT
};

struct pawl_http_server {
    pawl_http *http;
    struct pawl_http_server_options options; /* with the defaults filled in; its texts are not ours */
    pawl_scope *scope;
    const char *refusals[PW_REFUSAL_COUNT]; /* bodies, in the scope */
    struct pw_server_tls tls;
    struct pw_listener listener; /* the first worker's, while it runs */
    int port;
    struct pw_worker *workers; /* options.threads of them */
    int running;               /* of these, the first so many run */
    struct pw_readers readers;
    atomic_bool is_draining, is_stopping;
    atomic_int connections; /* open, or on their way to a worker */
    pthread_mutex_t lock;
    pthread_cond_t drained; /* the last connection was closed */
};

pawl_status pw_server_error(struct pawl_error *error, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);
const char *pw_system_text(int reason, char *text, size_t size); /* of an errno */
int64_t pw_server_now_ms(void);                                  /* monotonic, for the times of connections */

/* One connection less. */
void pw_server_leave(pawl_http_server *server);

#endif
