/* url.h - parses "sqlite:path?synchronous=full|normal&busy_ms=n&mode=0660". */
#ifndef PW_STORE_SQLITE_URL_H
#define PW_STORE_SQLITE_URL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "pawl/status.h"

struct pw_sqlite_url {
    const char *path; /* in the arena; ":memory:" for a database that ends with its connection */
    bool in_memory;
    bool synchronous_full;
    int64_t busy_ms; /* how long to wait for another process's transaction */
    mode_t mode;     /* of a new file */
};

/* PAWL_INVALID names the option that it does not understand. */
pawl_status pw_sqlite_url_parse(const char *url, struct pw_arena *arena, struct pw_sqlite_url *out_url,
                                struct pawl_error *error) PAWL_MUST_CHECK;

#endif
