/* server_linger.c - see server_linger.h. */
#include "http/server_linger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/* At most this much is read from one socket in one pass, because the thread serves other clients. */
enum { BLOCK_BYTES = 16384, BLOCKS_A_PASS = 16 };

void pw_linger_add(struct pw_linger *linger, int fd, int64_t now_ms)
{
    int copy = linger->count < PW_LINGER_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy < 0)
        return;
    (void)shutdown(copy, SHUT_WR); /* tells the client that the answer is complete */
    linger->fds[linger->count] = copy;
    linger->until_ms[linger->count++] = now_ms + PW_LINGER_MS;
}

int pw_linger_poll(const struct pw_linger *linger, struct pollfd *out_polls)
{
    for (int i = 0; i < linger->count; i++)
        out_polls[i] = (struct pollfd){ .fd = linger->fds[i], .events = POLLIN };
    return linger->count;
}

/* Returns false if the client has closed its side or is gone. */
static bool drop_bytes(int fd)
{
    char block[BLOCK_BYTES];
    for (int i = 0; i < BLOCKS_A_PASS; i++) {
        ssize_t size = recv(fd, block, sizeof block, MSG_DONTWAIT);
        if (size == 0)
            return false;
        if (size < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    }
    return true;
}

void pw_linger_pass(struct pw_linger *linger, int64_t now_ms)
{
    for (int i = linger->count - 1; i >= 0; i--) {
        if (now_ms < linger->until_ms[i] && drop_bytes(linger->fds[i]))
            continue;
        close(linger->fds[i]);
        linger->count--;
        linger->fds[i] = linger->fds[linger->count];
        linger->until_ms[i] = linger->until_ms[linger->count];
    }
}

void pw_linger_clear(struct pw_linger *linger)
{
    for (int i = 0; i < linger->count; i++)
        close(linger->fds[i]);
    linger->count = 0;
}
