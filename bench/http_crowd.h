/* http_crowd.h - thousands of mostly idle clients.  They are in a process of their own, so that their memory is not
 * counted with the server's. */
#ifndef BENCH_HTTP_CROWD_H
#define BENCH_HTTP_CROWD_H

#include <sys/types.h>

struct http_crowd {
    pid_t process;
    int order_fd, done_fd;
};

/* Call it before any thread is started. */
void http_crowd_start(struct http_crowd *crowd);
void http_crowd_end(struct http_crowd *crowd); /* closes all connections */

/* Opens `count` connections to the port, which stay open. */
void http_crowd_open(struct http_crowd *crowd, int port, int count);
/* Requests the target on each connection opened by the last http_crowd_open(), and waits for the first bytes of
 * every answer. */
void http_crowd_ask(struct http_crowd *crowd, const char *target);

#endif
