/* prober.h - finds out whether the store can be read and written, for GET /health/ready, in a thread of its own: a disk that
 * hangs must not stop the threads that serve.  The thread is started by the first who asks.  All who ask while a look is
 * under way share the next one. */
#ifndef HTTP_PROBER_H
#define HTTP_PROBER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/thread.h"
#include "pawl/engine.h"

struct pw_http_prober {
    pawl_engine *engine;
    void (*looked)(void *user); /* in the prober's thread, after each look, with no lock held */
    void *user;
    struct pw_helper helper;     /* its lock guards what follows */
    uint64_t asked, begun, done; /* numbers of looks */
    pawl_status verdict;         /* of the newest that is done */
};

bool pw_http_prober_init(struct pw_http_prober *prober, pawl_engine *engine, void (*looked)(void *user), void *user);
/* Waits for the look under way. */
void pw_http_prober_clear(struct pw_http_prober *prober);

/* Asks for a look that has not begun yet.  *out_look: its number.  PAWL_NOMEM: there is no thread to be had. */
pawl_status pw_http_prober_ask(struct pw_http_prober *prober, uint64_t *out_look) PAWL_MUST_CHECK;
/* False: that look is not done yet. */
bool pw_http_prober_verdict(struct pw_http_prober *prober, uint64_t look, pawl_status *out_verdict);

#endif
