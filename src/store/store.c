/* store.c - opens the store that a URL names.  The scheme chooses the database; the rest is that store's business. */
#include "store/store.h"

#include "base/error.h"

static bool begins_with(const char *url, const char *scheme)
{
    return strncmp(url, scheme, strlen(scheme)) == 0;
}

static pawl_status open_postgres(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                                 struct pawl_error *error)
{
#ifdef PAWL_HAS_POSTGRES
    return pw_postgres_open(url, clock, out_store, error);
#else
    (void)url;
    (void)clock;
    (void)out_store;
    return pw_error(error, PAWL_INVALID,
                    "store URL: this libpawl was built without PostgreSQL; build it with PAWL_BUILD_POSTGRES=ON");
#endif
}

pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error)
{
    if (url == NULL)
        url = "sqlite:pawl.db";
    if (begins_with(url, "sqlite:"))
        return pw_sqlite_open(url, clock, out_store, error);
    if (begins_with(url, "postgres://") || begins_with(url, "postgresql://"))
        return open_postgres(url, clock, out_store, error);
    return pw_error(error, PAWL_INVALID,
                    "store URL \"%s\": use \"sqlite:path\", \"sqlite::memory:\" or \"postgres://host/database\"", url);
}
