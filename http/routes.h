/* routes.h - the one table of routes: method, path, scope, and the functions that serve it.  Metrics and the answers
 * to wrong methods are made from it, and a test compares openapi.json with it. */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "pawl/http.h"

/* Carries a call on: answers it, or leaves it waiting (call.h).  A status other than PAWL_OK becomes the answer. */
typedef pawl_status pw_http_step_fn(pawl_http_call *call);

/* What a route needs from the store.  Decides which thread may carry its calls on (pw_http_call_asks_store()). */
enum pw_http_need {
    PW_HTTP_MEMORY,  /* nothing */
    PW_HTTP_STORE,   /* a few rows, or a change */
    PW_HTTP_FIGURES, /* a few rows; without the store the rest is still answered */
    PW_HTTP_PAGE     /* a page of rows with payloads, which may be megabytes */
};

struct pw_http_route {
    const char *method;         /* GET also serves HEAD */
    const char *pattern;        /* "/workflows/:workflow/instances/:id"; a part with ':' takes any one segment */
    enum pawl_http_scope scope; /* what the client must be allowed to do */
    enum pw_http_need need;
    const char *const *query; /* the keys that it takes, ending with NULL; NULL: none */
    pw_http_step_fn *begin;   /* called once the request is authorized */
    /* Called when a call that waits has news, or when a change that it submitted was made.  A refused change is
     * answered without it.  NULL: calls of this route never wait. */
    pw_http_step_fn *resume;
};

enum { PW_HTTP_ROUTES_MAX = 48, PW_HTTP_SEGMENTS_MAX = 8 };
extern const struct pw_http_route pw_http_routes[];
extern const size_t pw_http_route_count; /* at most PW_HTTP_ROUTES_MAX */

struct pw_http_match {
    const struct pw_http_route *route; /* NULL: no route has this path and method */
    bool is_path;                      /* some route has this path */
    /* The segments at :workflow, :id, :delivery, :key and :token, or NULL. */
    const char *workflow, *id, *delivery, *key, *token;
};
/* The segments must be decoded. */
struct pw_http_match pw_http_route_find(const char *method, const char *const *segments, size_t count);

/* The methods that the path allows, such as "GET, HEAD, OPTIONS". */
const char *pw_http_route_allow(const char *const *segments, size_t count);

#endif
