/* server.h - the built-in server, on libmicrohttpd.
 *
 * The server runs a few threads, the workers.  Each has its own libmicrohttpd daemon and its own connections.
 * Everything that happens to a connection happens in its worker's thread.  Other threads only hand over new
 * connections and tell of news (waker.h).  The first worker listens, and gives each new connection to the worker
 * with the fewest.
 *
 * Promises:
 *  1. A request that waits holds no thread.
 *  2. Each connection has a time by which its client must have done what is expected next: send a request, read an
 *     answer, send the next request.  It has none only while the server is to act.  Bytes that trickle in do not extend
 *     it.
 *  3. libmicrohttpd is stopped only when no connection is suspended, because it would abort the process otherwise.
 *  4. A worker never waits.  Threads of their own, the readers, make pages of rows, which may be megabytes, and ask a
 *     store that is on a server.  When all readers are busy, a call that waits for one gets 503 after a while.  Calls
 *     that need nothing from the store are answered as always.
 *
 * A kept connection may take idle_ms_max until its next request line is complete, and request_ms_max from then on.
 *
 * libmicrohttpd's own threads and listening socket are not used.  Its threads (0.9.75) wait for more input when they
 * find 128 events at once, so that 128 clients that all wait for answers wait forever.  And closing its listening
 * socket while its threads run aborts the process now and then, because two threads remove the socket from one epoll
 * set. */
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

/* Reasons to refuse a request before the handler sees it. */
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
    struct pawl_http_server_options options; /* with the defaults filled in; its texts are borrowed */
    pawl_scope *scope;
    const char *refusals[PW_REFUSAL_COUNT]; /* the bodies, in the scope */
    struct pw_server_tls tls;
    struct pw_listener listener; /* belongs to the first worker while that runs */
    int port;
    struct pw_worker *workers; /* options.threads of them */
    int running;               /* how many run, counted from the last */
    struct pw_readers readers;
    atomic_bool is_draining, is_stopping;
    atomic_int connections; /* open, or on the way to a worker */
    pthread_mutex_t lock;
    pthread_cond_t drained; /* signalled when the last connection was closed */
};

pawl_status pw_server_error(struct pawl_error *error, pawl_status status, const char *format, ...) PAWL_PRINTF(3, 4);
const char *pw_system_text(int reason, char *text, size_t size); /* the text of an errno */
int64_t pw_server_now_ms(void);                                  /* monotonic; for timeouts of connections */

/* Called when a connection has closed. */
void pw_server_leave(pawl_http_server *server);

#endif
