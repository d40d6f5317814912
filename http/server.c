/* server.c - starting and stopping the server.  See server.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* GNU's strerror_r */
#endif
#include "http/server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/thread.h"
#include "http/answer.h"
#include "http/handler.h"

enum {
    THREADS_MIN = 2,
    THREADS_MAX = 8, /* the default's upper limit */
    CONNECTIONS_MAX = 8192,
    REQUEST_MS_MAX = 30000,
    IDLE_MS_MAX = 120000,
    HEADER_BYTES_MAX = 8 * 1024,
    DESCRIPTORS_KEPT = 128,
    HEADER_BYTES_MIN = 1024,
    REMOTE_READERS_MIN = 8, /* as many as a store on a server reads for at once by default */
    THREADS_MOST = 64
};

/* ---- What the parts share ------------------------------------------------------------------------------------------ */

pawl_status pw_server_error(struct pawl_error *error, pawl_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    pawl_text_mend(error->text);
    va_end(arguments);
    error->status = status;
    return status;
}

const char *pw_system_text(int reason, char *text, size_t size)
{
    return strerror_r(reason, text, size); /* GNU's strerror_r may return a text of its own */
}

int64_t pw_server_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- Options ------------------------------------------------------------------------------------------------------- */

static pawl_status check_range(const char *name, int64_t value, int64_t min, int64_t max, struct pawl_error *error)
{
    if (value >= min && value <= max)
        return PAWL_OK;
    return pw_server_error(error, PAWL_INVALID, "%s is %lld; it is %lld to %lld, or 0 for the default", name,
                           (long long)value, (long long)min, (long long)max);
}

static int32_t default_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < THREADS_MIN ? THREADS_MIN : processors > THREADS_MAX ? THREADS_MAX : (int32_t)processors;
}

/* Leaves descriptors to the rest of the process, because the store opens some when it needs them. */
static int32_t bound_connections(int32_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return wanted;
    int64_t most = (int64_t)limit.rlim_cur - DESCRIPTORS_KEPT;
    int64_t least = (int64_t)limit.rlim_cur / 4; /* for a limit so low that little can be left */
    most = most > least ? most : least;
    return wanted < most ? wanted : (int32_t)(most > 0 ? most : 1);
}

static pawl_status take_options(const struct pawl_http_server_options *given, struct pawl_http_server_options *options,
                                struct pawl_error *error)
{
    *options = (struct pawl_http_server_options)PAWL_HTTP_SERVER_OPTIONS_INIT;
    if (given->struct_size > sizeof *options || given->struct_size < sizeof given->struct_size)
        return pw_server_error(error, PAWL_INVALID,
                               "the options' struct_size is %zu; begin with PAWL_HTTP_SERVER_OPTIONS_INIT of this "
                               "version, which is %zu",
                               given->struct_size, sizeof *options);
    memcpy(options, given, given->struct_size);
    options->struct_size = sizeof *options;
    if (options->listen == NULL)
        return pw_server_error(error, PAWL_INVALID, "say where to listen, such as 127.0.0.1:7295");
    if ((options->tls_cert == NULL) != (options->tls_key == NULL))
        return pw_server_error(error, PAWL_INVALID, "tls_cert and tls_key go together: give both, or neither");
    options->threads = options->threads != 0 ? options->threads : default_threads();
    options->connections_max = options->connections_max != 0 ? options->connections_max : CONNECTIONS_MAX;
    options->request_ms_max = options->request_ms_max != 0 ? options->request_ms_max : REQUEST_MS_MAX;
    options->idle_ms_max = options->idle_ms_max != 0 ? options->idle_ms_max : IDLE_MS_MAX;
    options->header_bytes_max = options->header_bytes_max != 0 ? options->header_bytes_max : HEADER_BYTES_MAX;
    pawl_status status = check_range("threads", options->threads, 1, THREADS_MOST, error);
    if (status == PAWL_OK)
        status = check_range("connections_max", options->connections_max, 1, INT32_MAX, error);
    if (status == PAWL_OK)
        status = check_range("request_ms_max", options->request_ms_max, 1, INT32_MAX, error);
    if (status == PAWL_OK)
        status = check_range("idle_ms_max", options->idle_ms_max, 1, INT32_MAX, error);
    if (status == PAWL_OK)
        status = check_range("header_bytes_max", options->header_bytes_max, HEADER_BYTES_MIN, INT32_MAX, error);
    options->connections_max = bound_connections(options->connections_max);
    return status;
}

/* ---- Starting ------------------------------------------------------------------------------------------------------ */

static bool write_refusals(pawl_http_server *server)
{
    static const struct {
        const char *code, *message;
    } texts[PW_REFUSAL_COUNT] = {
        [PW_REFUSE_BODY] = { "PAYLOAD_TOO_LARGE", "the request's body is too large" },
        [PW_REFUSE_HEADERS] = { "HEADERS_TOO_LARGE", "the request's headers are too large" },
        [PW_REFUSE_FRAMING] = { "VALIDATION_FAILED", "a request's body needs one Content-Length or "
                                                     "Transfer-Encoding: chunked; headers must not be folded "
                                                     "or have a blank in their name" },
        [PW_REFUSE_HOST] = { "VALIDATION_FAILED", "a request needs exactly one Host header; HTTP/1.0 may omit it" },
        [PW_REFUSE_MEMORY] = { "STORE_UNAVAILABLE", "out of memory; try again" },
        [PW_REFUSE_BUDGET] = { PW_HTTP_OVER_BUDGET, PW_HTTP_OVER_BUDGET_TEXT },
    };
    server->scope = pawl_scope_new();
    if (server->scope == NULL)
        return false;
    for (int i = 0; i < PW_REFUSAL_COUNT; i++)
        server->refusals[i] = pawl_http_error_body(server->scope, texts[i].code, texts[i].message);
    return true;
}

/* The first worker hands out connections to the others, so it starts last. */
static pawl_status start_workers(pawl_http_server *server, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && server->running < server->options.threads) {
        status = pw_worker_start(&server->workers[server->options.threads - 1 - server->running], server, error);
        if (status == PAWL_OK)
            server->running++;
    }
    return status;
}

static void stop_workers(pawl_http_server *server)
{
    struct pw_worker *end = server->workers + server->options.threads;
    atomic_store(&server->is_stopping, true);
    for (struct pw_worker *worker = end - server->running; worker < end; worker++)
        pw_worker_join(worker);
    for (struct pw_worker *worker = end - server->running; worker < end; worker++)
        pw_worker_clear(worker);
}

/* Readers end first, because they carry on calls of connections that the workers then close. */
static void free_server(pawl_http_server *server)
{
    pw_readers_stop(&server->readers);
    stop_workers(server);
    pw_listener_close(&server->listener);
    pw_server_tls_clear(&server->tls);
    pw_lock_clear(&server->readers.lock, &server->readers.changed);
    pw_lock_clear(&server->lock, &server->drained);
    pawl_scope_free(server->scope);
    free(server->workers);
    free(server);
}

/* Returns NULL without memory. */
static pawl_http_server *new_server(pawl_http *http, const struct pawl_http_server_options *options)
{
    pawl_http_server *server = calloc(1, sizeof *server);
    struct pw_worker *workers = calloc((size_t)options->threads, sizeof *workers);
    if (server == NULL || workers == NULL || !pw_lock_init(&server->lock, &server->drained))
        goto no_lock;
    if (!pw_lock_init(&server->readers.lock, &server->readers.changed))
        goto no_readers;
    server->http = http;
    server->options = *options;
    server->listener.fd = -1;
    server->workers = workers;
    if (write_refusals(server))
        return server;
    free_server(server);
    return NULL;
no_readers:
    pw_lock_clear(&server->lock, &server->drained);
no_lock:
    free(workers);
    free(server);
    return NULL;
}

/* With a store in a file, readers only make large answers and keep a processor busy.  With a store on a server, they
 * do everything that asks it, and mostly wait. */
static int count_readers(const pawl_http_server *server)
{
    int threads = server->options.threads;
    if (!server->http->store_is_remote)
        return (threads + 1) / 2;
    return threads > REMOTE_READERS_MIN ? threads : REMOTE_READERS_MIN;
}

pawl_status pawl_http_server_start(pawl_http *http, const struct pawl_http_server_options *options,
                                   pawl_http_server **out_server, struct pawl_error *error)
{
    struct pawl_http_server_options filled;
    if (http == NULL || options == NULL || out_server == NULL)
        return pw_server_error(error, PAWL_INVALID, "a server needs a handler, options and a place for the answer");
    pawl_status status = take_options(options, &filled, error);
    if (status != PAWL_OK)
        return status;
    pawl_http_server *server = new_server(http, &filled);
    if (server == NULL)
        return pw_server_error(error, PAWL_NOMEM, "out of memory");
    if (filled.tls_cert != NULL)
        status = pw_server_tls_read(&filled, &server->tls, error);
    if (status == PAWL_OK)
        status = pw_listen(filled.listen, &server->listener, error);
    server->port = server->listener.port;
    if (status == PAWL_OK)
        status = pw_readers_start(&server->readers, count_readers(server), error);
    if (status == PAWL_OK)
        status = start_workers(server, error);
    if (status == PAWL_OK)
        *out_server = server;
    else
        free_server(server);
    return status;
}

int pawl_http_server_port(const pawl_http_server *server)
{
    return server != NULL ? server->port : 0;
}

/* ---- Stopping ------------------------------------------------------------------------------------------------------ */

void pw_server_leave(pawl_http_server *server)
{
    int before = atomic_fetch_sub(&server->connections, 1);
    if (before == server->options.connections_max)
        pw_waker_signal(&server->workers[0].waker); /* the first worker may be waiting for room */
    if (before > 1 || !atomic_load(&server->is_draining))
        return;
    pthread_mutex_lock(&server->lock);
    pthread_cond_broadcast(&server->drained);
    pthread_mutex_unlock(&server->lock);
}

/* Waits until every client has its answer and its connection is closed, at most drain_ms. */
static void drain(pawl_http_server *server, int64_t drain_ms)
{
    const struct timespec until = pw_cond_moment(drain_ms < INT32_MAX ? drain_ms : INT32_MAX);
    for (int i = 0; i < server->options.threads; i++)
        pw_waker_signal(&server->workers[i].waker);
    pthread_mutex_lock(&server->lock);
    while (atomic_load(&server->connections) > 0 &&
           pthread_cond_timedwait(&server->drained, &server->lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&server->lock);
}

void pawl_http_server_stop(pawl_http_server *server, int64_t drain_ms)
{
    if (server == NULL)
        return;
    atomic_store(&server->is_draining, true);
    if (drain_ms > 0)
        drain(server, drain_ms);
    free_server(server);
}
