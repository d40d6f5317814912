/* server_linger.h - sockets that were answered before the client had sent its whole request.
 *
 * If such a socket is closed at once, the kernel discards the answer before the client reads it.  So a few of these
 * sockets are kept open for up to two seconds, and what still arrives on them is read and dropped.  Others are
 * closed at once. */
#ifndef HTTP_SERVER_LINGER_H
#define HTTP_SERVER_LINGER_H

#include <stdint.h>

struct pollfd;

enum { PW_LINGER_MAX = 16, PW_LINGER_MS = 2000 };

/* All zero is empty.  For use by one thread. */
struct pw_linger {
    int count;
    int fds[PW_LINGER_MAX];
    int64_t until_ms[PW_LINGER_MAX];
};

/* Duplicates the descriptor, which its owner is about to close. */
void pw_linger_add(struct pw_linger *linger, int fd, int64_t now_ms);
/* Writes what to poll for, at most PW_LINGER_MAX entries, and returns how many. */
int pw_linger_poll(const struct pw_linger *linger, struct pollfd *out_polls);
/* Reads and drops what has arrived.  Closes sockets that are done or late. */
void pw_linger_pass(struct pw_linger *linger, int64_t now_ms);
void pw_linger_clear(struct pw_linger *linger);

#endif
