/* url.c - takes our options out of the URL, and lets libpq parse and check the rest; see url.h. */
#include "store/postgres/url.h"

#include <libpq-fe.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/option.h"

enum { SCHEMA_NAME_MAX = 63 };

/* ---- Our own options ----------------------------------------------------------------------------------------- */

static bool parse_option(const char *option, struct pw_postgres_url *url)
{
    int64_t number = 0;
    if (pw_option_number(option, "pawl_pool", 1, PW_POSTGRES_POOL_MAX, &number)) {
        url->pool_max = (size_t)number;
        return true;
    }
    if (pw_option_number(option, "pawl_lanes", 1, PW_POSTGRES_LANES_MAX, &number)) {
        url->lane_count = (size_t)number;
        return true;
    }
    if (pw_option_number(option, "pawl_busy_ms", 0, INT_MAX, &url->busy_ms))
        return true;
    const char *pooler = pw_option_value(option, "pawl_pooler");
    if (pooler != NULL) {
        url->is_pooled = strcmp(pooler, "transaction") == 0;
        return url->is_pooled || strcmp(pooler, "none") == 0;
    }
    url->schema = pw_option_value(option, "pawl_schema");
    return url->schema != NULL && pw_text_is_identifier(pw_text_of(url->schema), SCHEMA_NAME_MAX, true);
}

/* Takes our options out and moves those of libpq to the front. */
static pawl_status take_options(char *options, struct pw_arena *arena, struct pw_postgres_url *url,
                                struct pawl_error *error)
{
    char *kept = options;
    char *next;
    for (char *option = options; option != NULL; option = next) {
        next = strchr(option, '&');
        if (next != NULL)
            *next++ = '\0';
        size_t size = strlen(option);
        if (strncmp(option, "pawl_", strlen("pawl_")) == 0) {
            char *copy = pw_arena_string(arena, option);
            if (copy == NULL)
                return pw_error_plain(error, PAWL_NOMEM);
            if (!parse_option(copy, url))
                return pw_error(error, PAWL_INVALID,
                                "store option \"%s\": use pawl_pool=<1 to %d>, pawl_lanes=<1 to %d>, "
                                "pawl_schema=<letters, digits, _ and ->, pawl_busy_ms=<milliseconds> or "
                                "pawl_pooler=<transaction or none>",
                                copy, PW_POSTGRES_POOL_MAX, PW_POSTGRES_LANES_MAX);
        } else if (size > 0) {
            if (kept != options)
                *kept++ = '&';
            memmove(kept, option, size);
            kept += size;
        }
    }
    *kept = '\0';
    return PAWL_OK;
}

/* ---- What libpq makes of the rest ----------------------------------------------------------------------------- */

static const char *setting(const PQconninfoOption *settings, const char *name)
{
    for (const PQconninfoOption *at = settings; at->keyword != NULL; at++)
        if (strcmp(at->keyword, name) == 0 && at->val != NULL && at->val[0] != '\0')
            return at->val;
    return NULL;
}

static bool make_label(const PQconninfoOption *settings, struct pw_arena *arena, struct pw_postgres_url *url)
{
    const char *host = setting(settings, "host"), *address = setting(settings, "hostaddr");
    const char *database = setting(settings, "dbname"), *port = setting(settings, "port");
    if (host == NULL)
        host = address != NULL ? address : "this machine";
    if (database == NULL)
        database = "(the user's)";
    if (port == NULL)
        port = "5432";
    url->has_one_host = strchr(host, ',') == NULL && (address == NULL || strchr(address, ',') == NULL);

    size_t size = strlen(host) + strlen(database) + strlen(port) + sizeof "PostgreSQL database  at , port ";
    char *label = pw_arena_take(arena, size);
    if (label == NULL)
        return false;
    (void)snprintf(label, size, "PostgreSQL database %s at %s, port %s", database, host, port);
    url->label = label;
    return true;
}

/* True if libpq knows all of them. */
static bool knows_secrets(const PQconninfoOption *settings, const struct pw_postgres_url *url)
{
    for (size_t i = 0; i < url->secret_count; i++) {
        const PQconninfoOption *at = settings;
        while (at->keyword != NULL && strcmp(at->keyword, url->secret_keys[i]) != 0)
            at++;
        if (at->keyword == NULL)
            return false;
    }
    return true;
}

/* is_unclear: libpq's message may quote a part of a secret, so it is not shown. */
static pawl_status check_with_libpq(struct pw_arena *arena, struct pw_postgres_url *url, bool is_unclear,
                                    struct pawl_error *error)
{
    char *why = NULL;
    PQconninfoOption *settings = PQconninfoParse(url->connection, &why);
    pawl_status status = PAWL_OK;
    if (settings == NULL && why == NULL)
        status = pw_error_plain(error, PAWL_NOMEM);
    else if (settings == NULL && !is_unclear)
        status = pw_error(error, PAWL_INVALID, "store URL: %.*s", (int)strcspn(why, "\n"), why);
    else if (settings == NULL || !knows_secrets(settings, url))
        status = pw_error(error, PAWL_INVALID, "store URL: libpq does not know one of its options");
    else if (!make_label(settings, arena, url))
        status = pw_error_plain(error, PAWL_NOMEM);
    PQconninfoFree(settings);
    PQfreemem(why);
    return status;
}

pawl_status pw_postgres_url_parse(const char *url, struct pw_arena *arena, struct pw_postgres_url *out_url,
                                  struct pawl_error *error)
{
    struct pw_postgres_url parsed = { .pool_max = PW_POSTGRES_POOL_DEFAULT,
                                      .lane_count = PW_POSTGRES_LANES_DEFAULT,
                                      .busy_ms = PW_BUSY_MS_DEFAULT };
    char *room = pw_arena_take(arena, pw_store_url_room(strlen(url)));
    if (room == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    struct pw_store_url parts = pw_store_url_split(url, room);
    if (parts.flaw != NULL)
        return pw_error(error, PAWL_INVALID, "store URL: %s", parts.flaw);
    memcpy(parsed.secret_keys, parts.keys, sizeof parts.keys);
    memcpy(parsed.secrets, parts.values, sizeof parts.values);
    parsed.secret_count = parts.secret_count;

    char *connection = parts.plain, *options = strchr(connection, '?');
    pawl_status status = PAWL_OK;
    if (options != NULL)
        status = take_options(options + 1, arena, &parsed, error);
    if (options != NULL && options[1] == '\0')
        *options = '\0';
    parsed.connection = connection;
    if (status == PAWL_OK)
        status = check_with_libpq(arena, &parsed, parts.is_unclear, error);
    if (status == PAWL_OK)
        *out_url = parsed;
    return status;
}
