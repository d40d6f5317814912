/* address.h - where pawld listens. */
#ifndef PAWLD_ADDRESS_H
#define PAWLD_ADDRESS_H

#include <pawl/status.h>

#include "common/address.h"

#define ADDRESS_DEFAULT "127.0.0.1:7295"

pawl_status address_parse(const char *text, struct pw_address *out_address, struct pawl_error *error);

/* Only this machine can reach it: a Unix socket, or a host that stands for loopback addresses and nothing else. */
bool address_is_local(const struct pw_address *address);

#endif
