/* routes.h - the one table of what there is: method, path, who may, what is done.  The metrics, the API's description and
 * the answers to wrong methods are made from it. */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "pawl/http.h"

/* Carries a call on: answers it, or leaves it waiting (call.h).  A status other than PAWL_OK is the answer. */
typedef pawl_status pw_http_step_fn(pawl_http_call *call);

/* What a route needs for its answer.  It decides which thread may carry a call on (pw_http_call_asks_store()). */
enum pw_http_need {
    PW_HTTP_MEMORY,  /* nothing of the store */
    PW_HTTP_STORE,   /* a few rows, or a change */
    PW_HTTP_FIGURES, /* a few rows; where the store cannot be asked, the rest is told without them */
    PW_HTTP_PAGE     /* a page of rows with payloads, which may be megabytes */
};

struct pw_http_route {
    const char *method;         /* GET stands for HEAD, too */
    const char *pattern;        /* "/workflows/:workflow/instances/:id"; parts that begin with ':' take one segment */
    enum pawl_http_scope scope; /* what is asked of whoever authorizes */
    enum pw_http_need need;
    const char *const *query; /* the keys that it takes, up to a NULL; NULL: none */
    pw_http_step_fn *begin;   /* once the request is authorized */
    /* When there is news for a call that waits, or what it submitted was done; NULL: it never is.  What was submitted and
     * refused is answered without it. */
    pw_http_step_fn *resume;
};

enum { PW_HTTP_ROUTES_MAX = 48, PW_HTTP_SEGMENTS_MAX = 8 };
extern const struct pw_http_route pw_http_routes[];
extern const size_t pw_http_route_count; /* at most PW_HTTP_ROUTES_MAX */

struct pw_http_match {
    const struct pw_http_route *route; /* NULL: none of this method */
    bool is_path;                      /* there are routes of this path */
    /* What stands at :workflow, :id, :delivery, :key and :token, or NULL. */
    const char *workflow, *id, *delivery, *key, *token;
};
/* The segments are decoded. */
struct pw_http_match pw_http_route_find(const char *method, const char *const *segments, size_t count);

/* "GET, HEAD, OPTIONS", or what else the path of these segments allows. */
const char *pw_http_route_allow(const char *const *segments, size_t count);

#endif
