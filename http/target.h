/* target.h - splits a request's target into path segments and query pairs, and decodes them.
 *
 * Decoded texts are UTF-8 without NUL; others are refused.  A segment with an encoded slash (%2F) is only noted,
 * because it depends on the route whether that is allowed.  A path has no segments, so that no route matches, if it
 * has "." or ".." among them, has more than PW_HTTP_SEGMENTS_MAX, or lies outside of the mount. */
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
    size_t slashed_count; /* how many segments hold a slash */
    const char *slashed;  /* the last of these; NULL: none */
    struct pw_http_pair pairs[PW_HTTP_PAIRS_MAX];
    size_t pair_count;
};

/* Returns what is wrong as a static text, or NULL.  `buffer` needs the size of the target with its NUL, and holds
 * the texts that *out_target points to. */
const char *pw_http_target_parse(const char *target, const char *mount, size_t mount_size, char *buffer,
                                 struct pw_http_target *out_target);

#endif
