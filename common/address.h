/* address.h - where to listen: "127.0.0.1:7295", "[::1]:7295", "localhost:7295", ":7295", "unix:/run/pawl.sock". */
#ifndef PW_COMMON_ADDRESS_H
#define PW_COMMON_ADDRESS_H

#include <stdbool.h>

struct pw_address {
    const char *path; /* of a Unix socket, borrowed; NULL: it is a TCP port */
    char host[256];   /* without brackets; "": all addresses */
    int port;
};

/* False: it is not an address. */
bool pw_address_parse(const char *text, struct pw_address *out_address);

#endif
