/* listen.c - see listen.h. */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/address.h"
#include "http/server.h"

static const char unix_prefix[] = "unix:";

enum { LOCK_TRIES = 100, LOCK_PAUSE_NS = 20 * 1000 * 1000 };

static pawl_status refuse(const char *address, int reason, struct pawl_error *error)
{
    pawl_status status = reason == EADDRINUSE ? PAWL_BUSY : PAWL_FAILED;
    char text[128];
    switch (reason) {
    case EADDRINUSE:
        return pw_server_error(error, status, "cannot listen at %s: the address is in use", address);
    case EADDRNOTAVAIL:
        return pw_server_error(error, status, "cannot listen at %s: this machine has no such address", address);
    case EACCES:
    case EPERM:
        return pw_server_error(error, status,
                               "cannot listen at %s: no permission; ports below 1024 are for root, and a Unix socket "
                               "needs a folder that may be written to",
                               address);
    default:
        return pw_server_error(error, status, "cannot listen at %s: %s", address,
                               pw_system_text(reason, text, sizeof text));
    }
}

/* ---- Unix sockets ---------------------------------------------------------------------------------------------------- */

/* A socket file outlives its server.  If nobody accepts connections there, it may be replaced. */
static bool is_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    bool stale = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    close(fd);
    return stale;
}

static int bind_file(int fd, const struct sockaddr_un *address)
{
    struct stat about;
    if (fchmod(fd, 0660) !=
        0) /* it is made with this, less what the umask takes: never open to all, not for a moment */
        return errno;
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        if (errno != EADDRINUSE)
            return errno;
        if (lstat(address->sun_path, &about) != 0 || !S_ISSOCK(about.st_mode) || !is_stale(address))
            return EADDRINUSE;
        if (unlink(address->sun_path) != 0 || bind(fd, (const struct sockaddr *)address, sizeof *address) != 0)
            return errno;
    }
    if (chmod(address->sun_path, 0660) != 0 || listen(fd, SOMAXCONN) != 0)
        return errno;
    return 0;
}

/* Between bind and listen a socket file looks stale.  A lock on its folder keeps two servers that start at once from
 * replacing each other's file. */
static int lock_folder(const char *path)
{
    char folder[sizeof((struct sockaddr_un *)NULL)->sun_path];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        slash[1] = '\0';
    else if (slash != NULL)
        *slash = '\0';
    int fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct timespec pause = { 0, LOCK_PAUSE_NS };
    for (int tried = 0; fd >= 0 && tried < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         tried++)
        (void)nanosleep(&pause, NULL);
    return fd; /* goes on without the lock if the folder cannot be locked in time */
}

static pawl_status listen_at_file(const char *whole, struct pw_listener *listener, struct pawl_error *error)
{
    const char *path = whole + sizeof unix_prefix - 1;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (path[0] == '\0' || strlen(path) >= sizeof address.sun_path)
        return pw_server_error(error, PAWL_INVALID,
                               "\"%s\" is not an address: the path of a Unix socket has 1 to %zu bytes", whole,
                               sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    int folder = lock_folder(path);
    if (folder < 0)
        return refuse(whole, errno, error);
    struct stat about;
    int reason = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        reason = errno;
    else
        reason = bind_file(fd, &address);
    if (reason == 0 && lstat(path, &about) != 0)
        reason = errno;
    close(folder);
    if (reason == 0) {
        *listener = (struct pw_listener){ .fd = fd, .device = about.st_dev, .file = about.st_ino };
        memcpy(listener->path, path, strlen(path));
        return PAWL_OK;
    }
    if (fd >= 0)
        close(fd);
    return refuse(whole, reason, error);
}

/* ---- Ports ----------------------------------------------------------------------------------------------------------- */

/* Returns the descriptor, or a negative errno. */
static int listen_at_info(const struct addrinfo *info, bool all_addresses)
{
    int on = 1, off = 0;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    bool may = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
    if (info->ai_family == AF_INET6)
        may = may && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, all_addresses ? &off : &on, sizeof on) == 0;
    if (may && bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int reason = errno;
    close(fd);
    return -reason;
}

static int port_of(int fd)
{
    struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static pawl_status listen_at_port(const char *address, struct pw_listener *listener, struct pawl_error *error)
{
    struct pw_address place;
    char port[8];
    if (!pw_address_parse(address, &place))
        return pw_server_error(error, PAWL_INVALID,
                               "\"%s\" is not an address to listen at; use host:port, [IPv6]:port, :port or unix:path, "
                               "with a port of 0 to 65535",
                               address);
    (void)snprintf(port, sizeof port, "%d", place.port);
    bool all_addresses = place.host[0] == '\0';
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
    struct addrinfo *infos = NULL;
    /* An IPv6 socket also takes IPv4.  On a machine without IPv6 it fails, and IPv4 is tried next. */
    hints.ai_family = all_addresses ? AF_INET6 : AF_UNSPEC;
    int fd = -EADDRNOTAVAIL;
    for (int family = 0; fd < 0 && family < (all_addresses ? 2 : 1); family++) {
        int failure = getaddrinfo(all_addresses ? NULL : place.host, port, &hints, &infos);
        if (failure != 0)
            return pw_server_error(error, failure == EAI_MEMORY ? PAWL_NOMEM : PAWL_INVALID, "cannot listen at %s: %s",
                                   address, gai_strerror(failure));
        for (struct addrinfo *info = infos; info != NULL && fd < 0; info = info->ai_next)
            fd = listen_at_info(info, all_addresses);
        freeaddrinfo(infos);
        if (fd == -EADDRINUSE)
            break;
        hints.ai_family = AF_INET;
    }
    if (fd < 0)
        return refuse(address, -fd, error);
    *listener = (struct pw_listener){ .fd = fd, .port = port_of(fd) };
    return PAWL_OK;
}

/* ---- Both ------------------------------------------------------------------------------------------------------------ */

pawl_status pw_listen(const char *address, struct pw_listener *out_listener, struct pawl_error *error)
{
    if (strncmp(address, unix_prefix, sizeof unix_prefix - 1) == 0)
        return listen_at_file(address, out_listener, error);
    return listen_at_port(address, out_listener, error);
}

void pw_listener_close(struct pw_listener *listener)
{
    struct stat about;
    if (listener->fd < 0)
        return;
    if (listener->path[0] != '\0' && lstat(listener->path, &about) == 0 && about.st_dev == listener->device &&
        about.st_ino == listener->file)
        (void)unlink(listener->path);
    close(listener->fd);
    listener->fd = -1;
}

void pw_peer_text(const struct sockaddr *address, char out_text[PW_PEER_SIZE])
{
    char host[INET6_ADDRSTRLEN];
    snprintf(out_text, PW_PEER_SIZE, "unix");
    if (address == NULL)
        return;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *inet = (const struct sockaddr_in *)address;
        if (inet_ntop(AF_INET, &inet->sin_addr, host, sizeof host) != NULL)
            snprintf(out_text, PW_PEER_SIZE, "%s:%d", host, ntohs(inet->sin_port));
    } else if (address->sa_family == AF_INET6) {
        /* A socket for all addresses reports IPv4 peers as mapped IPv6.  Show them as plain IPv4. */
        const struct sockaddr_in6 *inet = (const struct sockaddr_in6 *)address;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(&inet->sin6_addr);
        const void *bytes = is_mapped ? &inet->sin6_addr.s6_addr[12] : inet->sin6_addr.s6_addr;
        if (inet_ntop(is_mapped ? AF_INET : AF_INET6, bytes, host, sizeof host) != NULL)
            snprintf(out_text, PW_PEER_SIZE, is_mapped ? "%s:%d" : "[%s]:%d", host, ntohs(inet->sin6_port));
    }
}
