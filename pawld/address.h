/* address.h - where to listen: "127.0.0.1:7295", "[::1]:7295", "localhost:7295", ":7295", "unix:/run/pawl.sock". */
#ifndef PAWLD_ADDRESS_H
#define PAWLD_ADDRESS_H

#include <pawl/status.h>
#include <stdbool.h>

#define ADDRESS_DEFAULT "127.0.0.1:7295"

struct address {
    bool is_unix;
    char host[256]; /* without brackets; "": all addresses.  The path of a Unix socket is not kept */
    int port;
};

pawl_status address_parse(const char *text, struct address *out_address, struct pawl_error *error);

/* Only this machine can reach it: a Unix socket, or a host that stands for loopback addresses and nothing else. */
bool address_is_local(const struct address *address);

#endif
