/* listen.h - opens a listening socket from an address as people write it.
 *
 *     127.0.0.1:7295   [::1]:7295   localhost:7295   :7295 (all addresses)   unix:/run/pawl.sock
 *
 * Port 0 takes a free port.  A Unix socket is open to its user and group (0660).  The socket file of a server that
 * is gone is replaced, that of a live server is not. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <sys/types.h>

#include "pawl/status.h"

struct pw_listener {
    int fd;         /* nonblocking; -1: closed */
    int port;       /* 0: a Unix socket */
    char path[108]; /* of a Unix socket; "" otherwise */
    dev_t device;   /* of the socket file, with the next: */
    ino_t file;     /* so that another server's file is not removed */
};

/* PAWL_INVALID: not an address.  PAWL_BUSY: the address is in use.  PAWL_FAILED: the system refuses. */
pawl_status pw_listen(const char *address, struct pw_listener *out_listener, struct pawl_error *error) PAWL_MUST_CHECK;
/* Also removes the file of a Unix socket.  Closing twice does no harm. */
void pw_listener_close(struct pw_listener *listener);

/* Writes a peer's address: "127.0.0.1:40312", "[::1]:40312" or "unix". */
enum { PW_PEER_SIZE = 64 };
struct sockaddr;
void pw_peer_text(const struct sockaddr *address, char out_text[PW_PEER_SIZE]);

#endif
