/* store.c - opens the store that a URL names.  The scheme chooses the database; the store parses the rest. */
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bar.h"
#include "base/error.h"
#include "common/store_url.h"

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

pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error)
{
    return pw_store_open_telling(url, clock, (struct pw_progress){ NULL, NULL }, out_store, error);
}

pawl_status pw_store_open_telling(const char *given_url, struct pawl_clock clock, struct pw_progress progress,
                                  struct pw_store **out_store, struct pawl_error *error)
{
    const char *url = given_url != NULL ? given_url : "sqlite:pawl.db";
    char *room = malloc(pw_store_url_room(strlen(url)));
    if (room == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    struct pw_store_url parts = pw_store_url_split(url, room);
    pawl_status status;
    if (parts.flaw != NULL)
        status = pw_error(error, PAWL_INVALID, "store URL \"%s\": %s", parts.shown, parts.flaw);
    else if (parts.plain != NULL)
        status = open_postgres(url, pw_clock_of(clock), progress, out_store, error);
    else
        status = pw_sqlite_open(url, pw_clock_of(clock), progress, out_store, error);
    free(room);
    return status;
}
