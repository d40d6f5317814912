/* store_url.h - a store's URL with its secrets split off at once, so that nothing behind this can show them.
 *
 * The password of "postgres://user:password@host/database" is what stands between the first ':' and the last '@' in front of
 * the path.  In the query, every option whose name tells of a secret is one: password, sslpassword, and whatever looks like
 * them, because whoever mistypes a name has typed the secret as well.  A URL that leaves open what of it is secret is refused,
 * and none of it is shown. */
#ifndef PW_COMMON_STORE_URL_H
#define PW_COMMON_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { PW_STORE_SECRETS_MAX = 8 };

struct pw_store_url {
    const char *flaw;  /* why it cannot be used, without a word of the URL; NULL: it can */
    const char *shown; /* for people: "postgres://user@host/database", "sqlite:path?options", or "***" */
    char *plain;       /* of a server: the whole URL but for the secrets */
    const char *keys[PW_STORE_SECRETS_MAX],
        *values[PW_STORE_SECRETS_MAX]; /* the secrets, with %40 and the like decoded */
    size_t secret_count;
    bool is_unclear; /* options follow a secret of the query, and might be its rest: their names are not shown either */
};

/* How much room the parts of a URL of this size take. */
size_t pw_store_url_room(size_t size);
/* The parts borrow from the room and from the URL. */
struct pw_store_url pw_store_url_split(const char *url, char *room);

#endif
