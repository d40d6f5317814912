/* server_tls.h - the certificate and its key, read from files and known to belong together. */
#ifndef HTTP_SERVER_TLS_H
#define HTTP_SERVER_TLS_H

#include "pawl/http.h"

/* Of TLS 1.2 only what TLS 1.3 has kept: a fresh key for each connection, and ciphers that authenticate what they encrypt. */
#define PW_TLS_PRIORITIES                                                                                              \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:"             \
    "+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"

/* All zero: no TLS. */
struct pw_server_tls {
    char *certificate, *key; /* PEM */
};

/* PAWL_INVALID, saying which file and why, when they cannot be read or used, or when everybody can read the key and that was
 * not allowed. */
pawl_status pw_server_tls_read(const struct pawl_http_server_options *options, struct pw_server_tls *out_tls,
                               struct pawl_error *error) PAWL_MUST_CHECK;
void pw_server_tls_clear(struct pw_server_tls *tls); /* forgets the key */

#endif
