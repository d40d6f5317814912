/* address.c - see address.h. */
#include "common/address.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool pw_address_parse(const char *text, struct pw_address *out_address)
{
    static const char unix_prefix[] = "unix:";
    const char *colon = strrchr(text, ':'), *host = text;
    if (strncmp(text, unix_prefix, strlen(unix_prefix)) == 0) {
        *out_address = (struct pw_address){ .path = text + strlen(unix_prefix) };
        return out_address->path[0] != '\0';
    }
    size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0,
           size = colon != NULL ? (size_t)(colon - text) : 0;
    if (digits == 0 || digits > 5 || colon[1 + digits] != '\0' || strtol(colon + 1, NULL, 10) > 65535)
        return false;
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    } else if (memchr(host, ':', size) != NULL || host[0] == '[') {
        return false; /* an IPv6 address without brackets: which colon is the port's? */
    }
    if (size >= sizeof out_address->host)
        return false;
    *out_address = (struct pw_address){ .port = (int)strtol(colon + 1, NULL, 10) };
    memcpy(out_address->host, host, size);
    return true;
}
