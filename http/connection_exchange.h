/* connection_exchange.h - one request and its answer.
 *
 * libmicrohttpd calls in this order: pw_exchange_begin() when the request line is there;
 * pw_exchange_handle() when the headers are, for each part of the body, when all is there, and again each time that the
 * connection was woken; pw_exchange_completed() when the answer was sent, or the client is gone. */
#ifndef HTTP_CONNECTION_EXCHANGE_H
#define HTTP_CONNECTION_EXCHANGE_H

#include <microhttpd.h>
#include <stdbool.h>

struct pw_exchange;

/* A MHD_OPTION_URI_LOG_CALLBACK; user: the worker. */
void *pw_exchange_begin(void *user, const char *target, struct MHD_Connection *mhd);
/* A MHD_OPTION_UNESCAPE_CALLBACK: leaves the path as it was sent, for the handler to take apart. */
size_t pw_exchange_unescape(void *user, struct MHD_Connection *mhd, char *text);
/* A MHD_AccessHandlerCallback. */
enum MHD_Result pw_exchange_handle(void *user, struct MHD_Connection *mhd, const char *path, const char *method,
                                   const char *version, const char *data, size_t *data_size, void **context);
/* A MHD_OPTION_NOTIFY_COMPLETED. */
void pw_exchange_completed(void *user, struct MHD_Connection *mhd, void **context,
                           enum MHD_RequestTerminationCode code);

/* Of one whose connection is being woken: a reader has its call, so it has gone to sleep again.  libmicrohttpd must not see such
 * a connection: it could find the client gone, and end the request. */
bool pw_exchange_sleeps_on(struct pw_exchange *exchange);

/* The request is over.  What its answer needs stays until that is gone as well. */
void pw_exchange_end(struct pw_exchange *exchange);

#endif
