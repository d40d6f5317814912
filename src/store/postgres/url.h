/* url.h - parses "postgres://...": takes our own options out and leaves the rest to libpq. */
#ifndef PW_STORE_POSTGRES_URL_H
#define PW_STORE_POSTGRES_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "common/store_url.h"
#include "pawl/status.h"

/* All texts are in the arena. */
struct pw_postgres_url {
    const char *connection; /* the URI for libpq, without secrets */
    const char *secret_keys[PW_STORE_SECRETS_MAX], *secrets[PW_STORE_SECRETS_MAX]; /* secret options of libpq */
    size_t secret_count;
    const char *label;  /* host and database, for error texts; never a password */
    const char *schema; /* pawl_schema; NULL: the first schema of the search path */
    size_t pool_max;    /* pawl_pool: connections that read */
    size_t lane_count;  /* pawl_lanes: transactions at once */
    int64_t busy_ms;    /* pawl_busy_ms: how long to wait for trouble to pass */
    bool has_one_host;
    bool is_pooled; /* pawl_pooler=transaction: session state lasts for one transaction, see connection.h */
};

enum {
    PW_POSTGRES_POOL_DEFAULT = 8,
    PW_POSTGRES_POOL_MAX = 1000,
    PW_POSTGRES_LANES_DEFAULT = 2,
    PW_POSTGRES_LANES_MAX = 64
};

/* PAWL_INVALID names what it does not understand. */
pawl_status pw_postgres_url_parse(const char *url, struct pw_arena *arena, struct pw_postgres_url *out_url,
                                  struct pawl_error *error) PAWL_MUST_CHECK;

#endif
