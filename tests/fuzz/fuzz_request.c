/* fuzz_request.c - requests from outside, through the handler, against an engine with some instances and hooks.
 *
 * The input is as on the wire, but for the version: "POST /api/workflows", lines of headers, an empty line, and the body.
 *
 * There is an answer, never 500 and, since the store is well, never 503; its headers are clean; its body is JSON but of
 * 204, HEAD, streams and metrics; an error says its code and a message; a stream is made of whole events with JSON. */
#include <stdio.h>

#include "fuzz_store.h"
#include "pawl/http.h"

enum { HEADERS_MAX = 16, ROUNDS_MAX = 200, READS_MAX = 64 };

struct world {
    struct fuzz_store store;
    pawl_http *http;
};

static pawl_status deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    (void)delivery;
    (void)user;
    (void)error;
    return PAWL_OK;
}

static struct world *shared_world(void)
{
    static struct world world;
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_hook hook = PAWL_HOOK_INIT;
    if (world.http != NULL)
        return &world;
    hook.name = "h";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = deliver;
    options.cors_origin = "https://example.org";
    pawl_status status = fuzz_store_open(&world.store, "sqlite::memory:");
    if (status == PAWL_OK)
        status = pawl_hook_register(world.store.engine, &hook, NULL);
    assert(status == PAWL_OK);
    fuzz_store_populate(&world.store);
    fuzz_store_populate_linked(&world.store);
    fuzz_store_save(&world.store);
    status = pawl_http_new(world.store.engine, &options, &world.http, NULL);
    assert(status == PAWL_OK);
    return &world;
}

/* ---- The request ------------------------------------------------------------------------------------------------------- */

struct request {
    struct pawl_http_request given;
    struct pawl_http_header headers[HEADERS_MAX];
    char *texts[2 * HEADERS_MAX + 3]; /* to be freed */
    size_t text_count;
};

static const char *keep(struct request *request, struct pw_text text)
{
    char *copy = fuzz_string(text);
    request->texts[request->text_count++] = copy;
    return copy;
}

/* Up to the byte, which is passed over. */
static struct pw_text cut(struct pw_text *from, char at)
{
    const char *found = from->size > 0 ? memchr(from->data, at, from->size) : NULL;
    struct pw_text part = { from->data, found != NULL ? (size_t)(found - from->data) : from->size };
    size_t taken = found != NULL ? part.size + 1 : part.size;
    from->data += taken;
    from->size -= taken;
    return part;
}

static void read_request(struct fuzz_input *input, struct request *request)
{
    struct pawl_http_request *given = &request->given;
    struct pw_text line = fuzz_line(input);
    *request = (struct request){ .given = PAWL_HTTP_REQUEST_INIT };
    given->method = keep(request, cut(&line, ' '));
    given->target = keep(request, line);
    for (line = fuzz_line(input); line.size > 0; line = fuzz_line(input)) {
        if (given->header_count == HEADERS_MAX)
            continue;
        struct pawl_http_header *header = &request->headers[given->header_count++];
        header->name = keep(request, cut(&line, ':'));
        header->value = keep(
            request, line.size > 0 && line.data[0] == ' ' ? (struct pw_text){ line.data + 1, line.size - 1 } : line);
    }
    struct pw_text body = fuzz_rest(input);
    given->headers = request->headers;
    given->body = body.data;
    given->body_size = body.size;
    given->peer = "127.0.0.1";
}

static void free_request(struct request *request)
{
    while (request->text_count > 0)
        free(request->texts[--request->text_count]);
}

/* ---- The answer -------------------------------------------------------------------------------------------------------- */

static const char *header_of(const struct pawl_http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return "";
}

static void check_headers(const struct pawl_http_response *response)
{
    for (size_t i = 0; i < response->header_count; i++) {
        const char *texts[] = { response->headers[i].name, response->headers[i].value };
        assert(texts[0][0] != '\0');
        for (size_t j = 0; j < 2; j++)
            for (const char *at = texts[j]; *at != '\0'; at++)
                assert(*at >= ' ' && *at <= '~');
    }
}

static bool is_known(int status)
{
    static const int known[] = { 200, 202, 204, 400, 401, 403, 404, 405, 406, 409, 413, 415, 429 };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i] == status)
            return true;
    }
    return false;
}

static void check_body(const struct pawl_http_response *response, bool is_head)
{
    const char *type = header_of(response, "Content-Type");
    assert(response->body != NULL && response->body[response->body_size] == '\0');
    if (is_head || response->status == 204 || strcmp(type, "application/json") != 0) {
        assert((!is_head && response->status != 204) || response->body_size == 0);
        assert(response->status < 400 || strcmp(type, "application/json") == 0);
        return;
    }
    pawl_scope *scope = pawl_scope_new();
    pawl_value *body = NULL;
    assert(scope != NULL);
    pawl_status status = pawl_value_parse(scope, response->body, response->body_size, &body, NULL);
    assert(status == PAWL_OK && pawl_value_kind(body, NULL) == PAWL_KIND_OBJECT);
    if (response->status >= 400) {
        assert(pawl_value_size(body, "code") > 0 && pawl_value_size(body, "message") > 0);
        assert(pawl_value_kind(body, "issues") == PAWL_KIND_NONE || pawl_value_size(body, "issues") > 0);
    }
    pawl_scope_free(scope);
}

static bool begins(struct pw_text line, const char *with)
{
    return line.size >= strlen(with) && memcmp(line.data, with, strlen(with)) == 0;
}

/* "data: {...}" and the like, line by line. */
static void check_events(const char *bytes, size_t size)
{
    struct pw_text left = { bytes, size };
    assert(size >= 2 && memcmp(bytes + size - 2, "\n\n", 2) == 0 && memchr(bytes, '\r', size) == NULL);
    while (left.size > 0) {
        struct pw_text line = cut(&left, '\n');
        if (begins(line, "data: ")) {
            pawl_status status = pawl_json_check(line.data + 6, line.size - 6, 0, NULL);
            assert(status == PAWL_OK);
        } else {
            assert(line.size == 0 || begins(line, ":") || begins(line, "id: ") || begins(line, "event: ") ||
                   begins(line, "retry: "));
        }
    }
}

static void read_stream(struct world *world, pawl_http_call *call)
{
    enum pawl_http_read how = PAWL_HTTP_READ_BYTES;
    for (int reads = 0; how == PAWL_HTTP_READ_BYTES || reads < 4; reads++) {
        const char *bytes = NULL;
        size_t size = 0;
        int64_t again_at_ms = 0;
        how = pawl_http_call_read(call, &bytes, &size, &again_at_ms);
        assert(reads < READS_MAX);
        if (how == PAWL_HTTP_READ_END)
            break;
        if (how == PAWL_HTTP_READ_BYTES)
            check_events(bytes, size);
        else
            world->store.now_ms = again_at_ms;
    }
}

/* ---- Both -------------------------------------------------------------------------------------------------------------- */

static void answer(struct world *world, const struct pawl_http_request *request)
{
    const struct pawl_http_response *response = NULL;
    int64_t again_at_ms = 0;
    pawl_http_call *call = pawl_http_call_new(world->http, request, NULL, NULL);
    assert(call != NULL);
    for (int rounds = 0; !pawl_http_call_answer(call, &response, &again_at_ms); rounds++) {
        assert(rounds < ROUNDS_MAX && again_at_ms > world->store.now_ms && again_at_ms < INT64_MAX);
        world->store.now_ms = again_at_ms; /* a result is waited for */
    }
    bool is_head = strcmp(request->method, "HEAD") == 0;
    /* Ready waits for a thread that looks at the store, and simulated time may be faster than that thread. */
    bool is_late = response->status == 503 && !is_head && strstr(response->body, "has not answered for") != NULL;
    if (!is_known(response->status) && !is_late)
        (void)fprintf(stderr, "%d: %s\n", response->status, response->body);
    assert(is_known(response->status) || is_late || (is_head && response->status == 503));
    check_headers(response);
    check_body(response, is_head);
    if (response->is_stream)
        read_stream(world, call);
    pawl_http_call_free(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct world *world = shared_world();
    struct request request;
    read_request(&input, &request);
    answer(world, &request.given);
    if (strcmp(request.given.method, "POST") == 0)
        fuzz_store_restore(&world->store);
    world->store.now_ms = world->store.saved_ms;
    free_request(&request);
    return 0;
}
