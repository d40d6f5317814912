/* test_server_limits.c - what a client may cost: time, bytes, connections. */
#include "serving.h"

#include <sys/socket.h>
#include <unistd.h>

enum { SHORT_MS = 300, LONGER_MS = 1000, LONG_MS = 3000, BODY_BYTES = 5000 };

/* 0: the default, in which nobody is late here. */
static void open_with_times(struct serving *serving, int64_t request_ms_max, int64_t idle_ms_max)
{
    struct pawl_http_options http_options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    http_options.body_bytes_max = BODY_BYTES;
    options.request_ms_max = request_ms_max;
    options.idle_ms_max = idle_ms_max;
    serving_open(serving, &http_options, &options);
}

/* Bodies have 5000 bytes. */
static int set_up(void **state)
{
    struct serving *serving = calloc(1, sizeof *serving);
    assert_non_null(serving);
    open_with_times(serving, 0, 0);
    *state = serving;
    return 0;
}

/* Where a client must not be cut off, its time is as long as the test can wait: the machine may be slow. */
static void give_times(struct serving *serving, int64_t request_ms_max, int64_t idle_ms_max)
{
    serving_close(serving);
    open_with_times(serving, request_ms_max, idle_ms_max);
}

static const struct test_setting with_times = { set_up, serving_tear_down, 0 };

/* Sends a byte every few milliseconds until the other side closes. */
static void trickle(struct client *client, char byte)
{
    int64_t begun_ms = monotonic_ms();
    while (!client_is_cut(client, 20)) {
        if (monotonic_ms() - begun_ms > PATIENCE_MS)
            fail_msg("a client that trickles is served for ever");
        (void)client_try_send(client, &byte, 1);
    }
}

/* ---- Time ------------------------------------------------------------------------------------------------------------ */

TEST_IN(with_times, serving, a_client_that_trickles_its_request_is_cut_off)
{
    static const char *const beginnings[] = {
        "",                                                      /* the request line */
        "GET /api/workflows HTTP/1.1\r\nHost: test\r\nX-Slow: ", /* the headers */
        "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Length: 4000\r\n\r\n", /* the body */
        "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n",
    };
    give_times(serving, SHORT_MS, SHORT_MS);
    for (size_t i = 0; i < LENGTH(beginnings); i++) {
        struct client client;
        int64_t begun_ms = monotonic_ms();
        client_open(&client, serving);
        (void)client_try_send(&client, beginnings[i], strlen(beginnings[i]));
        trickle(&client, 'a');
        assert_true(monotonic_ms() - begun_ms >= SHORT_MS / 2);
        client_close(&client);
    }
}

TEST_IN(with_times, serving, a_kept_connection_has_its_time_anew_for_each_request)
{
    struct client client;
    struct answer answer = { 0 };
    give_times(serving, LONGER_MS, 0);
    client_open(&client, serving);
    int64_t until_ms = monotonic_ms() + 2 * LONGER_MS;
    while (monotonic_ms() < until_ms) {
        client_ask(&client, "/api/health", NULL);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        usleep(20000);
    }
    client_send(&client, "GET /api/workflows HTTP/1.1\r\nHost: test\r\nX-Slow: ");
    trickle(&client, 'a');
    answer_clear(&answer);
    client_close(&client);
}

TEST_IN(with_times, serving, a_client_that_is_silent_is_let_go)
{
    struct client fresh, idle;
    struct answer answer = { 0 };
    give_times(serving, LONGER_MS, SHORT_MS);
    client_open(&fresh, serving);
    client_open(&idle, serving);
    client_ask(&idle, "/api/health", NULL);
    client_take(&idle, &answer);
    assert_int_equal(answer.status, 200);
    assert_true(client_is_cut(&idle, PATIENCE_MS));
    assert_true(client_is_cut(&fresh, PATIENCE_MS));
    answer_clear(&answer);
    client_close(&idle);
    client_close(&fresh);
}

TEST_IN(with_times, serving, a_client_that_waits_for_its_answer_is_not_late)
{
    struct client waiter, follower;
    struct answer answer = { 0 };
    give_times(serving, LONGER_MS, LONGER_MS);
    assert_int_equal(ask_once(serving, "/api/workflows/waits/instances", "{\"id\":\"w\"}"), 200);
    client_open(&waiter, serving);
    client_open(&follower, serving);
    client_ask(&waiter, "/api/workflows/waits/instances/w/result?waitMs=60000", NULL);
    client_ask(&follower, "/api/workflows/waits/instances/w/stream", NULL);
    client_await(&follower, "event: step");
    usleep(2 * LONGER_MS * 1000);
    running_send(&serving->running, "waits", "w", "go", NULL);
    client_take(&waiter, &answer);
    assert_int_equal(answer.status, 200);
    client_await(&follower, "event: end");
    answer_clear(&answer);
    client_close(&waiter);
    client_close(&follower);
}

/* A client with a small window asks for 16 MiB and does not read them. */
static void check_that_not_reading_is_cut_off(struct serving *serving, const char *target)
{
    struct client client;
    int window = 4096;
    client_open(&client, serving);
    assert_int_equal(setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof window), 0);
    client_ask(&client, target, NULL);
    /* The server has closed when sending to it fails, and it does so although nothing of the answer was read. */
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (client_try_send(&client, "x", 1)) {
        if (monotonic_ms() > until_ms)
            fail_msg("%s: a client that does not read is served for ever", target);
        usleep(20000);
    }
    client_close(&client);
}

TEST_IN(with_times, serving, a_client_that_does_not_read_is_cut_off)
{
    give_times(serving, LONGER_MS, LONGER_MS);
    assert_int_equal(ask_once(serving, "/api/workflows/talks/instances", "{\"id\":\"t\",\"params\":256}"), 200);
    (void)running_await(&serving->running, "talks", "t", PAWL_COMPLETE);
    check_that_not_reading_is_cut_off(serving, "/api/workflows/talks/instances/t/stream");
    check_that_not_reading_is_cut_off(serving,
                                      "/api/workflows/talks/instances/t/history?includeLogs=true&pageSize=100");
}

TEST_IN(with_times, serving, a_slow_reader_gets_all_of_a_large_answer)
{
    struct client client;
    struct answer answer = { 0 };
    give_times(serving, LONG_MS, LONG_MS);
    assert_int_equal(ask_once(serving, "/api/workflows/talks/instances", "{\"id\":\"t\",\"params\":100}"), 200);
    (void)running_await(&serving->running, "talks", "t", PAWL_COMPLETE);
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/talks/instances/t/history?includeLogs=true&pageSize=100", NULL);
    client_take_head(&client, &answer);
    assert_int_equal(answer.status, 200);
    size_t size = strtoul(strstr(answer.head, "Content-Length: ") + 16, NULL, 10);
    assert_true(size > 3000000);
    char *block = malloc(size);
    assert_non_null(block);
    size_t had = client.size;
    while (had < size) { /* some pauses, of which each is short */
        ssize_t got = recv(client.fd, block, size / 40, MSG_WAITALL);
        assert_true(got > 0);
        had += (size_t)got;
        usleep(LONG_MS * 1000 / 30);
    }
    free(block);
    answer_clear(&answer);
    client_close(&client);
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------------- */

static void check_refusal(struct client *client, int status, const char *code)
{
    struct answer answer = { 0 };
    char wanted[64];
    snprintf(wanted, sizeof wanted, "{\"code\":\"%s\",\"message\":\"", code);
    client_take(client, &answer);
    assert_int_equal(answer.status, status);
    assert_true(answer.is_json);
    assert_memory_equal(answer.body, wanted, strlen(wanted));
    answer_clear(&answer);
}

TEST_IN(with_times, serving, a_body_that_says_it_is_too_large_is_refused_before_it_is_sent)
{
    struct client client;
    client_open(&client, serving);
    client_send(&client, "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Length: 5001\r\n\r\n");
    check_refusal(&client, 413, "PAYLOAD_TOO_LARGE");
    assert_true(client_is_cut(&client, PATIENCE_MS));
    client_close(&client);
}

TEST_IN(with_times, serving, who_sends_a_body_that_is_too_large_all_the_same_gets_its_answer)
{
    enum { SIZE = 20000000 };
    char *bytes = calloc(1, SIZE);
    assert_non_null(bytes);
    for (int round = 0; round < 5; round++) {
        struct client client;
        client_open(&client, serving);
        client_send(&client, "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\n"
                             "Content-Length: 20000000\r\n\r\n");
        (void)client_try_send(&client, bytes, SIZE);
        check_refusal(&client, 413, "PAYLOAD_TOO_LARGE");
        client_close(&client);
    }
    free(bytes);
}

TEST_IN(with_times, serving, a_chunked_body_that_grows_too_large_is_refused)
{
    struct client client;
    struct answer answer = { 0 };
    char chunk[1100];
    int size = snprintf(chunk, sizeof chunk, "400\r\n");
    memset(chunk + size, ' ', 1024);
    snprintf(chunk + size + 1024, 3, "\r\n");
    client_open(&client, serving);
    client_send(&client,
                "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 200; i++)
        client_send(&client, chunk);
    client_send(&client, "0\r\n\r\n");
    check_refusal(&client, 413, "PAYLOAD_TOO_LARGE");
    client_ask(&client, "/api/health", NULL); /* it was read to its end, so the connection is fit */
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

TEST_IN(with_times, serving, a_body_of_just_the_size_that_is_allowed_is_taken)
{
    struct client client;
    struct answer answer = { 0 };
    char body[BODY_BYTES + 1];
    memset(body, ' ', BODY_BYTES);
    memcpy(body, "{\"id\":\"just\"}", 13);
    body[BODY_BYTES] = '\0';
    client_open(&client, serving);
    client_ask(&client, "/api/workflows/quick/instances", body);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

/* A header of so many bytes, in a request. */
static void send_header(struct client *client, size_t size)
{
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'h', size);
    text[size] = '\0';
    client_send(client, "GET /api/workflows HTTP/1.1\r\nHost: test\r\nX-Large: ");
    (void)client_try_send(client, text, size);
    (void)client_try_send(client, "\r\n\r\n", 4);
    free(text);
}

TEST_IN(with_times, serving, headers_are_taken_up_to_their_limit)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    send_header(&client, 7 * 1024);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    send_header(&client, 8 * 1024);
    check_refusal(&client, 431, "HEADERS_TOO_LARGE");
    assert_true(client_is_cut(&client, PATIENCE_MS));
    answer_clear(&answer);
    client_close(&client);
}

TEST_IN(with_times, serving, headers_far_beyond_their_limit_are_refused)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    send_header(&client, 200 * 1024);
    client_take_head(&client, &answer);
    assert_int_equal(answer.status, 431);
    client_close(&client);
    client_open(&client, serving);
    client_send(&client, "GET /");
    for (int i = 0; i < 2000 && client_try_send(&client, "0123456789abcdef0123456789abcdef", 32); i++)
        continue;
    client_take_head(&client, &answer);
    assert_int_equal(answer.status, 414);
    answer_clear(&answer);
    client_close(&client);
}

TEST_IN(with_times, serving, many_small_headers_are_refused_as_large_ones_are)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, serving);
    client_send(&client, "GET /api/workflows HTTP/1.1\r\nHost: test\r\n");
    for (int i = 0; i < 5000 && client_try_send(&client, "a: b\r\n", 6); i++)
        continue;
    (void)client_try_send(&client, "\r\n", 2);
    client_take_head(&client, &answer);
    assert_int_equal(answer.status, 431);
    answer_clear(&answer);
    client_close(&client);
}

/* What a proxy in front might read otherwise than we do. */
TEST_IN(with_times, serving, a_body_of_doubtful_length_is_refused_and_nothing_behind_it_is_read)
{
    static const char *const framings[] = {
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        /* A name with more than a name. */
        "Content-Length : 2\r\n",
        "Content-Length\t: 2\r\n",
        "content-length : 2\r\n",
        "Content-Length\v: 2\r\n",
        "Transfer-Encoding : chunked\r\n",
        "X Y: z\r\n",
        "X\x7f: z\r\n",
        /* Folded. */
        "Content-Length:\r\n 2\r\n",
        "Content-Length: 0\r\n 2\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "TRANSFER-ENCODING:\r\n\tchunked\r\n",
        "Content-Leng: 2\r\n th\r\n",
        "Transfer-Encod: chunked\r\n ing\r\n",
        "X: y\r\n z\r\n",
        "X: y\r\n Content-Length: 2\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
    };
    for (size_t i = 0; i < LENGTH(framings); i++) {
        struct client client;
        client_open(&client, serving);
        client_send(&client, "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\n");
        client_send(&client, framings[i]);
        client_send(&client, "\r\n{}0\r\n\r\nPOST /api/workflows/quick/instances HTTP/1.1\r\nContent-Length: 18\r\n\r\n"
                             "{\"id\":\"smuggled\"}  ");
        check_refusal(&client, 400, "VALIDATION_FAILED");
        assert_true(client_is_cut(&client, PATIENCE_MS));
        client_close(&client);
    }
    assert_int_equal(ask_once(serving, "/api/workflows/quick/instances/smuggled", NULL), 404);
}

/* HTTP/1.0 has no chunks: a proxy that speaks it takes all that follows for the body. */
TEST_IN(with_times, serving, chunks_of_http_1_0_are_refused_and_nothing_behind_them_is_read)
{
    struct client client;
    client_open(&client, serving);
    client_send(&client, "POST /api/workflows/quick/instances HTTP/1.0\r\nConnection: keep-alive\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
                         "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Length: 18\r\n\r\n"
                         "{\"id\":\"smuggled\"}  ");
    check_refusal(&client, 400, "VALIDATION_FAILED");
    assert_true(client_is_cut(&client, PATIENCE_MS));
    client_close(&client);
    assert_int_equal(ask_once(serving, "/api/workflows/quick/instances/smuggled", NULL), 404);
}
