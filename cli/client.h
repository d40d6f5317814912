/* client.h - asks the server, and says what went wrong in words that help.
 *
 * A GET that is answered 429 or 503, and anything else that is answered 429, is asked again when the server says, as long
 * as the time-out lasts.  A change that is answered 503 is not: it may have happened.  Redirects are not followed. */
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
};

struct answer {
    long status;
    struct text body;
    json_t *json; /* of the body; NULL when it is no JSON */
    int64_t retry_after_ms;
};

enum exit_code client_open(struct session *session);
void client_close(struct client *client);

/* path: below the base URL, encoded.  body: JSON, or NULL.  Below 400 the answer is the caller's; else *out_answer is
 * empty, and session->problem says why, with the server's code. */
enum exit_code client_ask(struct session *session, const char *method, const char *path, const char *body,
                          struct answer *out_answer);
#define client_get(session, path, out_answer) client_ask(session, "GET", path, NULL, out_answer)
/* With a time of its own to answer in, for those that wait on purpose. */
enum exit_code client_ask_within(struct session *session, const char *method, const char *path, const char *body,
                                 int64_t timeout_ms, struct answer *out_answer);
void answer_free(struct answer *answer);

/* "?key=value" or "&key=value", encoded; nothing when the value is NULL. */
void query_put(struct text *path, const char *key, const char *value);
void query_put_number(struct text *path, const char *key, int64_t value);
/* A segment of a path, encoded, in the pool. */
const char *path_segment(struct pool *pool, const char *text);

/* For stream.c, which keeps a transfer of its own: the same set-up, and the same words. */
void client_set_up(const struct session *session, CURL *transfer, const char *url);
enum exit_code client_explain_failure(struct session *session, CURL *transfer, CURLcode failure, const char *method,
                                      int64_t timeout_ms);
enum exit_code client_explain_refusal(struct session *session, const struct answer *answer);

#endif
