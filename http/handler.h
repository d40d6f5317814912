/* handler.h - the handler: what all calls share, and its counters. */
#ifndef HTTP_HANDLER_H
#define HTTP_HANDLER_H

#include <pthread.h>
#include <stdatomic.h>

#include "http/prober.h"
#include "http/routes.h"
#include "http/ticker.h"
#include "pawl/http.h"

enum { PW_HTTP_STATUS_CLASSES = 6, PW_HTTP_DURATION_CLASSES = 14 };

/* There is one for each route, and one for requests that match no route. */
struct pw_http_counter {
    _Atomic int64_t responses[PW_HTTP_STATUS_CLASSES];
    _Atomic int64_t durations[PW_HTTP_DURATION_CLASSES];
    _Atomic int64_t nanoseconds;
};

struct pawl_http {
    pawl_engine *engine;
    struct pawl_http_options options; /* with the defaults filled in; owns its texts */
    size_t mount_size;
    bool store_is_remote; /* a read may last as long as the server does not answer */
    atomic_bool is_draining;
    atomic_int streams;          /* open now */
    _Atomic int64_t idle_closed; /* connections closed to make room for new ones */
    pthread_mutex_t lock;
    pawl_http_call *waiting; /* calls to tell of a drain and of the prober's looks; under the lock */
    struct pw_http_ticker ticker;
    struct pw_http_prober prober;
    struct pw_http_counter counters[PW_HTTP_ROUTES_MAX + 1];
};

/* ---- For the metrics ------------------------------------------------------------------------------------------- */

struct pw_http_figures {
    const char *method, *pattern;              /* of the route; "" and "other" for requests that match none */
    int64_t responses[PW_HTTP_STATUS_CLASSES]; /* by the first digit of the status: [2] is 2xx */
    struct pawl_distribution seconds;          /* from taking up a request to its answer, or to a stream's head */
};

size_t pw_http_figures_count(void);
void pw_http_figures_read(const pawl_http *http, size_t position, struct pw_http_figures *out_figures);
int64_t pw_http_streams_open(const pawl_http *http);

/* ---- For calls ------------------------------------------------------------------------------------------------- */

/* Counts an answer. route is NULL if the request matched none. */
void pw_http_count(pawl_http *http, const struct pw_http_route *route, int status, int64_t nanoseconds);
int64_t pw_http_nanoseconds(void); /* monotonic; only for metrics */

#endif
