/* store.c - opens the store that a URL names.  The scheme chooses the database; the rest is that store's business. */
#include "store/store.h"

#include "base/error.h"

pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error)
{
    if (url == NULL)
        url = "sqlite:pawl.db";
    if (strncmp(url, "sqlite:", strlen("sqlite:")) == 0)
        return pw_sqlite_open(url, clock, out_store, error);
    return pw_error(error, PAWL_INVALID, "store URL \"%s\": use \"sqlite:path\" or \"sqlite::memory:\"", url);
}
