/* client.h - sends requests to the server, and explains failures in words that help.
 *
 * A request that is answered 429, and a GET that is answered 503, is sent again at the time that the server names, until the
 * timeout or until patient_until_ms.  The first 503 of an outage is reported on standard error.  A change that is answered 503
 * is not sent again, because it may have happened.  Redirects are not followed. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdint.h>

#include "problem.h"
#include "text.h"

struct session;
struct settings;

struct client {
    CURL *transfer;
    struct curl_slist *headers;
    int64_t patient_until_ms; /* by pw_monotonic_ms(): a 503 is retried until then; 0: until the timeout */
    bool is_told;             /* see client_tell() */
};

/* It lives in the session's pool. */
struct answer {
    long status;
    const char *body;
    size_t size;
    json_t *json; /* of the body; NULL when it is no JSON */
    int64_t retry_after_ms;
};

void client_open(struct session *session);
void client_close(struct client *client);

/* path: below the base URL, encoded.  body: JSON, or NULL.  Any status but 2xx is a failure: session->problem says why,
 * with the server's code. */
enum exit_code client_ask(struct session *session, const char *method, const char *path, const char *body,
                          struct answer *out_answer);
#define client_get(session, path, out_answer) client_ask(session, "GET", path, NULL, out_answer)
/* With another timeout than --timeout, for requests that wait on purpose. */
enum exit_code client_ask_within(struct session *session, const char *method, const char *path, const char *body,
                                 int64_t timeout_ms, struct answer *out_answer);
/* A GET that is not repeated after a 503, takes five seconds at most, and prints nothing on standard error. */
enum exit_code client_probe(struct session *session, const char *path, struct answer *out_answer);

/* "?key=value" or "&key=value", encoded; nothing when the value is NULL. */
void query_put(struct pw_buffer *path, const char *key, const char *value);
void query_put_number(struct pw_buffer *path, const char *key, int64_t value);
/* A segment of a path, encoded, in the pool. */
const char *path_segment(struct pool *pool, const char *text);

/* For stream.c, which has its own transfer: the same settings and the same error texts. */
CURL *client_transfer(void); /* never NULL */
void client_add_header(struct curl_slist **headers, const char *line);
void client_set_up(const struct session *session, CURL *transfer, const char *url);
enum exit_code client_explain_failure(struct session *session, CURL *transfer, CURLcode failure, const char *method,
                                      int64_t timeout_ms);
enum exit_code client_explain_refusal(struct session *session, const struct answer *answer);

/* Says on standard error that something is tried again; only once, until client.is_told is reset. */
void client_tell(struct session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, for an answer of 429 or 503. */
void client_tell_outage(struct session *session, const struct answer *answer);

#endif
