/* http_empty.c - see http_empty.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "http_empty.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { THREADS_MAX = 64, LOOK_MS = 50, MEMORY_BYTES = 17 * 1024 };

struct thread {
    struct http_empty *empty;
    pthread_t thread;
    struct MHD_Daemon *daemon;
};

struct http_empty {
    int fd, port;
    atomic_bool is_stopping;
    int count;
    struct thread threads[THREADS_MAX];
};

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *data, size_t *data_size, void **context)
{
    static const char body[] = "{\"id\":\"run-1\",\"details\":{\"status\":\"active\",\"phase\":\"queued\"}}";
    (void)path, (void)method, (void)version, (void)data;
    if (*context == NULL) { /* the headers have arrived */
        *context = user;
        return MHD_YES;
    }
    if (*data_size > 0) {
        *data_size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof body - 1, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);
    bench_require(response != NULL, "out of memory");
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static void accept_all(struct thread *thread)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd;
    while ((fd = accept4(thread->empty->fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        (void)MHD_add_connection(thread->daemon, fd, (struct sockaddr *)&address, size);
        size = sizeof address;
    }
}

static void *serve(void *user)
{
    struct thread *thread = user;
    sigset_t pipes;
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipes, NULL);
    int daemon_fd = MHD_get_daemon_info(thread->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    while (!atomic_load(&thread->empty->is_stopping)) {
        struct pollfd polls[2] = { { .fd = thread->empty->fd, .events = POLLIN },
                                   { .fd = daemon_fd, .events = POLLIN } };
        MHD_UNSIGNED_LONG_LONG ms;
        bool is_pending = MHD_get_timeout(thread->daemon, &ms) == MHD_YES && ms == 0;
        (void)poll(polls, 2, is_pending ? 0 : LOOK_MS);
        if (polls[0].revents != 0)
            accept_all(thread);
        (void)MHD_run(thread->daemon);
    }
    MHD_stop_daemon(thread->daemon);
    return NULL;
}

struct http_empty *http_empty_start(int threads)
{
    struct http_empty *empty = calloc(1, sizeof *empty);
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    bench_require(empty != NULL && threads <= THREADS_MAX, "out of memory");
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    empty->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bench_require(empty->fd >= 0 && bind(empty->fd, (struct sockaddr *)&address, size) == 0 &&
                      listen(empty->fd, SOMAXCONN) == 0 &&
                      getsockname(empty->fd, (struct sockaddr *)&address, &size) == 0,
                  "cannot listen");
    empty->port = ntohs(address.sin_port);
    empty->count = threads;
    for (int i = 0; i < threads; i++) {
        struct thread *thread = &empty->threads[i];
        thread->empty = empty;
        thread->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
                                          NULL, answer, thread, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                          (size_t)MEMORY_BYTES, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
        bench_require(thread->daemon != NULL, "libmicrohttpd does not start");
        bench_require(pthread_create(&thread->thread, NULL, serve, thread) == 0, "cannot start a thread");
    }
    return empty;
}

int http_empty_port(const struct http_empty *empty)
{
    return empty->port;
}

void http_empty_stop(struct http_empty *empty)
{
    atomic_store(&empty->is_stopping, true);
    for (int i = 0; i < empty->count; i++)
        (void)pthread_join(empty->threads[i].thread, NULL);
    close(empty->fd);
    free(empty);
}
