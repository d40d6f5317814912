/* http_empty.h - the most that libmicrohttpd can do on this machine: it answers every request with the same few bytes, at
 * once.  Flags, memory of a connection and threads are those of the server; so is the loop around it, because with
 * threads of its own libmicrohttpd stands still as soon as 128 requests come at one moment. */
#ifndef BENCH_HTTP_EMPTY_H
#define BENCH_HTTP_EMPTY_H

struct http_empty;

/* Ends the program when it cannot. */
struct http_empty *http_empty_start(int threads);
int http_empty_port(const struct http_empty *empty);
void http_empty_stop(struct http_empty *empty);

#endif
