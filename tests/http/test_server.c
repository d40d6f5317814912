/* test_server.c - requests over sockets: kept connections, pipelines, bodies in pieces, calls that wait, streams. */
#include "serving.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Closes and opens again, with other options. */
static void reopen(struct serving *serving, const struct pawl_http_options *http_options,
                   const struct pawl_http_server_options *options)
{
    serving_close(serving);
    serving_open(serving, http_options, options);
}

static void send_go(struct serving *serving, const char *id)
{
    running_send(&serving->running, "waits", id, "go", NULL);
}

/* ---- Connections and requests ---------------------------------------------------------------------------------------- */

TEST_OF(serving, a_kept_connection_takes_many_requests)
{
    struct client client;
    struct answer answer = { 0 };
    char target[80], body[40];
    client_open(&client, serving);
    for (int i = 0; i < 50; i++) {
        snprintf(body, sizeof body, "{\"id\":\"run-%d\"}", i);
        snprintf(target, sizeof target, "/api/workflows/quick/instances/run-%d/result?waitMs=20000", i);
        client_ask(&client, "/api/workflows/quick/instances", body);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        assert_true(answer.is_json);
        client_ask(&client, target, NULL);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        assert_non_null(strstr(answer.body, "\"output\":{\"ok\":true}"));
    }
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, pipelined_requests_are_answered_in_their_order)
{
    enum { COUNT = 20 };
    struct client client;
    struct answer answer = { 0 };
    char body[40], wanted[40];
    client_open(&client, serving);
    for (int i = 0; i < COUNT; i++) {
        snprintf(body, sizeof body, "{\"id\":\"run-%d\"}", i);
        client_ask(&client, "/api/workflows/quick/instances", body);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(wanted, sizeof wanted, "{\"id\":\"run-%d\"", i);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        assert_memory_equal(answer.body, wanted, strlen(wanted));
    }
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, a_request_may_come_byte_by_byte)
{
    static const char request[] = "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\n"
                                  "Content-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"id\":\"piece\"}";
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    for (size_t i = 0; i < sizeof request - 1; i++)
        client_send_bytes(&client, &request[i], 1);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_memory_equal(answer.body, "{\"id\":\"piece\"", 13);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, a_chunked_body_is_put_together)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_send(&client,
                "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                "Transfer-Encoding: chunked\r\n\r\n");
    client_send(&client, "5\r\n{\"id\"\r\n");
    client_send(&client, "1;and=more\r\n:\r\n");
    client_send(&client, "A\r\n\"chunked\"}\r\n0\r\nTrailer: ignored\r\n\r\n");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_memory_equal(answer.body, "{\"id\":\"chunked\"", 15);
    client_ask(&client, "/api/workflows", NULL); /* and the connection is fit for the next one */
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, a_large_body_arrives_whole_and_a_large_answer_leaves_whole)
{
    enum { PARAMS_BYTES = 900000 };
    struct client client;
    struct answer answer = { 0 };
    char *body = malloc(PARAMS_BYTES + 64);
    assert_non_null(body);
    int size = snprintf(body, 64, "{\"id\":\"large\",\"params\":\"");
    for (int i = 0; i < PARAMS_BYTES; i++)
        body[size + i] = (char)('a' + i % 23);
    snprintf(body + size + PARAMS_BYTES, 8, "\"}");
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/quick/instances", body);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    client_ask(&client, "/api/workflows/quick/instances/large", NULL);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    body[size + PARAMS_BYTES + 1] = '\0'; /* up to the closing quote */
    const char *found = strstr(answer.body, "\"params\":\"");
    assert_non_null(found);
    assert_memory_equal(found, strstr(body, "\"params\":\""), PARAMS_BYTES + 11);
    free(body);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, a_client_that_asks_first_is_told_to_go_on)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_send(&client,
                "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                "Content-Length: 12\r\nExpect: 100-continue\r\n\r\n");
    client_await(&client, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(&client, "{\"id\":\"exp\"}");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, options_leave_the_connection_usable)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_send(&client, "OPTIONS /api/workflows HTTP/1.1\r\nHost: test\r\n\r\n");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 204);
    client_ask(&client, "/api/workflows", NULL);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"quick\""));
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, head_has_the_length_of_get_and_no_body)
{
    struct client client;
    struct answer head = { 0 }, get = { 0 };
    char length[64];
    client_open(&client, serving);
    client_send(&client, "HEAD /api/workflows HTTP/1.1\r\nHost: test\r\n\r\n");
    client_take_head(&client, &head);
    client_ask(&client, "/api/workflows", NULL); /* on the same connection: no byte of a body came in between */
    client_take(&client, &get);
    assert_int_equal(head.status, 200);
    assert_int_equal(get.status, 200);
    snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", strlen(get.body));
    assert_non_null(strstr(head.head, length));
    answer_clear(&head);
    answer_clear(&get);
    client_close(&client);
}

TEST_OF(serving, a_client_of_the_old_protocol_is_answered_and_let_go)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_send(&client, "GET /api/workflows HTTP/1.0\r\n\r\n");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_true(client_is_cut(&client, PATIENCE_MS));
    answer_clear(&answer);
    client_close(&client);
}

/* ---- What the handler gets to see ------------------------------------------------------------------------------------ */

struct witness {
    char target[100], peer[64], method[16];
    char first[32], second[32]; /* values of X-Twice */
};

static bool look_at_request(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    struct witness *witness = user;
    const struct pawl_http_request *request = subject->request;
    (void)out_refusal;
    snprintf(witness->target, sizeof witness->target, "%s", request->target);
    snprintf(witness->peer, sizeof witness->peer, "%s", request->peer);
    snprintf(witness->method, sizeof witness->method, "%s", request->method);
    for (size_t i = 0; i < request->header_count; i++)
        if (strcmp(request->headers[i].name, "X-Twice") == 0)
            snprintf(witness->first[0] == '\0' ? witness->first : witness->second, sizeof witness->first, "%s",
                     request->headers[i].value);
    return true;
}

TEST_OF(serving, the_handler_sees_target_headers_and_peer_as_they_were_sent)
{
    struct witness witness = { .target = "" };
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct client client;
    struct answer answer = { 0 };
    options.authorize = look_at_request;
    options.authorize_user = &witness;
    reopen(serving, &options, NULL);
    client_open(&client, serving);
    client_send(&client, "GET /api/workflows/a%2Fb/%20?x=%26&x=1&y HTTP/1.1\r\nHost: test\r\n"
                         "X-Twice: one\r\nX-Twice: two\r\n\r\n");
    client_take(&client, &answer);
    assert_string_equal(witness.target, "/api/workflows/a%2Fb/%20?x=%26&x=1&y");
    assert_string_equal(witness.method, "GET");
    assert_string_equal(witness.first, "one");
    assert_string_equal(witness.second, "two");
    assert_memory_equal(witness.peer, "127.0.0.1:", 10);
    answer_clear(&answer);
    client_close(&client);
}

/* ---- Waiting --------------------------------------------------------------------------------------------------------- */

TEST_OF(serving, a_result_comes_by_push_when_the_run_ends)
{
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct client client;
    struct answer answer = { 0 };
    options.look_again_ms = 10 * PATIENCE_MS; /* looking would be too late */
    options.wait_ms_max = 10 * PATIENCE_MS;
    reopen(serving, &options, NULL);
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/gated/instances", "{\"id\":\"g\"}");
    client_take(&client, &answer);
    client_ask(&client, "/api/workflows/gated/instances/g/result?waitMs=100000", NULL);
    gate_await(&serving->gate, 1);
    assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200); /* nobody else waits for it */
    gate_open(&serving->gate);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"output\":7"));
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, a_result_that_does_not_come_is_answered_in_time)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/waits/instances", "{\"id\":\"w\"}");
    client_take(&client, &answer);
    int64_t begun_ms = monotonic_ms();
    client_ask(&client, "/api/workflows/waits/instances/w/result?waitMs=200", NULL);
    client_take(&client, &answer);
    assert_true(monotonic_ms() - begun_ms >= 200);
    assert_int_equal(answer.status, 202);
    assert_non_null(strstr(answer.body, "\"status\":\"waiting\""));
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, hundreds_wait_at_once_on_two_threads)
{
    enum { CLIENTS = 400 };
    static struct client clients[CLIENTS];
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct answer answer = { 0 };
    int threads = count_threads();
    options.threads = 2;
    reopen(serving, NULL, &options);
    assert_int_equal(ask_once(serving, "/api/workflows/waits/instances", "{\"id\":\"w\"}"), 200);
    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i], serving);
        client_ask(&clients[i],
                   i % 2 == 0 ? "/api/workflows/waits/instances/w/result?waitMs=60000"
                              : "/api/workflows/waits/instances/w/stream",
                   NULL);
    }
    for (int i = 1; i < CLIENTS; i += 2)
        client_await(&clients[i], "event: step");
    assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200);
    assert_true(count_threads() <= threads);
    send_go(serving, "w");
    for (int i = 0; i < CLIENTS; i++) {
        if (i % 2 == 0) {
            client_take(&clients[i], &answer);
            assert_non_null(strstr(answer.body, "\"status\":\"complete\""));
        } else {
            client_await(&clients[i], "event: end");
        }
        client_close(&clients[i]);
    }
    answer_clear(&answer);
}

/* libmicrohttpd's own threads wait for ever when they find 128 of them ready. */
TEST_OF(serving, many_clients_that_ask_at_one_moment_are_all_answered)
{
    enum { CLIENTS = 600, ROUNDS = 5 };
    static struct client clients[CLIENTS];
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct answer answer = { 0 };
    options.threads = 1;
    reopen(serving, NULL, &options);
    for (int i = 0; i < CLIENTS; i++)
        client_open(&clients[i], serving);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++)
            client_ask(&clients[i], "/api/health", NULL);
        for (int i = 0; i < CLIENTS; i++) {
            client_take(&clients[i], &answer);
            assert_int_equal(answer.status, 200);
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    answer_clear(&answer);
}

/* ---- Streams --------------------------------------------------------------------------------------------------------- */

TEST_OF(serving, a_stream_tells_every_step_and_ends)
{
    enum { STEPS = 300 };
    struct client client;
    struct answer answer = { 0 };
    char body[64];
    int count = 0;
    client_open(&client, serving);
    snprintf(body, sizeof body, "{\"id\":\"s\",\"params\":%d}", STEPS);
    client_ask(&client, "/api/workflows/steps/instances", body);
    client_take(&client, &answer);
    client_ask(&client, "/api/workflows/steps/instances/s/stream", NULL);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.head, "text/event-stream"));
    for (const char *at = answer.body; (at = strstr(at, "event: step\n")) != NULL; at++)
        count++;
    assert_true(count >= STEPS);
    assert_non_null(strstr(answer.body, "event: end\n"));
    client_ask(&client, "/api/workflows", NULL); /* the connection is kept */
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, events_larger_than_a_connections_memory_come_whole)
{
    enum { LINES = 40, LINE_BYTES = 64 * 1024 };
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/talks/instances", "{\"id\":\"t\",\"params\":40}");
    client_take(&client, &answer);
    client_ask(&client, "/api/workflows/talks/instances/t/stream", NULL);
    client_take(&client, &answer);
    size_t letters = 0;
    for (size_t i = 0; i < answer.body_size; i++)
        letters += answer.body[i] == 'x';
    assert_true(letters >= (size_t)LINES * LINE_BYTES);
    assert_non_null(strstr(answer.body + answer.body_size - 40, "event: end\n"));
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(serving, a_stream_to_an_old_client_ends_with_the_connection)
{
    struct client client;
    assert_int_equal(ask_once(serving, "/api/workflows/waits/instances", "{\"id\":\"w\"}"), 200);
    client_open(&client, serving);
    client_send(&client, "GET /api/workflows/waits/instances/w/stream HTTP/1.0\r\n\r\n");
    client_await(&client, "event: step\n");
    send_go(serving, "w");
    client_await(&client, "event: end\n");
    assert_true(client_is_cut(&client, PATIENCE_MS));
    client_close(&client);
}

TEST_OF(serving, a_client_that_left_its_stream_makes_room_for_another)
{
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct client client;
    struct answer answer = { 0 };
    options.streams_max = 1;
    options.look_again_ms = 20;
    reopen(serving, &options, NULL);
    assert_int_equal(ask_once(serving, "/api/workflows/waits/instances", "{\"id\":\"w\"}"), 200);
    for (int round = 0; round < 3; round++) {
        int64_t until_ms = monotonic_ms() + PATIENCE_MS;
        do {
            client_open(&client, serving);
            client_ask(&client, "/api/workflows/waits/instances/w/stream", NULL);
            client_take_head(&client, &answer);
            if (answer.status == 200)
                break;
            assert_int_equal(answer.status, 503);
            client_close(&client);
        } while (monotonic_ms() < until_ms);
        assert_int_equal(answer.status, 200);
        client_await(&client, "event: step");
        assert_int_equal(ask_once(serving, "/api/workflows/waits/instances/w/stream", NULL), 503);
        client_close(&client); /* in the middle of it */
    }
    answer_clear(&answer);
}

/* ---- Clients that behave badly --------------------------------------------------------------------------------------- */

TEST_OF(serving, garbage_is_not_answered_with_more_than_an_error)
{
    static const char *const garbage[] = {
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", /* a client that believes in TLS */
        "\r\n\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n: no name\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST /api/workflows HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /api/workflows HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
        "\xff\xfe\xfd\xfc\n\n\n\n",
    };
    for (size_t i = 0; i < LENGTH(garbage); i++) {
        struct client client;
        client_open(&client, serving);
        client_send(&client, garbage[i]);
        assert_int_equal(shutdown(client.fd, SHUT_WR), 0);
        if (!client_is_cut(&client, PATIENCE_MS))
            fail_msg("not cut off after \"%s\"", garbage[i]);
        client_close(&client);
        assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200);
    }
}

TEST_OF(serving, a_request_has_one_host)
{
    static const struct {
        const char *head;
        int status;
    } cases[] = {
        { "GET /api/workflows HTTP/1.1\r\n\r\n", 400 },
        { "GET /api/workflows HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400 },
        { "GET /api/workflows HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400 },
        { "GET /api/workflows HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400 },
        { "GET /api/health HTTP/1.1\r\n\r\n", 400 }, /* whatever it asks for */
        { "GET /api/workflows HTTP/1.1\r\nHost: a\r\n\r\n", 200 },
        { "GET /api/workflows HTTP/1.1\r\nhost:\r\n\r\n", 200 },
        { "GET /api/workflows HTTP/1.0\r\nHost: a\r\n\r\n", 200 },
        { "GET /api/workflows HTTP/1.0\r\n\r\n", 200 },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct client client;
        struct answer answer = { 0 };
        client_open(&client, serving);
        client_send(&client, cases[i].head);
        client_take(&client, &answer);
        if (answer.status != cases[i].status)
            fail_msg("%d to \"%s\"", answer.status, cases[i].head);
        if (answer.status == 400)
            assert_non_null(strstr(answer.body, "VALIDATION_FAILED"));
        client_close(&client);
        answer_clear(&answer);
    }
}

TEST_OF(serving, random_bytes_harm_nobody)
{
    unsigned seed = 20240611;
    char bytes[700];
    for (int round = 0; round < 200; round++) {
        struct client client;
        size_t size = 1 + (size_t)rand_r(&seed) % (sizeof bytes - 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)(rand_r(&seed) >> 5);
        if (round % 2 == 0) /* so that some get behind the request line */
            memcpy(bytes, "GET /api/workflows HTTP/1.1\r\n", size < 29 ? size : 29);
        client_open(&client, serving);
        (void)client_try_send(&client, bytes, size);
        client_close(&client);
    }
    assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200);
}

TEST_OF(serving, a_thousand_connections_come_and_go_and_leave_nothing)
{
    int descriptors = count_descriptors();
    for (int i = 0; i < 1000; i++) {
        struct client client;
        client_open(&client, serving);
        if (i % 4 == 1)
            client_send(&client, "GET /api/workflows HTT");
        if (i % 4 == 2)
            client_ask(&client, "/api/workflows", NULL);
        if (i % 4 == 3) {
            struct linger at_once = { 1, 0 }; /* closes with a reset */
            client_ask(&client, "/api/workflows/waits/instances", "{}");
            (void)setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        client_close(&client);
    }
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (count_descriptors() > descriptors && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(count_descriptors() <= descriptors);
    assert_int_equal(ask_once(serving, "/api/workflows", NULL), 200);
}
