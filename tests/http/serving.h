/* serving.h - a server over an engine that runs for real, and clients that speak to it byte by byte. */
#ifndef TESTS_HTTP_SERVING_H
#define TESTS_HTTP_SERVING_H

#include "kit/running.h"

#include "pawl/http.h"

struct serving {
    struct running running;
    struct gate gate; /* of the workflow "gated" */
    pawl_http *http;
    pawl_http_server *server;
    int port;
};

/* Workflows: "quick" ends at once with {"ok":true}; "gated" has a step that stands at the gate; "waits" waits for the event
 * "go"; "steps" does as many steps as its params say; "talks" writes as many lines of 64 KiB as its params say. */

/* Either may be NULL.  Listens at a free port of 127.0.0.1 unless told otherwise; mounted at /api. */
void serving_open(struct serving *serving, const struct pawl_http_options *http_options,
                  const struct pawl_http_server_options *options);
/* The same with one workflow more. */
void serving_open_with(struct serving *serving, const struct pawl_workflow *workflow,
                       const struct pawl_http_options *http_options, const struct pawl_http_server_options *options);
/* And with several. */
void serving_open_many(struct serving *serving, const struct pawl_workflow *workflows, size_t count,
                       const struct pawl_http_options *http_options, const struct pawl_http_server_options *options);
/* A serving with the options of serving_open(), or one that the test opens and that ends like it. */
int serving_set_up(void **state);
int serving_tear_down(void **state);
extern const struct test_setting serving_setting;
void serving_close(struct serving *serving);                  /* drains, stops, closes */
void serving_stop(struct serving *serving, int64_t drain_ms); /* the server alone, as it stands */

/* Of this process, and so of the server. */
long resident_bytes(void);

/* ---- Clients --------------------------------------------------------------------------------------------------------- */

struct client {
    int fd;
    char *data; /* what has come and was not taken */
    size_t size, room;
};

struct answer {
    int status;
    char head[2048]; /* status line and headers */
    char *body;      /* with a NUL behind it; freed by the next answer or answer_clear() */
    size_t body_size;
    bool is_json;
};

void client_open(struct client *client, const struct serving *serving);
bool client_try_open(struct client *client, const struct serving *serving); /* false: nobody listens */
void client_open_path(struct client *client, const char *path);
void client_close(struct client *client);

void client_send(struct client *client, const char *text);
void client_send_bytes(struct client *client, const char *bytes, size_t size);
/* False: the other side has closed. */
bool client_try_send(struct client *client, const char *bytes, size_t size);

/* Waits for some bytes.  False: the other side has closed, or the time is over. */
bool client_receive(struct client *client, int64_t within_ms);
/* Fails the test when none comes.  Begin with an answer that is all zero. */
void client_take(struct client *client, struct answer *answer);
void client_take_head(struct client *client, struct answer *answer); /* the headers alone */
/* Until the text has come, of a stream, say; what is before it is dropped, and it, too. */
void client_await(struct client *client, const char *text);
/* Waits until the other side has closed; bytes that come before that are dropped.  False: it has not. */
bool client_is_cut(struct client *client, int64_t within_ms);
void answer_clear(struct answer *answer);

/* "GET target HTTP/1.1", and with a body "POST". */
void client_ask(struct client *client, const char *target, const char *body);
/* The status of GET, or of POST, on a connection of its own. */
int ask_once(const struct serving *serving, const char *target, const char *body);

#endif
