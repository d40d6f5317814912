/* connection_exchange.c - see connection_exchange.h.
 *
 * A request goes through two stages.  In STAGE_HEADERS, take_headers() refuses what is too large or framed
 * ambiguously, and admits the call if it has a body.  In STAGE_BODY, add_to_body() collects the body, and ask() asks
 * the call for its answer.  If the call is not answered yet, the connection is suspended and libmicrohttpd calls
 * pw_exchange_handle() again once it is resumed.
 *
 * Danger: while a reader has the call (is_handed_over), the worker must neither touch the call nor let libmicrohttpd
 * run the connection.  pw_exchange_sleeps_on() guards that. */
#include "http/connection_exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/call.h"
#include "http/connection.h"
#include "http/handler.h"

/* A larger answer is sent in blocks, so that it shows whether the client reads them. */
enum { WHOLE_BYTES_MAX = 128 * 1024, BLOCK_BYTES = 32 * 1024 };
/* What libmicrohttpd allocates for each header besides its text. */
enum { HEADER_OVERHEAD_BYTES = 64 };
/* Block size of streams to HTTP/1.0 clients.  Other clients get what fits into the connection's memory. */
enum { STREAM_BLOCK_BYTES = 128 };
enum { BODY_BYTES_FIRST = 512 };
/* A longer body is kept only once the target is known to exist. */
enum { UNCONFIRMED_BYTES_MAX = 16 * 1024 };
/* Unwanted bodies up to this size are drained so that the connection can be reused. */
enum { DROPPED_BYTES_MAX = 64 * 1024 };

enum stage { STAGE_HEADERS, STAGE_BODY };

struct pw_exchange {
    struct pw_connection *connection;
    int holders; /* references: the request's and its answer's */
    enum stage stage;
    bool is_too_large;        /* the body is; the rest of it is dropped */
    bool is_over_budget;      /* the memory budget refuses the body; the rest of it is dropped */
    bool is_looked_up;        /* the target was looked up, or a reader is doing it */
    bool is_confirmed;        /* it is known whether the target exists */
    bool drops_body;          /* the body is not wanted */
    bool is_handed_over;      /* to a reader; the connection sleeps until the reader is done */
    bool is_taken_back;       /* no reader was free in time */
    int64_t patient_until_ms; /* when to take it back, in engine time; INT64_MAX: a reader has begun */
    struct pw_reading reading;
    pawl_http_call *call;
    struct pawl_http_request request;
    struct pawl_http_header *headers; /* libmicrohttpd owns the texts until the answer is sent */
    char *body;
    size_t body_size, body_room;
    const char *unsent; /* of a stream: the bytes that did not fit; of a large answer: its body */
    size_t unsent_size;
    char target[];
};

/* ---- Beginning and ending ------------------------------------------------------------------------------------------ */

void *pw_exchange_begin(void *user, const char *target, struct MHD_Connection *mhd)
{
    struct pw_worker *worker = user;
    struct pw_connection *connection = pw_connection_of(mhd);
    pw_worker_moved(worker);
    if (target == NULL)
        target = "";
    size_t target_size = strlen(target);
    struct pw_exchange *exchange = connection != NULL ? calloc(1, sizeof *exchange + target_size + 1) : NULL;
    if (exchange == NULL)
        return NULL; /* pw_exchange_handle() refuses it */
    memcpy(exchange->target, target, target_size + 1);
    exchange->connection = connection;
    exchange->holders = 1;
    exchange->request = (struct pawl_http_request)PAWL_HTTP_REQUEST_INIT;
    exchange->request.target = exchange->target;
    exchange->request.peer = connection->peer;
    connection->exchange = exchange;
    if (connection->has_asked) /* the first request's time began when the connection opened */
        pw_connection_expect(connection, worker->server->options.request_ms_max);
    return exchange;
}

size_t pw_exchange_unescape(void *user, struct MHD_Connection *mhd, char *text)
{
    (void)user, (void)mhd;
    return strlen(text);
}

static void let_go(void *user)
{
    struct pw_exchange *exchange = user;
    if (--exchange->holders > 0)
        return;
    if (exchange->call != NULL)
        pawl_http_call_free(exchange->call);
    free(exchange->headers);
    free(exchange->body);
    free(exchange);
}

void pw_exchange_end(struct pw_exchange *exchange)
{
    struct pw_connection *connection = exchange->connection;
    connection->exchange = NULL;
    connection->has_asked = true;
    connection->awaits_request = true;
    pw_connection_expect(connection, connection->worker->server->options.idle_ms_max);
    pw_idle_set(connection, PW_IDLE);
    let_go(exchange);
}

void pw_exchange_completed(void *user, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
{
    (void)mhd, (void)code;
    pw_worker_moved(user);
    if (*context != NULL)
        pw_exchange_end(*context);
    *context = NULL;
}

/* ---- Waiting ------------------------------------------------------------------------------------------------------- */

static void resume_at_once(struct pw_connection *connection)
{
    MHD_resume_connection(connection->mhd);
    connection->worker->must_run = true;
}

/* Suspends the connection until its call has news, or until wake_at_ms. */
static void put_aside(struct pw_connection *connection, int64_t wake_at_ms)
{
    MHD_suspend_connection(connection->mhd);
    if (!pw_waker_sleep(&connection->worker->waker, &connection->sleeper, wake_at_ms))
        resume_at_once(connection);
}

/* Called by threads of the engine and by readers, with their locks held, so it only notifies the waker. */
static void note_news(void *user)
{
    struct pw_connection *connection = user;
    pw_waker_tell(&connection->worker->waker, &connection->sleeper);
}

/* ---- Readers ------------------------------------------------------------------------------------------------------- */

static void note_read(struct pw_reading *reading)
{
    struct pw_exchange *exchange = (struct pw_exchange *)((char *)reading - offsetof(struct pw_exchange, reading));
    note_news(exchange->connection);
}

static void read_answer(pawl_http_call *call)
{
    const struct pawl_http_response *answer;
    int64_t again_at_ms;
    (void)pawl_http_call_answer(call, &answer, &again_at_ms);
}

/* True while a reader has the call.  Takes the call back if it has waited too long for a reader. */
static bool is_with_reader(struct pw_exchange *exchange)
{
    pawl_http_server *server = exchange->connection->worker->server;
    if (exchange->is_handed_over)
        exchange->is_handed_over = pw_readers_have(&server->readers, &exchange->reading);
    if (exchange->is_handed_over && pawl_now_ms(server->http->engine) >= exchange->patient_until_ms) {
        exchange->is_taken_back = pw_readers_take_back(&server->readers, &exchange->reading);
        exchange->is_handed_over = !exchange->is_taken_back;
        exchange->patient_until_ms = INT64_MAX; /* a reader that has begun also ends it */
    }
    return exchange->is_handed_over;
}

bool pw_exchange_sleeps_on(struct pw_exchange *exchange)
{
    struct pw_connection *connection = exchange->connection;
    if (!exchange->is_handed_over)
        return false;
    do {
        pw_sleeper_begin(&connection->sleeper);
        if (!is_with_reader(exchange))
            return false;
    } while (!pw_waker_sleep(&connection->worker->waker, &connection->sleeper, exchange->patient_until_ms));
    return true;
}

/* Gives the call to a reader.  The connection sleeps until the reader is done, even if there is other news.  Returns
 * false if too many calls wait for readers. */
static bool hand_over(struct pw_exchange *exchange, void (*carry)(pawl_http_call *call))
{
    struct pw_connection *connection = exchange->connection;
    pawl_http_server *server = connection->worker->server;
    exchange->reading = (struct pw_reading){ .call = exchange->call, .carry = carry, .done = note_read };
    exchange->patient_until_ms = pawl_now_ms(server->http->engine) + PW_READING_MS_MAX;
    exchange->is_handed_over = pw_readers_hand_over(&server->readers, &exchange->reading);
    if (!exchange->is_handed_over)
        return false;
    MHD_suspend_connection(connection->mhd);
    if (!pw_exchange_sleeps_on(exchange))
        resume_at_once(connection);
    return true;
}

/* True once after the call was taken back because no reader was free. */
static bool was_taken_back(struct pw_exchange *exchange)
{
    bool was = exchange->is_taken_back;
    exchange->is_taken_back = false;
    return was;
}

/* ---- Answering ----------------------------------------------------------------------------------------------------- */

/* Looks for more events of a stream if it is time.  Returns false if a reader does it. */
static bool look_for_more(struct pw_exchange *exchange)
{
    bool is_remote = exchange->connection->worker->server->http->store_is_remote;
    bool is_refused = was_taken_back(exchange);
    if (!is_refused && !pw_http_stream_is_due(exchange->call))
        return true;
    if (!is_refused && is_remote && hand_over(exchange, pw_http_stream_look))
        return false;
    if (is_refused || is_remote)
        pw_http_stream_skip(exchange->call);
    else
        pw_http_stream_look(exchange->call);
    return true;
}

static ssize_t read_stream(void *user, uint64_t position, char *buffer, size_t size)
{
    struct pw_exchange *exchange = user;
    struct pw_connection *connection = exchange->connection;
    (void)position;
    pw_worker_moved(connection->worker);
    if (exchange->unsent_size == 0) {
        int64_t again_at_ms = INT64_MAX;
        pw_sleeper_begin(&connection->sleeper);
        if (!look_for_more(exchange)) {
            pw_connection_expect(connection, INT64_MAX);
            return 0;
        }
        switch (pw_http_stream_read(exchange->call, &exchange->unsent, &exchange->unsent_size, &again_at_ms)) {
        case PAWL_HTTP_READ_END:
            pw_connection_expect(connection, connection->worker->server->options.request_ms_max);
            return MHD_CONTENT_READER_END_OF_STREAM;
        case PAWL_HTTP_READ_NOT_YET:
            exchange->unsent_size = 0;
            if (!pw_connection_is_there(connection)) /* libmicrohttpd would only notice at the next write */
                return MHD_CONTENT_READER_END_WITH_ERROR;
            pw_connection_expect(connection, INT64_MAX);
            put_aside(connection, again_at_ms);
            return 0;
        case PAWL_HTTP_READ_BYTES:
            break;
        }
    }
    size_t taken = exchange->unsent_size < size ? exchange->unsent_size : size;
    memcpy(buffer, exchange->unsent, taken);
    exchange->unsent += taken;
    exchange->unsent_size -= taken;
    /* libmicrohttpd calls again when the client has taken these bytes. */
    pw_connection_expect(connection, connection->worker->server->options.request_ms_max);
    return (ssize_t)taken;
}

/* Gives libmicrohttpd the next block of a large answer. */
static ssize_t read_body(void *user, uint64_t position, char *buffer, size_t size)
{
    struct pw_exchange *exchange = user;
    size_t left = exchange->unsent_size - (size_t)position;
    size_t taken = left < size ? left : size;
    memcpy(buffer, exchange->unsent + position, taken);
    pw_worker_moved(exchange->connection->worker);
    pw_connection_expect(exchange->connection, exchange->connection->worker->server->options.request_ms_max);
    return (ssize_t)taken;
}

/* Consumes the response.  It may be NULL, which means that there was no memory. */
static enum MHD_Result send_response(struct pw_connection *connection, int status, struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    if (atomic_load(&connection->worker->server->is_draining) || connection->lingers)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    connection->awaits_request = false;
    pw_idle_set(connection, PW_NOT_IDLE);
    pw_connection_expect(connection, connection->worker->server->options.request_ms_max);
    pw_connection_hold(connection);
    enum MHD_Result result = MHD_queue_response(connection->mhd, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

/* The response borrows the call's body, so it holds a reference to the exchange. */
static struct MHD_Response *make_response(struct pw_exchange *exchange, const struct pawl_http_response *answer)
{
    bool is_head = strcmp(exchange->request.method, MHD_HTTP_METHOD_HEAD) == 0;
    if (is_head && answer->head_size > 0) /* its callback is never called */
        return MHD_create_response_from_callback(answer->head_size, BLOCK_BYTES, read_body, exchange, let_go);
    if (answer->is_stream || is_head) {
        struct MHD_Response *response =
            MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, exchange, let_go);
        /* The length that GET of a stream would have is unknown.  Without a length libmicrohttpd would send the end
         * of a chunked body, which an answer to HEAD must not have.  So the connection is closed instead. */
        if (response != NULL && is_head)
            (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
        return response;
    }
    if (answer->body_size <= WHOLE_BYTES_MAX)
        return MHD_create_response_from_buffer_with_free_callback_cls(
            answer->body_size, (void *)(uintptr_t)answer->body, let_go, exchange);
    exchange->unsent = answer->body;
    exchange->unsent_size = answer->body_size;
    return MHD_create_response_from_callback(answer->body_size, BLOCK_BYTES, read_body, exchange, let_go);
}

static enum MHD_Result send_answer(struct pw_exchange *exchange, const struct pawl_http_response *answer)
{
    struct MHD_Response *response = make_response(exchange, answer);
    if (response == NULL)
        return MHD_NO;
    exchange->holders++;
    for (size_t i = 0; i < answer->header_count; i++)
        (void)MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
    return send_response(exchange->connection, answer->status, response);
}

/* Answers a request that the handler never sees. */
static enum MHD_Result refuse(struct pw_exchange *exchange, enum pw_refusal refusal)
{
    static const int statuses[PW_REFUSAL_COUNT] = {
        [PW_REFUSE_BODY] = MHD_HTTP_CONTENT_TOO_LARGE,
        [PW_REFUSE_HEADERS] = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
        [PW_REFUSE_FRAMING] = MHD_HTTP_BAD_REQUEST,
        [PW_REFUSE_HOST] = MHD_HTTP_BAD_REQUEST,
        [PW_REFUSE_MEMORY] = MHD_HTTP_SERVICE_UNAVAILABLE,
        [PW_REFUSE_BUDGET] = MHD_HTTP_SERVICE_UNAVAILABLE,
    };
    struct pw_connection *connection = exchange->connection;
    const char *origin = connection->worker->server->http->options.cors_origin;
    const char *body = connection->worker->server->refusals[refusal];
    if (exchange->stage == STAGE_HEADERS)
        connection->lingers = true;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(body), (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);
    if (response != NULL) {
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_X_CONTENT_TYPE_OPTIONS, "nosniff");
        if (origin != NULL)
            (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if (statuses[refusal] == MHD_HTTP_SERVICE_UNAVAILABLE)
            (void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    }
    return send_response(connection, statuses[refusal], response);
}

/* ---- Asking -------------------------------------------------------------------------------------------------------- */

static pawl_http_call *call_of(struct pw_exchange *exchange)
{
    struct pw_connection *connection = exchange->connection;
    if (exchange->call == NULL)
        exchange->call =
            pawl_http_call_new(connection->worker->server->http, &exchange->request, note_news, connection);
    return exchange->call;
}

/* Returns false if a reader carries the call on. */
static bool carry_on(struct pw_exchange *exchange)
{
    bool is_refused = was_taken_back(exchange);
    if (!is_refused && !pw_http_call_is_due(exchange->call))
        return true;
    if (!is_refused && !pw_http_call_asks_store(exchange->call))
        read_answer(exchange->call);
    else if (!is_refused && hand_over(exchange, read_answer))
        return false;
    else
        pw_http_call_go_without_store(exchange->call);
    return true;
}

static enum MHD_Result ask(struct pw_exchange *exchange)
{
    struct pw_connection *connection = exchange->connection;
    const struct pawl_http_response *answer;
    int64_t again_at_ms = INT64_MAX;
    connection->awaits_request = false;
    pw_idle_set(connection, PW_NOT_IDLE);
    pw_connection_expect(connection, INT64_MAX);
    pw_sleeper_begin(&connection->sleeper);
    exchange->request.body = exchange->body;
    exchange->request.body_size = exchange->drops_body ? 0 : exchange->body_size;
    if (call_of(exchange) == NULL)
        return refuse(exchange, PW_REFUSE_MEMORY);
    if (pw_http_call_takes(exchange->call) && !pw_connection_is_there(connection))
        return MHD_NO;
    if (!carry_on(exchange))
        return MHD_YES;
    if (pw_http_call_look(exchange->call, &answer, &again_at_ms))
        return send_answer(exchange, answer);
    put_aside(connection, again_at_ms);
    return MHD_YES;
}

/* ---- Taking a request in ------------------------------------------------------------------------------------------- */

/* How the request says where its body ends.  A request that can be understood in two ways is refused, because a
 * proxy in front of us may have understood it the other way (request smuggling). */
struct framing {
    int lengths, encodings;
    bool is_chunked;
    bool is_odd; /* has a header that libmicrohttpd and others read differently */
    uint64_t length;
};

struct gathering {
    struct pawl_http_header *headers;
    size_t count;
    int hosts;
    struct framing framing;
};

/* libmicrohttpd (0.9.75) keeps blanks before the colon as part of the name. */
static bool is_name(const char *name)
{
    while ((unsigned char)*name > ' ' && *name != '\x7f' && *name != ':')
        name++;
    return *name == '\0';
}

/* libmicrohttpd (0.9.75) appends the second line of a folded header to the name of the first, not to its value:
 * "Content-Length13".  Even "Content-Leng: 13" followed by " th" becomes a header that was never sent.  It copies
 * the name when it does that, so a folded header is found by its name lying behind its value in memory. */
static bool is_folded(const char *name, const char *value)
{
    return value == NULL || (uintptr_t)value <= (uintptr_t)name;
}

static bool is_lengthened(const char *name, const char *known)
{
    size_t size = strlen(known);
    return strncasecmp(name, known, size) == 0 && name[size] != '\0';
}

static bool is_digits(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static void look_at_framing(struct framing *framing, const char *name, const char *value)
{
    if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        framing->lengths++;
        framing->length = strtoull(value, NULL, 10);
        framing->is_odd |= !is_digits(value);
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        framing->encodings++;
        framing->is_chunked = strcasecmp(value, "chunked") == 0;
    } else if (!is_name(name) || is_lengthened(name, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
               is_lengthened(name, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        framing->is_odd = true;
    }
}

/* HTTP/1.0 has no chunked bodies. */
static bool is_sound(const struct framing *framing, const char *version)
{
    if (framing->is_odd || framing->lengths + framing->encodings > 1)
        return false;
    return framing->encodings == 0 || (framing->is_chunked && strcmp(version, MHD_HTTP_VERSION_1_1) == 0);
}

/* With two Host headers a proxy could pick the other one.  HTTP/1.0 requires none. */
static bool has_right_hosts(int hosts, const char *version)
{
    return hosts == 1 || (hosts == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) == 0);
}

static enum MHD_Result gather(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct gathering *gathering = user;
    (void)kind;
    gathering->framing.is_odd |= is_folded(name, value);
    if (value == NULL)
        value = "";
    gathering->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    gathering->headers[gathering->count++] = (struct pawl_http_header){ name, value };
    look_at_framing(&gathering->framing, name, value);
    return MHD_YES;
}

/* A body costs memory.  So a request that is refused is answered before its body arrives, and a body that no route
 * reads is not kept. */
static enum MHD_Result admit(struct pw_exchange *exchange, const struct framing *framing)
{
    if (call_of(exchange) == NULL)
        return refuse(exchange, PW_REFUSE_MEMORY);
    bool is_admitted = pw_http_call_admit(exchange->call);
    exchange->drops_body = !is_admitted || !pw_http_call_reads_body(exchange->call);
    if (!is_admitted && (framing->is_chunked || framing->length > DROPPED_BYTES_MAX)) {
        exchange->connection->lingers = true;
        return ask(exchange);
    }
    exchange->stage = STAGE_BODY;
    return MHD_YES;
}

static enum MHD_Result take_headers(struct pw_exchange *exchange, const char *method, const char *version)
{
    struct pw_connection *connection = exchange->connection;
    pawl_http_server *server = connection->worker->server;
    struct gathering gathering = { .headers = NULL };
    size_t count = (size_t)MHD_get_connection_values(connection->mhd, MHD_HEADER_KIND, NULL, NULL);
    size_t size = MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    if (size + count * HEADER_OVERHEAD_BYTES > (size_t)server->options.header_bytes_max)
        return refuse(exchange, PW_REFUSE_HEADERS);
    exchange->headers = gathering.headers = calloc(count + 1, sizeof gathering.headers[0]);
    if (gathering.headers == NULL)
        return refuse(exchange, PW_REFUSE_MEMORY);
    (void)MHD_get_connection_values(connection->mhd, MHD_HEADER_KIND, gather, &gathering);
    exchange->request.method = method;
    exchange->request.headers = gathering.headers;
    exchange->request.header_count = gathering.count;
    if (!is_sound(&gathering.framing, version))
        return refuse(exchange, PW_REFUSE_FRAMING);
    if (!has_right_hosts(gathering.hosts, version))
        return refuse(exchange, PW_REFUSE_HOST);
    if (gathering.framing.length > (uint64_t)server->http->options.body_bytes_max)
        return refuse(exchange, PW_REFUSE_BODY);
    bool has_body = gathering.framing.is_chunked || gathering.framing.length > 0;
    pw_idle_set(connection, has_body ? PW_IDLE_IN_BODY : PW_NOT_IDLE);
    if (has_body)
        return admit(exchange, &gathering.framing);
    exchange->stage = STAGE_BODY;
    return MHD_YES;
}

/* Frees the body and drops what still arrives.  It must be read all the same, because libmicrohttpd takes no answer
 * before its end. */
static void drop_body(struct pw_exchange *exchange)
{
    if (exchange->body_room > 0)
        pw_http_call_give_back(exchange->call, pw_http_weight(exchange->body_room));
    free(exchange->body);
    exchange->body = NULL;
    exchange->body_room = 0;
    exchange->drops_body = true;
}

/* Looks up what the target names before much of the body is kept.  Returns false if a reader does it. */
static bool look_up(struct pw_exchange *exchange)
{
    struct pw_connection *connection = exchange->connection;
    bool is_remote = connection->worker->server->http->store_is_remote;
    bool is_begun = exchange->is_looked_up;
    exchange->is_looked_up = true;
    if (!is_begun && !is_remote) {
        pw_http_call_confirm(exchange->call);
    } else if (!is_begun && hand_over(exchange, pw_http_call_confirm)) {
        pw_idle_set(connection, PW_NOT_IDLE);
        pw_connection_expect(connection, INT64_MAX);
        return false;
    } else if (!is_begun || was_taken_back(exchange)) {
        pw_http_call_go_without_store(exchange->call);
    }
    if (pw_http_call_is_answered(exchange->call))
        drop_body(exchange);
    return true;
}

/* Returns false while a reader finds out whether the body is to be kept. */
static bool may_go_on(struct pw_exchange *exchange, size_t more)
{
    struct pw_connection *connection = exchange->connection;
    bool is_much = exchange->body_size + more > UNCONFIRMED_BYTES_MAX;
    if (exchange->is_confirmed || exchange->drops_body || !is_much)
        return true;
    exchange->is_confirmed = !pw_http_call_needs_confirming(exchange->call) || look_up(exchange);
    if (exchange->is_confirmed && connection->idle == PW_NOT_IDLE) { /* it is the client's turn again */
        pw_idle_set(connection, PW_IDLE_IN_BODY);
        pw_connection_expect(connection, connection->worker->server->options.request_ms_max);
    }
    return exchange->is_confirmed;
}

/* Makes room for `size` bytes.  Returns false without memory.  If the memory budget refuses it, the body is dropped
 * instead. */
static bool make_room(struct pw_exchange *exchange, size_t size)
{
    size_t room = exchange->body_room > 0 ? exchange->body_room : BODY_BYTES_FIRST;
    while (room < size)
        room *= 2;
    if (room == exchange->body_room)
        return true;
    size_t more = pw_http_weight(room) - pw_http_weight(exchange->body_room);
    if (!pw_http_call_hold(exchange->call, more)) {
        exchange->is_over_budget = true;
        drop_body(exchange);
        return true;
    }
    char *body = realloc(exchange->body, room);
    if (body == NULL) {
        pw_http_call_give_back(exchange->call, more);
        return false;
    }
    exchange->body = body;
    exchange->body_room = room;
    return true;
}

/* Returns false without memory. */
static bool add_to_body(struct pw_exchange *exchange, const char *data, size_t size)
{
    if (exchange->is_too_large)
        return true;
    if (size > (size_t)exchange->connection->worker->server->http->options.body_bytes_max - exchange->body_size) {
        drop_body(exchange);
        exchange->is_too_large = true;
        return true;
    }
    if (!exchange->drops_body && !make_room(exchange, exchange->body_size + size))
        return false;
    if (!exchange->drops_body)
        memcpy(exchange->body + exchange->body_size, data, size);
    exchange->body_size += size;
    return true;
}

enum MHD_Result pw_exchange_handle(void *user, struct MHD_Connection *mhd, const char *path, const char *method,
                                   const char *version, const char *data, size_t *data_size, void **context)
{
    struct pw_exchange *exchange = *context;
    (void)mhd, (void)path;
    pw_worker_moved(user);
    if (exchange == NULL)
        return MHD_NO;
    if (exchange->stage == STAGE_HEADERS)
        return take_headers(exchange, method, version);
    if (*data_size > 0) {
        if (!may_go_on(exchange, *data_size))
            return MHD_YES; /* libmicrohttpd offers these bytes again */
        if (!add_to_body(exchange, data, *data_size))
            return MHD_NO;
        *data_size = 0;
        return MHD_YES;
    }
    if (exchange->is_too_large)
        return refuse(exchange, PW_REFUSE_BODY);
    return exchange->is_over_budget ? refuse(exchange, PW_REFUSE_BUDGET) : ask(exchange);
}
