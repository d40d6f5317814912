/* guard.h - who may ask while there are no tokens: programs of this machine, but not every web page that somebody on it
 * happens to open.
 *
 * A browser sends a page's requests to loopback, too.  Two things tell them apart: the Origin that it sends along, and the
 * Host, which is a foreign name when a name server was made to point at loopback.  Neither can be set by a page. */
#ifndef PAWLD_GUARD_H
#define PAWLD_GUARD_H

#include <pawl/http.h>

struct guard {
    const char *const *hosts; /* names, besides those of loopback, that it is reached by */
    size_t host_count;
    const char *cors; /* whose pages may; "*": all; or NULL */
};

/* As a pawl_http_authorize_fn. */
bool guard_allows(const struct guard *guard, const struct pawl_http_subject *subject,
                  struct pawl_http_refusal *out_refusal);

#endif
