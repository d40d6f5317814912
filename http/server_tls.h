/* server_tls.h - the certificate and its key, read from files and known to belong together. */
#ifndef HTTP_SERVER_TLS_H
#define HTTP_SERVER_TLS_H

#include "pawl/status.h"

/* All zero: no TLS. */
struct pw_server_tls {
    char *certificate, *key; /* PEM */
};

/* PAWL_INVALID, saying which file and why, when they cannot be read or used. */
pawl_status pw_server_tls_read(const char *certificate_path, const char *key_path, struct pw_server_tls *out_tls,
                               struct pawl_error *error) PAWL_MUST_CHECK;
void pw_server_tls_clear(struct pw_server_tls *tls); /* forgets the key */

#endif
