/* test_server_idle.c - connections: at the limit the oldest one without a request makes room, and whoever is ready is looked
 * at, however many wait. */
#include "serving.h"

#include <sys/socket.h>
#include <unistd.h>

enum { PLACES = 3, CROWD = 40, READY = 120, WAIT_MS = 500, WAYS = 3 };

static int set_up(void **state)
{
    struct serving *serving = calloc(1, sizeof *serving);
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    assert_non_null(serving);
    options.connections_max = PLACES;
    options.threads = 2;
    serving_open(serving, NULL, &options);
    *state = serving;
    return 0;
}

static const struct test_setting with_few_places = { set_up, serving_tear_down, 0 };

static void check_answer(struct client *client, int status)
{
    struct answer answer = { 0 };
    client_take(client, &answer);
    assert_int_equal(answer.status, status);
    answer_clear(&answer);
}

static void open_and_ask(struct client *client, const struct serving *serving)
{
    client_open(client, serving);
    client_ask(client, "/api/health/live", NULL);
    check_answer(client, 200);
}

static void create_waiting(struct serving *serving, const char *id)
{
    running_create(&serving->running, "waits", id);
    (void)running_await(&serving->running, "waits", id, PAWL_WAITING);
}

static bool is_open(struct client *client)
{
    return !client_is_cut(client, 1);
}

/* ---- Who makes room -------------------------------------------------------------------------------------------------- */

TEST_IN(with_few_places, serving, the_oldest_idle_connection_makes_room)
{
    struct client clients[PLACES], next;
    for (size_t i = 0; i < PLACES; i++) {
        open_and_ask(&clients[i], serving);
        usleep(20000); /* the clock of connections is coarse */
    }
    client_ask(&clients[0], "/api/health/live", NULL); /* so the second is the oldest */
    check_answer(&clients[0], 200);

    open_and_ask(&next, serving);

    assert_true(client_is_cut(&clients[1], PATIENCE_MS));
    assert_true(is_open(&clients[0]));
    assert_true(is_open(&clients[2]));
    client_close(&next);
    for (size_t i = 0; i < PLACES; i++)
        client_close(&clients[i]);
}

TEST_IN(with_few_places, serving, heads_that_do_not_come_wholly_lock_nobody_out)
{
    struct client slow[PLACES];
    for (size_t i = 0; i < PLACES; i++) {
        client_open(&slow[i], serving);
        client_send(&slow[i], i == 0 ? "GET /api/hea" : "GET /api/health HTTP/1.1\r\nHost: test\r\nX: ");
        usleep(20000); /* the clock of connections is coarse */
    }
    for (int i = 0; i < CROWD; i++) {
        struct client client;
        open_and_ask(&client, serving);
        client_close(&client);
    }
    assert_true(client_is_cut(&slow[0], PATIENCE_MS));
    for (size_t i = 0; i < PLACES; i++)
        client_close(&slow[i]);
}

TEST_IN(with_few_places, serving, a_crowd_of_idle_connections_locks_nobody_out)
{
    struct client crowd[CROWD];
    for (int i = 0; i < CROWD; i++)
        open_and_ask(&crowd[i], serving); /* each makes one of the others go */
    int open = 0;
    for (int i = 0; i < CROWD; i++) {
        open += is_open(&crowd[i]);
        client_close(&crowd[i]);
    }
    assert_true(open <= PLACES);
}

TEST_IN(with_few_places, serving, who_waits_or_reads_a_stream_is_not_idle)
{
    struct client stream, waiting, idle, next;
    struct answer answer = { 0 };
    create_waiting(serving, "a");
    client_open(&stream, serving);
    client_ask(&stream, "/api/workflows/waits/instances/a/stream", NULL);
    client_take_head(&stream, &answer);
    client_await(&stream, "event: status");
    client_open(&waiting, serving);
    client_ask(&waiting, "/api/workflows/waits/instances/a/result?waitMs=60000", NULL);
    open_and_ask(&idle, serving);

    for (int i = 0; i < CROWD; i++) { /* each takes the place of the one before it */
        open_and_ask(&next, serving);
        if (i == 0)
            assert_true(client_is_cut(&idle, PATIENCE_MS));
        client_close(&next);
    }

    running_send(&serving->running, "waits", "a", "go", NULL);
    client_await(&stream, "event: end");
    check_answer(&waiting, 200);
    answer_clear(&answer);
    client_close(&stream);
    client_close(&waiting);
    client_close(&idle);
}

TEST_IN(with_few_places, serving, who_comes_when_all_are_busy_waits_for_a_place)
{
    struct client busy[PLACES], next;
    char byte;
    create_waiting(serving, "a");
    for (size_t i = 0; i < PLACES; i++) {
        client_open(&busy[i], serving);
        client_ask(&busy[i], "/api/workflows/waits/instances/a/result?waitMs=60000", NULL);
    }
    usleep(100000); /* their requests are taken up */
    client_open(&next, serving);
    client_ask(&next, "/api/health/live", NULL);
    usleep(100000);
    assert_true(recv(next.fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0); /* nobody has looked at it */

    running_send(&serving->running, "waits", "a", "go", NULL);
    for (size_t i = 0; i < PLACES; i++)
        check_answer(&busy[i], 200);
    check_answer(&next, 200);
    client_close(&next);
    for (size_t i = 0; i < PLACES; i++)
        client_close(&busy[i]);
}

TEST_IN(with_few_places, serving, a_body_that_does_not_come_goes_after_those_who_are_idle)
{
    static const char head[] = "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n{";
    struct client bodies[PLACES], idle, next;
    client_open(&bodies[0], serving);
    client_send(&bodies[0], head);
    client_open(&bodies[1], serving);
    client_send(&bodies[1], head);
    usleep(100000);
    open_and_ask(&idle, serving);

    client_open(&bodies[2], serving);
    client_send(&bodies[2], head);
    assert_true(client_is_cut(&idle, PATIENCE_MS));
    assert_true(is_open(&bodies[0]));
    usleep(100000);

    open_and_ask(&next, serving); /* nobody is idle now */
    assert_true(client_is_cut(&bodies[0], PATIENCE_MS));
    assert_true(is_open(&bodies[1]));
    assert_true(is_open(&bodies[2]));
    client_close(&next);
    client_close(&idle);
    for (size_t i = 0; i < PLACES; i++)
        client_close(&bodies[i]);
}

/* ---- Who is ready ---------------------------------------------------------------------------------------------------- */

/* The server's only thread is kept until all requests lie ready, half of which are then put aside to wait.  (A version of
 * libmicrohttpd is said to pass over a ready connection while another one is being suspended.) */
struct barrier {
    atomic_bool is_armed, is_entered, is_open;
};

static bool stop_at(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *refusal)
{
    struct barrier *barrier = user;
    (void)subject, (void)refusal;
    if (atomic_exchange(&barrier->is_armed, false)) {
        atomic_store(&barrier->is_entered, true);
        while (!atomic_load(&barrier->is_open))
            rest_a_little();
    }
    return true;
}

/* Every other one, the first half, the second half. */
static bool does_wait(int way, int i)
{
    return way == 0 ? i % 2 == 0 : way == 1 ? i < READY / 2 : i >= READY / 2;
}

/* Of all that are ready at once. */
static void ask_all(struct barrier *barrier, struct client *first, struct client *clients, int way)
{
    atomic_store(&barrier->is_entered, false);
    atomic_store(&barrier->is_open, false);
    atomic_store(&barrier->is_armed, true);
    client_ask(first, "/api/health/live", NULL);
    while (!atomic_load(&barrier->is_entered))
        rest_a_little();
    for (int i = 0; i < READY; i++)
        client_ask(&clients[i],
                   does_wait(way, i) ? "/api/workflows/waits/instances/a/result?waitMs=500" : "/api/health/live", NULL);
    atomic_store(&barrier->is_open, true);
    check_answer(first, 200);
}

TEST(nobody_ready_is_passed_over_while_others_are_put_aside)
{
    struct serving serving;
    struct barrier barrier = { false, false, false };
    struct pawl_http_options http_options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct client clients[READY], first;
    http_options.authorize = stop_at;
    http_options.authorize_user = &barrier;
    http_options.look_again_ms = PATIENCE_MS; /* nothing but news and their deadline wakes those who wait */
    options.threads = 1;
    serving_open(&serving, &http_options, &options);
    create_waiting(&serving, "a");
    for (int i = 0; i < READY; i++)
        open_and_ask(&clients[i], &serving);
    open_and_ask(&first, &serving);

    for (int way = 0; way < WAYS; way++) {
        ask_all(&barrier, &first, clients, way);
        int64_t began_ms = monotonic_ms();
        for (int i = 0; i < READY; i++)
            if (!does_wait(way, i))
                check_answer(&clients[i], 200);
        assert_true(RUNNING_SLOWLY || monotonic_ms() - began_ms < WAIT_MS - 100); /* nothing has happened since */
        for (int i = 0; i < READY; i++)
            if (does_wait(way, i))
                check_answer(&clients[i], 202);
    }
    for (int i = 0; i < READY; i++)
        client_close(&clients[i]);
    client_close(&first);
    serving_close(&serving);
}
