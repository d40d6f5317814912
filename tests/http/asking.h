/* asking.h - how a request is made, and one right request for every route.
 *
 * Whatever is to hold of every route loops over pw_http_routes, or over the samples: a new route is tested everywhere once it
 * is in the table and has its sample (test_handler_table.c asks for one). */
#ifndef TESTS_HTTP_ASKING_H
#define TESTS_HTTP_ASKING_H

#include "table.h"

#include "http/routes.h"

/* Borrows all three; body may be NULL. */
struct pawl_http_request request_of(const char *method, const char *target, const char *body);

/* The handler's own answer, in the scope. */
struct pawl_http_response answer_of(pawl_http *http, pawl_scope *scope, const char *method, const char *target,
                                    const char *body);

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

/* What stands in the place of a route's names. */
struct route_names {
    const char *workflow, *id;
    const char *other; /* a delivery, a key, a token */
};
/* Behind "/api". */
const char *route_target(pawl_scope *scope, const struct pw_http_route *route, struct route_names names);

/* The route of a target behind "/api"; NULL: none of this method. */
const struct pw_http_route *route_of(const char *method, const char *target);

/* ---- Samples ---------------------------------------------------------------------------------------------------- */

struct route_sample {
    const char *method, *target, *body;
    int status; /* of the answer in a world of table.h */
};
extern const struct route_sample route_samples[];
extern const size_t route_sample_count;

/* Its target, with the token of a job of this world, or of a deferred, where it needs one. */
const char *sample_target(const struct route_sample *sample, struct table_world *world, pawl_scope *scope);

#endif
