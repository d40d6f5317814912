/* connection_exchange.h - one request and its answer, between libmicrohttpd and a call.
 *
 * libmicrohttpd calls pw_exchange_begin() when it has the request line.  It calls pw_exchange_handle() when it has
 * the headers, for each part of the body, when the body is complete, and again each time the connection was woken.
 * It calls pw_exchange_completed() when the answer was sent or the client is gone. */
#ifndef HTTP_CONNECTION_EXCHANGE_H
#define HTTP_CONNECTION_EXCHANGE_H

#include <microhttpd.h>
#include <stdbool.h>

struct pw_exchange;

/* A MHD_OPTION_URI_LOG_CALLBACK whose user is the worker. */
void *pw_exchange_begin(void *user, const char *target, struct MHD_Connection *mhd);
/* A MHD_OPTION_UNESCAPE_CALLBACK.  Leaves the path as it was sent, because the handler decodes it. */
size_t pw_exchange_unescape(void *user, struct MHD_Connection *mhd, char *text);
/* A MHD_AccessHandlerCallback. */
enum MHD_Result pw_exchange_handle(void *user, struct MHD_Connection *mhd, const char *path, const char *method,
                                   const char *version, const char *data, size_t *data_size, void **context);
/* A MHD_OPTION_NOTIFY_COMPLETED. */
void pw_exchange_completed(void *user, struct MHD_Connection *mhd, void **context,
                           enum MHD_RequestTerminationCode code);

/* Called when the connection is about to be woken.  Returns true if a reader still has the call and the connection
 * sleeps again. libmicrohttpd must not see such a connection, because it could find the client gone and end the
 * request. */
bool pw_exchange_sleeps_on(struct pw_exchange *exchange);

/* Ends the request.  Memory that the answer needs stays until libmicrohttpd has released the answer. */
void pw_exchange_end(struct pw_exchange *exchange);

#endif
