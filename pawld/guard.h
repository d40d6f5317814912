/* guard.h - decides who may use the API while there are no tokens: programs on this machine, but not every web page
 * that somebody on it opens.
 *
 * Browsers send requests of pages to loopback addresses as well.  Two headers give them away, and a page can set
 * neither.  Origin names the page's site.  Host is a foreign name if the page's name server was made to point to
 * loopback (DNS rebinding). */
#ifndef PAWLD_GUARD_H
#define PAWLD_GUARD_H

#include <pawl/http.h>

struct guard {
    const char *const *hosts; /* names by which it is reached, besides those of loopback */
    size_t host_count;
    const char *cors; /* the origin whose pages are allowed; "*": all; or NULL */
};

/* Like a pawl_http_authorize_fn. */
bool guard_allows(const struct guard *guard, const struct pawl_http_subject *subject,
                  struct pawl_http_refusal *out_refusal);

#endif
