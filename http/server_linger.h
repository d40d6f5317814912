/* server_linger.h - sockets that were answered before their client had sent everything.
 *
 * To close such a socket at once makes the kernel throw the answer away that the client has yet to read.  So what still
 * comes is read and dropped, for a moment and for a few sockets; the others are closed at once. */
#ifndef HTTP_SERVER_LINGER_H
#define HTTP_SERVER_LINGER_H

#include <stdint.h>

struct pollfd;

enum { PW_LINGER_MAX = 16, PW_LINGER_MS = 2000 };

/* All zero: none.  For one thread. */
struct pw_linger {
    int count;
    int fds[PW_LINGER_MAX];
    int64_t until_ms[PW_LINGER_MAX];
};

/* Takes a copy of the descriptor, which its owner is about to close. */
void pw_linger_add(struct pw_linger *linger, int fd, int64_t now_ms);
/* What to wait for, at most PW_LINGER_MAX; answers how many. */
int pw_linger_poll(const struct pw_linger *linger, struct pollfd *out_polls);
/* Reads and drops what is there; closes those that are through, or late. */
void pw_linger_pass(struct pw_linger *linger, int64_t now_ms);
void pw_linger_clear(struct pw_linger *linger);

#endif
