/* server_tls.h - reads the certificate and its key from files, and checks that they belong together. */
#ifndef HTTP_SERVER_TLS_H
#define HTTP_SERVER_TLS_H

#include "pawl/http.h"

/* From TLS 1.2 only what TLS 1.3 has kept: a fresh key for each connection, and authenticated encryption. */
#define PW_TLS_PRIORITIES                                                                                              \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:"             \
    "+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"

/* All zero: no TLS. */
struct pw_server_tls {
    char *certificate, *key; /* PEM */
};

/* PAWL_INVALID, with the file and the reason, if a file cannot be read or used, or if everybody can read the key and
 * tls_allow_readable_key is not set. */
pawl_status pw_server_tls_read(const struct pawl_http_server_options *options, struct pw_server_tls *out_tls,
                               struct pawl_error *error) PAWL_MUST_CHECK;
void pw_server_tls_clear(struct pw_server_tls *tls); /* also wipes the key from memory */

#endif
