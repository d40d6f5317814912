/* cutting_proxy.c - see cutting_proxy.h.  One thread serves all connections.  It recognises a commit by the name of
 * the store's prepared statement in the bytes that are sent to the server. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "cutting_proxy.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAIRS_MAX = 32, CHUNK = 1 << 16, QUIET_MS = 150 };

struct pair {
    int client, server; /* -1: free */
};

static void address_of(struct sockaddr_un *address, const char *folder)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    (void)snprintf(address->sun_path, sizeof address->sun_path, "%.80s/.s.PGSQL.5432", folder);
}

static void close_pair(struct pair *pair)
{
    (void)close(pair->client);
    (void)close(pair->server);
    *pair = (struct pair){ -1, -1 };
}

static void accept_pair(struct cutting_proxy *proxy, struct pair *pairs)
{
    struct sockaddr_un address;
    int client = accept(proxy->listening, NULL, NULL);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_of(&address, proxy->server);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(client);
        (void)close(server);
        return;
    }
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        if (pairs[i].client >= 0)
            continue;
        pairs[i] = (struct pair){ client, server };
        return;
    }
    (void)close(client);
    (void)close(server);
}

static bool send_all(int to, const char *bytes, ssize_t size)
{
    while (size > 0) {
        ssize_t sent = send(to, bytes, (size_t)size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        size -= sent;
    }
    return true;
}

/* Drops what the server still sends. */
static void swallow_answer(int server, char *chunk)
{
    struct pollfd waiting = { .fd = server, .events = POLLIN };
    while (poll(&waiting, 1, QUIET_MS) > 0 && read(server, chunk, CHUNK) > 0)
        continue;
}

static void forward_request(struct cutting_proxy *proxy, struct pair *pair, char *chunk)
{
    ssize_t size = read(pair->client, chunk, CHUNK);
    bool commits = size > 0 && memmem(chunk, (size_t)size, "pawl_COMMIT", strlen("pawl_COMMIT")) != NULL;
    if (commits && atomic_load(&proxy->spared) > 0) {
        atomic_fetch_sub(&proxy->spared, 1);
        commits = false;
    }
    int cut = commits ? atomic_exchange(&proxy->cut, CUT_NOTHING) : CUT_NOTHING;
    if (cut != CUT_NOTHING)
        atomic_fetch_add(&proxy->cuts_made, 1);
    if (size <= 0 || cut == CUT_BEFORE_COMMIT || !send_all(pair->server, chunk, size)) {
        close_pair(pair);
    } else if (cut == CUT_AFTER_COMMIT) {
        swallow_answer(pair->server, chunk);
        close_pair(pair);
    }
}

static void forward_answer(struct pair *pair, char *chunk)
{
    ssize_t size = read(pair->server, chunk, CHUNK);
    if (size <= 0 || !send_all(pair->client, chunk, size))
        close_pair(pair);
}

static void *proxy_main(void *user)
{
    struct cutting_proxy *proxy = user;
    struct pair pairs[PAIRS_MAX];
    char *chunk = malloc(CHUNK);
    for (size_t i = 0; i < PAIRS_MAX; i++)
        pairs[i] = (struct pair){ -1, -1 };
    while (chunk != NULL && !atomic_load(&proxy->stopping)) {
        struct pollfd waiting[1 + 2 * PAIRS_MAX] = { { .fd = proxy->listening, .events = POLLIN } };
        for (size_t i = 0; i < PAIRS_MAX; i++) {
            waiting[1 + 2 * i] = (struct pollfd){ .fd = pairs[i].client, .events = POLLIN };
            waiting[2 + 2 * i] = (struct pollfd){ .fd = pairs[i].server, .events = POLLIN };
        }
        if (poll(waiting, 1 + 2 * PAIRS_MAX, 20) <= 0)
            continue;
        for (size_t i = 0; i < PAIRS_MAX; i++) {
            if (pairs[i].client >= 0 && waiting[2 + 2 * i].revents != 0)
                forward_answer(&pairs[i], chunk);
            if (pairs[i].client >= 0 && waiting[1 + 2 * i].revents != 0)
                forward_request(proxy, &pairs[i], chunk);
        }
        if (waiting[0].revents != 0)
            accept_pair(proxy, pairs);
    }
    for (size_t i = 0; i < PAIRS_MAX; i++)
        if (pairs[i].client >= 0)
            close_pair(&pairs[i]);
    free(chunk);
    return NULL;
}

void cutting_proxy_start(struct cutting_proxy *proxy, const char *server)
{
    struct sockaddr_un address;
    *proxy = (struct cutting_proxy){ .server = server };
    (void)snprintf(proxy->folder, sizeof proxy->folder, "%s/pawl-proxy-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(proxy->folder));
    address_of(&address, proxy->folder);
    proxy->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(proxy->listening, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(proxy->listening, 16), 0);
    assert_int_equal(pthread_create(&proxy->thread, NULL, proxy_main, proxy), 0);
}

void cutting_proxy_stop(struct cutting_proxy *proxy)
{
    struct sockaddr_un address;
    atomic_store(&proxy->stopping, true);
    (void)pthread_join(proxy->thread, NULL);
    (void)close(proxy->listening);
    address_of(&address, proxy->folder);
    (void)unlink(address.sun_path);
    (void)rmdir(proxy->folder);
}
