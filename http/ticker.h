/* ticker.h - runs what POST /_runner/tick asks for, in a thread of its own, since step bodies take as long as they like
 * and calls must not block.  One tick after the other; the thread is started by the first. */
#ifndef HTTP_TICKER_H
#define HTTP_TICKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/thread.h"
#include "pawl/runner.h"
#include "pawl/service.h"

enum { PW_HTTP_TICKS_MAX = 64 }; /* waiting at once */

/* One tick, of a caller's memory until it was answered or forgotten. */
struct pw_http_tick {
    int64_t max_instances, max_steps;
    int64_t processed; /* the answer */
    struct pawl_error *error;
    pawl_answered_fn *answered; /* with the ticker's lock held: it must only note the fact */
    void *user;
    struct pw_http_tick *next;
};

struct pw_http_ticker {
    pawl_runner *runner;
    struct pw_helper helper;           /* its lock guards what follows */
    struct pw_http_tick *first, *last; /* those that wait */
    size_t count;
    struct pw_http_tick *current; /* whom the tick under way is for; NULL: nobody cares any more */
};

bool pw_http_ticker_init(struct pw_http_ticker *ticker, pawl_runner *runner);
/* Waits for the tick under way. */
void pw_http_ticker_clear(struct pw_http_ticker *ticker);

/* PAWL_OK: `answered` will be called.  PAWL_BUSY: too many wait. */
pawl_status pw_http_ticker_add(struct pw_http_ticker *ticker, struct pw_http_tick *tick) PAWL_MUST_CHECK;
/* `answered` is not called any more, and the memory is the caller's again.  A tick under way goes on. */
void pw_http_ticker_forget(struct pw_http_ticker *ticker, struct pw_http_tick *tick);

#endif
