/* test_server_admit.c - D1: who may not ask is answered before the server takes a body, which costs memory; and what
 * nobody looks at is not kept. */
#include "serving.h"

#include <unistd.h>

enum { LARGE = 4000000, KEPT_MAX = 8 * 1024 * 1024, CROWD = 12 };
#define QUICK "POST /api/workflows/quick/instances HTTP/1.1\r\nHost: test\r\n"
#define LARGE_BODY "Content-Length: 4000000\r\n\r\n"
#define CHUNKED_BODY "Transfer-Encoding: chunked\r\n\r\n"

struct fixture {
    struct serving serving;
    pawl_tokens *tokens;
    char creator[PAWL_TOKEN_SIZE], reader[PAWL_TOKEN_SIZE];
};

static void add_token(struct fixture *fixture, const char *name, const char *scopes, char out_token[PAWL_TOKEN_SIZE])
{
    char line[PAWL_TOKEN_LINE_SIZE];
    assert_int_equal(pawl_token_make(name, scopes, NULL, out_token, line, NULL), PAWL_OK);
    assert_int_equal(pawl_tokens_add(fixture->tokens, line, NULL), PAWL_OK);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    assert_non_null(fixture);
    fixture->tokens = pawl_tokens_new();
    assert_non_null(fixture->tokens);
    add_token(fixture, "creator", "create", fixture->creator);
    add_token(fixture, "reader", "read", fixture->reader);
    options.authorize = pawl_tokens_authorize;
    options.authorize_user = fixture->tokens;
    serving_open(&fixture->serving, &options, NULL);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    serving_close(&fixture->serving);
    pawl_tokens_free(fixture->tokens);
    free(fixture);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

/* The answer comes although nothing of the body was sent, and the connection ends with it. */
static void check_answer_before_body(const struct fixture *fixture, const char *head, int status, const char *code)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, &fixture->serving);
    client_send(&client, head);
    client_take(&client, &answer);
    if (answer.status != status || strstr(answer.body, code) == NULL)
        fail_msg("%s: answered %d %s", head, answer.status, answer.body);
    assert_non_null(strstr(answer.head, "Connection: close\r\n"));
    if (status == 401)
        assert_non_null(strstr(answer.head, "WWW-Authenticate: Bearer\r\n"));
    assert_true(client_is_cut(&client, PATIENCE_MS));
    answer_clear(&answer);
    client_close(&client);
}

TEST_OF(fixture, who_may_not_ask_is_answered_before_the_body_has_come)
{
    char head[1024];
    check_answer_before_body(fixture, QUICK LARGE_BODY, 401, "UNAUTHORIZED");
    check_answer_before_body(fixture, QUICK CHUNKED_BODY, 401, "UNAUTHORIZED");
    check_answer_before_body(fixture, QUICK "Authorization: Bearer pawl_nobody\r\n" LARGE_BODY, 401, "UNAUTHORIZED");
    snprintf(head, sizeof head, QUICK "Authorization: Bearer %s\r\n" LARGE_BODY, fixture->reader);
    check_answer_before_body(fixture, head, 403, "FORBIDDEN");
}

/* Which needs no token. */
TEST_OF(fixture, what_is_no_route_is_answered_before_the_body_has_come)
{
    check_answer_before_body(fixture, "POST /api/nothing HTTP/1.1\r\nHost: t\r\n" LARGE_BODY, 404, "ROUTE_NOT_FOUND");
    check_answer_before_body(fixture, "GET /api/nothing HTTP/1.1\r\nHost: t\r\n" LARGE_BODY, 404, "ROUTE_NOT_FOUND");
    check_answer_before_body(fixture, "POST /api/health HTTP/1.1\r\nHost: t\r\n" CHUNKED_BODY, 405,
                             "METHOD_NOT_ALLOWED");
    check_answer_before_body(fixture, "POST /api/%zz HTTP/1.1\r\nHost: t\r\n" LARGE_BODY, 400, "VALIDATION_FAILED");
}

TEST_OF(fixture, who_may_ask_is_asked_for_the_body)
{
    struct client client;
    struct answer answer = { 0 };
    char head[1024], spaces[1001];
    memset(spaces, ' ', 1000);
    spaces[1000] = '\0';
    client_open(&client, &fixture->serving);
    snprintf(head, sizeof head,
             QUICK "Authorization: Bearer %s\r\nExpect: 100-continue\r\nContent-Length: 100011\r\n\r\n",
             fixture->creator);
    client_send(&client, head);
    client_await(&client, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(&client, "{\"id\":\"big\"}");
    for (int i = 0; i < 100; i++)
        client_send_bytes(&client, spaces, i < 99 ? 1000 : 999);
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

/* A client with a small body and a wrong token, or one too many requests, need not connect again. */
TEST_OF(fixture, a_small_body_that_is_refused_is_read_and_the_connection_kept)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, &fixture->serving);
    for (int i = 0; i < 3; i++) {
        client_send(&client, QUICK "Content-Length: 46\r\n\r\nGET /api/version HTTP/1.1\r\nHost: smuggled\r\n\r\n ");
        client_take(&client, &answer);
        assert_int_equal(answer.status, 401);
        client_ask(&client, "/api/health", NULL);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body, "{\"status\":\"ok\"}");
    }
    answer_clear(&answer);
    client_close(&client);
}

/* GET needs none, so nobody can make the server hold one with it. */
TEST_OF(fixture, a_body_that_nobody_looks_at_is_not_kept)
{
    struct client clients[CROWD];
    struct answer answer = { 0 };
    char *body = malloc(LARGE);
    assert_non_null(body);
    memset(body, 'x', LARGE);
    long before = resident_bytes();
    for (int i = 0; i < CROWD; i++) {
        client_open(&clients[i], &fixture->serving);
        client_send(&clients[i], "GET /api/health HTTP/1.1\r\nHost: test\r\n" LARGE_BODY);
        client_send_bytes(&clients[i], body, LARGE - 1);
    }
    usleep(200000); /* the server reads the last of it */
    assert_true(resident_bytes() - before < KEPT_MAX);
    for (int i = 0; i < CROWD; i++) {
        client_send(&clients[i], "x");
        client_take(&clients[i], &answer);
        assert_int_equal(answer.status, 200);
        client_close(&clients[i]);
    }
    answer_clear(&answer);
    free(body);
}
