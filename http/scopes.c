/* scopes.c - the names of scopes, as tokens and errors write them. */
#include "pawl/http.h"

const char *pawl_http_scope_name(enum pawl_http_scope scope)
{
    static const char *const names[PAWL_HTTP_SCOPE_COUNT] = { "open",  "read", "create", "manage",
                                                              "event", "tick", "work",   "deferred" };
    return (unsigned)scope < PAWL_HTTP_SCOPE_COUNT ? names[scope] : "unknown";
}
