/* ticker.h - runs the ticks of POST /_runner/tick, one at a time, in a thread of its own.  Calls must not block, and
 * step bodies may take any time.  The first tick starts the thread. */
#ifndef HTTP_TICKER_H
#define HTTP_TICKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/thread.h"
#include "pawl/runner.h"
#include "pawl/service.h"

enum { PW_HTTP_TICKS_MAX = 64 }; /* in the queue */

/* One tick.  The caller keeps it in memory until it is answered or forgotten. */
struct pw_http_tick {
    int64_t max_instances, max_steps;
    int64_t processed; /* the result */
    struct pawl_error *error;
    pawl_answered_fn *answered; /* called with the ticker's lock held, so it must only note the fact */
    void *user;
    struct pw_http_tick *next;
};

struct pw_http_ticker {
    pawl_runner *runner;
    struct pw_helper helper;           /* its lock guards the members below */
    struct pw_http_tick *first, *last; /* the queue */
    size_t count;
    struct pw_http_tick *current; /* the tick under way; NULL: none, or forgotten */
};

bool pw_http_ticker_init(struct pw_http_ticker *ticker, pawl_runner *runner);
/* Waits for a tick under way. */
void pw_http_ticker_clear(struct pw_http_ticker *ticker);

/* PAWL_OK: `answered` will be called.  PAWL_BUSY: too many wait.  PAWL_NOMEM: the thread cannot be started. */
pawl_status pw_http_ticker_add(struct pw_http_ticker *ticker, struct pw_http_tick *tick) PAWL_MUST_CHECK;
/* After this `answered` is not called, and the caller may free the tick.  A tick under way still finishes. */
void pw_http_ticker_forget(struct pw_http_ticker *ticker, struct pw_http_tick *tick);

#endif
