/* url.c - see url.h. */
#include "store/sqlite/url.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"

static bool parse_milliseconds(const char *text, int64_t *out_ms)
{
    if (text[0] < '0' || text[0] > '9')
        return false;

    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value > INT_MAX)
        return false;
    *out_ms = value;
    return true;
}

static pawl_status parse_option(const char *option, struct pw_sqlite_url *url, struct pawl_error *error)
{
    static const char busy_prefix[] = "busy_ms=";
    static const size_t busy_prefix_size = sizeof busy_prefix - 1;

    if (strcmp(option, "synchronous=full") == 0) {
        url->synchronous_full = true;
        return PAWL_OK;
    }
    if (strcmp(option, "synchronous=normal") == 0) {
        url->synchronous_full = false;
        return PAWL_OK;
    }
    if (strncmp(option, busy_prefix, busy_prefix_size) == 0 &&
        parse_milliseconds(option + busy_prefix_size, &url->busy_ms))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID,
                    "store option \"%s\": use synchronous=full, synchronous=normal or busy_ms=<milliseconds>", option);
}

pawl_status pw_sqlite_url_parse(const char *url, struct pw_arena *arena, struct pw_sqlite_url *out_url,
                                struct pawl_error *error)
{
    struct pw_sqlite_url parsed = { .synchronous_full = true, .busy_ms = PW_BUSY_MS_DEFAULT };
    char *path = pw_arena_string(arena, url + strlen("sqlite:"));
    if (path == NULL)
        return pw_error_plain(error, PAWL_NOMEM);

    char *options = strchr(path, '?');
    if (options != NULL)
        *options++ = '\0';
    if (path[0] == '\0')
        return pw_error(error, PAWL_INVALID, "store URL \"%s\": a path must follow \"sqlite:\"", url);
    parsed.path = path;
    parsed.in_memory = strcmp(path, ":memory:") == 0;

    while (options != NULL && options[0] != '\0') {
        char *next = strchr(options, '&');
        if (next != NULL)
            *next++ = '\0';
        pawl_status status = parse_option(options, &parsed, error);
        if (status != PAWL_OK)
            return status;
        options = next;
    }
    *out_url = parsed;
    return PAWL_OK;
}
