/* counters.c - the handler's own metrics: answers by route and class of status, and how long they took. */
#include <time.h>

#include "http/handler.h"

/* Upper bounds in nanoseconds.  The last class has none. */
static const int64_t limits[PW_HTTP_DURATION_CLASSES - 1] = { 100000,     250000,     500000,     1000000,   2500000,
                                                              5000000,    10000000,   25000000,   100000000, 500000000,
                                                              1000000000, 5000000000, 30000000000 };

int64_t pw_http_nanoseconds(void)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* CLOCK_MONOTONIC always exists */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void add(_Atomic int64_t *counter, int64_t number)
{
    (void)atomic_fetch_add_explicit(counter, number, memory_order_relaxed);
}

static int64_t value_of(const _Atomic int64_t *counter)
{
    return atomic_load_explicit((_Atomic int64_t *)counter, memory_order_relaxed);
}

void pw_http_count(pawl_http *http, const struct pw_http_route *route, int status, int64_t nanoseconds)
{
    struct pw_http_counter *counter =
        &http->counters[route != NULL ? (size_t)(route - pw_http_routes) : pw_http_route_count];
    size_t class = 0;
    while (class < PW_HTTP_DURATION_CLASSES - 1 && nanoseconds > limits[class])
        class ++;
    add(&counter->responses[status / 100 < PW_HTTP_STATUS_CLASSES ? status / 100 : 0], 1);
    add(&counter->durations[class], 1);
    add(&counter->nanoseconds, nanoseconds);
}

size_t pw_http_figures_count(void)
{
    return pw_http_route_count + 1;
}

void pw_http_figures_read(const pawl_http *http, size_t position, struct pw_http_figures *out_figures)
{
    bool is_route = position < pw_http_route_count;
    const struct pw_http_counter *counter = &http->counters[position];
    *out_figures = (struct pw_http_figures){ .method = is_route ? pw_http_routes[position].method : "",
                                             .pattern = is_route ? pw_http_routes[position].pattern : "other" };
    for (size_t i = 0; i < PW_HTTP_STATUS_CLASSES; i++)
        out_figures->responses[i] = value_of(&counter->responses[i]);
    out_figures->seconds.class_count = PW_HTTP_DURATION_CLASSES;
    for (size_t i = 0; i < PW_HTTP_DURATION_CLASSES; i++) {
        out_figures->seconds.counts[i] = value_of(&counter->durations[i]);
        if (i < PW_HTTP_DURATION_CLASSES - 1)
            out_figures->seconds.limits[i] = (double)limits[i] / 1e9;
    }
    out_figures->seconds.sum = (double)value_of(&counter->nanoseconds) / 1e9;
}

int64_t pw_http_streams_open(const pawl_http *http)
{
    return atomic_load(&((pawl_http *)http)->streams);
}
