/* listen.h - a socket that listens, from an address as people write it.
 *
 *     127.0.0.1:7295   [::1]:7295   localhost:7295   :7295 (all addresses)   unix:/run/pawl.sock
 *
 * Port 0 is a free one.  A Unix socket is for its user and group (0660); the file of a server that is gone is replaced,
 * that of one that lives is not. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <sys/types.h>

#include "pawl/status.h"

struct pw_listener {
    int fd;         /* not blocking; -1: closed */
    int port;       /* 0: a Unix socket */
    char path[108]; /* of a Unix socket; "" otherwise */
    dev_t device;   /* of its file, */
    ino_t file;     /* so that no other one is removed */
};

/* PAWL_INVALID: not an address.  PAWL_BUSY: somebody listens there.  PAWL_FAILED: the system refuses. */
pawl_status pw_listen(const char *address, struct pw_listener *out_listener, struct pawl_error *error) PAWL_MUST_CHECK;
/* Removes the file of a Unix socket, too.  Once more is fine. */
void pw_listener_close(struct pw_listener *listener);

/* Whom a socket is connected with: "127.0.0.1:40312", "[::1]:40312", "unix". */
enum { PW_PEER_SIZE = 64 };
struct sockaddr;
void pw_peer_text(const struct sockaddr *address, char out_text[PW_PEER_SIZE]);

#endif
