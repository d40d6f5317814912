/* http_crowd.c - see http_crowd.h.  The parent sends orders through a pipe.  The crowd answers each with a byte. */
#include "http_crowd.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { CLIENTS_MAX = 16384, TARGET_SIZE = 120, DESCRIPTORS = 10000 };

struct order {
    int port, count; /* count 0: request the target */
    char target[TARGET_SIZE];
};

static int connect_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bench_require(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "a client cannot connect");
    return fd;
}

static void ask(const int *fds, int count, const char *target)
{
    char text[4096];
    int size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: bench\r\nAccept: */*\r\n\r\n", target);
    for (int i = 0; i < count; i++)
        bench_require(send(fds[i], text, (size_t)size, MSG_NOSIGNAL) == size, "a client cannot send");
    for (int i = 0; i < count; i++)
        bench_require(recv(fds[i], text, sizeof text, 0) > 12 && memcmp(text, "HTTP/1.1 200", 12) == 0,
                      "a client got another answer than 200");
}

static void obey(int order_fd, int done_fd)
{
    static int fds[CLIENTS_MAX];
    int count = 0, first = 0;
    struct order order;
    while (read(order_fd, &order, sizeof order) == (ssize_t)sizeof order) {
        if (order.count > 0) {
            bench_require(count + order.count <= CLIENTS_MAX, "too many clients");
            first = count;
            while (count < first + order.count)
                fds[count++] = connect_to(order.port);
        } else {
            ask(&fds[first], count - first, order.target);
        }
        bench_require(write(done_fd, "", 1) == 1, "the benchmark is gone");
    }
}

void http_crowd_start(struct http_crowd *crowd)
{
    int orders[2], dones[2];
    struct rlimit limit;
    bench_require(getrlimit(RLIMIT_NOFILE, &limit) == 0, "cannot read the limit of descriptors");
    limit.rlim_cur = limit.rlim_max;
    bench_require(setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max >= DESCRIPTORS,
                  "10,000 descriptors are needed: see ulimit -Hn");
    bench_require(pipe(orders) == 0 && pipe(dones) == 0, "cannot create a pipe");
    crowd->process = fork();
    bench_require(crowd->process >= 0, "cannot start a process");
    if (crowd->process == 0) {
        close(orders[1]);
        close(dones[0]);
        obey(orders[0], dones[1]);
        _exit(0);
    }
    close(orders[0]);
    close(dones[1]);
    crowd->order_fd = orders[1];
    crowd->done_fd = dones[0];
}

static void command(struct http_crowd *crowd, const struct order *order)
{
    char done;
    bench_require(write(crowd->order_fd, order, sizeof *order) == (ssize_t)sizeof *order &&
                      read(crowd->done_fd, &done, 1) == 1,
                  "the clients are gone");
}

void http_crowd_open(struct http_crowd *crowd, int port, int count)
{
    struct order order = { .port = port, .count = count };
    command(crowd, &order);
}

void http_crowd_ask(struct http_crowd *crowd, const char *target)
{
    struct order order = { .count = 0 };
    snprintf(order.target, sizeof order.target, "%s", target);
    command(crowd, &order);
}

void http_crowd_end(struct http_crowd *crowd)
{
    int status;
    close(crowd->order_fd);
    close(crowd->done_fd);
    bench_require(waitpid(crowd->process, &status, 0) == crowd->process && status == 0, "the clients failed");
}
