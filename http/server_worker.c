/* server_worker.c - see server_worker.h.
 *
 * Each pass of the loop polls three things: the waker's signal, the daemon's epoll set and, in the first worker, the
 * listening socket.  It then accepts connections, resumes those with news, closes idle ones if asked to, takes over
 * newcomers, and runs libmicrohttpd once.  Now and then it sweeps its connections for clients that are late. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "http/server_worker.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/connection.h"
#include "http/connection_exchange.h"
#include "http/handler.h"
#include "http/server.h"

enum {
    /* A connection's memory holds the request's headers plus this much for the answer's. */
    ANSWER_HEADER_BYTES = 1024,
    MEMORY_INCREMENT_BYTES = 1024,
    ACCEPTS_A_PASS = 64,
    NO_DESCRIPTORS_MS = 100, /* pause in accepting when the process is out of descriptors */
    NO_ROOM_MS = 10,         /* how long to wait for an idle connection to be closed */
    SWEEP_MS_MIN = 10,
    SWEEP_MS_MAX = 1000,
    DRAINING_SWEEP_MS = 20,
    LINGER_LOOK_MS = 100,
    VAIN_PASSES_MAX = 32,
    VAIN_WAIT_MS = 10
};

/* ---- New connections ----------------------------------------------------------------------------------------------- */

struct pw_newcomer {
    struct pw_newcomer *next;
    int fd;
    socklen_t address_size;
    struct sockaddr_storage address;
};

/* Returns the worker with the fewest connections. */
static struct pw_worker *choose_worker(pawl_http_server *server)
{
    struct pw_worker *chosen = &server->workers[0];
    for (int i = 1; i < server->options.threads; i++)
        if (atomic_load(&server->workers[i].connection_count) < atomic_load(&chosen->connection_count))
            chosen = &server->workers[i];
    return chosen;
}

static void hand_over(pawl_http_server *server, const struct pw_newcomer *given)
{
    struct pw_newcomer *newcomer = malloc(sizeof *newcomer);
    if (newcomer == NULL) {
        close(given->fd);
        return;
    }
    struct pw_worker *worker = choose_worker(server);
    *newcomer = *given;
    atomic_fetch_add(&server->connections, 1);
    atomic_fetch_add(&worker->connection_count, 1);
    newcomer->next = atomic_load(&worker->newcomers);
    while (!atomic_compare_exchange_weak(&worker->newcomers, &newcomer->next, newcomer))
        continue;
    pw_waker_signal(&worker->waker);
}

static bool has_room(pawl_http_server *server)
{
    return atomic_load(&server->connections) < server->options.connections_max;
}

static void accept_some(struct pw_worker *worker)
{
    pawl_http_server *server = worker->server;
    for (int i = 0; i < ACCEPTS_A_PASS && has_room(server); i++) {
        struct pw_newcomer newcomer = { .address_size = sizeof newcomer.address };
        newcomer.fd = accept4(server->listener.fd, (struct sockaddr *)&newcomer.address, &newcomer.address_size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (newcomer.fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                worker->accept_at_ms = pw_server_now_ms() + NO_DESCRIPTORS_MS;
            return;
        }
        hand_over(server, &newcomer);
        worker->room_at_ms = 0; /* the next connection need not wait for room */
    }
}

/* If there is no room, asks for the oldest idle connection to be closed.  Its worker signals the first worker when
 * it is. */
static void let_some_in(struct pw_worker *worker)
{
    pawl_http_server *server = worker->server;
    if (has_room(server))
        accept_some(worker);
    else {
        pw_idle_make_room(server);
        worker->room_at_ms = pw_server_now_ms() + NO_ROOM_MS;
    }
}

/* libmicrohttpd owns the socket from here on, even if it refuses the connection.  Then it may not call
 * pw_connection_notify(). */
static void let_in(struct pw_worker *worker, const struct pw_newcomer *newcomer)
{
    worker->has_left = false;
    if (MHD_add_connection(worker->daemon, newcomer->fd, (const struct sockaddr *)&newcomer->address,
                           newcomer->address_size) != MHD_YES &&
        !worker->has_left)
        pw_worker_leave(worker);
}

static void take_newcomers(struct pw_worker *worker)
{
    struct pw_newcomer *next;
    if (atomic_load_explicit(&worker->newcomers, memory_order_relaxed) == NULL)
        return;
    for (struct pw_newcomer *newcomer = atomic_exchange(&worker->newcomers, NULL); newcomer != NULL; newcomer = next) {
        next = newcomer->next;
        let_in(worker, newcomer);
        free(newcomer);
    }
}

void pw_worker_leave(struct pw_worker *worker)
{
    worker->has_left = true;
    atomic_fetch_sub(&worker->connection_count, 1);
    pw_server_leave(worker->server);
}

/* ---- The thread ---------------------------------------------------------------------------------------------------- */

static int64_t sweep_ms(const pawl_http_server *server)
{
    const struct pawl_http_server_options *options = &server->options;
    if (atomic_load(&server->is_draining))
        return DRAINING_SWEEP_MS;
    int64_t ms = (options->request_ms_max < options->idle_ms_max ? options->request_ms_max : options->idle_ms_max) / 8;
    return ms < SWEEP_MS_MIN ? SWEEP_MS_MIN : ms > SWEEP_MS_MAX ? SWEEP_MS_MAX : ms;
}

static void sweep(struct pw_worker *worker, int64_t now_ms)
{
    bool is_draining = atomic_load(&worker->server->is_draining);
    for (struct pw_connection *connection = worker->connections; connection != NULL; connection = connection->next)
        pw_connection_look(connection, is_draining, now_ms);
    worker->sweep_at_ms = now_ms + sweep_ms(worker->server);
}

/* A client can fill its connection's memory with bytes that are not yet part of the body, such as an endless chunk
 * extension. libmicrohttpd then asks to run again at once, although running it does nothing.  Such a client keeps
 * its time limit, but must not use up the processor. */
static bool is_urgent(struct pw_worker *worker)
{
    MHD_UNSIGNED_LONG_LONG daemon_ms;
    bool wants_to_run = MHD_get_timeout(worker->daemon, &daemon_ms) == MHD_YES && daemon_ms == 0;
    worker->vain_passes = wants_to_run ? worker->vain_passes + 1 : 0;
    return worker->must_run || (wants_to_run && worker->vain_passes <= VAIN_PASSES_MAX);
}

/* How long to wait at most; 0 does not wait. */
static int wait_ms(struct pw_worker *worker, int64_t now_ms)
{
    if (is_urgent(worker))
        return 0;
    int64_t ms = worker->sweep_at_ms - now_ms;
    if (worker->vain_passes > 0 && ms > VAIN_WAIT_MS)
        ms = VAIN_WAIT_MS;
    int waker_ms = pw_waker_due_ms(&worker->waker);
    if (waker_ms >= 0 && waker_ms < ms)
        ms = waker_ms;
    if (worker->linger.count > 0 && ms > LINGER_LOOK_MS)
        ms = LINGER_LOOK_MS;
    if (worker->room_at_ms > now_ms && ms > NO_ROOM_MS)
        ms = NO_ROOM_MS;
    return ms > 0 ? (int)ms : 0;
}

static void wait_and_run(struct pw_worker *worker)
{
    pawl_http_server *server = worker->server;
    struct pollfd polls[3 + PW_LINGER_MAX];
    int64_t now_ms = pw_server_now_ms();
    bool listens = worker == &server->workers[0] && server->listener.fd >= 0 && now_ms >= worker->accept_at_ms &&
                   (now_ms >= worker->room_at_ms || has_room(server));
    polls[0] = (struct pollfd){ .fd = worker->waker.signal_fd, .events = POLLIN };
    polls[1] = (struct pollfd){ .fd = worker->daemon_fd, .events = POLLIN };
    polls[2] = (struct pollfd){ .fd = listens ? server->listener.fd : -1, .events = POLLIN };
    int lingering = pw_linger_poll(&worker->linger, &polls[3]);
    if (poll(polls, 3 + (nfds_t)lingering, wait_ms(worker, now_ms)) < 0)
        polls[0].revents = polls[2].revents = 0;
    worker->must_run = false;
    if (polls[2].revents != 0)
        let_some_in(worker);
    if (lingering > 0)
        pw_linger_pass(&worker->linger, pw_server_now_ms());
    pw_waker_pass(&worker->waker, polls[0].revents != 0);
    pw_idle_pass(worker);
    take_newcomers(worker);
    (void)MHD_run(worker->daemon);
    pw_connections_let_go(worker);
}

static void *work(void *user)
{
    struct pw_worker *worker = user;
    pawl_http_server *server = worker->server;
    sigset_t pipes;
    /* A write to a client that is gone must fail instead of raising a signal. */
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipes, NULL);
    while (!atomic_load(&server->is_stopping)) {
        int64_t now_ms = pw_server_now_ms();
        bool is_draining = atomic_load(&server->is_draining);
        if (worker == &server->workers[0] && is_draining)
            pw_listener_close(&server->listener);
        if (now_ms >= worker->sweep_at_ms || (is_draining && worker->sweep_at_ms > now_ms + DRAINING_SWEEP_MS))
            sweep(worker, now_ms);
        wait_and_run(worker);
    }
    for (struct pw_connection *connection = worker->connections; connection != NULL; connection = connection->next)
        pw_waker_rouse(&worker->waker, &connection->sleeper);
    while (worker->waker.sleeping > 0) { /* a thread may still be listing one that it told */
        pw_waker_pass(&worker->waker, false);
        (void)sched_yield();
    }
    MHD_stop_daemon(worker->daemon);
    pw_linger_clear(&worker->linger);
    return NULL;
}

/* ---- Starting and ending ------------------------------------------------------------------------------------------- */

static struct MHD_Daemon *start_daemon(struct pw_worker *worker)
{
    const pawl_http_server *server = worker->server;
    size_t memory_bytes = (size_t)server->options.header_bytes_max + ANSWER_HEADER_BYTES;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    bool is_tls = server->tls.certificate != NULL;
    struct MHD_OptionItem options[] = {
        { MHD_OPTION_CONNECTION_LIMIT, INT_MAX, NULL }, /* the first worker enforces the limit */
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)memory_bytes, NULL },
        { MHD_OPTION_CONNECTION_MEMORY_INCREMENT, MEMORY_INCREMENT_BYTES, NULL },
        { MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL },
        { MHD_OPTION_END, 0, NULL },
    };
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, server->tls.certificate },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, server->tls.key },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PW_TLS_PRIORITIES },
        { MHD_OPTION_END, 0, NULL },
    };
    return MHD_start_daemon(flags | (is_tls ? MHD_USE_TLS : 0), 0, NULL, NULL, pw_exchange_handle, worker,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_ARRAY, is_tls ? tls : &tls[3],
                            MHD_OPTION_NOTIFY_CONNECTION, pw_connection_notify, worker, MHD_OPTION_URI_LOG_CALLBACK,
                            pw_exchange_begin, worker, MHD_OPTION_UNESCAPE_CALLBACK, pw_exchange_unescape, worker,
                            MHD_OPTION_NOTIFY_COMPLETED, pw_exchange_completed, worker, MHD_OPTION_END);
}

pawl_status pw_worker_start(struct pw_worker *worker, pawl_http_server *server, struct pawl_error *error)
{
    char text[128];
    worker->server = server;
    if (!pw_waker_init(&worker->waker, server->http->engine, pw_connection_wake))
        return pw_server_error(error, PAWL_FAILED, "cannot start the server: %s",
                               pw_system_text(errno, text, sizeof text));
    errno = 0;
    worker->daemon = start_daemon(worker);
    if (worker->daemon == NULL) {
        int reason = errno;
        pw_waker_clear(&worker->waker);
        return pw_server_error(error, PAWL_FAILED, "cannot start the server: libmicrohttpd refuses (%s)",
                               reason != 0 ? pw_system_text(reason, text, sizeof text) : "it does not say why");
    }
    worker->daemon_fd = MHD_get_daemon_info(worker->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    int failure = pthread_create(&worker->thread, NULL, work, worker);
    if (failure == 0)
        return PAWL_OK;
    MHD_stop_daemon(worker->daemon);
    pw_waker_clear(&worker->waker);
    return pw_server_error(error, PAWL_FAILED, "cannot start a thread: %s", pw_system_text(failure, text, sizeof text));
}

void pw_worker_join(struct pw_worker *worker)
{
    pw_waker_signal(&worker->waker);
    (void)pthread_join(worker->thread, NULL);
}

void pw_worker_clear(struct pw_worker *worker)
{
    struct pw_newcomer *next;
    for (struct pw_newcomer *newcomer = atomic_load(&worker->newcomers); newcomer != NULL; newcomer = next) {
        next = newcomer->next;
        close(newcomer->fd);
        free(newcomer);
    }
    pw_waker_clear(&worker->waker);
}
