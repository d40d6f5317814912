/* http.h - the HTTP API: a handler that turns a request into a response, and a server for those who have none.
 * In a library of its own: -lpawl-http.
 *
 * The handler knows no sockets.  A host with an HTTP server of its own mounts it there; tests call it directly.  A call
 * never blocks: where it has to wait, for a commit, a result or an event, it says so, and calls `ready` when it is worth
 * asking again.  The smallest use, which waits in the calling thread:
 *
 *     struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
 *     request.method = "GET", request.target = "/api/workflows";
 *     status = pawl_http_answer(http, scope, &request, &response);
 *
 * Promises:
 *  1. No request is acted on before it was authorized: nothing of the store is read or written.
 *  2. Whatever comes in, the answer is never 500, but for what is the engine's own fault; then nothing inside is told.
 *  3. Every answer but a stream and metrics is JSON; every error is {"code", "message", "issues"?}. */
#ifndef PAWL_HTTP_H
#define PAWL_HTTP_H

#include "engine.h"
#include "runner.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_http pawl_http;
typedef struct pawl_http_call pawl_http_call;
typedef struct pawl_http_server pawl_http_server;
typedef struct pawl_tokens pawl_tokens;

/* ---- Values ---------------------------------------------------------------------------------------------------- */

struct pawl_http_header {
    const char *name, *value;
};

struct pawl_http_request {
    size_t struct_size;
    const char *method;                     /* "GET" */
    const char *target;                     /* path and query as sent: "/api/workflows/order/instances?status=active" */
    const struct pawl_http_header *headers; /* names in any case */
    size_t header_count;
    const char *body; /* need not end with NUL */
    size_t body_size;
    const char *peer; /* who asks, for an authorize function; or NULL */
};
#define PAWL_HTTP_REQUEST_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct pawl_http_request), NULL, NULL, NULL, 0, NULL, 0, NULL                                           \
    }

struct pawl_http_response {
    int status;
    const struct pawl_http_header *headers;
    size_t header_count;
    const char *body; /* with a NUL behind it; of HEAD it is empty */
    size_t body_size;
    bool is_stream;   /* the body comes from pawl_http_call_read() */
    size_t head_size; /* of HEAD: the size of the body that GET would have; 0: not known, or none */
};

/* ---- Authorization --------------------------------------------------------------------------------------------- */

/* What a request wants to do. */
enum pawl_http_scope {
    PAWL_HTTP_OPEN, /* health, version, the API's description; what is no route */
    PAWL_HTTP_READ,
    PAWL_HTTP_CREATE,
    PAWL_HTTP_MANAGE, /* pause, resume, terminate, interrupt, retry, restart; sending hooks again */
    PAWL_HTTP_EVENT,
    PAWL_HTTP_TICK,
    PAWL_HTTP_WORK,     /* jobs: claim them, answer them */
    PAWL_HTTP_DEFERRED, /* finishing a deferred, whose token is in the target: it is what authorizes */
    PAWL_HTTP_SCOPE_COUNT
};
PAWL_API const char *pawl_http_scope_name(enum pawl_http_scope scope); /* "open", "read", ... */

struct pawl_http_subject {
    const struct pawl_http_request *request; /* the server below asks before the body has come */
    enum pawl_http_scope scope;
    const char *workflow;    /* of the path, else of the query; or NULL */
    const char *instance_id; /* or NULL */
    /* What the workflow requires of its callers (workflow.h); none for one that is not registered.  Nobody but this
     * function looks at them. */
    const char *const *permissions;
    size_t permission_count;
};

struct pawl_http_refusal {
    int status;            /* 401, 403, 429 ... */
    char code[64];         /* "UNAUTHORIZED" */
    char message[256];     /* for people */
    int32_t retry_after_s; /* 0: not said */
};

/* True: allowed.  False: answered with the refusal, which comes filled with 403 FORBIDDEN.  Called from any thread. */
typedef bool pawl_http_authorize_fn(void *user, const struct pawl_http_subject *subject,
                                    struct pawl_http_refusal *out_refusal);

/* Bearer tokens, kept as hashes, for people who have no authorization of their own. */

enum { PAWL_TOKEN_SIZE = 64 }; /* of a fresh token's text with its NUL, at most */
enum { PAWL_TOKEN_LINE_SIZE = 1024 };

/* A fresh token, and the line to keep: "name scope,scope sha256:hex", and behind it
 * "permissions:admin,finance" where it has some (NULL: none).  Scopes: read, create, manage, event, tick, work. */
PAWL_API pawl_status pawl_token_make(const char *name, const char *scopes, const char *permissions,
                                     char out_token[PAWL_TOKEN_SIZE], char out_line[PAWL_TOKEN_LINE_SIZE],
                                     struct pawl_error *error) PAWL_MUST_CHECK;

PAWL_API pawl_tokens *pawl_tokens_new(void); /* NULL when memory is out */
PAWL_API void pawl_tokens_free(pawl_tokens *tokens);
/* Adds a line as above; empty ones and those that begin with # are passed over. */
PAWL_API pawl_status pawl_tokens_add(pawl_tokens *tokens, const char *line, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API size_t pawl_tokens_count(const pawl_tokens *tokens);
/* At most so many requests a second for each token, with bursts of as many; more is answered 429.  0: no limit. */
PAWL_API void pawl_tokens_limit(pawl_tokens *tokens, double requests_per_second);
/* A pawl_http_authorize_fn; user: the tokens.  A token must have the scope, and every permission that the workflow
 * requires; an open request and a deferred's need none. */
PAWL_API bool pawl_tokens_authorize(void *tokens, const struct pawl_http_subject *subject,
                                    struct pawl_http_refusal *out_refusal);

/* ---- The handler ----------------------------------------------------------------------------------------------- */

struct pawl_http_options {
    size_t struct_size;
    const char *mount;                 /* "/api"; "" for none.  Copied */
    pawl_runner *runner;               /* or NULL.  For metrics and ticks; must outlive the handler */
    bool allow_tick;                   /* otherwise 403 RUNNER_TICK_DISABLED */
    pawl_http_authorize_fn *authorize; /* every request; NULL: all are allowed */
    pawl_http_authorize_fn
        *authorize_scope[PAWL_HTTP_SCOPE_COUNT]; /* and then for what it wants to do; NULL: allowed */
    void *authorize_user;
    const char *cors_origin;  /* "https://example.org" or "*"; NULL: no CORS.  Copied */
    int64_t body_bytes_max;   /* 0: 4 MiB */
    int64_t wait_ms_max;      /* of `result`, `execute` and `jobs/claim`; longer waits are cut to it.  0: 60000 */
    int32_t streams_max;      /* at once; more are answered 503.  0: 4096 */
    int64_t heartbeat_ms;     /* a comment line on a quiet stream.  0: 15000 */
    int64_t look_again_ms;    /* how often a waiting call looks for other processes' changes.  0: 1000 */
    pawl_runner *tick_runner; /* who is ticked, because a runner that was started is not; NULL: the runner above */
};
/* clang-format off */
#define PAWL_HTTP_OPTIONS_INIT { sizeof(struct pawl_http_options), NULL, NULL, false, NULL, \
                                 { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }, NULL, NULL, 0, 0, 0, 0, 0, NULL }
/* clang-format on */

PAWL_API pawl_status pawl_http_new(pawl_engine *engine, const struct pawl_http_options *options, pawl_http **out_http,
                                   struct pawl_error *error) PAWL_MUST_CHECK;
/* After its calls are freed, before the engine is closed.  NULL is fine. */
PAWL_API void pawl_http_free(pawl_http *http);

/* Draining: from now on `health/ready` says 503, and calls that wait and streams end at once. */
PAWL_API void pawl_http_drain(pawl_http *http);

/* Takes a request up.  It is borrowed until the call is freed.  Never fails but for memory: then NULL.
 * `ready` is called from any thread, any number of times, until the call is freed: call pawl_http_call_answer() or
 * _read() again.  It may be called inside these, with a lock of Pawl's held: it must only note the fact, call nothing of
 * Pawl's, and take no lock that its owner holds while calling Pawl.  One thread at a time carries a call on. */
PAWL_API pawl_http_call *pawl_http_call_new(pawl_http *http, const struct pawl_http_request *request,
                                            void (*ready)(void *user), void *user);
/* May be called at any time, also while the call waits; a change that was submitted happens all the same.  Waits, no
 * longer than a commit takes, when one is under way. */
PAWL_API void pawl_http_call_free(pawl_http_call *call);

/* True: *out_response is the answer, or a stream's head; borrowed until the call is freed.  False: not yet; ask again
 * when `ready` was called, and at the latest at *out_again_at_ms (the engine's time; INT64_MAX: not before). */
PAWL_API bool pawl_http_call_answer(pawl_http_call *call, const struct pawl_http_response **out_response,
                                    int64_t *out_again_at_ms);

enum pawl_http_read { PAWL_HTTP_READ_BYTES, PAWL_HTTP_READ_NOT_YET, PAWL_HTTP_READ_END };
/* The next bytes of a stream, borrowed until the next read. */
PAWL_API enum pawl_http_read pawl_http_call_read(pawl_http_call *call, const char **out_bytes, size_t *out_size,
                                                 int64_t *out_again_at_ms);

/* All of it in the calling thread, waiting as long as it takes.  The response is copied into the scope.  Not for
 * streams: those are answered 406.  PAWL_NOMEM is all that it can fail with. */
PAWL_API pawl_status pawl_http_answer(pawl_http *http, pawl_scope *scope, const struct pawl_http_request *request,
                                      struct pawl_http_response *out_response) PAWL_MUST_CHECK;

/* What the server below cannot parse itself is answered with these: {"code", "message"} in the scope. */
PAWL_API const char *pawl_http_error_body(pawl_scope *scope, const char *code, const char *message);

/* ---- The server ------------------------------------------------------------------------------------------------ */

struct pawl_http_server_options {
    size_t struct_size;
    const char *
        listen; /* "127.0.0.1:7295", "[::1]:7295", ":7295" (all addresses), "unix:/run/pawl.sock".  Port 0: a free one */
    const char *tls_cert; /* files, PEM; both or neither.  TLS 1.3, and 1.2 with ECDHE and AEAD ciphers */
    const char *tls_key;
    int32_t threads;             /* 0: one for each processor, 2 to 8; and half as many for large answers */
    int32_t connections_max;     /* 0: 8192.  Never more than the process's limit of descriptors, less 128 */
    int64_t request_ms_max;      /* to send a request, headers and body.  0: 30000 */
    int64_t idle_ms_max;         /* between requests.  0: 120000 */
    int64_t header_bytes_max;    /* request line and headers; each connection may hold as much.  0: 8 KiB */
    bool tls_allow_readable_key; /* a tls_key that everybody on the machine may read is otherwise refused */
};
#define PAWL_HTTP_SERVER_OPTIONS_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(struct pawl_http_server_options), NULL, NULL, NULL, 0, 0, 0, 0, 0, false                                \
    }

/* Listens when this returns.  The handler must outlive the server. */
PAWL_API pawl_status pawl_http_server_start(pawl_http *http, const struct pawl_http_server_options *options,
                                            pawl_http_server **out_server, struct pawl_error *error) PAWL_MUST_CHECK;
/* The port it listens at; 0 for a Unix socket. */
PAWL_API int pawl_http_server_port(const pawl_http_server *server);
/* Takes no more connections, answers the requests under way for at most drain_ms, then closes.  Call pawl_http_drain()
 * first, so that waits and streams end.  NULL is fine. */
PAWL_API void pawl_http_server_stop(pawl_http_server *server, int64_t drain_ms);

#ifdef __cplusplus
}
#endif
#endif
