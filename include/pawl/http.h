/* http.h - the HTTP API: a handler that turns a request into a response, and a server for hosts that have none.  It
 * is a library of its own: -lpawl-http.
 *
 * The handler knows no sockets.  A host with an HTTP server of its own mounts it there; tests call it directly.  A
 * call never blocks.  If it has to wait for a commit, a result or an event, it says so, and calls `ready` when it
 * should be asked again.  The smallest use, which waits in the calling thread:
 *
 *     struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
 *     request.method = "GET", request.target = "/api/workflows";
 *     status = pawl_http_answer(http, scope, &request, &response);
 *
 * Promises:
 *  1. The store is neither read nor written for a request that is not authorized.
 *  2. No request, however malformed, is answered 500, unless the engine itself fails.  Then the answer tells nothing
 *     internal.
 *  3. Every answer except streams and metrics is JSON.  Every error is {"code", "message", "issues"?}. */
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
    const char *peer; /* the client's address, for an authorize function; or NULL */
};
#define PAWL_HTTP_REQUEST_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct pawl_http_request), NULL, NULL, NULL, 0, NULL, 0, NULL                                           \
    }

struct pawl_http_response {
    int status;
    const struct pawl_http_header *headers;
    size_t header_count;
    const char *body; /* NUL-terminated; empty for HEAD */
    size_t body_size;
    bool is_stream;   /* the body comes from pawl_http_call_read() */
    size_t head_size; /* for HEAD: the size of the body that GET would have; 0: unknown, or none */
};

/* ---- Authorization --------------------------------------------------------------------------------------------- */

/* What a request wants to do. */
enum pawl_http_scope {
    PAWL_HTTP_OPEN, /* health, version, the API's description, and unknown routes */
    PAWL_HTTP_READ,
    PAWL_HTTP_CREATE,
    PAWL_HTTP_MANAGE, /* pause, resume, terminate, interrupt, retry, restart; resend a delivery */
    PAWL_HTTP_EVENT,
    PAWL_HTTP_TICK,
    PAWL_HTTP_WORK,     /* claim and answer jobs */
    PAWL_HTTP_DEFERRED, /* complete a deferred; the token in the target is the authorization */
    PAWL_HTTP_SCOPE_COUNT
};
PAWL_API const char *pawl_http_scope_name(enum pawl_http_scope scope); /* "open", "read", ... */

struct pawl_http_subject {
    const struct pawl_http_request *request; /* the built-in server asks before the body has arrived */
    enum pawl_http_scope scope;
    const char *workflow;    /* from the path, or else from the query; or NULL */
    const char *instance_id; /* or NULL */
    /* The permissions that the workflow requires of its callers (workflow.h); none if it is not registered.  Nothing
     * but this function checks them. */
    const char *const *permissions;
    size_t permission_count;
};

struct pawl_http_refusal {
    int status;            /* 401, 403, 429 ... */
    char code[64];         /* "UNAUTHORIZED" */
    char message[256];     /* for people */
    int32_t retry_after_s; /* 0: not said */
};

/* True: allowed.  False: refused with *out_refusal, which is preset to 403 FORBIDDEN.  Called from any thread. */
typedef bool pawl_http_authorize_fn(void *user, const struct pawl_http_subject *subject,
                                    struct pawl_http_refusal *out_refusal);

/* Bearer tokens, stored as hashes, for hosts that have no authorization of their own. */

enum { PAWL_TOKEN_SIZE = 64 }; /* of a new token's text with its NUL, at most */
enum { PAWL_TOKEN_LINE_SIZE = 1024 };

/* Makes a new token and the line to store for it: "name scope,scope sha256:hex", followed by
 * "permissions:admin,finance" if it has permissions (NULL: none).  Scopes: read, create, manage, event, tick, work. */
PAWL_API pawl_status pawl_token_make(const char *name, const char *scopes, const char *permissions,
                                     char out_token[PAWL_TOKEN_SIZE], char out_line[PAWL_TOKEN_LINE_SIZE],
                                     struct pawl_error *error) PAWL_MUST_CHECK;

PAWL_API pawl_tokens *pawl_tokens_new(void); /* NULL when memory is out */
PAWL_API void pawl_tokens_free(pawl_tokens *tokens);
/* Adds such a line.  Empty lines and lines that begin with # are skipped. */
PAWL_API pawl_status pawl_tokens_add(pawl_tokens *tokens, const char *line, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API size_t pawl_tokens_count(const pawl_tokens *tokens);
/* Limits the requests per second of each token, with bursts of the same number.  Further requests are answered 429.
 * 0: no limit. */
PAWL_API void pawl_tokens_limit(pawl_tokens *tokens, double requests_per_second);
/* A pawl_http_authorize_fn whose user pointer is the tokens.  A token must have the scope and every permission that
 * the workflow requires.  Open requests and those that complete a deferred need no token. */
PAWL_API bool pawl_tokens_authorize(void *tokens, const struct pawl_http_subject *subject,
                                    struct pawl_http_refusal *out_refusal);

/* ---- The handler ----------------------------------------------------------------------------------------------- */

struct pawl_http_options {
    size_t struct_size;
    const char *mount;                 /* "/api"; "" for none.  Copied */
    pawl_runner *runner;               /* or NULL.  For metrics and ticks; must outlive the handler */
    bool allow_tick;                   /* otherwise 403 RUNNER_TICK_DISABLED */
    pawl_http_authorize_fn *authorize; /* every request; NULL: all are allowed */
    /* Called after `authorize`, by what the request wants to do; NULL: allowed. */
    pawl_http_authorize_fn *authorize_scope[PAWL_HTTP_SCOPE_COUNT];
    void *authorize_user;
    const char *cors_origin;  /* "https://example.org" or "*"; NULL: no CORS.  Copied */
    int64_t body_bytes_max;   /* 0: 4 MiB */
    int64_t wait_ms_max;      /* of `result`, `execute` and `jobs/claim`; longer waits are shortened to it.  0: 60000 */
    int32_t streams_max;      /* at once; further ones are answered 503.  0: 4096 */
    int64_t heartbeat_ms;     /* how often a comment line is sent on a quiet stream.  0: 15000 */
    int64_t look_again_ms;    /* how often a waiting call looks for other processes' changes.  0: 1000 */
    pawl_runner *tick_runner; /* the runner to tick, because a started one cannot be; NULL: the runner above */
};
/* clang-format off */
#define PAWL_HTTP_OPTIONS_INIT { sizeof(struct pawl_http_options), NULL, NULL, false, NULL, \
                                 { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }, NULL, NULL, 0, 0, 0, 0, 0, NULL }
/* clang-format on */

PAWL_API pawl_status pawl_http_new(pawl_engine *engine, const struct pawl_http_options *options, pawl_http **out_http,
                                   struct pawl_error *error) PAWL_MUST_CHECK;
/* Call it after its calls are freed and before the engine is closed.  NULL is fine. */
PAWL_API void pawl_http_free(pawl_http *http);

/* Starts draining: from now on `health/ready` answers 503, and waiting calls and streams end at once. */
PAWL_API void pawl_http_drain(pawl_http *http);

/* Accepts a request, which is borrowed until the call is freed.  NULL: out of memory.  `ready` is called from any
 * thread, any number of times, until the call is freed; then call pawl_http_call_answer() or pawl_http_call_read()
 * again.  It may be called from within these, with a lock of Pawl's held.  So it must only note the fact, must not
 * call Pawl, and must not take a lock that its owner holds while calling Pawl.  Only one thread at a time may use a
 * call. */
PAWL_API pawl_http_call *pawl_http_call_new(pawl_http *http, const struct pawl_http_request *request,
                                            void (*ready)(void *user), void *user);
/* May be called at any time, even while the call waits.  A change that was submitted happens all the same.  If a
 * commit is under way, this waits for it. */
PAWL_API void pawl_http_call_free(pawl_http_call *call);

/* True: *out_response is the answer, or the head of a stream; borrowed until the call is freed.  False: not yet.
 * Ask again when `ready` was called, and at the latest at *out_again_at_ms (the engine's time; INT64_MAX: only after
 * `ready`). */
PAWL_API bool pawl_http_call_answer(pawl_http_call *call, const struct pawl_http_response **out_response,
                                    int64_t *out_again_at_ms);

enum pawl_http_read { PAWL_HTTP_READ_BYTES, PAWL_HTTP_READ_NOT_YET, PAWL_HTTP_READ_END };
/* The next bytes of a stream, borrowed until the next read. */
PAWL_API enum pawl_http_read pawl_http_call_read(pawl_http_call *call, const char **out_bytes, size_t *out_size,
                                                 int64_t *out_again_at_ms);

/* Answers a request in the calling thread and waits as long as it takes.  The response is copied into the scope.
 * Streams are answered 406.  Fails only with PAWL_NOMEM. */
PAWL_API pawl_status pawl_http_answer(pawl_http *http, pawl_scope *scope, const struct pawl_http_request *request,
                                      struct pawl_http_response *out_response) PAWL_MUST_CHECK;

/* An error body {"code", "message"} in the scope, for errors that a server reports itself, such as a request it
 * cannot parse. */
PAWL_API const char *pawl_http_error_body(pawl_scope *scope, const char *code, const char *message);

/* ---- The server ------------------------------------------------------------------------------------------------ */

struct pawl_http_server_options {
    size_t struct_size;
    /* "127.0.0.1:7295", "[::1]:7295", ":7295" (all addresses), "unix:/run/pawl.sock".  Port 0: a free one. */
    const char *listen;
    const char *tls_cert; /* PEM files; both or neither.  TLS 1.3, and 1.2 with ECDHE and AEAD ciphers */
    const char *tls_key;
    int32_t threads;             /* 0: one per processor, 2 to 8; and half as many for slow answers */
    int32_t connections_max;     /* 0: 8192.  Never more than the process's descriptor limit minus 128 */
    int64_t request_ms_max;      /* how long a client may take to send headers and body.  0: 30000 */
    int64_t idle_ms_max;         /* how long a connection may be idle between requests.  0: 120000 */
    int64_t header_bytes_max;    /* request line and headers; each connection may hold this much.  0: 8 KiB */
    bool tls_allow_readable_key; /* otherwise a tls_key that everybody on the machine may read is refused */
};
#define PAWL_HTTP_SERVER_OPTIONS_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(struct pawl_http_server_options), NULL, NULL, NULL, 0, 0, 0, 0, 0, false                                \
    }

/* The server listens when this returns.  The handler must outlive it. */
PAWL_API pawl_status pawl_http_server_start(pawl_http *http, const struct pawl_http_server_options *options,
                                            pawl_http_server **out_server, struct pawl_error *error) PAWL_MUST_CHECK;
/* The port it listens at; 0 for a Unix socket. */
PAWL_API int pawl_http_server_port(const pawl_http_server *server);
/* Accepts no more connections, answers the requests under way for at most drain_ms, then closes.  Call
 * pawl_http_drain() first, so that waits and streams end.  NULL is fine. */
PAWL_API void pawl_http_server_stop(pawl_http_server *server, int64_t drain_ms);

#ifdef __cplusplus
}
#endif
#endif
