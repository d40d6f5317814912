/* prober.h - checks for GET /health/ready whether the store can be read and written.
 *
 * It does so in a thread of its own, because a hanging disk must not stop the threads that serve.  The first request
 * starts the thread.  All requests that arrive while a look is under way share the next look. */
#ifndef HTTP_PROBER_H
#define HTTP_PROBER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/thread.h"
#include "pawl/engine.h"

struct pw_http_prober {
    pawl_engine *engine;
    void (*looked)(void *user); /* called in the prober's thread after each look, with no lock held */
    void *user;
    struct pw_helper helper;     /* its lock guards the members below */
    uint64_t asked, begun, done; /* numbers of looks, counted from 1 */
    pawl_status verdict;         /* the result of look number `done` */
};

bool pw_http_prober_init(struct pw_http_prober *prober, pawl_engine *engine, void (*looked)(void *user), void *user);
/* Waits for a look under way. */
void pw_http_prober_clear(struct pw_http_prober *prober);

/* Asks for a look that has not begun yet and returns its number.  PAWL_NOMEM: the thread cannot be started. */
pawl_status pw_http_prober_ask(struct pw_http_prober *prober, uint64_t *out_look) PAWL_MUST_CHECK;
/* Returns false while that look is not done. */
bool pw_http_prober_verdict(struct pw_http_prober *prober, uint64_t look, pawl_status *out_verdict);

#endif
