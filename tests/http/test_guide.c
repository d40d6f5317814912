/* test_guide.c - docs/http.md is about the API that there is: routes, query keys, lines to try, JSON, metrics. */
#include "described.h"

enum { TEXT_SIZE = 1024, GUIDE_SIZE = 128 * 1024 };

struct guide {
    struct described *described;
    char text[GUIDE_SIZE];
};

static void read_guide(struct guide *guide, struct described *described)
{
    FILE *file = fopen(PAWL_SOURCE_DIR "/docs/http.md", "r");
    assert_non_null(file);
    size_t size = fread(guide->text, 1, sizeof guide->text - 1, file);
    (void)fclose(file);
    assert_true(size < sizeof guide->text - 1);
    guide->text[size] = '\0';
    guide->described = described;
}

static void assert_says(const struct guide *guide, const char *words)
{
    if (strstr(guide->text, words) == NULL)
        fail_msg("docs/http.md does not have %s", words);
}

TEST_OF(described, every_route_and_every_query_key_is_in_it)
{
    static struct guide guide;
    read_guide(&guide, described);
    pawl_scope *scope = guide.described->scope;
    for (size_t i = 0; i < pw_http_route_count; i++) {
        const struct pw_http_route *route = &pw_http_routes[i];
        assert_says(&guide, pawl_scope_format(scope, "`%s %s`", route->method, route->pattern));
        for (const char *const *key = route->query; key != NULL && *key != NULL; key++)
            assert_says(&guide, pawl_scope_format(scope, "`%s`", *key));
    }
}

/* As curl would: --json makes a POST, and says what it sends. */
static void check_line(struct described *described, const char *line)
{
    static const struct pawl_http_header json = { "Content-Type", "application/json" };
    static const char option[] = " --json '";
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    char target[TEXT_SIZE];
    const char *at = strstr(line, "$api"), *data = strstr(line, option);
    assert_non_null(at);
    assert_null(strstr(line, " -d ")); /* which would claim to send a form */
    at += strlen("$api");
    (void)snprintf(target, sizeof target, "/api%.*s", (int)strcspn(at, " \"\n"), at);
    request.method = data != NULL || strstr(line, " -X POST ") != NULL ? "POST" : "GET";
    request.target = target;
    if (data != NULL) {
        request.body = data + strlen(option);
        request.body_size = strcspn(request.body, "'");
        request.headers = &json;
        request.header_count = 1;
    }
    struct pawl_http_response response = described_ask(described, &request);
    bool is_missing = strstr(target, "/resend") != NULL || strstr(target, "$token") != NULL; /* there is none such */
    bool is_begun = strstr(target, "/execute") != NULL;                                      /* and nobody runs it */
    if (response.status != (is_missing ? 404 : is_begun ? 202 : 200))
        fail_msg("%s: %d: %s", line, response.status, response.body);
}

/* In the guide's order: what one creates the next ones look at. */
TEST_OF(described, every_line_to_try_works)
{
    static struct guide guide;
    size_t count = 0;
    read_guide(&guide, described);
    for (const char *at = guide.text; (at = strstr(at, "\ncurl ")) != NULL; at++, count++) {
        const char *line = pawl_scope_format(guide.described->scope, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        if (strstr(line, "/result") != NULL) { /* nobody runs it meanwhile */
            struct pawl_error error;
            ok(pawl_terminate(pawl_world_engine(guide.described->world), "order", "order-1", &error));
        }
        check_line(guide.described, line);
    }
    assert_true(count >= 28);
}

TEST_OF(described, every_piece_of_JSON_is_JSON)
{
    static struct guide guide;
    static const char begin[] = "```json\n", end[] = "\n```";
    size_t count = 0;
    read_guide(&guide, described);
    for (const char *at = guide.text; (at = strstr(at, begin)) != NULL; at += sizeof begin, count++) {
        const char *json = at + sizeof begin - 1;
        (void)described_parse(guide.described, json, (size_t)(strstr(json, end) - json));
    }
    assert_true(count >= 15);
}

TEST_OF(described, every_metric_is_in_it_and_those_in_it_are_there)
{
    static struct guide guide;
    size_t count = 0;
    read_guide(&guide, described);
    pawl_scope *scope = guide.described->scope;
    const char *metrics = described_send(guide.described, "GET", "/api/metrics", NULL).body;
    for (const char *at = metrics; (at = strstr(at, "# TYPE ")) != NULL; at++, count++) {
        char name[128], type[16];
        assert_int_equal(sscanf(at, "# TYPE %127s %15s", name, type), 2);
        assert_says(&guide, pawl_scope_format(scope, "| `%s` | %s |", name, type));
    }
    for (const char *at = guide.text; (at = strstr(at, "\n| `pawl_")) != NULL; at++)
        count--;
    assert_int_equal(count, 0);
}
