/* openapi.c - fills in the version and the mount. embed.cmake generates pw_http_openapi() from openapi.json. */
#include "http/openapi.h"

#include <string.h>

#include "pawl/pawl.h"

/* Copies the text up to `place`, writes the value as a JSON string instead of it, and returns the text behind it. */
static const char *fill_in(struct pw_buffer *out, const char *from, const char *place, const char *value)
{
    const char *at = strstr(from, place);
    if (at == NULL)
        return from;
    pw_buffer_add(out, from, (size_t)(at - from));
    out->needs_comma = false;
    pw_json_string(out, NULL, value);
    return at + strlen(place);
}

pawl_status pw_http_write_openapi(const char *mount, struct pw_buffer *out)
{
    size_t size;
    const char *document = pw_http_openapi(&size), *rest = document;
    rest = fill_in(out, rest, "\"{{version}}\"", pawl_version());
    rest = fill_in(out, rest, "\"{{mount}}\"", mount[0] != '\0' ? mount : "/");
    pw_buffer_add(out, rest, size - (size_t)(rest - document));
    return out->failed ? PAWL_NOMEM : PAWL_OK;
}
