/* address.c - see address.h. */
#include "address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "problem.h"

pawl_status address_parse(const char *text, struct pw_address *out_address, struct pawl_error *error)
{
    if (pw_address_parse(text, out_address))
        return PAWL_OK;
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

bool address_is_local(const struct pw_address *address)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    if (address->path != NULL)
        return true;
    if (address->host[0] == '\0' || getaddrinfo(address->host, NULL, &hints, &found) != 0)
        return false;
    bool is_local = true;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
        is_local = is_local && is_loopback(at->ai_addr);
    freeaddrinfo(found);
    return is_local;
}
