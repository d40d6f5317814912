/* http_empty.h - the most that libmicrohttpd can do on this machine: it answers every request at once with the same
 * few bytes.
 *
 * It uses the same flags and threads as the server and the same loop around libmicrohttpd, because libmicrohttpd's
 * own threads hang when 128 requests arrive at once.  A connection's memory is larger than the server's default. */
#ifndef BENCH_HTTP_EMPTY_H
#define BENCH_HTTP_EMPTY_H

struct http_empty;

/* Ends the program if it cannot start. */
struct http_empty *http_empty_start(int threads);
int http_empty_port(const struct http_empty *empty);
void http_empty_stop(struct http_empty *empty);

#endif
