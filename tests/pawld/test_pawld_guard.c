/* Without tokens pawld answers programs of this machine, and not every web page that somebody on it opens. */
#include "kit/test.h"
#include "pawld/guard.h"

static bool asks(const char *peer, const char *host, const char *origin, const char *cors)
{
    static const char *const hosts[] = { "pawl.example" };
    const struct guard guard = { hosts, 1, cors };
    struct pawl_http_header headers[2];
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_refusal refusal = { 0 };
    request.headers = headers;
    request.peer = peer;
    if (host != NULL)
        headers[request.header_count++] = (struct pawl_http_header){ "host", host };
    if (origin != NULL)
        headers[request.header_count++] = (struct pawl_http_header){ "Origin", origin };
    struct pawl_http_subject subject = { .request = &request, .scope = PAWL_HTTP_MANAGE };
    bool allowed = guard_allows(&guard, &subject, &refusal);
    if (!allowed) {
        assert_int_equal(refusal.status, 403);
        assert_string_equal(refusal.code, "FORBIDDEN");
        assert_true(strlen(refusal.message) > 0);
    }
    subject.scope = PAWL_HTTP_OPEN;
    assert_true(guard_allows(&guard, &subject, &refusal));
    subject.scope = PAWL_HTTP_DEFERRED; /* its token says enough */
    assert_true(guard_allows(&guard, &subject, &refusal));
    return allowed;
}

TEST(programs_of_this_machine_may)
{
    static const char *const hosts[] = { NULL,         "localhost:7295", "LOCALHOST", "127.0.0.1:7295",   "127.9.9.9",
                                         "[::1]:7295", "a.localhost:80", "[::1]",     "pawl.example:7295" };
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        assert_true(asks("127.0.0.1:1", hosts[i], NULL, NULL));
    assert_true(asks("unix", "pawl", NULL, NULL)); /* no browser gets there */
}

TEST(a_foreign_name_for_loopback_may_not)
{
    static const char *const hosts[] = { "evil.example:7295",
                                         "evil.example",
                                         "localhost.evil.example",
                                         "10.0.0.1:7295",
                                         "[::2]:7295",
                                         "xlocalhost:7295",
                                         ".localhost",
                                         "" };
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        assert_false(asks("127.0.0.1:1", hosts[i], NULL, NULL));
    /* The page and the name that it is asked by are the same; still it is not ours. */
    assert_false(asks("127.0.0.1:1", "evil.example:7295", "http://evil.example:7295", NULL));
}

TEST(a_foreign_page_may_not)
{
    assert_false(asks("127.0.0.1:1", "localhost:7295", "https://evil.example", NULL));
    assert_false(asks("127.0.0.1:1", "localhost:7295", "null", NULL));
    assert_false(asks("127.0.0.1:1", "localhost:7295", "http://localhost:3000", NULL));
    assert_false(asks("127.0.0.1:1", NULL, "https://evil.example", NULL));
    assert_false(asks("127.0.0.1:1", "localhost:7295", "https://evil.example", "https://good.example"));
}

TEST(its_own_pages_and_those_let_in_may)
{
    assert_true(asks("127.0.0.1:1", "localhost:7295", "http://localhost:7295", NULL));
    assert_true(asks("127.0.0.1:1", "localhost:7295", "https://good.example", "https://good.example"));
    assert_true(asks("127.0.0.1:1", "localhost:7295", "https://any.example", "*"));
}
