/* store.c - opens the store that a URL names.  The scheme chooses the database; the rest is that store's business.
 *
 * Several URLs stand in one text with white space between them.  A path may have white space in it as well: only where it
 * is followed by what begins as a URL does it end one. */
#include "store/store.h"

#include "base/error.h"

static bool begins_with(const char *url, const char *scheme)
{
    return strncmp(url, scheme, strlen(scheme)) == 0;
}

static bool is_postgres(const char *url)
{
    return begins_with(url, "postgres://") || begins_with(url, "postgresql://");
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

pawl_status pw_store_open_one(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                              struct pawl_error *error)
{
    if (begins_with(url, "sqlite:"))
        return pw_sqlite_open(url, clock, out_store, error);
    if (is_postgres(url))
        return open_postgres(url, clock, out_store, error);
    return pw_error(error, PAWL_INVALID,
                    "store URL \"%s\": use \"sqlite:path\", \"sqlite::memory:\" or \"postgres://host/database\"", url);
}

/* A database of several holds a part of the instances.  Whoever takes it for the whole would not find the others, and
 * would create what is there already. */
static pawl_status open_alone(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                              struct pawl_error *error)
{
    struct pw_store *store = NULL;
    struct pw_seat seat = { .set = 0 };
    pawl_status status = pw_store_open_one(url, clock, &store, error);
    if (status == PAWL_OK && store->ops->take_seat != NULL)
        status = store->ops->take_seat(store, NULL, &seat, error);
    if (status == PAWL_OK && seat.set != 0)
        status =
            pw_error(error, PAWL_INVALID,
                     "the database is number %lld of %lld that make up one store; name all of them, in their order",
                     (long long)seat.number + 1, (long long)seat.count);
    if (status == PAWL_OK)
        *out_store = store;
    else if (store != NULL)
        store->ops->close(store);
    return status;
}

/* ---- Several ------------------------------------------------------------------------------------------------- */

static bool begins_a_url(const char *text)
{
    return begins_with(text, "sqlite:") ||
           begins_with(text + strspn(text, "abcdefghijklmnopqrstuvwxyz"), "://"); /* of whatever scheme */
}

/* Where the next URL begins, and in *out_gap where this one ends; NULL: it is the last. */
static char *next_url(char *url, char **out_gap)
{
    static const char space[] = " \t\r\n";
    for (char *gap = strpbrk(url, space); gap != NULL; gap = strpbrk(gap, space)) {
        char *next = gap + strspn(gap, space);
        if (begins_a_url(next)) {
            *out_gap = gap;
            return next;
        }
        gap = next;
    }
    return NULL;
}

static pawl_status open_several(char *text, struct pawl_clock clock, struct pw_store **out_store,
                                struct pawl_error *error)
{
    const char *urls[PW_HOMES_MAX];
    size_t count = 0;
    char *gap = NULL;
    for (char *url = text, *next; url != NULL; url = next) {
        if (count == PW_HOMES_MAX)
            return pw_error(error, PAWL_INVALID, "store URL: a store is made of at most %d databases", PW_HOMES_MAX);
        next = next_url(url, &gap);
        if (next != NULL)
            *gap = '\0';
        urls[count++] = url;
    }
    return count > 1 ? pw_several_open(urls, count, clock, out_store, error)
                     : open_alone(urls[0], clock, out_store, error);
}

pawl_status pw_store_open(const char *url, struct pawl_clock clock, struct pw_store **out_store,
                          struct pawl_error *error)
{
    struct pw_arena arena;
    pw_arena_init(&arena);
    char *text = pw_arena_string(&arena, url != NULL ? url : "sqlite:pawl.db");
    pawl_status status = text != NULL ? open_several(text, clock, out_store, error) : pw_error_plain(error, PAWL_NOMEM);
    pw_arena_clear(&arena);
    return status;
}
