/* address.c - see address.h. */
#include "address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "problem.h"

static const char unix_prefix[] = "unix:";

/* The host's end, and the colon before the port; false: there is none. */
static bool split(const char *text, const char **out_host, size_t *out_host_size, const char **out_port)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL)
        return false;
    const char *host = text, *end = colon;
    if (host[0] == '[') {
        if (end - host < 3 || end[-1] != ']')
            return false;
        host++;
        end--;
    } else if (memchr(host, ':', (size_t)(end - host)) != NULL) {
        return false; /* an IPv6 address without brackets: which colon is the port's? */
    }
    *out_host = host;
    *out_host_size = (size_t)(end - host);
    *out_port = colon + 1;
    return true;
}

pawl_status address_parse(const char *text, struct address *out_address, struct pawl_error *error)
{
    struct address address = { .is_unix = strncmp(text, unix_prefix, sizeof unix_prefix - 1) == 0 };
    const char *host, *port;
    size_t host_size;
    char *end;
    if (address.is_unix && text[sizeof unix_prefix - 1] != '\0') {
        *out_address = address;
        return PAWL_OK;
    }
    if (!address.is_unix && split(text, &host, &host_size, &port) && host_size < sizeof address.host) {
        long number = strtol(port, &end, 10);
        if (port[0] >= '0' && port[0] <= '9' && *end == '\0' && number <= 65535) {
            memcpy(address.host, host, host_size);
            address.port = (int)number;
            *out_address = address;
            return PAWL_OK;
        }
    }
    return problem(error, PAWL_INVALID,
                   "--listen is \"host:port\", \"[address]:port\", \":port\" or \"unix:path\", not \"%.200s\"", text);
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

bool address_is_local(const struct address *address)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    if (address->is_unix)
        return true;
    if (address->host[0] == '\0' || getaddrinfo(address->host, NULL, &hints, &found) != 0)
        return false;
    bool is_local = true;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        is_local = is_local && is_loopback(at->ai_addr);
    freeaddrinfo(found);
    return is_local;
}
