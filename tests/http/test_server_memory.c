/* test_server_memory.c - what requests may take of the server's memory: bodies count as they grow, nobody takes much with a
 * token that is none, and past the budget the answer is 503. */
#include "serving.h"

#include <sys/socket.h>
#include <unistd.h>

enum { LARGE = 4000000, KEPT_MAX = 8 * 1024 * 1024, CROWD = 12, WITHOUT_LAST = LARGE - 1 };
#define QUICK "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\n"
#define LARGE_BODY "Content-Length: 4000000\r\n\r\n"

struct fixture {
    struct serving serving;
    char *body;   /* JSON, LARGE bytes */
    int64_t held; /* by the test */
};

/* The token is in a static place, since a step's body has no other way to tell it. */
static char given_token[256];

WORKFLOW(defers)
{
    const char *token;
    pawl_value *answer;
    PAWL_TRY(pawl_deferred_token(run, "approval", &token));
    (void)snprintf(given_token, sizeof given_token, "%s", token);
    PAWL_TRY(pawl_await_deferred(run, "approval", NULL, &answer));
    *out_result = NULL;
    return PAWL_OK;
}

static int set_up(void **state)
{
    static const struct pawl_workflow workflow = { .name = "defers", .run = defers };
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    serving_open_with(&fixture->serving, &workflow, NULL, NULL);
    fixture->body = malloc(LARGE + 1);
    assert_non_null(fixture->body);
    memset(fixture->body, ' ', LARGE);
    memcpy(fixture->body, "{}", 2);
    fixture->body[LARGE] = '\0';
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pawl_memory_owe(fixture->serving.running.engine, &fixture->held, 0);
    serving_close(&fixture->serving);
    free(fixture->body);
    free(fixture);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

static struct pawl_stats stats_of(const struct fixture *fixture)
{
    struct pawl_stats stats = { .struct_size = sizeof stats };
    pawl_stats_read(fixture->serving.running.engine, &stats);
    return stats;
}

/* Somebody else has all but so much of it. */
static void leave(struct fixture *fixture, int64_t bytes)
{
    pawl_memory_owe(fixture->serving.running.engine, &fixture->held, stats_of(fixture).memory_bytes_max - bytes);
}

/* Until nothing is held but by the test. */
static void await_nothing_held(const struct fixture *fixture)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(fixture).memory_bytes_held != fixture->held && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(stats_of(fixture).memory_bytes_held, fixture->held);
}

static void await_held(const struct fixture *fixture, int64_t bytes)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (stats_of(fixture).memory_bytes_held < bytes && monotonic_ms() < until_ms)
        rest_a_little();
    assert_true(stats_of(fixture).memory_bytes_held >= bytes);
}

/* ---- Bodies -------------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_body_counts_as_it_grows)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, &fixture->serving);
    client_send(&client, QUICK LARGE_BODY);
    client_send_bytes(&client, fixture->body, 20000);
    await_held(fixture, 20000);
    assert_true(stats_of(fixture).memory_bytes_held < 65536); /* and not what was promised */
    client_send_bytes(&client, fixture->body + 20000, WITHOUT_LAST - 20000);
    await_held(fixture, WITHOUT_LAST);

    client_send(&client, " ");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    client_ask(&client, "/api/health", NULL); /* then the request before is over */
    client_take(&client, &answer);
    await_nothing_held(fixture);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(fixture, a_body_is_let_go_of_with_its_client)
{
    struct client client;
    client_open(&client, &fixture->serving);
    client_send(&client, QUICK LARGE_BODY);
    client_send_bytes(&client, fixture->body, WITHOUT_LAST);
    await_held(fixture, WITHOUT_LAST);
    client_close(&client);
    await_nothing_held(fixture);
}

TEST_OF(fixture, a_body_beyond_the_budget_is_answered_503)
{
    struct client client;
    struct answer answer = { 0 };
    leave(fixture, 1000000);
    client_open(&client, &fixture->serving);
    client_send(&client, QUICK LARGE_BODY);
    client_send_bytes(&client, fixture->body, WITHOUT_LAST);
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS;
         stats_of(fixture).memory_refusals == 0 && monotonic_ms() < until_ms;)
        rest_a_little();
    assert_true(stats_of(fixture).memory_refusals > 0);
    await_nothing_held(fixture); /* although the body has not ended */

    client_send(&client, " ");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.body, "MEMORY_EXHAUSTED"));
    assert_non_null(strstr(answer.head, "Retry-After: 1\r\n"));

    pawl_memory_owe(fixture->serving.running.engine, &fixture->held, 0); /* on the same connection, a little later */
    client_send(&client, QUICK LARGE_BODY);
    client_send_bytes(&client, fixture->body, LARGE);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(fixture, small_requests_go_on_beside_a_budget_that_is_used_up)
{
    leave(fixture, 0);
    assert_int_equal(ask_once(&fixture->serving, "/api/health", NULL), 200);
    assert_int_equal(ask_once(&fixture->serving, "/api/workflows/quick/instances", "{\"id\":\"small\"}"), 200);
    assert_int_equal(ask_once(&fixture->serving, "/api/workflows/quick/instances/small", NULL), 200);
    assert_int_equal(ask_once(&fixture->serving, "/api/metrics", NULL), 200);
    await_nothing_held(fixture);
}

/* ---- Answers --------------------------------------------------------------------------------------------------------- */

#define TALK "/api/workflows/talks/instances/t/history?includeLogs=true&pageSize=100"

static void talk(struct fixture *fixture, const char *body)
{
    assert_int_equal(ask_once(&fixture->serving, "/api/workflows/talks/instances", body), 200);
    (void)running_await(&fixture->serving.running, "talks", "t", PAWL_COMPLETE);
}

TEST_OF(fixture, a_page_that_would_take_too_much_is_answered_503)
{
    struct client client;
    struct answer answer = { 0 };
    talk(fixture, "{\"id\":\"t\",\"params\":3}");
    leave(fixture, 1000000);
    client_open(&client, &fixture->serving);
    client_ask(&client, TALK, NULL);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 503);
    assert_non_null(strstr(answer.body, "MEMORY_EXHAUSTED"));
    assert_non_null(strstr(answer.head, "Retry-After: 1\r\n"));
    assert_int_equal(ask_once(&fixture->serving, "/api/workflows/talks/instances", NULL), 503);
    await_nothing_held(fixture);

    pawl_memory_owe(fixture->serving.running.engine, &fixture->held, 0);
    client_ask(&client, TALK, NULL);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"logsHasNextPage\":false"));
    assert_int_equal(ask_once(&fixture->serving, "/api/workflows/talks/instances", NULL), 200);
    answer_clear(&answer);
    client_close(&client);
}

/* Until it is read, an answer is memory. */
TEST_OF(fixture, an_answer_counts_until_it_is_read)
{
    struct client client;
    struct answer answer = { 0 };
    const int little = 4096; /* else the kernel may hold all of the answer for the client */
    talk(fixture, "{\"id\":\"t\",\"params\":100}");
    client_open(&client, &fixture->serving);
    assert_int_equal(setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
    client_ask(&client, TALK, NULL);
    client_take_head(&client, &answer);
    assert_int_equal(answer.status, 200);
    assert_true(stats_of(fixture).memory_bytes_held > 3000000);
    client_close(&client);
    await_nothing_held(fixture);
    answer_clear(&answer);
}

TEST_OF(fixture, a_page_ends_by_its_bytes_and_the_next_goes_on)
{
    struct client client;
    struct answer answer = { 0 };
    char target[512] = TALK;
    int pages = 0, lines = 0;
    talk(fixture, "{\"id\":\"t\",\"params\":90}"); /* of 64 KiB each */
    client_open(&client, &fixture->serving);
    for (bool has_more = true; has_more; pages++) {
        client_ask(&client, target, NULL);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        assert_true(answer.body_size < 5 * 1024 * 1024);
        for (const char *at = strstr(answer.body, "\"isReplay\""); at != NULL; at = strstr(at + 1, "\"isReplay\""))
            lines++;
        has_more = strstr(answer.body, "\"logsHasNextPage\":true") != NULL;
        const char *cursor = strstr(answer.body, "\"logsCursor\":\"");
        if (has_more)
            (void)snprintf(target, sizeof target, TALK "&logsCursor=%.*s", (int)strcspn(cursor + 14, "\""),
                           cursor + 14);
    }
    assert_int_equal(pages, 2);
    assert_int_equal(lines, 90);
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(fixture, large_answers_wait_for_a_reader_and_all_get_one)
{
    struct client clients[CROWD], small;
    struct answer answer = { 0 };
    talk(fixture, "{\"id\":\"t\",\"params\":20}");
    client_open(&small, &fixture->serving);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CROWD; i++) {
            if (round == 0)
                client_open(&clients[i], &fixture->serving);
            client_ask(&clients[i], TALK, NULL);
        }
        client_ask(&small, "/api/health/live", NULL);
        client_take(&small, &answer);
        assert_int_equal(answer.status, 200);
        for (int i = 0; round < 2 && i < CROWD; i++) { /* of the last round nobody takes what is there */
            client_take(&clients[i], &answer);
            assert_int_equal(answer.status, 200);
        }
    }
    for (int i = 0; i < CROWD; i++)
        client_close(&clients[i]);
    client_close(&small);
    answer_clear(&answer);
}

TEST_OF(fixture, a_server_stops_while_some_wait_for_a_reader)
{
    struct client clients[CROWD];
    talk(fixture, "{\"id\":\"t\",\"params\":60}");
    for (int i = 0; i < CROWD; i++) {
        client_open(&clients[i], &fixture->serving);
        client_ask(&clients[i], TALK, NULL);
    }
    assert_true(client_receive(&clients[0], PATIENCE_MS));
    serving_stop(&fixture->serving, 0);
    for (int i = 0; i < CROWD; i++)
        client_close(&clients[i]);
    await_nothing_held(fixture);
}

/* ---- Deferreds ----------------------------------------------------------------------------------------------------- */

static void send_without_last(const struct fixture *fixture, struct client *client, const char *token)
{
    char head[1024];
    client_open(client, &fixture->serving);
    (void)snprintf(head, sizeof head, "POST /api/deferred/%s/succeed HTTP/1.1\r\nHost: test\r\n" LARGE_BODY, token);
    client_send(client, head);
    client_send_bytes(client, fixture->body, WITHOUT_LAST);
}

TEST_OF(fixture, what_cannot_be_a_token_is_answered_before_the_body)
{
    static const char *const tokens[] = { "none", "defers.a.1.x", "defers.a.0.1.secret", "a%20b.a.1.1.secret" };
    for (size_t i = 0; i < LENGTH(tokens); i++) {
        struct client client;
        struct answer answer = { 0 };
        char head[1024];
        client_open(&client, &fixture->serving);
        (void)snprintf(head, sizeof head, "POST /api/deferred/%s/succeed HTTP/1.1\r\nHost: test\r\n" LARGE_BODY,
                       tokens[i]);
        client_send(&client, head);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 404);
        assert_non_null(strstr(answer.body, "INVALID_TOKEN"));
        assert_true(client_is_cut(&client, PATIENCE_MS));
        answer_clear(&answer);
        client_close(&client);
    }
}

/* Its form is right, and nobody gave it away. */
TEST_OF(fixture, a_made_up_token_holds_no_body)
{
    struct client clients[CROWD];
    struct answer answer = { 0 };
    long before = resident_bytes();
    for (int i = 0; i < CROWD; i++)
        send_without_last(fixture, &clients[i], "defers.a.1.1.0123456789abcdef");
    await_nothing_held(fixture);
    usleep(200000); /* the server reads the last of it */
    assert_true(resident_bytes() - before < KEPT_MAX);
    assert_int_equal(stats_of(fixture).memory_bytes_held, 0);
    for (int i = 0; i < CROWD; i++) {
        client_send(&clients[i], " ");
        client_take(&clients[i], &answer);
        assert_int_equal(answer.status, 404);
        assert_non_null(strstr(answer.body, "INVALID_TOKEN"));
        client_close(&clients[i]);
    }
    answer_clear(&answer);
}

TEST_OF(fixture, a_real_token_brings_a_large_body)
{
    struct client client;
    struct answer answer = { 0 };
    given_token[0] = '\0';
    assert_int_equal(ask_once(&fixture->serving, "/api/workflows/defers/instances", "{\"id\":\"d\"}"), 200);
    (void)running_await(&fixture->serving.running, "defers", "d", PAWL_WAITING);
    send_without_last(fixture, &client, given_token);
    await_held(fixture, WITHOUT_LAST);
    client_send(&client, " ");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}
