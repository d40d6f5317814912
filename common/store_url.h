/* store_url.h - splits the secrets off a store's URL, so that no later code can show them.
 *
 * The password of "postgres://user:password@host/database" is what stands between the first ':' and the last '@' in front of
 * the path.  In the query, every option whose name suggests a secret counts as one: password, sslpassword, and similar names,
 * because a mistyped name is still followed by the secret.  If it is unclear which part of a URL is secret, the URL is refused
 * and none of it is shown. */
#ifndef PW_COMMON_STORE_URL_H
#define PW_COMMON_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { PW_STORE_SECRETS_MAX = 8 };

struct pw_store_url {
    const char *flaw;  /* why it cannot be used, without any part of the URL; NULL: it can */
    const char *shown; /* for people: "postgres://user@host/database", "sqlite:path?options", or "***" */
    char *plain;       /* for a server: the whole URL without the secrets */
    const char *keys[PW_STORE_SECRETS_MAX],
        *values[PW_STORE_SECRETS_MAX]; /* the secrets, with %40 and the like decoded */
    size_t secret_count;
    bool is_unclear; /* options that follow a secret in the query may be part of it: their names are not shown either */
};

/* The room that the parts of a URL of this size need. */
size_t pw_store_url_room(size_t size);
/* The parts borrow from the room and from the URL. */
struct pw_store_url pw_store_url_split(const char *url, char *room);

#endif
