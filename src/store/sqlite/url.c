/* url.c - splits the URL into path and options; see url.h. */
#include "store/sqlite/url.h"

#include <limits.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/option.h"

/* Permissions as chmod takes them, 0600 to 0666.  The owner must be able to read and write. */
static bool parse_mode(const char *text, mode_t *out_mode)
{
    mode_t mode = 0;
    size_t size = strspn(text, "01234567");
    if (size < 3 || size > 4 || text[size] != '\0')
        return false;
    for (size_t i = 0; i < size; i++)
        mode = mode * 8 + (mode_t)(text[i] - '0');
    if ((mode & 0600) != 0600 || (mode & ~(mode_t)0666) != 0)
        return false;
    *out_mode = mode;
    return true;
}

static pawl_status parse_option(const char *option, struct pw_sqlite_url *url, struct pawl_error *error)
{
    const char *mode = pw_option_value(option, "mode");
    bool is_full = strcmp(option, "synchronous=full") == 0;
    if (is_full || strcmp(option, "synchronous=normal") == 0) {
        url->synchronous_full = is_full;
        return PAWL_OK;
    }
    if (pw_option_number(option, "busy_ms", 0, INT_MAX, &url->busy_ms))
        return PAWL_OK;
    if (mode != NULL) {
        if (parse_mode(mode, &url->mode))
            return PAWL_OK;
        return pw_error(
            error, PAWL_INVALID,
            "store option \"%s\": the mode of a new file is 0600, or 0660 for a group, or another one of 0666 with "
            "which its owner may read and write it",
            option);
    }
    return pw_error(error, PAWL_INVALID,
                    "store option \"%s\": use synchronous=full, synchronous=normal, busy_ms=<milliseconds> or "
                    "mode=<0600 or 0660>",
                    option);
}

pawl_status pw_sqlite_url_parse(const char *url, struct pw_arena *arena, struct pw_sqlite_url *out_url,
                                struct pawl_error *error)
{
    struct pw_sqlite_url parsed = { .synchronous_full = true, .busy_ms = PW_BUSY_MS_DEFAULT, .mode = 0600 };
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
