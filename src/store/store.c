/* store.c - opens the store that a URL names.  The scheme chooses the database; the rest is that store's business. */
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bar.h"
#include "base/error.h"

const struct pw_store_ops *pw_ops(const struct pw_store *store)
{
    pw_assert_store_is_free();
    return store->ops;
}

void pw_progress_tell(const struct pw_progress *progress, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (progress->tell == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    progress->tell(progress->user, text);
}

static bool begins_with(const char *url, const char *scheme)
{
    return strncmp(url, scheme, strlen(scheme)) == 0;
}

static bool is_postgres(const char *url)
{
    return begins_with(url, "postgres://") || begins_with(url, "postgresql://");
}

static pawl_status open_postgres(const char *url, struct pawl_clock clock, struct pw_progress progress,
                                 struct pw_store **out_store, struct pawl_error *error)
{
#ifdef PAWL_HAS_POSTGRES
    return pw_postgres_open(url, clock, progress, out_store, error);
#else
    (void)url;
    (void)clock;
    (void)progress;
    (void)out_store;
    return pw_error(error, PAWL_INVALID,
                    "store URL: this libpawl was built without PostgreSQL; build it with PAWL_BUILD_POSTGRES=ON");
#endif
}

/* A path may contain such characters, so they end a URL only if another URL begins behind them. */
static bool names_several(const char *url)
{
    static const char separators[] = " \t\r\n,;";
    for (const char *gap = strpbrk(url, separators); gap != NULL; gap = strpbrk(gap, separators)) {
        gap += strspn(gap, separators);
        if (begins_with(gap, "sqlite:") || begins_with(gap + strspn(gap, "abcdefghijklmnopqrstuvwxyz"), "://"))
            return true;
    }
    return false;
}

pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error)
{
    return pw_store_open_telling(url, clock, (struct pw_progress){ NULL, NULL }, out_store, error);
}

pawl_status pw_store_open_telling(const char *given_url, struct pawl_clock clock, struct pw_progress progress,
                                  struct pw_store **out_store, struct pawl_error *error)
{
    const char *url = given_url != NULL ? given_url : "sqlite:pawl.db";
    if (names_several(url)) /* which are not shown: they may contain passwords */
        return pw_error(error, PAWL_INVALID,
                        "store URL: more than one URL is given, but a store is one database; give one URL, and run one "
                        "Pawl for each database (docs/postgres.md)");
    if (begins_with(url, "sqlite:"))
        return pw_sqlite_open(url, pw_clock_of(clock), progress, out_store, error);
    if (is_postgres(url))
        return open_postgres(url, pw_clock_of(clock), progress, out_store, error);
    return pw_error(error, PAWL_INVALID,
                    "store URL \"%s\": use \"sqlite:path\", \"sqlite::memory:\" or \"postgres://host/database\"", url);
}
