/* http_crowd.h - thousands of clients that hardly do anything, in a process of their own, so that what they need is not
 * counted with the server. */
#ifndef BENCH_HTTP_CROWD_H
#define BENCH_HTTP_CROWD_H

#include <sys/types.h>

struct http_crowd {
    pid_t process;
    int order_fd, done_fd;
};

/* Before any thread is started. */
void http_crowd_start(struct http_crowd *crowd);
void http_crowd_end(struct http_crowd *crowd); /* closes all */

/* Opens so many connections to the port, which stay open. */
void http_crowd_open(struct http_crowd *crowd, int port, int count);
/* Asks for the target on each of those opened last, and waits for the first bytes of every answer. */
void http_crowd_ask(struct http_crowd *crowd, const char *target);

#endif
