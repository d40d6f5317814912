/* test_pawld_tokens.c - bearer tokens (contract D2): made, kept as hashes, asked for, limited. */
#include "kit/running.h"

#include "pawl/http.h"

struct fixture {
    pawl_tokens *tokens;
    struct pawl_error error;
    char token[PAWL_TOKEN_SIZE];
    char line[PAWL_TOKEN_LINE_SIZE];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->tokens = pawl_tokens_new();
    *state = fixture;
    return fixture->tokens != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pawl_tokens_free(fixture->tokens);
    free(fixture);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

/* Makes a token and keeps its line. */
static void keep_token(struct fixture *fixture, const char *name, const char *scopes)
{
    assert_ok(pawl_token_make(name, scopes, NULL, fixture->token, fixture->line, &fixture->error), fixture->error);
    assert_ok(pawl_tokens_add(fixture->tokens, fixture->line, &fixture->error), fixture->error);
}

static bool authorize(struct fixture *fixture, const struct pawl_http_header *headers, size_t count,
                      enum pawl_http_scope scope, struct pawl_http_refusal *out_refusal)
{
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_subject subject = { .request = &request, .scope = scope };
    request.headers = headers;
    request.header_count = count;
    *out_refusal = (struct pawl_http_refusal){ .status = 403, .code = "FORBIDDEN" };
    return pawl_tokens_authorize(fixture->tokens, &subject, out_refusal);
}

/* 0: allowed; otherwise the refusal's status. */
static int ask_with(struct fixture *fixture, const char *token, enum pawl_http_scope scope,
                    struct pawl_http_refusal *out_refusal)
{
    char value[PAWL_TOKEN_LINE_SIZE + 8];
    (void)snprintf(value, sizeof value, "Bearer %s", token);
    const struct pawl_http_header header = { "Authorization", value };
    return authorize(fixture, &header, 1, scope, out_refusal) ? 0 : out_refusal->status;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

TEST_OF(fixture, a_fresh_token_is_random_and_its_line_holds_only_a_hash)
{
    char second[PAWL_TOKEN_SIZE], line[PAWL_TOKEN_LINE_SIZE];

    assert_ok(pawl_token_make("ci", "event,read", NULL, fixture->token, fixture->line, &fixture->error),
              fixture->error);
    assert_ok(pawl_token_make("ci", "read,event", NULL, second, line, &fixture->error), fixture->error);

    assert_memory_equal(fixture->token, "pawl_", 5);
    assert_int_equal(strlen(fixture->token), 5 + 52); /* 256 bits, five in a letter */
    assert_int_equal(strspn(fixture->token + 5, "abcdefghijklmnopqrstuvwxyz234567"), 52);
    assert_string_not_equal(fixture->token, second);
    assert_memory_equal(fixture->line, "ci read,event sha256:", 21); /* in one order */
    assert_int_equal(strspn(fixture->line + 21, "0123456789abcdef"), 64);
    assert_int_equal(strlen(fixture->line), 21 + 64);
    assert_null(strstr(fixture->line, fixture->token + 5));
}

TEST_OF(fixture, a_token_is_not_made_of_a_bad_name_or_scope)
{
    static const struct {
        const char *name, *scopes, *wanted;
    } cases[] = {
        { "", "read", "a token's name is" },          { "two words", "read", "\"two words\"" },
        { "a#b", "read", "a token's name is" },       { "ci", "", "\"\" is none of them" },
        { "ci", "read,", "\"\" is none of them" },    { "ci", "read,write", "\"write\" is none of them" },
        { "ci", "open", "\"open\" is none of them" }, { "ci", "READ", "\"READ\" is none of them" },
        { "ci", "read create", "is none of them" },   { "ci", "deferred", "\"deferred\" is none of them" },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        fixture->token[0] = '\0';
        assert_int_equal(
            pawl_token_make(cases[i].name, cases[i].scopes, NULL, fixture->token, fixture->line, &fixture->error),
            PAWL_INVALID);
        assert_non_null(strstr(fixture->error.text, cases[i].wanted));
        assert_string_equal(fixture->token, "");
    }
}

/* ---- Keeping ----------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, lines_that_are_empty_or_comments_are_passed_over)
{
    static const char *const lines[] = { "", "   ", "\t\r\n", "# a comment", "  # another" };
    for (size_t i = 0; i < LENGTH(lines); i++)
        assert_ok(pawl_tokens_add(fixture->tokens, lines[i], &fixture->error), fixture->error);
    assert_int_equal(pawl_tokens_count(fixture->tokens), 0);
}

TEST_OF(fixture, a_line_may_end_as_files_of_other_systems_do)
{
    struct pawl_http_refusal refusal;
    char line[PAWL_TOKEN_LINE_SIZE + 8];
    assert_ok(pawl_token_make("ci", "read", NULL, fixture->token, fixture->line, &fixture->error), fixture->error);
    (void)snprintf(line, sizeof line, " %s\r\n", fixture->line);

    assert_ok(pawl_tokens_add(fixture->tokens, line, &fixture->error), fixture->error);

    assert_int_equal(pawl_tokens_count(fixture->tokens), 1);
    assert_int_equal(ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal), 0);
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST_OF(fixture, a_wrong_line_is_refused_without_repeating_it)
{
    static const char *const lines[] = {
        "ci read",
        "ci read sha256:" HASH " more",
        "ci read sha256:" HASH "0",
        "ci read sha256:0123",
        "ci read md5:" HASH,
        "ci read sha256:" HASH " #",
        "pawl_secretsecretsecret read sha256:" HASH, /* the token in place of its name */
        "ci read pawl_secretsecretsecret",           /* and in place of its hash */
        "ci pawl_secretsecretsecret sha256:" HASH,   /* and of its scopes */
        "ci read sha256:" HASH " permissions:admin more",
        "ci read sha256:" HASH " permissions:",
        "ci read sha256:" HASH " permissions:admin,",
        "ci read sha256:" HASH " permissions:a#b",
        "ci read sha256:" HASH " pawl_secretsecretsecret",
    };
    for (size_t i = 0; i < LENGTH(lines); i++) {
        assert_int_equal(pawl_tokens_add(fixture->tokens, lines[i], &fixture->error), PAWL_INVALID);
        assert_non_null(strstr(fixture->error.text, "a token's line is"));
        assert_null(strstr(fixture->error.text, "secretsecret"));
    }
    assert_int_equal(pawl_tokens_add(fixture->tokens, "ci read,all sha256:" HASH, &fixture->error), PAWL_INVALID);
    assert_non_null(strstr(fixture->error.text, "its scopes are read, create, manage"));
    assert_int_equal(pawl_tokens_count(fixture->tokens), 0);
}

TEST_OF(fixture, one_token_cannot_stand_there_twice)
{
    assert_ok(pawl_tokens_add(fixture->tokens, "ci read sha256:" HASH, &fixture->error), fixture->error);

    assert_int_equal(pawl_tokens_add(fixture->tokens, "cd manage sha256:" HASH, &fixture->error), PAWL_INVALID);

    assert_non_null(strstr(fixture->error.text, "ci"));
    assert_non_null(strstr(fixture->error.text, "cd"));
    assert_int_equal(pawl_tokens_count(fixture->tokens), 1);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

TEST_OF(fixture, D2_a_token_may_do_what_its_scopes_say_and_nothing_else)
{
    struct pawl_http_refusal refusal;
    keep_token(fixture, "ci", "create,event");

    for (enum pawl_http_scope scope = PAWL_HTTP_OPEN; scope < PAWL_HTTP_SCOPE_COUNT; scope++) {
        bool may = scope == PAWL_HTTP_OPEN || scope == PAWL_HTTP_CREATE || scope == PAWL_HTTP_EVENT ||
                   scope == PAWL_HTTP_DEFERRED;
        assert_int_equal(ask_with(fixture, fixture->token, scope, &refusal), may ? 0 : 403);
        if (!may) {
            assert_string_equal(refusal.code, "FORBIDDEN");
            assert_non_null(strstr(refusal.message, pawl_http_scope_name(scope)));
        }
    }
}

/* ---- Permissions ------------------------------------------------------------------------------------------------- */

/* What the token is told of a workflow that requires these; 0: it may. */
static int ask_of(struct fixture *fixture, const char *const *permissions, size_t count,
                  struct pawl_http_refusal *out_refusal)
{
    char value[PAWL_TOKEN_SIZE + 8];
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_subject subject = { .request = &request, .scope = PAWL_HTTP_READ };
    (void)snprintf(value, sizeof value, "Bearer %s", fixture->token);
    const struct pawl_http_header header = { "Authorization", value };
    request.headers = &header;
    request.header_count = 1;
    subject.permissions = permissions;
    subject.permission_count = count;
    *out_refusal = (struct pawl_http_refusal){ .status = 403, .code = "FORBIDDEN" };
    return pawl_tokens_authorize(fixture->tokens, &subject, out_refusal) ? 0 : out_refusal->status;
}

TEST_OF(fixture, G4_a_token_needs_every_permission_that_a_workflow_requires)
{
    static const char *const required[] = { "admin", "finance" }, *const nearly[] = { "adm" },
                             *const more[] = { "admin2" };
    static const struct {
        const char *permissions;
        int both, first;
    } cases[] = { { NULL, 403, 403 },
                  { "admin", 403, 0 },
                  { "finance", 403, 403 },
                  { "finance,admin", 0, 0 },
                  { "admin,finance,audit", 0, 0 },
                  { "administrator,finance", 403, 403 } };
    struct pawl_http_refusal refusal;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_ok(pawl_token_make("ci", "read", cases[i].permissions, fixture->token, fixture->line, &fixture->error),
                  fixture->error);
        assert_ok(pawl_tokens_add(fixture->tokens, fixture->line, &fixture->error), fixture->error);
        assert_int_equal(ask_of(fixture, NULL, 0, &refusal), 0);
        assert_int_equal(ask_of(fixture, required, 1, &refusal), cases[i].first);
        assert_int_equal(ask_of(fixture, nearly, 1, &refusal), 403);
        assert_int_equal(ask_of(fixture, more, 1, &refusal), 403);
        assert_non_null(strstr(refusal.message, "\"admin2\""));
        assert_int_equal(ask_of(fixture, required, 2, &refusal), cases[i].both);
    }
}

TEST_OF(fixture, a_token_is_not_made_of_bad_permissions)
{
    char large[600];
    memset(large, 'a', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    const char *const cases[] = { "", ",", "admin,", ",admin", "two words", "a#b", "a\nb", large };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        fixture->token[0] = '\0';
        assert_int_equal(pawl_token_make("ci", "read", cases[i], fixture->token, fixture->line, &fixture->error),
                         PAWL_INVALID);
        assert_non_null(strstr(fixture->error.text, "permissions are 1 to 64"));
        assert_string_equal(fixture->token, "");
    }
    for (size_t i = 0; i < 512; i += 2)
        large[i + 1] = ',';
    large[511] = '\0'; /* 256 of one letter */
    assert_ok(pawl_token_make("ci", "read", large, fixture->token, fixture->line, &fixture->error), fixture->error);
    assert_ok(pawl_tokens_add(fixture->tokens, fixture->line, &fixture->error), fixture->error);
}

TEST_OF(fixture, D2_each_of_many_tokens_is_found_and_keeps_its_own_scopes)
{
    struct pawl_http_refusal refusal;
    char tokens[20][PAWL_TOKEN_SIZE];
    for (size_t i = 0; i < LENGTH(tokens); i++) {
        keep_token(fixture, "ci", i % 2 == 0 ? "read" : "manage");
        memcpy(tokens[i], fixture->token, sizeof tokens[i]);
    }
    assert_int_equal(pawl_tokens_count(fixture->tokens), LENGTH(tokens));
    for (size_t i = 0; i < LENGTH(tokens); i++) {
        assert_int_equal(ask_with(fixture, tokens[i], PAWL_HTTP_READ, &refusal), i % 2 == 0 ? 0 : 403);
        assert_int_equal(ask_with(fixture, tokens[i], PAWL_HTTP_MANAGE, &refusal), i % 2 == 0 ? 403 : 0);
    }
}

/* A difference in any place counts: first letter, last letter, one more, one less, another case. */
TEST_OF(fixture, D2_what_is_nearly_the_token_is_not_the_token)
{
    struct pawl_http_refusal refusal;
    char wrong[PAWL_TOKEN_SIZE + 2];
    keep_token(fixture, "ci", "read");
    size_t size = strlen(fixture->token);
    for (size_t i = 0; i < size; i++) {
        (void)snprintf(wrong, sizeof wrong, "%s", fixture->token);
        wrong[i] = wrong[i] == 'b' ? 'c' : 'b';
        assert_int_equal(ask_with(fixture, wrong, PAWL_HTTP_READ, &refusal), 401);
    }
    (void)snprintf(wrong, sizeof wrong, "%sa", fixture->token);
    assert_int_equal(ask_with(fixture, wrong, PAWL_HTTP_READ, &refusal), 401);
    (void)snprintf(wrong, sizeof wrong, "%.*s", (int)size - 1, fixture->token);
    assert_int_equal(ask_with(fixture, wrong, PAWL_HTTP_READ, &refusal), 401);
    assert_int_equal(ask_with(fixture, "", PAWL_HTTP_READ, &refusal), 401);
    assert_int_equal(ask_with(fixture, fixture->line, PAWL_HTTP_READ, &refusal), 401); /* nor is its line */
    assert_string_equal(refusal.code, "UNAUTHORIZED");
    assert_int_equal(ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal), 0);
}

TEST_OF(fixture, D2_without_a_bearer_token_only_open_routes_are_allowed)
{
    struct pawl_http_refusal refusal;
    char value[128], basic[128];
    keep_token(fixture, "ci", "read");
    (void)snprintf(value, sizeof value, "bEaReR  %s", fixture->token);
    (void)snprintf(basic, sizeof basic, "Basic %s", fixture->token);
    const struct pawl_http_header good = { "aUTHORIZATION", value }, other = { "Authorization", basic },
                                  unrelated = { "X-Authorization", value };
    const struct pawl_http_header twice[] = { good, good };

    assert_false(authorize(fixture, NULL, 0, PAWL_HTTP_READ, &refusal));
    assert_int_equal(refusal.status, 401);
    assert_string_equal(refusal.code, "UNAUTHORIZED");
    assert_true(authorize(fixture, NULL, 0, PAWL_HTTP_OPEN, &refusal));
    assert_false(authorize(fixture, &other, 1, PAWL_HTTP_READ, &refusal));
    assert_false(authorize(fixture, &unrelated, 1, PAWL_HTTP_READ, &refusal));
    assert_false(authorize(fixture, twice, 2, PAWL_HTTP_READ, &refusal)); /* which of them would be meant? */
    assert_true(authorize(fixture, &good, 1, PAWL_HTTP_READ, &refusal));
}

TEST_OF(fixture, nobody_is_let_in_where_no_tokens_are_kept)
{
    struct pawl_http_refusal refusal;
    assert_int_equal(ask_with(fixture, "pawl_x", PAWL_HTTP_READ, &refusal), 401);
}

/* ---- The limit --------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_token_may_burst_to_its_limit_and_is_then_told_when_to_come_back)
{
    struct pawl_http_refusal refusal;
    char first[PAWL_TOKEN_SIZE];
    keep_token(fixture, "ci", "read");
    memcpy(first, fixture->token, sizeof first);
    keep_token(fixture, "cd", "read");
    pawl_tokens_limit(fixture->tokens, 0.01); /* one in 100 seconds: none comes back while the test runs */

    assert_int_equal(ask_with(fixture, first, PAWL_HTTP_READ, &refusal), 0);
    assert_int_equal(ask_with(fixture, first, PAWL_HTTP_READ, &refusal), 429);

    assert_string_equal(refusal.code, "RATE_LIMITED");
    assert_in_range(refusal.retry_after_s, 90, 101);
    assert_int_equal(ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal), 0); /* another token has its own */
    assert_int_equal(ask_with(fixture, "pawl_x", PAWL_HTTP_READ, &refusal), 401);
    assert_int_equal(ask_with(fixture, first, PAWL_HTTP_OPEN, &refusal), 0);
}

TEST_OF(fixture, the_limit_counts_bursts_of_one_second_and_requests_that_are_forbidden)
{
    struct pawl_http_refusal refusal;
    int allowed = 0, forbidden = 0;
    keep_token(fixture, "ci", "read");
    pawl_tokens_limit(fixture->tokens, 20);
    int64_t began_ms = monotonic_ms();

    for (int i = 0; i < 200; i++) {
        allowed += ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal) == 0;
        forbidden += ask_with(fixture, fixture->token, PAWL_HTTP_MANAGE, &refusal) == 403;
    }

    int64_t took_ms = monotonic_ms() - began_ms;
    assert_in_range(allowed + forbidden, 20, 20 + took_ms * 20 / 1000 + 1);
    assert_true(allowed > 0 && forbidden > 0);
}

TEST_OF(fixture, a_limit_lets_requests_through_again_as_time_passes)
{
    struct pawl_http_refusal refusal;
    keep_token(fixture, "ci", "read");
    pawl_tokens_limit(fixture->tokens, 20);
    while (ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal) == 0)
        ;
    assert_int_equal(refusal.retry_after_s, 1);

    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal) != 0 && monotonic_ms() < until_ms)
        rest_a_little();

    assert_true(monotonic_ms() < until_ms);
}

TEST_OF(fixture, a_limit_of_zero_is_none)
{
    struct pawl_http_refusal refusal;
    keep_token(fixture, "ci", "read");
    pawl_tokens_limit(fixture->tokens, 0.01);
    pawl_tokens_limit(fixture->tokens, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ask_with(fixture, fixture->token, PAWL_HTTP_READ, &refusal), 0);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, REQUESTS = 500 };

struct asker {
    struct fixture *fixture;
    int allowed;
};

static void *ask_often(void *user)
{
    struct asker *asker = user;
    struct pawl_http_refusal refusal;
    for (int i = 0; i < REQUESTS; i++)
        asker->allowed += ask_with(asker->fixture, asker->fixture->token, PAWL_HTTP_READ, &refusal) == 0;
    return NULL;
}

TEST_OF(fixture, threads_share_one_bucket)
{
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    int allowed = 0;
    keep_token(fixture, "ci", "read");
    pawl_tokens_limit(fixture->tokens, 50);
    int64_t began_ms = monotonic_ms();

    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){ fixture, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        allowed += askers[i].allowed;
    }

    assert_in_range(allowed, 50, 50 + (monotonic_ms() - began_ms) * 50 / 1000 + 1);
}
