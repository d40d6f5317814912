/* test_server_stop.c - stopping a server, whatever it is doing: what is under way is answered, nothing hangs, nothing is
 * left. */
#include "serving.h"

#include <sys/socket.h>

/* Stops in a thread of its own, because the test has something to do meanwhile. */
struct stopper {
    struct serving *serving;
    int64_t drain_ms;
    pthread_t thread;
    atomic_bool is_done;
};

static void *stop_it(void *user)
{
    struct stopper *stopper = user;
    serving_stop(stopper->serving, stopper->drain_ms);
    atomic_store(&stopper->is_done, true);
    return NULL;
}

static void begin_to_stop(struct stopper *stopper, struct serving *serving, int64_t drain_ms)
{
    *stopper = (struct stopper){ .serving = serving, .drain_ms = drain_ms };
    assert_int_equal(pthread_create(&stopper->thread, NULL, stop_it, stopper), 0);
}

/* Until nobody is let in any more. */
static void await_closed_door(const struct serving *serving)
{
    struct client client;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (client_try_open(&client, serving)) {
        client_close(&client);
        if (monotonic_ms() > until_ms)
            fail_msg("the server goes on to let clients in");
        rest_a_little();
    }
}

static void open_waiters(struct serving *serving, struct client *clients, int count)
{
    assert_int_equal(ask_once(serving, "/api/workflows/waits/instances", "{\"id\":\"w\"}"), 200);
    for (int i = 0; i < count; i++) {
        client_open(&clients[i], serving);
        client_ask(&clients[i],
                   i % 2 == 0 ? "/api/workflows/waits/instances/w/result?waitMs=60000"
                              : "/api/workflows/waits/instances/w/stream",
                   NULL);
    }
    for (int i = 1; i < count; i += 2)
        client_await(&clients[i], "event: step");
}

TEST_OF(serving, waits_and_streams_end_well_when_the_handler_drains)
{
    enum { CLIENTS = 60 };
    static struct client clients[CLIENTS];
    struct answer answer = { 0 };
    open_waiters(serving, clients, CLIENTS);
    pawl_http_drain(serving->http);
    int64_t begun_ms = monotonic_ms();
    serving_stop(serving, PATIENCE_MS);
    assert_true(monotonic_ms() - begun_ms < PATIENCE_MS / 2);
    for (int i = 0; i < CLIENTS; i++) {
        if (i % 2 == 0) {
            client_take(&clients[i], &answer);
            assert_int_equal(answer.status, 202);
        } else {
            client_await(&clients[i], "0\r\n\r\n"); /* the stream's end, not a torn one */
        }
        assert_true(client_is_cut(&clients[i], PATIENCE_MS));
        client_close(&clients[i]);
    }
    answer_clear(&answer);
}

TEST_OF(serving, what_waits_on_is_cut_off_when_the_time_is_over)
{
    enum { CLIENTS = 200 };
    static struct client clients[CLIENTS];
    for (int64_t drain_ms = 0; drain_ms <= 100; drain_ms += 100) {
        open_waiters(serving, clients, CLIENTS);
        int64_t begun_ms = monotonic_ms();
        serving_stop(serving, drain_ms);
        assert_true(monotonic_ms() - begun_ms >= drain_ms);
        for (int i = 0; i < CLIENTS; i++) {
            assert_true(client_is_cut(&clients[i], PATIENCE_MS));
            client_close(&clients[i]);
        }
        serving_close(serving);
        serving_open(serving, NULL, NULL);
    }
}

TEST_OF(serving, a_request_that_is_half_sent_is_answered)
{
    struct client half, idle;
    struct answer answer = { 0 };
    struct stopper stopper;
    client_open(&idle, serving);
    client_ask(&idle, "/api/health", NULL);
    client_take(&idle, &answer);
    client_open(&half, serving);
    client_send(&half, "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Length: 13\r\n"
                       "Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n");
    client_await(&half, "100 Continue\r\n\r\n"); /* it is under way */
    client_send(&half, "{\"id\":");
    begin_to_stop(&stopper, serving, PATIENCE_MS);
    assert_true(client_is_cut(&idle, PATIENCE_MS)); /* nobody waits for those */
    assert_false(atomic_load(&stopper.is_done));
    client_send(&half, "\"last\"}");
    client_take(&half, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.head, "\r\nConnection: close\r\n"));
    assert_true(client_is_cut(&half, PATIENCE_MS));
    assert_int_equal(pthread_join(stopper.thread, NULL), 0);
    client_close(&half);
    client_close(&idle);
    answer_clear(&answer);
}

TEST_OF(serving, nobody_is_let_in_while_it_drains)
{
    struct client client;
    struct stopper stopper;
    open_waiters(serving, &client, 1);
    client_ask(&client, "/api/health", NULL);
    begin_to_stop(&stopper, serving, 500);
    await_closed_door(serving);
    assert_int_equal(pthread_join(stopper.thread, NULL), 0);
    client_close(&client);
}

/* ---- Stopping under load --------------------------------------------------------------------------------------------- */

struct crowd {
    const struct serving *serving;
    atomic_bool is_over;
    atomic_int answered;
};

/* One of many who ask, in all ways, until the server is gone; some do not stay for the answer. */
static void *ask_on(void *user)
{
    struct crowd *crowd = user;
    static const struct {
        bool stays;
        const char *request;
    } ways[] = {
        { true, "GET /api/workflows HTTP/1.1\r\nHost: test\r\n\r\n" },
        { true, "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                "Content-Length: 2\r\n\r\n{}" },
        { false, "GET /api/workflows/waits/instances/w/result?waitMs=10 HTTP/1.1\r\nHost: test\r\n\r\n" },
        { false, "GET /api/workflows/waits/instances/w/stream HTTP/1.1\r\nHost: test\r\n\r\n" },
        { false, "GET /api/workflows HTTP/1.1\r\nHost: te" },
    };
    for (size_t turn = 0; !atomic_load(&crowd->is_over); turn++) {
        struct client client;
        char bytes[4096];
        const char *request = ways[turn % LENGTH(ways)].request;
        if (!client_try_open(&client, crowd->serving))
            continue;
        if (client_try_send(&client, request, strlen(request)) && ways[turn % LENGTH(ways)].stays &&
            recv(client.fd, bytes, sizeof bytes, 0) > 0)
            atomic_fetch_add(&crowd->answered, 1);
        client_close(&client);
    }
    return NULL;
}

TEST_OF(serving, a_server_can_be_stopped_at_any_moment)
{
    enum { THREADS = 4, ROUNDS = RUNNING_SLOWLY ? 8 : 25 };
    serving_close(serving);
    int descriptors = count_descriptors(), threads = count_threads();
    for (int round = 0; round < ROUNDS; round++) {
        struct crowd crowd = { .serving = serving };
        pthread_t clients[THREADS];
        serving_open(serving, NULL, NULL);
        assert_int_equal(ask_once(serving, "/api/workflows/waits/instances", "{\"id\":\"w\"}"), 200);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&clients[i], NULL, ask_on, &crowd), 0);
        while (atomic_load(&crowd.answered) < 20 * (1 + round % 3))
            rest_a_little();
        if (round % 2 == 0)
            pawl_http_drain(serving->http);
        serving_stop(serving, round % 3 == 0 ? 0 : 50);
        atomic_store(&crowd.is_over, true);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(clients[i], NULL), 0);
        serving_close(serving);
        assert_int_equal(count_descriptors(), descriptors);
        assert_true(await_threads(threads));
    }
    serving_open(serving, NULL, NULL);
}
