/* target.h - a request's target taken apart: the path's segments and the query's pairs, decoded.
 *
 * What is decoded is UTF-8 without NUL; anything else is refused.  A segment that holds a slash, which was written as
 * %2F, is noted: only who knows the route knows whether it may.
 * A path with "." or ".." among its segments, with very many of them, or outside of where the API is mounted, is no
 * route's: it has no segments here. */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include "http/routes.h"

enum { PW_HTTP_PAIRS_MAX = 32 };

struct pw_http_pair {
    const char *key, *value;
};

struct pw_http_target {
    const char *segments[PW_HTTP_SEGMENTS_MAX];
    size_t segment_count;
    size_t slashed_count; /* of all segments, how many hold a slash */
    const char *slashed;  /* one of them; NULL: there is none */
    struct pw_http_pair pairs[PW_HTTP_PAIRS_MAX];
    size_t pair_count;
};

/* Returns what is wrong, as a static text; NULL: nothing.  `buffer` takes as much as the target with its NUL, and holds
 * what *out_target points at. */
const char *pw_http_target_parse(const char *target, const char *mount, size_t mount_size, char *buffer,
                                 struct pw_http_target *out_target);

#endif
