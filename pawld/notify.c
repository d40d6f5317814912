/* notify.c - see notify.h. */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t size = path != NULL ? strlen(path) : 0;
    if (size < 2 || size >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    int socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_fd < 0)
        return;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* a name in the abstract namespace */
    (void)sendto(socket_fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    (void)close(socket_fd);
}
