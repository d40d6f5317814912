/* described.h - a handler over workflows that leave something of every kind behind, and its own description beside it:
 * what is asked of the one is looked up in the other. */
#ifndef TESTS_HTTP_DESCRIBED_H
#define TESTS_HTTP_DESCRIBED_H

#include "asking.h"
#include "kit/test.h"
#include "schema.h"

enum { DESCRIBED_STATUSES = 600 };

struct described {
    pawl_world *world;
    pawl_http *http;
    pawl_scope *scope;
    const pawl_value *document;
    struct pawl_error error;
    char token[256]; /* of the newest deferred of "defers" */
    int refusal;     /* what every request but an open one is refused with; 0: none is */
    bool seen[PW_HTTP_ROUTES_MAX][DESCRIBED_STATUSES]; /* which answers were compared */
};

#define ok(call) assert_int_equal((call), PAWL_OK)

/* cmocka's fixtures. */
extern const struct test_setting described_setting;
void described_open(struct described *described, const char *mount);

/* Of the workflow "order": "done" is complete, "waits" waits for its event, "retries" for its step, "fresh" for a
 * runner; of "broken": "broken" is errored.  Of the hook "billing" some deliveries wait and some have failed. */
void described_play(struct described *described);
/* And of others: "calls/calls" and "calls/again" wait for jobs of the function "charge", "family/family" for its child, which
 * waits for its deferred, and "undone/undone" is errored and undone. */
void described_play_work(struct described *described);

/* Streams are answered with their head alone. */
struct pawl_http_response described_ask(struct described *described, const struct pawl_http_request *request);
struct pawl_http_response described_send(struct described *described, const char *method, const char *target,
                                         const char *body);
const pawl_value *described_parse(struct described *described, const char *text, size_t size);

/* ---- The document ------------------------------------------------------------------------------------------------ */

/* "/workflows/:workflow" is "/workflows/{workflow}" there, and GET "get". */
const char *described_path(pawl_scope *scope, const char *pattern);
const char *described_method(const char *method);
/* NULL: none. */
const pawl_value *described_operation(const struct described *described, const struct pw_http_route *route);
/* The parameters in "query" or in "path".  Returns how many there are. */
size_t described_parameters(const struct described *described, const struct pw_http_route *route, const char *in,
                            const pawl_value **out_parameters, size_t max);
/* A body that the route takes, from its example; NULL: it takes none. */
const char *described_body(struct described *described, const pawl_value *operation);
/* The route's target with these in the place of its names; a delivery, a key and a token are "none". */
const char *described_target(pawl_scope *scope, const struct pw_http_route *route, const char *workflow,
                             const char *id);

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

/* The answer is described: its status, its headers, its type, and its body. */
void described_check(struct described *described, const struct pw_http_route *route,
                     const struct pawl_http_response *response);
/* Asks, expects the status, and checks. */
struct pawl_http_response described_probe(struct described *described, const char *method, const char *target,
                                          const char *body, int status);

#endif
