/* address.h - the addresses that pawld listens on. */
#ifndef PAWLD_ADDRESS_H
#define PAWLD_ADDRESS_H

#include <pawl/status.h>

#include "common/address.h"

#define ADDRESS_DEFAULT "127.0.0.1:7295"

pawl_status address_parse(const char *text, struct pw_address *out_address, struct pawl_error *error);

/* True if only this machine can reach it: a Unix socket, or a host that resolves to nothing but loopback addresses. */
bool address_is_local(const struct pw_address *address);

#endif
